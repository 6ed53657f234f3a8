"""The agreement pages of a study of the paper's size, all computed live, beside the list of studies.

100 tasks by 16 models, an audit of 200 responses with about 950 answer groups, 40 of them labeled by H2 too. The
pages are asked for in this process, so the time is the server's alone, database included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
TASKS, MODELS, REPEATS = 100, 16, 5
BAR_S = 1.0
_PAGES = ("agreement", "agreement_people", "agreement_process", "agreement_study", "agreement_leaderboard")


def run() -> Iterator[dict[str, Any]]:
    """Milliseconds a page (median of five), and as a ratio to the list of studies. Leaves nothing behind."""
    django.setup()
    from django.core.management import call_command
    from django.db import transaction
    from django.test import Client

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        study, groups = _study()
        client = Client(headers={"host": "localhost"})
        client.force_login(_reader(study))
        baseline, _ = _median_ms(client, "studies", [])
        for name in _PAGES:
            took, busy = _median_ms(client, name, [study.slug])
            yield {
                "name": f"agreement_pages.{name}",
                "value": round(took, 1),
                "unit": "ms",
                "processor_ms": round(busy, 1),
                "groups": groups,
                "baseline": round(baseline, 1),
                "baseline_is": "the list of studies",
                "ratio": round(took / baseline, 1),
                "ok": took < BAR_S * 1000,
            }
        transaction.set_rollback(True)


def _median_ms(client: Any, name: str, arguments: list[str]) -> tuple[float, float]:
    """Of the page by the clock, and of this process's processor time, which a busy machine does not stretch."""
    from django.urls import reverse

    address = reverse(name, args=arguments)
    times, busy = [], []
    for _ in range(REPEATS + 1):
        begin, begin_busy = time.perf_counter(), time.process_time()
        status = client.get(address).status_code
        times.append((time.perf_counter() - begin) * 1000)
        busy.append((time.process_time() - begin_busy) * 1000)
        if status != 200:
            raise RuntimeError(f"{address} answered {status}")
    return sorted(times[1:])[REPEATS // 2], sorted(busy[1:])[REPEATS // 2]


def _reader(study: Any) -> Any:
    from lseval.models import Membership, Role, User

    user = User.objects.create(username="bench-reader")
    Membership.objects.create(study=study, user=user, role=Role.RESEARCHER)
    return user


def _study() -> tuple[Any, int]:
    """The study, audited and labeled by simulated labelers, and the number of labeled groups."""
    from annotation.models import LabelerRole
    from annotation.sampling import Plan
    from annotation.services import create_audit
    from annotation.simulation import simulate_labels
    from lseval.models import AnswerGroup, EvaluatedModel, Rubric, Run, Study, Task, Verdict

    random = Random(946)  # noqa: S311 - the same study every time
    study = Study.objects.create(slug="bench-agreement", name="Bench")
    tasks = Task.objects.bulk_create(Task(study=study, key=f"t{n}", question="?") for n in range(TASKS))
    models = EvaluatedModel.objects.bulk_create(
        EvaluatedModel(study=study, name=f"m{n}", family=f"f{n // 2}") for n in range(MODELS)
    )
    runs = Run.objects.bulk_create(
        Run(
            study=study, task=task, model=model, source_format="bench", source_digest=f"{task.pk} {model.pk}",
            is_valid_final=True, is_final_only=False,
        )
        for task in tasks
        for model in models
    )  # fmt: skip
    Rubric.objects.bulk_create(Rubric(run=run, required_count=5, origin="bench") for run in runs)
    groups = AnswerGroup.objects.bulk_create(
        AnswerGroup(run=run, number=n + 1, text="group", start=n, end=n + 1)
        for run in runs
        for n in range(random.randint(3, 6))
    )
    label = {group.pk: random.choices("CIU", (52, 42, 6))[0] for group in groups}
    Verdict.objects.bulk_create(
        Verdict(group=group, label=label[group.pk], reason="bench", judge="bench", judge_version="1")
        for group in groups
    )
    audit = create_audit(study, Plan(), 1, "bench", None)
    for role in (LabelerRole.H1, LabelerRole.H2):
        simulate_labels(audit, role, lambda item: label[item.group_id], 1, 0.06)
    return study, audit.items.count()
