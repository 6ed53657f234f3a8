"""Two judgements made into a consensus, and the links that it retains."""

from __future__ import annotations

import pytest

from lseval.domain.consensus import LinkPolicy, RoundConsensus, consensus, earliest_association, retained_links
from lseval.domain.evidence import JudgementDraft
from lseval.errors import InputError


def said(verdict: str, error_type: str = "", *groups: int) -> JudgementDraft:
    return JudgementDraft(verdict, error_type, groups)


@pytest.mark.parametrize(
    ("verdict_a", "verdict_b", "expected", "is_split"),
    [
        ("error", "error", "error", False),
        ("error", "non_error", "non_error", True),
        ("non_error", "error", "non_error", True),
        ("non_error", "non_error", "non_error", False),
        ("skipped", "error", "skipped", False),
        ("non_error", "skipped", "skipped", False),
        ("skipped", "skipped", "skipped", False),
        ("unjudged", "error", "unjudged", False),
        ("skipped", "unjudged", "unjudged", False),
    ],
)
def test_verdict_of_every_pair(verdict_a: str, verdict_b: str, expected: str, is_split: bool) -> None:
    agreed = consensus(said(verdict_a, "temporal_error"), said(verdict_b, "temporal_error"))
    assert (agreed.verdict, agreed.is_split) == (expected, is_split)
    assert bool(agreed.error_type) == (expected == "error")


@pytest.mark.parametrize(
    ("type_a", "type_b", "expected", "is_agreed"),
    [
        ("wrong_entity", "Wrong entity", "wrong_entity", True),
        ("date error", "temporal_error", "temporal_error", True),
        ("scope_error", "wrong_entity", "scope_error", False),
        ("something odd", "wrong_entity", "unassigned", False),
        ("wrong_entity", "", "wrong_entity", False),
        ("", "", "unassigned", False),
    ],
)
def test_type_is_the_agreed_one_else_judge_as(type_a: str, type_b: str, expected: str, is_agreed: bool) -> None:
    assert consensus(said("error", type_a), said("error", type_b)) == RoundConsensus(
        "error", error_type=expected, is_type_agreed=is_agreed
    )


@pytest.mark.parametrize("verdict", ["", "ERROR", "wrong", "non-error", "\x00"])
def test_unknown_verdict_is_refused_rather_than_taken_for_no_error(verdict: str) -> None:
    with pytest.raises(InputError):
        consensus(said("error"), said(verdict))


def test_link_needs_both_judges_and_an_incorrect_group() -> None:
    a, b = said("error", "", 3, 1, 2, 1), said("error", "", 2, 3, 9)
    assert retained_links(a, b, {1, 3, 9}) == (3,)


def test_either_policy_keeps_what_one_judge_names() -> None:
    a, b = said("error", "", 3, 1, 2, 1), said("error", "", 2, 3, 9)
    assert retained_links(a, b, {1, 3, 9}, LinkPolicy.EITHER) == (1, 3, 9)
    assert retained_links(a, b, {1, 3}, "either") == (1, 3)  # 9 is no group that Stage 1 calls incorrect


@pytest.mark.parametrize(
    ("verdict_a", "verdict_b"), [("error", "non_error"), ("error", "skipped"), ("unjudged", "error")]
)
@pytest.mark.parametrize("policy", ["both", "either"])
def test_no_link_without_a_failure_node(verdict_a: str, verdict_b: str, policy: str) -> None:
    assert retained_links(said(verdict_a, "", 1), said(verdict_b, "", 1), {1}, policy) == ()


def test_failure_node_may_be_unlinked() -> None:
    assert retained_links(said("error", "", 1), said("error", "", 1), set()) == ()


def test_unknown_link_policy_is_refused() -> None:
    with pytest.raises(InputError):
        retained_links(said("error"), said("error"), set(), "any")


def test_earliest_association_is_the_least_linked_round_if_any() -> None:
    assert earliest_association([7, 3, 12]) == 3
    assert earliest_association([]) is None
