"""The embedded baselines for Stage 2: two judges of a round that look at different evidence.

Judge A asks whether a round's observation bears out what is said: the agent's words there, and what the response
says of the things seen there. Judge B does not check claims against observations at all; it follows the content of
each incorrect group back to the round where it came in. That both flag a round therefore says more than that one
rule fired twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from lseval.domain.evidence import CallUnderAudit, GroupUnderAudit, JudgementDraft, RoundUnderAudit
from lseval.domain.labels import GroupLabel, RoundLabel
from lseval.domain.skipping import is_listing
from lseval.domain.statements import makes_claim, statements
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.checking import CONTRADICTED, NOT_FOUND, SUPPORTED, Finding, check_claim
from lseval.judging.embedded.claims import Claim, claims_of_group, claims_of_text, fact_forms
from lseval.judging.embedded.error_types import type_of_finding, type_of_group
from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.text import token_forms

SUBJECT_SHARE: Final = 0.6
"""The least share of a title's rarity that an observation must hold to be about that group."""

TRACE_SHARE: Final = 0.5
"""The least share of an incorrect group's content that a round must hold for the content to have come in there."""

_NEW_SHARE: Final = 0.1
_LONGEST_SHOWN: Final = 90


def judge_round_a(
    question: str, rubric: RubricRecord, groups: Sequence[GroupUnderAudit], round_: RoundUnderAudit
) -> JudgementDraft:
    """Judge A: does what the round observed bear out what is said?

    With an observation, it checks against it (a) each statement of the agent's words in that round that has a fact
    the question does not give, and (b) the claims of each answer group whose title the observation holds. It is an
    *error* where a statement of (a) is contradicted, or not found although an answer group tells the same facts; or
    where a claim of (b) is contradicted, or, for an incorrect group and an observation that is more than a listing,
    a claim that Stage 1 does not support is not found.

    Without an observation, words that state an answer group's facts rest on nothing in the round: *error*,
    insufficient evidence. Where there is nothing to check at all the round is *skipped*; else *non-error*. The
    groups named are those that tell a failed fact.
    """
    answered = [call for call in round_.calls if call.observation.strip() and not call.is_error]
    said = _statements_with_facts(question, round_.text)
    if not answered:
        return _judge_unobserved(question, groups, said)
    index = page_index("\n".join(call.observation for call in answered))
    failures: list[tuple[Finding, tuple[int, ...]]] = []
    for claim in said:
        finding = check_claim(claim, index)
        tellers = _tellers(question, claim, groups)
        if finding.status == CONTRADICTED or (finding.status == NOT_FOUND and tellers):
            failures.append((finding, tellers))
    seen = [group for group in groups if _is_about(group, index)]
    is_content = not all(is_listing(call) for call in answered)
    for group in seen:
        failures += ((finding, (group.number,)) for finding in _failed_claims(group, index, is_content=is_content))
    if failures:
        return _error_a(failures, answered, rubric)
    if not said and not seen:
        return JudgementDraft(
            RoundLabel.SKIPPED, explanation="The observation holds nothing that is stated here or answered."
        )
    return JudgementDraft(
        RoundLabel.NON_ERROR,
        groups=tuple(group.number for group in seen),
        explanation="The observation contradicts nothing that is said of it, here or in the answer.",
    )


def judge_round_b(
    question: str,
    rubric: RubricRecord,
    groups: Sequence[GroupUnderAudit],
    round_: RoundUnderAudit,
    earlier: Sequence[RoundUnderAudit] = (),
) -> JudgementDraft:
    """Judge B: did an incorrect group's content come in with this round?

    A group's content is the words of its title and of the claims that Stage 1 does not support (all its words where
    Stage 1 lists no such claim), those of the question left out; names and numbers count twice. The round holds a
    share of it in its words, its calls' arguments and its observations. It is an *error* where that share is at
    least `TRACE_SHARE` and clearly above that of every earlier round; without `earlier` every round that holds so
    much is one. Earlier rounds that only listed places to look do not count: they are pre-skipped, and content
    first seen in a listing would be traced to no round at all.

    A round that holds no word is *skipped*, any other is *non-error*; so is every round of a response without an
    incorrect group, since there is nothing to follow back.
    """
    forms = _round_forms(round_)
    if not forms:
        return JudgementDraft(RoundLabel.SKIPPED, explanation="The round holds no words.")
    asked = frozenset(token_forms(question))
    held_before = [_round_forms(other) for other in earlier if not _only_lists(other)]
    traced: list[tuple[float, GroupUnderAudit]] = []
    for group in groups:
        if group.label != GroupLabel.INCORRECT:
            continue
        weights = _content(group, asked)
        share = _held(weights, forms)
        if share < TRACE_SHARE:
            continue
        before = max((_held(weights, held) for held in held_before), default=0.0)
        if share >= before + _NEW_SHARE or before < TRACE_SHARE:
            traced.append((share, group))
    if not traced:
        return JudgementDraft(
            RoundLabel.NON_ERROR, explanation="No incorrect group's content came in with this round."
        )
    share, group = max(traced, key=lambda pair: (pair[0], -pair[1].number))
    return JudgementDraft(
        RoundLabel.ERROR,
        error_type=type_of_group(group, groups, round_.calls, rubric).value,
        groups=tuple(sorted(group.number for _, group in traced)),
        explanation=f"{share:.0%} of the incorrect “{_short(group.title or group.text)}” came in with this round.",
    )


def _statements_with_facts(question: str, text: str) -> list[Claim]:
    """The claims of the agent's words that state a fact which the question does not give."""
    asked = frozenset(token_forms(question))
    claims = claims_of_text("\n".join(statements(text)))
    return [claim for claim in claims if fact_forms([claim]) - asked]


def _judge_unobserved(question: str, groups: Sequence[GroupUnderAudit], said: Sequence[Claim]) -> JudgementDraft:
    told = [(claim, tellers) for claim in said if (tellers := _tellers(question, claim, groups))]
    if not told:
        return JudgementDraft(
            RoundLabel.SKIPPED, explanation="The round observed nothing and states nothing that the answer uses."
        )
    numbers = sorted({number for _, tellers in told for number in tellers})
    return JudgementDraft(
        RoundLabel.ERROR,
        error_type=ErrorType.INSUFFICIENT_EVIDENCE.value,
        groups=tuple(numbers),
        explanation=f"The round states “{_short(told[0][0].text)}” without having observed anything.",
    )


def _tellers(question: str, claim: Claim, groups: Sequence[GroupUnderAudit]) -> tuple[int, ...]:
    """The groups that tell at least half of the claim's facts which the question does not give."""
    facts = fact_forms([claim]) - frozenset(token_forms(question))
    return tuple(group.number for group in groups if facts and 2 * len(facts & _group_forms(group)) >= len(facts))


def _is_about(group: GroupUnderAudit, index: PageIndex) -> bool:
    forms = token_forms(group.title)
    return bool(forms) and index.coverage(forms, index.best(forms)) >= SUBJECT_SHARE


def _failed_claims(group: GroupUnderAudit, index: PageIndex, *, is_content: bool) -> list[Finding]:
    unsupported = {check.claim for check in group.claims if check.status != SUPPORTED}
    failed = []
    for claim in claims_of_group(group.title, group.text, group.fields):
        if claim.kind == "title" or not claim.has_facts:
            continue
        finding = check_claim(claim, index)
        is_missed = finding.status == NOT_FOUND and is_content and group.label == GroupLabel.INCORRECT
        if finding.status == CONTRADICTED or (is_missed and (claim.text in unsupported or not group.claims)):
            failed.append(finding)
    return failed


def _error_a(
    failures: Sequence[tuple[Finding, tuple[int, ...]]], calls: Sequence[CallUnderAudit], rubric: RubricRecord
) -> JudgementDraft:
    worst = max(
        (finding for finding, _ in failures), key=lambda finding: (finding.status == CONTRADICTED, -finding.support)
    )
    if worst.conflict:
        said = f"The observation says “{_short(worst.conflict.told)}”, not “{_short(worst.conflict.claimed)}”"
    else:
        said = "The observation does not bear out what is said"
    return JudgementDraft(
        RoundLabel.ERROR,
        error_type=type_of_finding(worst, calls, rubric).value,
        groups=tuple(sorted({number for _, numbers in failures for number in numbers})),
        explanation=f"{said}: “{_short(worst.claim.text)}”.",
    )


def _content(group: GroupUnderAudit, asked: frozenset[str]) -> dict[str, float]:
    failed = [check.claim for check in group.claims if check.status != SUPPORTED]
    words = "\n".join(failed) if failed else "\n".join((group.text, *group.fields.values()))
    claims = claims_of_text(words)
    facts = fact_forms(claims) | frozenset(token_forms(group.title))
    forms = (frozenset(token_forms(words)) | facts) - asked
    return {form: 2.0 if form in facts else 1.0 for form in sorted(forms)}


def _held(weights: dict[str, float], forms: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for form, weight in weights.items() if form in forms) / total if total else 0.0


def _only_lists(round_: RoundUnderAudit) -> bool:
    return bool(round_.calls) and all(map(is_listing, round_.calls)) and not makes_claim(round_.text)


def _round_forms(round_: RoundUnderAudit) -> frozenset[str]:
    arguments = (str(value) for call in round_.calls for value in call.arguments.values())
    return _forms(round_.text).union(
        *(_forms(text) for text in arguments), *(_forms(call.observation) for call in round_.calls)
    )


@lru_cache(maxsize=160)
def _forms(text: str) -> frozenset[str]:
    return frozenset(token_forms(text))


def _group_forms(group: GroupUnderAudit) -> frozenset[str]:
    return _forms("\n".join((group.title, group.text, *group.fields.values())))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1].rstrip() + "…"
