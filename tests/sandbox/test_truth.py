"""What was planted in runs is recorded apart from them, and fits what was saved."""

from __future__ import annotations

import json

import pytest

from lseval.agent.loop import run_agent
from lseval.agent.run import SOURCE_FORMAT, RunSubject, to_run_record
from lseval.domain.chat import ChatRequest, Endpoint, Message
from lseval.domain.controls import Controls
from lseval.errors import InputError
from lseval.models import EvaluatedModel, Job, JobKind, Judgement, Round, Study, Task
from lseval.pipeline.import_runs import import_run
from lseval.pipeline.stage1 import verify_run
from lseval.providers.errors import DeferredError
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.sandbox.plans import plan_of
from lseval.sandbox.profiles import PROFILES
from lseval.sandbox.providers import chat_of, fetch_of, profile_for, search_of, world_of
from lseval.sandbox.truth import record_truth

pytestmark = pytest.mark.django_db
SETTINGS = {
    "search": {"provider": "sandbox"},
    "fetch": {"provider": "sandbox"},
    "sandbox": {"seed": 31, "tasks": 4},
}


def make_study(n_tasks: int = 2) -> Study:
    study = Study.objects.create(slug="boxed", name="Boxed", settings=SETTINGS)
    for task in world_of(study).tasks[:n_tasks]:
        Task.objects.create(study=study, key=task.key, question=task.question, rubric=task.rubric)
    for profile in (PROFILES[0], PROFILES[-1]):
        EvaluatedModel.objects.create(
            study=study, name=profile.name, family=profile.family, settings={"provider": "sandbox"}
        )
    return study


def collect(study: Study) -> None:
    """All runs of the study, by the loop and the import, without jobs and ledger."""
    for model in study.models.all():
        for task in study.tasks.all():
            run = run_agent(
                task.question,
                Endpoint("", model.name),
                Controls(),
                chat_of(study, model),
                search_of(study),
                fetch_of(study),
            )
            subject = RunSubject(task.key, task.question, model.name, model.family)
            import_run(study, to_run_record(run, subject), source_format=SOURCE_FORMAT)


def test_truth_fits_the_groups_and_rounds_that_were_saved() -> None:
    study = make_study()
    collect(study)
    assert record_truth(study).runs == 4
    world = world_of(study)
    for truth in RunTruth.objects.select_related("run__task", "run__model"):
        run = truth.run
        number = next(task.number for task in world.tasks if task.question == run.task.question)
        plan = plan_of(world, profile_for(run.model), number)
        labels = list(truth.group_truths.values_list("number", "label"))
        assert truth.is_matched
        assert labels == [(place, unit.label) for place, unit in enumerate(plan.units, start=1)]
        assert truth.injected_errors.count() == len(plan.errors)
        for error in truth.injected_errors.all():
            stated = Round.objects.get(run=run, number=error.stated_round_number)
            words = " ".join(turn.text for turn in stated.turns.all())
            assert words, "what is wrong is said in that round"


def test_recording_again_changes_nothing() -> None:
    study = make_study(1)
    collect(study)
    record_truth(study)
    before = list(GroupTruth.objects.values_list("pk", "label")), list(InjectedError.objects.values_list("pk"))
    assert record_truth(study).runs == 0
    assert before == (
        list(GroupTruth.objects.values_list("pk", "label")),
        list(InjectedError.objects.values_list("pk")),
    )


def test_truth_does_not_change_what_judges_see() -> None:
    """The verdicts are the same with and without the truth, and no trajectory names an error type."""
    study = make_study(1)
    collect(study)
    runs = list(study.runs.values_list("pk", flat=True))
    without = [verify_run(pk) for pk in runs]
    record_truth(study)
    assert [verify_run(pk) for pk in runs] == without
    for run in study.runs.all():
        kept = json.dumps(run.metadata) + run.final_answer
        kept += " ".join(run.turns.values_list("text", flat=True))
        assert not any(kind in kept for kind in InjectedError.objects.values_list("error_type", flat=True))
    assert not Judgement.objects.exists()


def test_run_that_is_another_than_planned_is_told_apart() -> None:
    study = make_study(1)
    collect(study)
    run = study.runs.first()
    assert run is not None
    run.answer_groups.first().delete()  # type: ignore[union-attr]
    record_truth(study)
    truth = RunTruth.objects.get(run=run)
    assert not truth.is_matched
    assert not truth.group_truths.exists()
    assert all(error.group_numbers == [] for error in truth.injected_errors.all())


def test_study_without_simulated_models_has_no_truth() -> None:
    study = Study.objects.create(slug="real", name="Real")
    EvaluatedModel.objects.create(study=study, name="imported")
    with pytest.raises(InputError, match="no simulated model"):
        record_truth(study)


def test_busy_server_turns_only_a_first_claim_away() -> None:
    study = make_study(1)
    model, task = study.models.all()[0], study.tasks.get()
    model.settings = {"provider": "sandbox", "profile": {"turned_away": 1.0}}
    model.save()
    chat = chat_of(study, model)
    turn = plan_of(world_of(study), profile_for(model), 0).busy_turn
    asked = (Message("user", task.question), *(Message("assistant", "") for _ in range(turn - 1)))
    request = ChatRequest(Endpoint("", "m"), asked)
    job = Job.objects.create(study=study, kind=JobKind.COLLECT, task=task, model=model, claim=1)
    with pytest.raises(DeferredError, match="busy"):
        chat(request)
    job.claim = 2
    job.save()
    assert chat(request).text
