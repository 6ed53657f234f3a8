"""Both link policies, the judges' agreement, and Figure A3's identities on any study."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from unittest.mock import patch

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agreement.stats.bootstrap import Resampling
from lseval.domain.evidence import JudgementDraft
from lseval.domain.labels import SkipReason
from lseval.models import FailureNode, Judgement, Link, RoundConsensus, Study
from lseval.pipeline import stage2
from lseval.pipeline.judges import Auditor, JudgeName
from lseval.site.process_curve import curve_of
from lseval.site.selectors.dual_agreement import dual_agreement
from lseval.site.selectors.process import process_of
from lseval.site.selectors.process_details import ProcessDetails, judges_report, process_details_of
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import give_judgements, reading_turns, signed_in

pytestmark = pytest.mark.django_db


def details(study: Study) -> ProcessDetails:
    process = process_of(study)
    return process_details_of(study, process.pairs, process.link_policy)


@pytest.fixture
def study() -> Study:
    """One run of six rounds, groups I and I.

    Rounds 2 and 4 are nodes. At 2 judge A names groups 1 and 2, judge B group 2; at 4 A names 1, B none. Round 3 is
    split, 5 agreed to be no error, 6 skipped by B, 1 pre-skipped.
    """
    study = make_study()
    run = make_run(study, turns=reading_turns(6))
    give_verdict(run, "I", "I")
    run.rounds.filter(number=1).update(skip_reason="listing_only")
    give_judgements(run, 2, "error", "error", error_type="temporal_error", groups=[2])
    give_judgements(run, 3, "error", "non_error", groups=[1])
    give_judgements(run, 4, "error", "error", error_type="scope_error")
    give_judgements(run, 5, "non_error", "non_error")
    give_judgements(run, 6, "error", "skipped")
    first = run.answer_groups.get(number=1)
    for number in (2, 4):
        Judgement.objects.get(round__run=run, round__number=number, judge_role="A").groups.add(first)
    Judgement.objects.filter(round__number=4, judge_role="B").update(error_type="mapping_error")
    return study


def test_policies_are_counted_from_stored_judgements(study: Study) -> None:
    both, either = details(study).policies
    # A split round's naming links nothing under either policy.
    assert (both.policy, both.nodes, both.links, both.linked_nodes, both.linked_groups) == ("both", 2, 1, 1, 1)
    assert (either.policy, either.nodes, either.links, either.linked_nodes, either.linked_groups) == (
        "either", 2, 3, 2, 2,
    )  # fmt: skip
    assert (both.firsts, either.firsts) == ((2,), (2,))
    assert [share.counts for _, share in both.early] == ["0 of 1", "1 of 1", "1 of 1", "1 of 1", "1 of 1"]
    assert (both.is_in_force, either.is_in_force) == (True, False)


def test_overlap_and_kappas_worked_by_hand(study: Study) -> None:
    dual = details(study).dual
    # Three (node, incorrect group) are named, one of them by both.
    assert (dual.named.counts, dual.overlap.text, dual.overlap.n) == ("1 of 3", "33.3%", 3)
    # A: error 4, no error 1, skipped 0; B: error 2, no error 2, skipped 1. They agree on 3 of 5.
    # p_e = (4*2 + 1*2 + 0*1) / 25 = 0.4, kappa = (0.6 - 0.4) / 0.6.
    assert dual.verdicts.n == 5
    assert dual.verdicts.value == pytest.approx(1 / 3)
    # Without round 6: A 3 and 1, B 2 and 2, agreement 3 of 4, p_e = 1/2.
    assert (dual.errors.n, dual.errors.value) == (4, pytest.approx(0.5))
    # Types: (temporal, temporal) and (scope, mapping): p_o = 1/2, p_e = 1/4.
    assert (dual.types.n, dual.types.value) == (2, pytest.approx(1 / 3))


def test_intervals_of_the_judges_agreement_resample_whole_tasks() -> None:
    """Three tasks: in t1 the judges agree on 3 rounds of 4, in t2 on 1 of 2, in t3 on 2 of 2; worked anew here."""
    verdicts = {
        (1, "error", "error"): 2, (1, "non_error", "non_error"): 1, (1, "error", "non_error"): 1,
        (2, "non_error", "error"): 1, (2, "non_error", "non_error"): 1,
        (3, "error", "error"): 1, (3, "non_error", "non_error"): 1, (3, "unjudged", "error"): 5,
    }  # fmt: skip
    how = Resampling(resamples=400, seed=7)
    found = dual_agreement(verdicts, {}, {(1, 2): 3, (1, 1): 1, (3, 1): 2}, how)
    assert (found.errors.n, found.errors.estimate.clusters) == (8, 3)
    # Rows of A's errors: (3, 1), of no errors: (1, 3). Agreement 6 of 8, chance 1/2.
    assert found.errors.value == pytest.approx(0.5)
    tables = {1: [[2, 1], [0, 1]], 2: [[0, 0], [1, 1]], 3: [[1, 0], [0, 1]]}
    drawn = np.random.default_rng(7).integers(0, 3, size=(400, 3))
    kappas, shares = [], []
    for row in drawn:
        (ee, en), (ne, nn) = sum(np.array(tables[int(place) + 1]) for place in row)
        n = ee + en + ne + nn
        chance = ((ee + en) * (ee + ne) + (ne + nn) * (en + nn)) / n**2
        kappas.append(((ee + nn) / n - chance) / (1 - chance))
        named = sum({0: np.array([1, 3]), 1: np.array([0, 0]), 2: np.array([2, 0])}[int(place)] for place in row)
        shares.append(named[1] / named.sum() if named.sum() else np.nan)
    for measure, values in ((found.errors, kappas), (found.overlap, shares)):
        assert measure.estimate.interval == pytest.approx(tuple(np.nanpercentile(values, [2.5, 97.5])), abs=1e-9)
    assert found.overlap.value == pytest.approx(0.5)
    assert found.overlap.bounds == "0.0% to 75.0%"
    assert found.types.reason == "no item has a label from both"


def test_one_task_gives_no_interval_and_says_why(study: Study) -> None:
    found = details(study).dual.verdicts
    assert (found.bounds, found.no_interval) == (
        "",
        "there is only one task; the spread between tasks cannot be seen",
    )
    page = signed_in(make_user("lead", study, "lead")).get(reverse("process", args=[study.slug])).content.decode()
    assert f"no interval: {found.no_interval}" in page


def test_judges_report_has_the_page_s_numbers(study: Study) -> None:
    found = judges_report(study)
    process = process_of(study)
    assert found["judge_pairs"] == process.as_dict()["judge_pairs"]
    assert found["dual_judges"]["kappa_verdicts"]["point"] == pytest.approx(1 / 3)
    assert found["dual_judges"]["link_overlap"]["count"] == 1
    assert [row["policy"] for row in found["link_policies"]] == ["both", "either"]
    assert json.loads(json.dumps(found)) == found


def test_command_prints_the_identities_and_both_judges(study: Study) -> None:
    out = StringIO()
    call_command("process", study.slug, "--markdown", stdout=out)
    for line in (
        "| All rounds | 6 | 1 set aside + 5 dual-judged |",
        "| Dual-judged | 5 | 4 evaluable + 1 skipped after judging |",
        "| Evaluable | 4 | 2 error + 2 no error |",
        "| Final skips | 2 | 1 set aside + 1 skipped after judging |",
        "| Failure nodes | 2 | 1 linked + 1 unlinked |",
        "| Incorrect groups | 2 | 1 linked + 1 unlinked |",
        "| Kappa of verdicts | 0.33 | – | 5 | rounds: error, no error or skipped |",
        "| both (in force) | 1 | 1 of 2 | 1 | 1 | 0.0% | 100.0% | 100.0% | 100.0% | 100.0% |",
    ):
        assert line in out.getvalue()
    assert "judge A of a test, version 1" in out.getvalue()
    out = StringIO()
    call_command("process", study.slug, "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["failure_nodes"], found["dual_judges"]["kappa_errors"]["n"]) == (2, 4)
    with pytest.raises(CommandError, match="no rounds yet"):
        call_command("process", make_study("bare").slug)


def test_types_tell_linked_nodes_from_unlinked(study: Study) -> None:
    rows = {row.name: (row.linked, row.unlinked) for row in details(study).types if row.total}
    assert rows == {"Temporal error": (1, 0), "Scope error": (0, 1)}


def test_study_without_judgements_has_reasons_and_no_error() -> None:
    found = details(make_study("bare"))
    assert found.dual.verdicts.reason == "no item has a label from both"
    assert found.dual.overlap.reason == "no judge names an incorrect group at a failure node"
    assert curve_of(found.policies) is None


def test_curve_climbs_to_all_runs_at_the_last_first_link(study: Study) -> None:
    curve = curve_of(details(study).policies)
    assert curve is not None
    for _, _, lines in curve.stairs:
        assert lines[-1].y2 == curve.shares[-1].at  # 100%
        assert all(line.y2 <= line.y1 for line in lines)
    assert [tick.text for tick in curve.rounds] == ["1", "2"]
    page = signed_in(make_user("lead", study, "lead")).get(reverse("process", args=[study.slug])).content.decode()
    assert "100.0% by round 5" in page
    assert 'Both <span class="tag">in force</span>' in page


_VERDICT = st.sampled_from(["error", "non_error", "skipped", "unjudged"])
_TYPE = st.sampled_from(["temporal_error", "Scope error", "no such type", ""])
_DRAFT = st.builds(
    JudgementDraft, verdict=_VERDICT, error_type=_TYPE, groups=st.sets(st.integers(1, 4), max_size=3).map(tuple)
)
_ROUND = st.tuples(st.sampled_from(["", "", "", *map(str, SkipReason)]), _DRAFT, _DRAFT)
_RUN = st.tuples(
    st.sampled_from(["m1", "m2"]), st.tuples(*[st.sampled_from("CIU")] * 2), st.lists(_ROUND, max_size=6)
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=st.lists(_RUN, max_size=3), policy=st.sampled_from(["both", "either"]))
def test_the_identities_of_figure_a3_and_table_2_hold_on_any_study(runs, policy, db) -> None:
    """The rounds go through the real consensus, links and rows; only the judges' words are drawn."""
    Study.objects.all().delete()
    study = make_study()
    study.settings = {"link_policy": policy}
    study.save()
    wanted = Counter({"rounds": sum(len(rounds) for _, _, rounds in runs)})
    for place, (model, labels, rounds) in enumerate(runs):
        run = make_run(study, f"t{place}", model, turns=reading_turns(len(rounds)))
        give_verdict(run, *labels)
        for number, (reason, a, b) in enumerate(rounds, 1):
            run.rounds.filter(number=number).update(skip_reason=reason)
            wanted["pre_skipped"] += bool(reason)
            said = {a.verdict, b.verdict}
            wanted["nodes"] += not reason and said == {"error"}
            wanted["post_skipped"] += not reason and "skipped" in said and "unjudged" not in said
            wanted["unjudged"] += not reason and "unjudged" in said

        def auditor(run, number, role, hooks, rounds=rounds):
            draft = rounds[number - 1][1 if role == "A" else 2]
            return Auditor(JudgeName(role, "1"), lambda seen: draft)

        with patch.object(stage2, "auditor", auditor):
            stage2.audit_run(run.pk)
    _check(study, wanted)


def _check(study: Study, wanted: Counter[str]) -> None:
    process, found = process_of(study), details(study)
    count = process.accounting
    # What was put in.
    assert count.rounds == wanted["rounds"]
    assert (count.pre_skipped, count.post_skipped) == (wanted["pre_skipped"], wanted["post_skipped"])
    assert (count.unjudged, count.waiting) == (wanted["unjudged"], 0)
    assert process.nodes == count.error == wanted["nodes"] == FailureNode.objects.count()
    # Figure A3.
    assert count.rounds == count.pre_skipped + count.dual_judged
    assert count.dual_judged == count.evaluable + count.post_skipped + count.unjudged
    assert count.dual_judged == process.pairs.judged == RoundConsensus.objects.count()
    assert count.evaluable == count.error + count.non_error
    assert count.final_skipped == count.pre_skipped + count.post_skipped
    assert count.split <= count.non_error
    # Table 2.
    assert process.nodes == process.linked_nodes + process.unlinked_nodes == process.typed + process.unassigned
    assert process.linked_groups + process.unlinked_incorrect_groups == process.incorrect_groups
    assert process.links == Link.objects.count() >= process.linked_nodes
    assert sum(row.total for row in found.types) == process.nodes
    assert sum(row.linked for row in found.types) == process.linked_nodes
    # Table A6 adds up.
    for name, total in count.as_dict().items():
        assert sum(model.accounting.as_dict()[name] for model in process.models) == total
    # The policy in force is what is stored, and `both` keeps no more than `either`.
    both, either = found.policies
    stored = next(row for row in found.policies if row.is_in_force)
    assert (stored.links, stored.linked_nodes, stored.linked_groups, stored.runs_with_link) == (
        process.links, process.linked_nodes, process.linked_groups, process.runs_with_link,
    )  # fmt: skip
    assert dict(process.earliest)[5] == stored.by_round(5)
    assert (both.links, both.runs_with_link) <= (either.links, either.runs_with_link)
