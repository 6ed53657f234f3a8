"""Stage 1 by models: a judge that is down, scoring again from the ledger, and measuring a judge."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from lseval.errors import InputError
from lseval.judging.replies import Unusable
from lseval.models import Call, JobKind, Study, Verdict
from lseval.pipeline import jobs, stage1
from lseval.pipeline.evaluating import start_evaluation
from lseval.pipeline.evaluation import evaluate
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.ledger_store import replies_of_run
from lseval.pipeline.working import Worker
from tests.factories import make_run, make_study
from tests.pipeline.test_model_judges import judged_study, sensible
from tests.providers.bad_llm import BadLLM, fails, says

pytestmark = pytest.mark.django_db(transaction=True)


def test_j13_a_judge_that_is_down_leaves_groups_unjudged_after_five_tries_and_the_run_goes_on() -> None:
    waits: list[float] = []
    with BadLLM(lambda exchange: fails(503)) as llm:
        study = judged_study(llm.base_url, "stage1")
        run = make_run(study)
        stage1.verify_run(run.pk, Hooks(sleep=waits.append))
        found = list(Verdict.objects.order_by("group__number").values_list("label", "code"))
        assert found == [("unjudged", Unusable.UNREACHABLE), ("U", "")]
        assert Call.objects.filter(role="stage1:G1").count() == 5
        assert len(waits) == 4
        assert stage1.runs_to_verify(study) == [run.pk], "it waits for the judge to come back"
    with BadLLM(sensible) as back:
        study.settings["judges"]["stage1"]["base_url"] = back.base_url
        study.settings["providers"]["allow"] = [back.origin]
        study.save()
        stage1.verify_run(run.pk)
        assert stage1.runs_to_verify(study) == []
        assert Verdict.objects.get(group__number=1).label == "C"


def test_scoring_again_reads_the_ledger_once_a_run_and_asks_nobody(django_assert_max_num_queries) -> None:
    lines = "\n".join(f"{number}. Ferry {number}: opened in 1962 [1]" for number in range(1, 31))
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1")
        run = make_run(study, answer=f"{lines}\n\nSources\n[1] https://ferries.example/aldis\n")
        stage1.verify_run(run.pk)
        asked = len(llm.requests)
        assert asked == 30
        assert len(replies_of_run(study.pk, "stage1", run.task_id, run.model_id)) == 30
    before = list(Verdict.objects.values_list("group__number", "label", "claims"))
    Verdict.objects.all().delete()
    with django_assert_max_num_queries(24):  # not one more for each of the 30 groups; the model is gone
        stage1.verify_run(run.pk)
    assert list(Verdict.objects.values_list("group__number", "label", "claims")) == before
    assert Call.objects.count() == asked


def test_evaluate_command_names_its_judges_and_is_free_the_second_time() -> None:
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1")
        make_run(study)
        told = StringIO()
        call_command("evaluate", study.slug, stage="1", stdout=told)
        assert "judges: judge-stage1, version verify.1" in told.getvalue()
        asked = len(llm.requests)
        assert asked
        call_command("evaluate", study.slug, stage="1", again=True, stdout=StringIO())
        assert len(llm.requests) == asked


def test_evaluate_command_that_stopped_says_what_to_do() -> None:
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1", budget={"calls": 1})
        for task in ("t1", "t2", "t3"):
            make_run(study, task)
        with pytest.raises(Exception, match="run the same command again") as stopped:
            evaluate(study, ("1",), threads=1)
        assert "budget" in str(stopped.value)
        assert len(llm.requests) == 1
        study.settings["budget"] = {"calls": 100}
        study.save()
        assert evaluate(study, ("1",), threads=1)["verdicts"]["waiting"] == 0
        assert len(llm.requests) == 3


def test_queued_stages_are_done_in_order_by_a_worker() -> None:
    study = make_study()
    run = make_run(study)
    queued = start_evaluation(study)
    assert (queued.verify, queued.audit) == (1, 1)
    claim = jobs.claim_next(study=study, kinds=(JobKind.AUDIT,))
    assert claim is not None
    worker = Worker(threads=1, study=study, until_idle=True, poll_s=0.05)
    assert worker.run_one(claim) == "put off", "Stage 2 rests on Stage 1"
    jobs.go_on(study)
    Worker(threads=1, study=study, until_idle=True, poll_s=0.05).run()
    assert stage1.runs_to_verify(study) == []
    assert run.rounds.filter(consensus__isnull=False).exists()
    assert start_evaluation(study) == type(queued)(0, 0)


def test_a_study_without_runs_has_nothing_to_judge() -> None:
    with pytest.raises(InputError, match="no run"):
        start_evaluation(make_study())


CLAIMS = [
    {"label": "supported", "claim": "The ferry opened in 1962.", "meta": {"id": "a"}},
    {"label": "not_supported", "claim": "The ferry is yellow.", "meta": {"id": "b"}},
    {"label": "partially_supported", "claim": "The ferry opened in 1962 in rain.", "meta": {"id": "c"}},
]


@pytest.fixture
def wice(tmp_path):
    rows = [{**row, "evidence": ["Lake Aldis ferry.", "It opened in 1962."]} for row in CLAIMS]
    (tmp_path / "claim.dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def _measured(*arguments: str) -> dict:
    told = StringIO()
    call_command("measure_judge", *arguments, "--json", stdout=told)
    return json.loads(told.getvalue())


def test_measuring_a_model_judge_is_paid_once(wice) -> None:
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1")
        first = _measured("--wice", str(wice), "--study", study.slug, "--threads", "2")
        # It calls everything supported: right on one of three, and by chance alone.
        assert first["two_way_accuracy"] == pytest.approx(1 / 3)
        assert first["two_way_kappa"] == pytest.approx(0)
        assert "three_way_accuracy" not in first
        assert len(llm.requests) == 3
        assert _measured("--wice", str(wice), "--study", study.slug, "--threads", "2") == first
        assert len(llm.requests) == 3


def test_claims_without_a_label_are_counted_apart(wice) -> None:
    with BadLLM(lambda exchange: says("I would rather not.")) as llm:
        study = judged_study(llm.base_url, "stage1")
        found = _measured("--wice", str(wice), "--study", study.slug, "--threads", "1")
    assert found["unjudged"] == {Unusable.NO_JSON: 3}
    assert found["two_way_accuracy"] is None


def test_embedded_judge_is_measured_without_a_study(wice) -> None:
    found = _measured("--wice", str(wice), "--most", "2")
    assert (found["claims"], found["two_way_accuracy"]) == (2, 1.0)
    assert not Study.objects.exists()


def test_a_study_without_a_model_cannot_be_measured(wice) -> None:
    with pytest.raises(InputError, match="names no model"):
        _measured("--wice", str(wice), "--study", make_study().slug)
