"""The demo: the whole pipeline on the sandbox, from jobs and ledger to simulated labels."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Item, ItemKind, LabelVersion, Slot
from annotation.sampling import Plan
from lseval.domain.labels import LinkLabel, RoundLabel
from lseval.errors import InputError
from lseval.models import Call, FailureNode, Job, JobState, Judgement, Link, Page, Study, User, Verdict
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.sandbox.profiles import PROFILES
from lseval.sandbox.providers import tasks_of
from lseval.site.demo import build, collecting
from lseval.site.demo.build import Demo, build_demo, remove_demo, summary
from lseval.site.demo.sizes import SIZES, DemoSize, demo_size
from lseval.site.demo.true_labels import true_labels

TINY = DemoSize("tiny", "Tiny", "For a test.", PROFILES[::15], 2, Plan(tasks=2, responses_per_task=2, h2_tasks=1))


@pytest.fixture
def _own_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from django.conf import settings as live

    monkeypatch.setattr(live, "ENVIRONMENT", replace(live.ENVIRONMENT, var=tmp_path))
    monkeypatch.setattr(live, "IS_LOCAL", True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_own_var")
def test_demo_goes_from_jobs_to_agreement_and_is_found_again() -> None:
    demo = build_demo(TINY)
    study = demo.study
    assert study.runs.count() == 4
    assert set(Job.objects.filter(study=study).values_list("state", flat=True)) == {JobState.DONE}
    assert not Call.objects.filter(study=study, cost_usd__isnull=True, kind="chat", error_code="").exists()
    assert RunTruth.objects.filter(is_matched=True).count() == 4
    found = summary(demo)
    assert found["is_new"]
    assert found["labels"] > 0
    assert set(LabelVersion.objects.values_list("is_simulated", flat=True)) == {True}
    assert found["open_items"]["H1"] == demo.audit.queues.get(role="H1", is_simulated=False).slots.count()
    calls = Call.objects.count()

    again = build_demo(TINY)
    assert not again.is_new
    assert Call.objects.count() == calls
    assert again.audit == demo.audit

    _check_true_labels(study)
    text = StringIO()
    call_command("validity", "tiny", stdout=text)
    assert "4 runs whose truth is known" in text.getvalue()

    remove_demo("tiny")
    assert not Study.objects.exists()
    assert not RunTruth.objects.exists()
    assert not User.objects.filter(is_simulated=True).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_own_var")
def test_same_seed_makes_the_same_demo_in_whatever_order_its_runs_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads make the runs, so which is saved first is chance. Here the second demo makes the last one first."""
    monkeypatch.setattr(collecting, "_THREADS", 1)
    first = build_demo(TINY)
    came, told, numbers = _order_of_runs(first), _told(first), summary(first)

    def cells_from_the_last(study: Study) -> int:
        number = collecting.cells_to_collect(study)
        for job in Job.objects.filter(study=study):
            job.not_before = timezone.now() - timedelta(hours=1, seconds=job.pk)
            job.save(update_fields=["not_before"])
        return number

    monkeypatch.setattr(build, "cells_to_collect", cells_from_the_last)
    second = build_demo(TINY, fresh=True)
    assert _order_of_runs(second) == came[::-1]
    again = _told(second)
    assert again.keys() == told.keys()
    for what, rows in told.items():
        assert rows, what
        assert again[what] == rows, what
    assert summary(second) == numbers


def _order_of_runs(demo: Demo) -> list[tuple[str, str]]:
    return list(demo.study.runs.order_by("pk").values_list("task__key", "model__name"))


def _told(demo: Demo) -> dict[str, list[object]]:
    """What a study holds, without ids and times; items and slots in the order of the draw."""
    of_run = ("run__task__key", "run__model__name")
    of_group = tuple(f"group__{name}" for name in (*of_run, "number"))
    of_round = tuple(f"round__{name}" for name in (*of_run, "number"))
    of_item = tuple(f"item__{name}" for name in (*of_run, "kind", "group__number", "round__number"))
    study, audit = demo.study, demo.audit
    runs = study.runs.order_by("task__key", "model__name")
    nodes = FailureNode.objects.filter(run__study=study)
    slots = Slot.objects.filter(queue__audit=audit).order_by("queue__is_simulated", "queue__role", "position")
    labels = LabelVersion.objects.filter(slot__queue__audit=audit).order_by("slot__queue__role", "slot__position")
    return {
        "runs": list(runs.values_list("task__key", "model__name", "final_answer")),
        "rounds": _rows(study.runs, "task__key", "model__name", "rounds__number", "rounds__skip_reason"),
        "pages": _rows(Page.objects.filter(study=study), "canonical_key", "outcome", "text_digest"),
        "verdicts": _rows(Verdict.objects.filter(group__run__study=study), *of_group, "label", "reason"),
        "judgements": _rows(Judgement.objects.filter(round__run__study=study), *of_round, "judge_role", "verdict"),
        "nodes": _rows(nodes, *of_run, "round__number", "error_type"),
        "links": _rows(Link.objects.filter(run__study=study), *of_run, "round__number", "group__number"),
        "draw": [(audit.frame, audit.plan)],
        "items": list(
            audit.items.order_by("pk").values_list(*(name[6:] for name in of_item), "inclusion_probability")
        ),
        "slots": list(slots.values_list("queue__role", "queue__is_simulated", "position", *of_item, "status")),
        "labels": list(
            labels.values_list("slot__queue__role", "slot__position", "label", "error_type", "evidence_digest")
        ),
    }


def _rows(found: QuerySet[Any], *fields: str) -> list[object]:
    return sorted(found.values_list(*fields), key=repr)


def _check_true_labels(study: Study) -> None:
    """Groups, rounds and links are labeled by what was planted."""
    label = true_labels(study)
    items = Item.objects.filter(audit__study=study).select_related("group", "round")
    for item in items:
        right = label(item)
        if item.kind == ItemKind.GROUP:
            assert right == GroupTruth.objects.get(truth=item.run_id, number=item.group.number).label
            continue
        planted = [
            error
            for error in InjectedError.objects.filter(truth=item.run_id)
            if item.round.number in (error.round_number, error.stated_round_number)
        ]
        if item.kind == ItemKind.LINK:
            is_so = any(item.group.number in error.group_numbers for error in planted)
            assert right == (LinkLabel.CORRESPONDS if is_so else LinkLabel.DOES_NOT)
        elif planted:
            assert right == RoundLabel.ERROR
        else:
            assert right == (RoundLabel.SKIPPED if item.round.skip_reason else RoundLabel.NON_ERROR)
    assert {item.kind for item in items} >= {ItemKind.GROUP, ItemKind.ROUND}


@pytest.mark.django_db
def test_study_file_without_tasks_is_set_the_tasks_of_its_world(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        '[study]\nslug = "boxed"\nname = "Boxed"\n[search]\nprovider = "sandbox"\n[fetch]\nprovider = "sandbox"\n'
        '[sandbox]\nseed = 7\ntasks = 3\n[[models]]\nname = "Simulated A"\nfamily = "S"\nprovider = "sandbox"\n'
    )
    call_command("create_study", str(file), stdout=StringIO())
    study = Study.objects.get(slug="boxed")
    assert [task.question for task in study.tasks.all()] == [task["question"] for task in tasks_of(7, 3)]
    assert study.tasks.all()[0].rubric == tasks_of(7, 3)[0]["rubric"]
    call_command("create_study", str(file), stdout=StringIO())
    assert study.tasks.count() == 3


def test_papers_size_is_the_papers() -> None:
    size = demo_size("paper")
    assert (len(size.models), len({model.family for model in size.models}), size.tasks) == (16, 8, 100)
    assert size.plan == Plan()
    assert set(SIZES) == {"small", "paper"}
    with pytest.raises(InputError, match="small or paper"):
        demo_size("huge")
