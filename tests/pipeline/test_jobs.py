"""Jobs: claimed by one at a time, for a time, and never lost or done twice."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from lseval.models import EvaluatedModel, Job, JobKind, JobState, Phase, Study
from lseval.pipeline import jobs
from lseval.pipeline.jobs import Beat, Claim, LostClaimError
from lseval.pipeline.ledger_rows import RequestRow
from lseval.pipeline.ledger_store import Cell, Entry, record
from lseval.pipeline.workers import here, is_gone, worker_name
from tests.factories import make_run, make_study

pytestmark = pytest.mark.django_db

ENDPOINT = {"base_url": "https://llm.example/v1", "model": "m"}


def make_cells(tasks: int = 2, models: int = 2, slug: str = "s1") -> Study:
    """A study with tasks and models that have endpoints."""
    study = make_study(slug)
    for number in range(tasks):
        study.tasks.create(key=f"t{number}", question=f"Question {number}?")
    for number in range(models):
        EvaluatedModel.objects.create(study=study, name=f"m{number}", settings=ENDPOINT)
    return study


def claimed() -> Claim:
    claim = jobs.claim_next()
    assert claim is not None
    return claim


def run_out(claim: Claim) -> None:
    """As if the claim's time were over."""
    Job.objects.filter(pk=claim.job_id).update(claimed_until=Now() - timedelta(seconds=1))


def reply_in_ledger(claim: Claim, digest: str) -> None:
    cell = Cell(claim.study_id, Phase.COLLECTION.value, claim.task_id, claim.model_id)
    record(cell, RequestRow(digest, "{}", ()), Entry("chat", 0, "p", reply='{"text": "", "finish_reason": "stop"}'))


def test_every_open_cell_gets_one_job_and_again_none() -> None:
    study = make_cells(3, 2)
    assert jobs.enqueue_collection(study) == 6
    assert jobs.enqueue_collection(study) == 0


def test_a_cell_with_a_run_and_a_model_without_an_endpoint_get_no_job() -> None:
    study = make_study()
    make_run(study, task="t1", model="imported")
    make_run(study, task="t1", model="m1")
    study.models.filter(name="m1").update(settings=ENDPOINT)
    study.tasks.create(key="t2", question="Another?")
    assert jobs.enqueue_collection(study) == 1
    assert (Job.objects.get().task.key, Job.objects.get().model.name) == ("t2", "m1")


def test_a_job_is_claimed_once_in_the_order_of_tasks() -> None:
    study = make_cells(2, 1)
    jobs.enqueue_collection(study)
    first, second = claimed(), claimed()
    assert [first.task_id, second.task_id] == list(study.tasks.values_list("pk", flat=True))
    assert jobs.claim_next() is None
    assert jobs.claim_job(first.job_id) is None


def test_jobs_of_a_paused_study_are_left_alone() -> None:
    study = make_cells(1, 1)
    jobs.enqueue_collection(study)
    Study.objects.update(is_paused=True)
    assert jobs.claim_next() is None
    assert jobs.claim_job(Job.objects.get().pk) is None


def test_only_the_study_and_the_kinds_asked_for_are_claimed() -> None:
    study, other = make_cells(1, 1), make_cells(1, 1, "s2")
    for each in (study, other):
        jobs.enqueue_collection(each)
    claim = jobs.claim_next(study=other)
    assert claim is not None
    assert claim.study_id == other.pk
    assert jobs.claim_next(kinds=[JobKind.VERIFY]) is None


def test_finishing_counts_the_time_worked_and_ends_the_job() -> None:
    jobs.enqueue_collection(make_cells(1, 1))
    claim = claimed()
    jobs.heartbeat({claim: Beat({"iterations": 3}, 5.0)})
    jobs.finish(claim, 2.5)
    job = Job.objects.get()
    assert (job.state, job.worked_s, job.progress) == ("done", 7.5, {"iterations": 3})
    assert job.finished_at is not None


def test_who_lost_the_claim_can_neither_finish_nor_fail_nor_hold() -> None:
    jobs.enqueue_collection(make_cells(1, 1))
    old = claimed()
    run_out(old)
    jobs.take_back_lost_claims()
    new = claimed()
    assert (new.job_id, new.number) == (old.job_id, old.number + 1)
    for end in (jobs.finish, jobs.release):
        with pytest.raises(LostClaimError):
            end(old)
    with pytest.raises(LostClaimError):
        jobs.fail(old, "code", "message")
    with pytest.raises(LostClaimError):
        jobs.defer(old, 1, "code", "message")
    assert jobs.heartbeat({old: Beat({}, 0), new: Beat({}, 0)}) == {new.job_id}
    jobs.finish(new)


def test_a_claim_holds_as_long_as_its_heart_beats() -> None:
    jobs.enqueue_collection(make_cells(1, 1))
    claim = claimed()
    Job.objects.update(claimed_by="elsewhere|1@1|1")
    assert jobs.take_back_lost_claims() == 0
    run_out(claim)
    jobs.heartbeat({claim: Beat({}, 0)})
    assert jobs.take_back_lost_claims() == 0
    run_out(claim)
    assert jobs.take_back_lost_claims() == 1
    assert Job.objects.get().state == JobState.WAITING


def test_a_worker_of_this_machine_that_has_ended_loses_its_claims_at_once() -> None:
    """K09."""
    jobs.enqueue_collection(make_cells(2, 1))
    gone, held = claimed(), claimed()
    Job.objects.filter(pk=gone.job_id).update(claimed_by=f"{here()}1@999999999|7")  # no process started then
    assert jobs.take_back_lost_claims() == 1
    assert set(Job.objects.filter(state="claimed").values_list("pk", flat=True)) == {held.job_id}


def test_this_process_is_not_gone_and_of_other_machines_nothing_is_known() -> None:
    assert not is_gone(worker_name())
    assert not is_gone("other/abc/1|1@1|1")


def lose(claim: Claim, worker: str) -> None:
    """As if the worker of that name had held the claim and were not heard of any more."""
    Job.objects.filter(pk=claim.job_id).update(claimed_by=worker)
    run_out(claim)
    jobs.take_back_lost_claims()


def gone(above: str) -> str:
    """The name of a process of this machine that has ended, below another."""
    return f"{here()}1@999999999|7|{above}"


def test_a_job_that_takes_its_worker_down_three_times_in_a_row_is_parked() -> None:
    """K06."""
    alive = worker_name().split("|")[1]
    jobs.enqueue_collection(make_cells(1, 1))
    for time in range(3):
        claim = jobs.claim_next(suspects=time == 2)
        assert claim is not None, "the third time it is a suspect, which is claimed apart"
        assert claim.lost_claims == time
        lose(claim, gone(alive))
    job = Job.objects.get()
    assert (job.state, job.error_code) == (JobState.PARKED, jobs.WORKER_LOST)
    assert jobs.claim_next() is None
    assert jobs.claim_next(suspects=True) is None


@pytest.mark.parametrize("worker", [gone("pool"), gone("1@999999999"), "elsewhere|1@1|1|pool"])
def test_a_job_whose_worker_may_have_been_killed_from_outside_stays_a_suspect(worker: str) -> None:
    jobs.enqueue_collection(make_cells(1, 1))
    for time in range(6):
        claim = jobs.claim_next(suspects=time >= 2)
        assert claim is not None
        lose(claim, worker)
    assert (Job.objects.get().state, Job.objects.get().lost_claims) == (JobState.WAITING, 2)


def test_a_job_that_went_forward_before_its_worker_died_is_not_parked() -> None:
    jobs.enqueue_collection(make_cells(1, 1))
    for time in range(5):
        claim = claimed()
        reply_in_ledger(claim, f"digest {time}")
        run_out(claim)
        jobs.take_back_lost_claims()
    assert (Job.objects.get().state, Job.objects.get().lost_claims) == (JobState.WAITING, 1)


def test_parked_and_failed_jobs_wait_again_when_somebody_says_so() -> None:
    study = make_cells(2, 1)
    jobs.enqueue_collection(study)
    jobs.fail(claimed(), "access_refused", "no key")
    Job.objects.filter(state="waiting").update(state=JobState.PARKED, lost_claims=3)
    assert jobs.try_again(study) == 2
    assert set(Job.objects.values_list("state", "error_code", "lost_claims")) == {("waiting", "", 0)}


def test_a_delay_is_kept_in_the_database() -> None:
    """K11."""
    study = make_cells(1, 1)
    jobs.enqueue_collection(study)
    jobs.defer(claimed(), 86_400, "rate_limited", "tomorrow")
    assert jobs.claim_next() is None
    assert jobs.open_jobs(study) == {"due": 0, "put_off": 1, "held": 0}
    assert jobs.go_on(study) == 1
    assert jobs.claim_next() is not None


def test_an_error_text_with_nul_is_kept() -> None:
    """K10."""
    jobs.enqueue_collection(make_cells(1, 1))
    jobs.fail(claimed(), "unexpected_error", "broken\0 text\ud83d")
    assert Job.objects.get().error_message == "broken\ufffd text\ufffd"


def test_a_spent_budget_puts_off_all_that_waits() -> None:
    study = make_cells(3, 1)
    jobs.enqueue_collection(study)
    jobs.release(claimed())
    assert jobs.stop_for_budget(study.pk, "spent") == 3
    assert jobs.claim_next() is None


def test_a_refused_key_fails_what_waits_of_that_model_only() -> None:
    study = make_cells(2, 2)
    jobs.enqueue_collection(study)
    refused = claimed()
    assert jobs.fail_alike(refused, "access_refused", "no key") == 1
    assert Job.objects.filter(state="waiting").exclude(model_id=refused.model_id).count() == 2


def test_a_job_whose_run_was_imported_meanwhile_is_closed() -> None:
    study = make_study()
    study.tasks.create(key="t1", question="Which two ferries of t1 opened before 1975?")
    study.models.create(name="m1", settings=ENDPOINT)
    jobs.enqueue_collection(study)
    make_run(study, task="t1", model="m1")
    assert jobs.close_jobs_with_runs(study) == 1
    assert Job.objects.get().state == JobState.DONE


def test_a_stage_job_is_renewed_once_it_is_over() -> None:
    study = make_study()
    run = make_run(study)
    assert jobs.enqueue_stage(study, JobKind.VERIFY, [run.pk]) == 1
    assert jobs.enqueue_stage(study, JobKind.VERIFY, [run.pk]) == 0
    jobs.finish(claimed())
    assert jobs.enqueue_stage(study, JobKind.VERIFY, [run.pk]) == 1


def test_twenty_thousand_cells_are_enqueued_by_one_statement(django_assert_num_queries) -> None:
    study = make_cells(0, 20)
    study.tasks.bulk_create(study.tasks.model(study=study, key=str(n), question="Q?") for n in range(1000))
    with django_assert_num_queries(2):
        assert jobs.enqueue_collection(study) == 20_000
    assert jobs.claim_next() is not None


@pytest.mark.django_db(transaction=True)
def test_many_claim_at_once_and_no_job_is_claimed_twice() -> None:
    jobs.enqueue_collection(make_cells(20, 2))
    got: list[int] = []
    start = threading.Barrier(8)

    def claim_all() -> None:
        start.wait(10)
        while (claim := jobs.claim_next()) is not None:
            got.append(claim.job_id)
        connection.close()

    threads = [threading.Thread(target=claim_all) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 40
