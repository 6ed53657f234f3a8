"""Collecting runs: each cell ends once, and nothing is paid twice, whatever the providers do."""

from __future__ import annotations

import json
import threading
from collections import Counter
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from lseval.models import Call, Job, JobState, Run, Study
from lseval.pipeline import jobs
from lseval.pipeline.budgets import forget_budgets
from lseval.pipeline.costs import costs_of
from lseval.pipeline.jobs import Claim
from lseval.pipeline.ledger import CallSeen
from lseval.pipeline.outcomes import MOST_CLAIMS
from lseval.pipeline.working import Watcher, Worker
from lseval.providers.concurrency import forget_limits
from lseval.providers.retrying import RetryPolicy
from tests.pipeline.pretend import ANSWER, agent_of, make_collectable, turn_of, turns_so_far
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM
from tests.providers.loopback import Behaviour, SeenRequest

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 5
QUICK = RetryPolicy(first_wait_s=0.0, longest_backoff_s=0.0)


@pytest.fixture(autouse=True)
def _pretend(settings) -> None:
    settings.LSEVAL_PROVIDERS = {"sandbox": "tests.pipeline.pretend"}
    forget_limits()
    forget_budgets()


def collect(study: Study, threads: int = 4, watcher: Watcher | None = None, policy: RetryPolicy = QUICK) -> str:
    """Enqueue what is open and work until nothing is left."""
    jobs.enqueue_collection(study)
    jobs.go_on(study)
    return Worker(
        threads=threads, study=study, until_idle=True, watcher=watcher, policy=policy, poll_s=0.05, heartbeat_s=0.2
    ).run()


def test_every_cell_gets_its_run_and_every_call_a_row() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url, tasks=3, models=2)
        assert collect(study) == "idle"
        assert len(llm.requests) == 6 * (TURNS + 1)
    assert Run.objects.count() == 6
    assert Call.objects.filter(kind="chat", error_code="").count() == 6 * (TURNS + 1)
    assert Call.objects.filter(kind="search").count() == 6
    run = Run.objects.first()
    assert run.final_answer == ANSWER
    assert run.rounds.count() == TURNS
    assert run.attempts.count() == 1
    assert run.started_at is not None
    assert run.is_valid_final
    assert set(Job.objects.values_list("state", flat=True)) == {"done"}


def test_collecting_again_asks_for_nothing() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url)
        collect(study)
        before = len(llm.requests)
        assert collect(study) == "idle"
        assert len(llm.requests) == before


def test_a_run_that_is_made_again_from_the_ledger_is_the_same_and_costs_nothing() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        collect(study)
        first = Run.objects.get()
        turns = [(turn.text, [call.observation for call in turn.tool_calls.all()]) for turn in first.turns.all()]
        digest, asked = first.source_digest, len(llm.requests)
        first.delete()
        Job.objects.update(state=JobState.WAITING, claim=0)
        collect(study)
        again = Run.objects.get()
        assert len(llm.requests) == asked
    assert again.source_digest == digest
    assert [(t.text, [call.observation for call in t.tool_calls.all()]) for t in again.turns.all()] == turns


class StopAfter(Watcher):
    """Stops a worker after so many calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.worker: Worker | None = None

    def call_seen(self, seen: CallSeen) -> None:
        if not seen.is_replayed:
            self.left -= 1
            if self.left == 0 and self.worker is not None:
                self.worker.stop("stopped")


def test_a_stopped_worker_keeps_what_was_answered_and_the_next_goes_on() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url, tasks=4)
        jobs.enqueue_collection(study)
        for _ in range(30):
            watcher = StopAfter(3)
            watcher.worker = Worker(threads=2, study=study, until_idle=True, watcher=watcher, poll_s=0.05)
            if watcher.worker.run() == "idle":
                break
            assert not Job.objects.filter(state="claimed").exists()
        assert len(llm.requests) == 4 * (TURNS + 1), "no call was made twice"
    assert Run.objects.count() == 4
    assert max(run.attempts.count() for run in Run.objects.all()) > 1


def test_a_budget_of_calls_in_a_storm_of_rate_limits_stops_cleanly_and_can_go_on() -> None:
    storm = {"on": True}

    def choose(request: SeenRequest) -> Behaviour:
        if storm["on"] and len(llm.requests) % 2:
            return bad_llm.rate_limited("0")
        return turn_of(turns_so_far(request.json()["messages"]), TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=20, budget={"calls": 100})
        assert collect(study, threads=8) == "budget"
        asked = len(llm.requests) + Call.objects.filter(kind="search").count()
        assert asked == Call.objects.exclude(kind="fetch").count()
        assert 90 <= asked <= 100 + 8
        waiting = Job.objects.filter(state="waiting")
        assert {job.error_code for job in waiting} == {"budget_spent"}
        assert not Job.objects.exclude(state__in=["waiting", "done"]).exists()
        storm["on"] = False
        study.settings["budget"] = {"calls": 10_000}
        study.save()
        forget_budgets()
        assert collect(study, threads=8) == "idle"
    assert Run.objects.count() == 20
    assert Call.objects.filter(kind="chat", error_code="").count() == 20 * (TURNS + 1)


BAD = {
    "429 now": bad_llm.rate_limited("0"),
    "429 decimal": bad_llm.rate_limited("0.01"),
    "429 past date": bad_llm.rate_limited("Wed, 21 Oct 2015 07:28:00 GMT"),
    "429 junk": bad_llm.rate_limited("soon"),
    "429 negative": bad_llm.rate_limited("-5"),
    "429 milliseconds": bad_llm.rate_limited("10", header="retry-after-ms"),
    "429 inside 200": bad_llm.choices_null(429),
    "no choices": bad_llm.choices_empty(),
    "cut-off body": bad_llm.cut_off_body(),
    "cut-off connection": bad_llm.cut_off_connection(),
    "reset": bad_llm.resets(),
    "503": bad_llm.fails(503),
    "529": bad_llm.fails(529),
}


@pytest.mark.parametrize("name", BAD)
def test_what_goes_wrong_once_is_tried_again_and_each_try_is_a_row(name: str) -> None:
    """Every other request goes wrong."""
    seen: Counter[int] = Counter()

    def choose(request: SeenRequest) -> Behaviour:
        turn = turns_so_far(request.json()["messages"])
        seen[turn] += 1
        return BAD[name] if seen[turn] == 1 else turn_of(turn, TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        assert collect(study, threads=1) == "idle"
        asked = len(llm.requests)
    assert Run.objects.get().rounds.count() == TURNS
    chats = Call.objects.filter(kind="chat")
    assert chats.count() == asked == 2 * (TURNS + 1)
    assert chats.exclude(error_code="").count() == TURNS + 1
    assert chats.exclude(error_code="").filter(cost_usd__isnull=False).count() == 0


ODD = {
    "empty": bad_llm.says_nothing(),
    "refusal": bad_llm.refuses(),
    "filtered": bad_llm.filtered(),
    "broken arguments": bad_llm.cut_off_arguments(),
    "split surrogates": bad_llm.split_surrogates(),
    "reasoning tags": bad_llm.reasons_in_tags("hm", "Still thinking."),
    "unclosed reasoning": bad_llm.reasons_in_tags("hm", "", is_closed=False),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_reply_is_a_reply_paid_once_and_the_run_goes_on(name: str) -> None:
    """The second reply is odd."""

    def choose(request: SeenRequest) -> Behaviour:
        turn = turns_so_far(request.json()["messages"])
        return ODD[name] if turn == 1 else turn_of(turn, TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        assert collect(study, threads=1) == "idle"
        asked = len(llm.requests)
        Run.objects.all().delete()
        Job.objects.update(state=JobState.WAITING)
        assert collect(study, threads=1) == "idle"
        assert len(llm.requests) == asked, "all of it is served from the ledger"
    assert Call.objects.filter(kind="chat", error_code="").count() == asked
    assert Run.objects.count() == 1


def test_a_hang_ends_at_the_timeout_and_is_tried_again() -> None:
    script = iter([bad_llm.hangs()])

    def choose(request: SeenRequest) -> Behaviour:
        return next(script, None) or turn_of(turns_so_far(request.json()["messages"]), TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=1, controls={"llm_timeout_s": 0.3})
        assert collect(study) == "idle"
    assert Call.objects.filter(error_code="timed_out").count() == 1
    assert Run.objects.count() == 1


def test_a_pause_of_a_day_is_kept_in_the_database_and_no_thread_sits_it_out() -> None:
    with BadLLM(default=bad_llm.rate_limited("86400")) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        jobs.enqueue_collection(study)
        worker = Worker(threads=1, study=study, policy=QUICK, until_idle=True)
        claim = jobs.claim_next()
        assert worker.run_one(claim) == "put off"
        assert len(llm.requests) == 1
    job = Job.objects.get()
    assert job.state == "waiting"
    assert 86_000 < (job.not_before - job.created_at).total_seconds() < 90_000
    assert job.error_code in ("rate_limited", "deferred")


def test_a_refused_key_fails_the_models_runs_with_few_calls_and_can_be_tried_again() -> None:
    with BadLLM(default=bad_llm.fails(401, message="bad key")) as llm:
        study = make_collectable(llm.base_url, tasks=30)
        assert collect(study, threads=2) == "idle"
        assert len(llm.requests) <= 2
        assert set(Job.objects.values_list("state", "error_code")) == {("failed", "access_refused")}
        assert not Run.objects.exists()
        assert jobs.try_again(study) == 30


def test_an_endpoint_that_is_down_puts_its_runs_off_longer_each_time_and_at_last_fails() -> None:
    with BadLLM(default=bad_llm.fails(503)) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        jobs.enqueue_collection(study)
        for time in range(MOST_CLAIMS):
            jobs.go_on(study)
            claim = jobs.claim_next()
            outcome = Worker(threads=1, policy=RetryPolicy(tries=1)).run_one(claim)
            assert outcome == ("failed" if time == MOST_CLAIMS - 1 else "put off")
    assert not Run.objects.exists()
    assert Job.objects.get().error_code == "unavailable"


def test_an_unexpected_error_fails_its_job_and_the_others_go_on(monkeypatch) -> None:
    from lseval.pipeline import collection

    real = collection.run_agent

    def run_agent(question: str, *args: object, **options: object):
        if "number 1" in question:
            raise ZeroDivisionError("division\0by zero")
        return real(question, *args, **options)

    monkeypatch.setattr(collection, "run_agent", run_agent)
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url, tasks=3)
        assert collect(study) == "idle"
    assert Run.objects.count() == 2
    failed = Job.objects.get(state="failed")
    assert failed.error_code == "unexpected_error"
    assert failed.error_message == "ZeroDivisionError: division\ufffdby zero"


def test_a_worker_that_lost_its_job_makes_no_further_call_and_saves_nothing() -> None:
    taken = threading.Event()

    def choose(request: SeenRequest) -> Behaviour:
        turn = turns_so_far(request.json()["messages"])
        if turn == 2 and not taken.is_set():
            taken.set()
            return bad_llm.after(0.8, turn_of(turn, TURNS))
        return turn_of(turn, TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=1)
        jobs.enqueue_collection(study)
        claim = jobs.claim_next()
        thief = threading.Thread(target=_take_over, args=(claim, taken))
        thief.start()
        outcome = Worker(threads=1, heartbeat_s=0.1).run_one(claim)
        thief.join()
        assert outcome == "lost"
        assert len(llm.requests) == 3
    assert not Run.objects.exists()
    assert Job.objects.get().claim == 2


def _take_over(claim: Claim, when: threading.Event) -> None:
    when.wait(10)
    Job.objects.filter(pk=claim.job_id).update(claim=claim.number + 1)
    connection.close()


def test_costs_count_every_attempt_and_sum_before_rounding() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        study = make_collectable(llm.base_url, tasks=2)
        collect(study)
    # bad_llm's usage: 120 in of which 100 cached, 30 out: 20 x $1 + 100 x $0.1 + 30 x $4 = $150 per million calls.
    found = costs_of(study)
    chats = 2 * (TURNS + 1)
    row = found.phases[0]
    assert row.spent.cost_usd == Decimal("0.00015") * chats
    assert row.spent.upper_cost_usd == Decimal("0.00024") * chats
    assert (row.spent.input_tokens, row.spent.cached_tokens) == (120 * chats, 100 * chats)
    assert row.spent.unpriced == 2, "the two searches have no price"
    assert row.worked_s > 0
    assert found.total.spent == row.spent
    assert found.models[0].spent.unpriced == 0


def run_command(*args: str) -> tuple[str, str]:
    out = StringIO()
    problem = ""
    try:
        call_command(*args, stdout=out)
    except CommandError as error:
        problem = str(error)
    return out.getvalue(), problem


def test_the_command_collects_and_says_what_it_did() -> None:
    with BadLLM(agent_of(TURNS)) as llm:
        make_collectable(llm.base_url, tasks=2)
        out, problem = run_command("collect", "s1", "--json")
        told = json.loads(out)
        assert not problem
        assert (told["runs"], told["cells"], told["ended"]) == (2, 2, "idle")
        assert told["calls_made"] == Call.objects.exclude(kind="fetch").count()
        assert told["spent"]["cost_usd"] == "0.0018"
        out, problem = run_command("costs", "s1")
    assert "$0.0018" in out
    assert "unpriced" in out


def test_the_command_says_what_to_mend(monkeypatch) -> None:
    with BadLLM(default=bad_llm.fails(401, message="bad key")) as llm:
        make_collectable(llm.base_url, tasks=2)
        _, problem = run_command("collect", "s1")
    assert "2 runs could not be made" in problem
    assert "access_refused" in problem
    assert "Workers read keys from their environment" in problem


def test_the_command_of_a_paused_or_empty_study_says_so() -> None:
    study = make_collectable("http://127.0.0.1:9/v1")
    Study.objects.update(is_paused=True)
    assert "paused" in run_command("collect", "s1")[1]
    Study.objects.update(is_paused=False)
    study.models.all().delete()
    assert "nothing to collect" in run_command("collect", "s1")[1]


def test_a_pause_starts_no_new_run_and_lets_those_in_the_making_end() -> None:
    def choose(request: SeenRequest) -> Behaviour:
        Study.objects.update(is_paused=True)
        connection.close()
        return turn_of(turns_so_far(request.json()["messages"]), TURNS)

    with BadLLM(choose) as llm:
        study = make_collectable(llm.base_url, tasks=4)
        assert collect(study, threads=1) == "paused"
    assert Run.objects.count() == 1
    assert sorted(Job.objects.values_list("state", flat=True)) == ["done", "waiting", "waiting", "waiting"]
