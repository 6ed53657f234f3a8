"""A collected run is saved by the same code as an imported one."""

from __future__ import annotations

import pytest

from lseval.agent.run import SOURCE_FORMAT, AgentRun, RunSubject, to_run_record
from lseval.agent.wording import wording
from lseval.domain.controls import Controls
from lseval.models import Run
from lseval.pipeline.import_runs import CREATED, UNCHANGED, import_run
from tests.agent.scripted import ANSWER, FERRY, QUESTION, Model, calls, run, says
from tests.factories import make_study

SUBJECT = RunSubject("t1", QUESTION, "m1", "Family")
SEARCH = calls(("web_search", {"query": "ferry"}), text="I will search.")
OPEN = calls(("open_page", {"url": FERRY}))
READ = calls(("read_page", {"page_id": "p1"}), text="The ferry opened in 1962.")


def _saved(result: AgentRun, **changes: object) -> Run:
    outcome = import_run(make_study(), to_run_record(result, SUBJECT, **changes), source_format=SOURCE_FORMAT)  # type: ignore[arg-type]
    assert outcome.status == CREATED
    return Run.objects.get(pk=outcome.run_id)


@pytest.mark.django_db
def test_a_collected_run_is_saved_with_its_rounds_markers_and_controls() -> None:
    saved = _saved(run(Model([SEARCH, OPEN, READ, says(ANSWER)])), attempts=2)
    assert [found.skip_reason for found in saved.rounds.all()] == ["listing_only", "listing_only", ""]
    assert (saved.is_valid_final, saved.is_premature, saved.is_final_only) == (True, False, False)
    assert saved.attempts.count() == 2
    assert saved.metadata["controls"]["iterations"] == 120
    assert saved.metadata["prompt_digest"] == wording().digest
    assert saved.metadata["pages"]["p1"]["url"] == FERRY
    assert (saved.input_tokens, saved.reasoning_tokens) == (400, None)
    assert saved.pages.count() == 0


@pytest.mark.django_db
def test_an_answer_before_any_page_was_read_is_premature() -> None:
    assert _saved(run(Model([SEARCH, OPEN, says(ANSWER)]))).is_premature is True


@pytest.mark.django_db
def test_an_answer_asked_for_without_tools_is_marked_and_an_empty_one_is_invalid() -> None:
    saved = _saved(run(Model([SEARCH, says(""), says("")]), controls=Controls(iterations=1)))
    assert (saved.is_final_only, saved.is_valid_final) == (True, False)


@pytest.mark.django_db
def test_the_same_replies_are_the_same_run() -> None:
    study = make_study()
    records = [to_run_record(run(Model([SEARCH, says("\ud800 " + ANSWER)])), SUBJECT) for _ in range(2)]
    statuses = [import_run(study, record, source_format=SOURCE_FORMAT).status for record in records]
    assert statuses == [CREATED, UNCHANGED]
