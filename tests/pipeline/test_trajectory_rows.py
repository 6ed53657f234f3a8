"""The one statement that saves a trajectory."""

from __future__ import annotations

import pytest
from django.db import DataError, transaction

from lseval.domain.trajectory import ToolCallRecord, TurnRecord
from lseval.models import Round, ToolCall, Turn
from lseval.pipeline.trajectory_rows import save_trajectory
from tests.factories import make_run, make_study

pytestmark = pytest.mark.django_db


def _fresh_run():
    run = make_run(make_study())
    run.turns.all().delete()
    run.rounds.all().delete()
    return run


def _call(name: str, observation: str | None, *, is_error: bool = False, **arguments) -> ToolCallRecord:
    return ToolCallRecord(name, f"own {name}", arguments, observation, is_error)


def test_turns_calls_and_rounds_come_back_as_they_were() -> None:
    run = _fresh_run()
    turns = (
        TurnRecord("", (), agent="x" * 300, source_step=None),
        TurnRecord(
            'Zwölf 渡轮 \\u0041 "q" \x07',
            (
                _call("open_page", None, url="u", n=10**30, f=0.1),
                _call("read_page", "", is_error=True, deep={"a": [None]}),
            ),
            reasoning="r\n",
            source_step=7,
        ),
    )
    ids = save_trajectory(run.pk, turns)
    saved = list(Turn.objects.filter(run=run).order_by("number"))
    assert [turn.round_id for turn in saved] == ids
    assert [(t.text, t.reasoning, t.source_step) for t in saved] == [
        (t.text, t.reasoning, t.source_step) for t in turns
    ]
    assert saved[0].agent == "x" * 200
    calls = list(ToolCall.objects.filter(turn=saved[1]).order_by("number"))
    assert [(c.name, c.original_name, c.observation, c.is_error) for c in calls] == [
        ("open_page", "own open_page", None, False),
        ("read_page", "own read_page", "", True),
    ]
    assert [c.arguments for c in calls] == [dict(c.arguments) for c in turns[1].tool_calls]
    assert set(Round.objects.filter(run=run).values_list("pk", flat=True)) == set(ids)


@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b"])
def test_text_that_no_database_keeps_is_refused_whole(bad: str) -> None:
    run = _fresh_run()
    with pytest.raises((DataError, UnicodeEncodeError)), transaction.atomic():
        save_trajectory(run.pk, [TurnRecord("", (_call("read_page", bad),))])
    assert not run.turns.exists()


def test_no_turns_make_no_rounds() -> None:
    run = _fresh_run()
    assert save_trajectory(run.pk, ()) == []
    assert not run.rounds.exists()
