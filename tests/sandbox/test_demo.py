"""The demo: the whole pipeline on the sandbox, from jobs and ledger to simulated labels."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import Item, ItemKind, LabelVersion
from annotation.sampling import Plan
from lseval.domain.labels import LinkLabel, RoundLabel
from lseval.errors import InputError
from lseval.models import Call, Job, JobState, Study, User
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.sandbox.profiles import PROFILES
from lseval.sandbox.providers import tasks_of
from lseval.site.demo.build import build_demo, remove_demo, summary
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
