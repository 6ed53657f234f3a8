"""Stage 2 by models through the ledger: a judge that is down, and a kill between reply and commit."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from lseval.judging.replies import Unusable
from lseval.models import Call, Judgement, RoundConsensus
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.import_runs import import_run
from lseval.pipeline.stage2 import audit_run, runs_to_audit
from tests.factories import make_record
from tests.pipeline.installation import an_installation, kill_tree, wait_until
from tests.pipeline.test_model_judges import judged_study, sensible
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM, fails, says
from tests.providers.loopback import Behaviour, Exchange
from tests.site.building import reading_turns

ROUNDS = 6


def is_judge_a(exchange: Exchange) -> bool:
    return json.loads(exchange.body)["model"] == "judge-stage2_a"


@pytest.mark.django_db(transaction=True)
def test_j13_a_judge_that_is_down_leaves_rounds_unjudged_after_five_tries_and_the_run_goes_on():
    waits: list[float] = []
    with BadLLM(lambda exchange: fails(503) if is_judge_a(exchange) else sensible(exchange)) as llm:
        study = judged_study(llm.base_url, "stage2_a", "stage2_b")
        run = import_run(study, make_record(turns=reading_turns(3)), source_format="test")
        assert run.run_id is not None
        audit_run(run.run_id, Hooks(sleep=waits.append))
        lost = Judgement.objects.filter(judge_role="A")
        assert {(one.verdict, one.code) for one in lost} == {("unjudged", Unusable.UNREACHABLE)}
        assert set(Judgement.objects.filter(judge_role="B").values_list("verdict", flat=True)) == {"non_error"}
        assert set(RoundConsensus.objects.values_list("verdict", flat=True)) == {"unjudged"}
        tries = Counter(Call.objects.filter(role__startswith="stage2_a:").values_list("role", flat=True))
        assert set(tries.values()) == {5}
        assert len(waits) == 4 * len(tries)
        assert runs_to_audit(study) == [run.run_id], "it waits for the judge to come back"
    with BadLLM(sensible) as back:
        for settings in study.settings["judges"].values():
            settings["base_url"] = back.base_url
        study.settings["providers"]["allow"] = [back.origin]
        study.save()
        audit_run(run.run_id)
        assert set(RoundConsensus.objects.values_list("verdict", flat=True)) == {"non_error"}
        assert runs_to_audit(study) == []


MAKE = """
from lseval.pipeline.import_runs import import_run
from tests.factories import make_record
from tests.pipeline.test_model_judges import judged_study
from tests.site.building import reading_turns
study = judged_study({base_url!r}, "stage2_a", "stage2_b")
import_run(study, make_record(turns=reading_turns({rounds})), source_format="test")
"""


def slowly(exchange: Exchange) -> Behaviour:
    """A judge that takes a moment and calls every round an error, so that a kill finds it at work."""
    number = int(re.search(r"\nRound (\d+)\n", json.loads(exchange.body)["messages"][1]["content"])[1])
    reply = {"verdict": "error", "type": "scope_error", "groups": [1], "explanation": f"round {number}"}
    return bad_llm.after(0.1, says(json.dumps(reply)))


def test_kill_9_costs_at_most_one_call_and_leaves_one_judgement_a_round():
    with an_installation() as installation, BadLLM(slowly) as llm:
        installation.manage("shell", "-v0", "-c", MAKE.format(base_url=llm.base_url, rounds=ROUNDS))
        installation.manage("evaluate", "s1", "--stage", "1")
        lost = 0
        for at in (3, 7):
            process = installation.start("evaluate", "s1", "--stage", "2")
            wait_until(lambda at=at: len(llm.requests) >= at)
            kill_tree(process)
            # Whatever was asked and has no row was under way: one call at most, since a run asks one at a time.
            now = len(llm.requests) - installation.count("call")
            assert now - lost in (0, 1)
            lost = now
            assert installation.count("judgement") == 0, "a run's judgements are saved together or not at all"
        installation.manage("evaluate", "s1", "--stage", "2")
        asked = Counter(request.body for request in llm.requests)
        judged = installation.count("round", "skip_reason = ''")
        assert judged > 0
        assert len(asked) == installation.count("call") == 2 * judged
        assert sum(asked.values()) - len(asked) == lost <= 2
        per_round = installation.sql("SELECT round_id, judge_role, count(*) FROM lseval_judgement GROUP BY 1, 2")
        assert len(per_round) == 2 * judged
        assert {count for *_, count in per_round} == {1}
        assert installation.count("failurenode") == judged
        before = len(llm.requests)
        installation.manage("evaluate", "s1", "--stage", "2", "--again")
        assert len(llm.requests) == before, "judged again from the ledger"
