"""Both stages judged by models on a real server on loopback, through the ledger."""

from __future__ import annotations

import json
import re

import pytest

from lseval.judging.prompts import prompt
from lseval.judging.replies import Unusable
from lseval.models import Call, Judgement, Phase, Rubric, SecondVerdict, Study, Verdict
from lseval.pipeline import stage1
from lseval.pipeline.evaluation import evaluate
from lseval.pipeline.hooks import UNATTENDED
from lseval.pipeline.import_runs import import_run
from lseval.pipeline.preparing import prepare_run
from tests.factories import make_record, make_study
from tests.providers.bad_llm import BadLLM, answers, says
from tests.providers.loopback import Behaviour, Exchange

pytestmark = pytest.mark.django_db(transaction=True)


def answer_for(exchange: Exchange) -> str:
    """What a sensible judge says, told by its prompt."""
    messages = json.loads(exchange.body)["messages"]
    system, user = messages[0]["content"], messages[1]["content"]
    if "check one answer" in system:
        statements = re.findall(r"^(\d+)\. ", user.split("The statements to decide")[1], re.MULTILINE)
        return json.dumps(
            {
                "checks": [
                    {"id": int(n), "status": "supported", "quotation": "opened in 1962", "page": 1, "note": ""}
                    for n in statements
                ]
            }
        )
    if "You read a question" in system:
        return json.dumps(
            {
                "required_count": 2,
                "constraints": ["opened before 1975"],
                "grouping_rule": "one ferry",
                "required_fields": ["opening year"],
            }
        )
    if "take a response apart" in system:
        units = [
            {"title": "Aldis", "begins": "Lake Aldis ferry", "ends": "opened in 1962 [1]", "fields": {}},
            {"title": "Borun", "begins": "Lake Borun ferry", "ends": "opened in 1971 [2]", "fields": {}},
        ]
        return json.dumps({"units": units})
    return json.dumps({"verdict": "non_error", "type": "", "groups": [], "explanation": "It holds."})


def sensible(exchange: Exchange) -> Behaviour:
    return says(answer_for(exchange))


def judged_study(base_url: str, *roles: str, **settings: object) -> Study:
    study = make_study()
    origin = base_url.removesuffix("/v1")
    study.settings = {
        "judges": {role: {"base_url": base_url, "model": f"judge-{role}"} for role in roles},
        "providers": {"allow": [origin]},
        **settings,
    }
    study.save()
    return study


def test_models_judge_both_stages_and_every_call_is_in_the_ledger():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1", "stage1_second", "stage2_a", "stage2_b")
        import_run(study, make_record(), source_format="test")
        counts = evaluate(study, threads=2)
        assert counts["verdicts"] == {"C": 1, "I": 0, "U": 1, "unjudged": 0, "waiting": 0}
        verdict = Verdict.objects.get(label="C")
        assert (verdict.judge, verdict.judge_version[:9]) == ("judge-stage1", "verify.1 ")
        assert verdict.claims[0]["quotation"]["text"] == "opened in 1962"
        assert SecondVerdict.objects.get(label="C").judge == "judge-stage1_second"
        judgements = Judgement.objects.order_by("judge_role").values_list("judge", flat=True)
        assert set(judgements) == {"judge-stage2_a", "judge-stage2_b"}
        roles = set(Call.objects.filter(study=study).values_list("phase", "role"))
        assert (Phase.STAGE_1, "stage1:G1") in roles
        assert (Phase.STAGE_2, "stage2_b:R2") in roles
        asked = len(llm.requests)
        assert asked == Call.objects.filter(study=study).count()
        evaluate(study, threads=2, again=True)
        assert len(llm.requests) == asked


def test_nobody_is_asked_about_a_group_without_a_readable_page():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1")
        import_run(study, make_record(pages=()), source_format="test")
        assert evaluate(study, ("1",), threads=1)["verdicts"]["U"] == 2
        assert llm.requests == []


def test_rubric_and_groups_are_read_by_models_before_the_first_verdict():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1", "rubric", "grouping")
        import_run(study, make_record(rubric=None), source_format="test")
        evaluate(study, ("1",), threads=1)
        run = study.runs.get()
        assert run.rubric.constraints == ["opened before 1975"]
        assert run.rubric.origin == "judge-rubric, prompt rubric.1"
        assert run.rubric.prompt_digest == prompt("rubric.1").digest
        assert [group.title for group in run.answer_groups.all()] == ["Aldis", "Borun"]
        assert run.grouping_method == "model"
        assert run.grouping_origin == "judge-grouping, prompt grouping.1"
        assert run.grouping_digest == prompt("grouping.1").digest
        assert all(group.citations.exists() for group in run.answer_groups.all())
        groups = list(run.answer_groups.values_list("pk", flat=True))
        evaluate(study, ("1",), threads=1, again=True)
        assert list(run.answer_groups.values_list("pk", flat=True)) == groups


def test_a_changed_prompt_has_the_rubric_and_the_groups_made_anew_unless_there_are_verdicts():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "rubric", "grouping")
        study.settings["judges"]["rubric"]["model"] = "a/" + "very-" * 30 + "long-name"
        study.save()
        import_run(study, make_record(rubric=None), source_format="test")
        run = study.runs.get()
        prepare_run(run, UNATTENDED)
        assert run.rubric.origin.endswith("long-name, prompt rubric.1")
        groups = set(run.answer_groups.values_list("pk", flat=True))
        prepare_run(run, UNATTENDED)
        assert set(run.answer_groups.values_list("pk", flat=True)) == groups
        Rubric.objects.update(prompt_digest="0" * 64, constraints=[])
        run.grouping_digest = "0" * 64
        run.save()
        run = study.runs.get()
        prepare_run(run, UNATTENDED)
        assert run.rubric.constraints == ["opened before 1975"]
        assert run.rubric.prompt_digest == prompt("rubric.1").digest
        assert groups.isdisjoint(run.answer_groups.values_list("pk", flat=True))
        evaluate(study, ("1",), threads=1)
        judged = set(run.answer_groups.values_list("pk", flat=True))
        Rubric.objects.update(prompt_digest="0" * 64)
        prepare_run(study.runs.get(), UNATTENDED)
        assert Rubric.objects.get().prompt_digest == "0" * 64
        assert set(run.answer_groups.values_list("pk", flat=True)) == judged


def test_one_rubric_a_task_is_asked_for_once():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "rubric", rubric_per="task")
        for model in ("m1", "m2", "m3"):
            import_run(study, make_record(model=model, rubric=None), source_format="test")
        evaluate(study, ("1",), threads=1)
        assert len(llm.requests) == 1
        assert {run.rubric.required_count for run in study.runs.all()} == {2}


def test_a_judge_that_never_makes_sense_leaves_groups_unjudged_and_the_run_goes_on():
    with BadLLM(lambda exchange: says("I would rather talk about lakes.")) as llm:
        study = judged_study(llm.base_url, "stage1", "stage2_a", "stage2_b")
        import_run(study, make_record(), source_format="test")
        counts = evaluate(study, threads=1)
        assert counts["verdicts"] == {"C": 0, "I": 0, "U": 1, "unjudged": 1, "waiting": 0}
        assert Verdict.objects.get(label="unjudged").code == Unusable.NO_JSON
        assert counts["rounds"]["unjudged"] == counts["rounds"]["all"] - counts["rounds"]["pre_skipped"]
        asked = len(llm.requests)
        evaluate(study, threads=1)
        assert len(llm.requests) == asked


def test_a_group_judged_again_is_asked_anew_and_both_replies_are_kept():
    with BadLLM(sensible) as llm:
        study = judged_study(llm.base_url, "stage1")
        import_run(study, make_record(), source_format="test")
        evaluate(study, ("1",), threads=1)
        verdict = Verdict.objects.get(label="C")
        asked = len(llm.requests)
        again = stage1.verify_again(verdict.group)
        assert (again.repeat, len(llm.requests)) == (1, asked + 1)
        assert Call.objects.filter(role=f"stage1:G{verdict.group.number}").count() == 2
        evaluate(study, ("1",), threads=1, again=True)
        assert len(llm.requests) == asked + 1
        assert Verdict.objects.get(group=verdict.group).repeat == 1


def test_a_refused_key_stops_the_stage_with_words_and_keeps_what_is_done():
    refused = answers({"error": {"message": "bad key"}}, status=401)
    with BadLLM(lambda exchange: refused) as llm:
        study = judged_study(llm.base_url, "stage1")
        import_run(study, make_record(), source_format="test")
        with pytest.raises(Exception, match="run the same command again"):
            evaluate(study, ("1",), threads=1)
        assert not Verdict.objects.exists()
    with BadLLM(sensible) as llm:
        study.settings["judges"]["stage1"]["base_url"] = llm.base_url
        study.settings["providers"]["allow"] = [llm.origin]
        study.save()
        assert evaluate(study, ("1",), threads=1)["verdicts"]["C"] == 1
