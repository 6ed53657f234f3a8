"""The runs that `bench.trajectory` opens, made in the database that the environment names."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import django

ROUNDS, OBSERVATION = 130, 200_000


def make(data: str) -> dict[str, Any]:
    """Two studies: the largest run of the folder `data`, and a made-up one of 130 rounds of 200,000 characters.

    Both are audited by the embedded judges. Returns the addresses and a reader's session cookie.
    """
    from lseval.domain.trajectory import RunRecord, ToolCallRecord, TurnRecord
    from lseval.models import Membership, Role, Run, Study, User
    from lseval.pipeline.evaluation import evaluate
    from lseval.pipeline.import_runs import import_run

    line = "The Lake Aldis ferry opened in 1962, is 840 metres long and carried 210,000 passengers. "
    made = RunRecord(
        task_key="made",
        question="Which ferry is the longest?",
        model_name="made",
        final_answer="1. Lake Borun ferry: opened in 1971\n2. Lake Aldis ferry: opened in 1962",
        turns=tuple(
            TurnRecord(
                f"Page {number} says that the ferry opened in {1900 + number}.",
                (
                    ToolCallRecord(
                        "read_page", "read_page", {"url": f"https://f.example/{number}"},
                        f"Page {number}. " + line * (OBSERVATION // len(line)),
                    ),
                ),
            )
            for number in range(ROUNDS)
        ),
    )  # fmt: skip
    records = {"made": made}
    if found := _largest(Path(data)):
        records["largest"] = found
    user = User.objects.create_user("reader")
    addresses = {}
    for slug, record in records.items():
        study = Study.objects.create(slug=slug, name=slug)
        Membership.objects.create(study=study, user=user, role=Role.RESEARCHER)
        outcome = import_run(study, record, source_format="bench")
        if slug != "made":
            evaluate(study)
        addresses[slug] = f"/studies/{slug}/runs/{outcome.run_id}/"
    return {
        "addresses": addresses,
        "rounds": {slug: Run.objects.get(study__slug=slug).rounds.count() for slug in records},
        "session": _session(user),
    }


def _session(user: Any) -> str:
    """The key of a session in which the person is logged in."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return str(client.session.session_key)


def _largest(data: Path) -> Any:
    """The run with the most text in its trajectory among all that the folder holds; None where there is none."""
    from lseval.formats import iter_sources, read_runs

    best, most = None, -1
    if not data.is_dir():
        return None
    for path in iter_sources([data]):
        for result in read_runs(path):
            if result.record is None:
                continue
            turns = result.record.turns
            size = sum(
                len(turn.text) + sum(len(call.observation or "") for call in turn.tool_calls) for turn in turns
            )
            if size > most:
                best, most = result.record, size
    return best


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
    django.setup()
    print(json.dumps(make(sys.argv[1])))
