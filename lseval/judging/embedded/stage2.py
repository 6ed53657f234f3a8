"""The embedded baselines for Stage 2: two judges of a round that look at different evidence.

Judge A asks whether a round's observation bears out what is said: the agent's words there, and what the response
says of the things seen there. Judge B does not check claims against observations at all; it follows the content of
each incorrect group back to the round where it came in. That both flag a round therefore says more than that one
rule fired twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from lseval.domain.evidence import CallUnderAudit, GroupUnderAudit, JudgementDraft, RoundUnderAudit
from lseval.domain.labels import GroupLabel, RoundLabel
from lseval.domain.skipping import is_listing
from lseval.domain.statements import makes_claim, statements
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.caching import kept_by_text
from lseval.judging.embedded.checking import CONTRADICTED, NOT_FOUND, SUPPORTED, Finding, check_claim
from lseval.judging.embedded.claims import Claim, claims_of_group, claims_of_text, fact_forms
from lseval.judging.embedded.conditions import broken_condition
from lseval.judging.embedded.error_types import TYPE_OF_CONDITION, type_of_finding, type_of_group
from lseval.judging.embedded.namesakes import is_only_set_apart
from lseval.judging.embedded.observed_types import type_by_form, type_by_page, type_of_told, untold_field
from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.text import token_forms

SUBJECT_SHARE: Final = 0.6
"""The least share of a title's rarity that an observation must hold to be about that group."""

TRACE_SHARE: Final = 0.5
"""The least share of an incorrect group's content that a round must hold for the content to have come in there."""

_NEW_SHARE: Final = 0.1
_LONGEST_SHOWN: Final = 90


@dataclass(frozen=True, slots=True)
class _Failure:
    """One thing that judge A objects to, how its type is found, and the groups that it touches."""

    finding: Finding
    find_type: Callable[[], ErrorType]
    groups: tuple[int, ...]
    explanation: str = ""


def judge_round_a(
    question: str,
    rubric: RubricRecord,
    groups: Sequence[GroupUnderAudit],
    round_: RoundUnderAudit,
    earlier: Sequence[RoundUnderAudit] = (),
) -> JudgementDraft:
    """Judge A: does what the agent has observed bear out what is said?

    It checks (a) each statement of the agent's words in that round that has a fact the question does not give,
    against the round's observation and, where that does not bear it out, against those of `earlier`, since an agent
    tells in one round what it read in the one before; and (b), against the round's observation alone, the claims
    that Stage 1 does not support of each answer group whose title the observation holds. It is an *error* where a
    statement of (a) is borne out nowhere and is contradicted, or told by an answer group; where a claim of (b) is
    contradicted, or not found on an observation that is more than a listing though its group is incorrect; and
    where for an incorrect group the observation only sets its title apart or breaks a condition of the rubric.

    Words that state an answer group's facts when nothing has been observed rest on nothing: *error*, insufficient
    evidence. Where there is nothing to check at all the round is *skipped*; else *non-error*. The groups named are
    those that tell a failed fact.
    """
    answered = _answered(round_)
    before = [page_index(text) for other in earlier if (text := _observed(_answered(other)))]
    said = [
        claim
        for claim in _statements_with_facts(question, round_.text)
        if not any(check_claim(claim, index).status == SUPPORTED for index in before)
    ]
    if not answered:
        return _judge_unobserved(question, groups, said, has_more=bool(before))
    index = page_index(_observed(answered))
    failures: list[_Failure] = []
    for claim in said:
        finding = check_claim(claim, index)
        tellers = _tellers(question, claim, groups)
        if finding.status == CONTRADICTED or (finding.status == NOT_FOUND and tellers):
            told = _named_first(claim, [group for group in groups if group.number in tellers])
            find_type = partial(_type_of_said, finding, told, groups, answered, earlier, rubric)
            failures.append(_Failure(finding, find_type, tellers))
    seen = [group for group in groups if _is_about(group, index)]
    for group in seen:
        failures += _failures_of(group, groups, index, answered, earlier, rubric)
    if failures:
        return _error_a(failures)
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


def trace_all_at_once(
    question: str, groups: Sequence[GroupUnderAudit], rounds: Sequence[RoundUnderAudit]
) -> tuple[int, ...]:
    """All rounds in the order in which an incorrect group's content came in with them, the likeliest first.

    The simplest way to point at one round: no threshold, no second judge, the whole run seen at once. A round
    counts by how much more of a group's content it holds than any round before it, by the best of the incorrect
    groups; of equal rounds the earlier one comes first. Rounds with which nothing new came in are left out, so that
    a response without an incorrect group gives none.
    """
    asked = frozenset(token_forms(question))
    contents = [_content(group, asked) for group in groups if group.label == GroupLabel.INCORRECT]
    most = [0.0] * len(contents)
    gains: list[tuple[float, int]] = []
    for round_ in rounds:
        forms = _round_forms(round_)
        shares = [_held(weights, forms) for weights in contents]
        gain = max((share - before for share, before in zip(shares, most, strict=True)), default=0.0)
        if gain > 0:
            gains.append((-gain, round_.number))
        most = [max(pair) for pair in zip(shares, most, strict=True)]
    return tuple(number for _, number in sorted(gains))


def _statements_with_facts(question: str, text: str) -> list[Claim]:
    """The claims of the agent's words that state a fact which the question does not give."""
    asked = frozenset(token_forms(question))
    claims = claims_of_text("\n".join(statements(text)))
    return [claim for claim in claims if fact_forms([claim]) - asked]


def _answered(round_: RoundUnderAudit) -> list[CallUnderAudit]:
    return [call for call in round_.calls if call.observation.strip() and not call.is_error]


def _observed(calls: Sequence[CallUnderAudit]) -> str:
    return "\n".join(call.observation for call in calls)


def _judge_unobserved(
    question: str, groups: Sequence[GroupUnderAudit], said: Sequence[Claim], *, has_more: bool
) -> JudgementDraft:
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
        explanation=f"The round states “{_short(told[0][0].text)}”, which "
        + ("nothing observed so far bears out." if has_more else "rests on nothing observed."),
    )


def _tellers(question: str, claim: Claim, groups: Sequence[GroupUnderAudit]) -> tuple[int, ...]:
    """The groups that tell at least half of the claim's facts which the question does not give."""
    facts = fact_forms([claim]) - frozenset(token_forms(question))
    return tuple(group.number for group in groups if facts and 2 * len(facts & _group_forms(group)) >= len(facts))


def _named_first(claim: Claim, groups: Sequence[GroupUnderAudit]) -> list[GroupUnderAudit]:
    """The incorrect ones of the groups, those whose title the claim has before the others."""
    incorrect = [group for group in groups if group.label == GroupLabel.INCORRECT]
    return sorted(incorrect, key=lambda group: not claim.forms.issuperset(token_forms(group.title)))


def _is_about(group: GroupUnderAudit, index: PageIndex) -> bool:
    forms = token_forms(group.title)
    return bool(forms) and index.coverage(forms, index.best(forms)) >= SUBJECT_SHARE


def _failures_of(
    group: GroupUnderAudit,
    groups: Sequence[GroupUnderAudit],
    index: PageIndex,
    calls: Sequence[CallUnderAudit],
    earlier: Sequence[RoundUnderAudit],
    rubric: RubricRecord,
) -> Iterator[_Failure]:
    """What an observation that names the group has against it: see `judge_round_a`, (b)."""
    borne_out = {check.claim for check in group.claims if check.status == SUPPORTED}
    is_incorrect = group.label == GroupLabel.INCORRECT
    is_content = not all(map(is_listing, calls))
    claims = claims_of_group(group.title, group.text, group.fields, number=group.number)
    if is_incorrect and is_content and is_only_set_apart(group.title, index):
        yield _Failure(
            Finding(claims[0], NOT_FOUND, 0.0),
            lambda: ErrorType.WRONG_ENTITY,
            (group.number,),
            f"The observation is about something else, and only tells “{_short(group.title)}” from it.",
        )
        return
    broken = broken_condition(rubric.constraints, claims, [index]) if is_incorrect and is_content else None

    @cache
    def shown() -> ErrorType | None:
        if not is_incorrect:
            return None
        if not is_content:
            return type_of_told([group], groups, rubric, calls, earlier)
        by_form = type_by_form(group, groups, rubric, [index])
        return by_form or type_by_page(group, groups, claims, broken, rubric, index)

    failures = [
        _Failure(
            finding, partial(_first_of, shown, partial(type_of_finding, finding, calls, rubric)), (group.number,)
        )
        for claim in claims
        if claim.kind != "title" and claim.has_facts and claim.text not in borne_out
        for finding in (check_claim(claim, index),)
        if finding.status == CONTRADICTED or (finding.status == NOT_FOUND and is_content and is_incorrect)
    ]
    if broken and claims:
        by_condition = TYPE_OF_CONDITION[broken.kind]
        said = f"The condition “{_short(broken.condition)}” does not hold for “{_short(group.title)}”."
        finding = Finding(claims[0], CONTRADICTED, 0.0)
        failures.append(_Failure(finding, lambda: shown() or by_condition, (group.number,), said))
    if claims and is_incorrect and is_content and not failures and (kind := shown()):
        said = _shown_alone(kind, group, rubric, index)
        if said:
            failures.append(_Failure(Finding(claims[0], NOT_FOUND, 0.0), lambda: kind, (group.number,), said))
    yield from failures


def _shown_alone(kind: ErrorType, group: GroupUnderAudit, rubric: RubricRecord, index: PageIndex) -> str:
    """What an observation shows of an incorrect group whose claims it bears out; empty where it shows nothing."""
    title = _short(group.title)
    if kind == ErrorType.MISSING_REQUIRED_FIELD:
        name = untold_field(group, rubric, index)
        return f"The observation tells “{_short(name)}”, and “{title}” is answered without it." if name else ""
    return {
        ErrorType.GROUPING_ERROR: f"“{title}” is not one thing in the observation.",
        ErrorType.MAPPING_ERROR: f"The observation has a value of “{title}” under another name only.",
        ErrorType.SCOPE_ERROR: f"The observation has a value of “{title}” for a whole only, not for it.",
        ErrorType.SOURCE_QUALITY_ERROR: f"Nobody vouches for what the observation says of “{title}”.",
    }.get(kind, "")


def _first_of(shown: Callable[[], ErrorType | None], otherwise: Callable[[], ErrorType]) -> ErrorType:
    return shown() or otherwise()


def _type_of_said(
    finding: Finding,
    told: Sequence[GroupUnderAudit],
    groups: Sequence[GroupUnderAudit],
    calls: Sequence[CallUnderAudit],
    earlier: Sequence[RoundUnderAudit],
    rubric: RubricRecord,
) -> ErrorType:
    return type_of_told(told, groups, rubric, calls, earlier) or type_of_finding(finding, calls, rubric)


def _error_a(failures: Sequence[_Failure]) -> JudgementDraft:
    worst = max(failures, key=lambda failure: (failure.finding.status == CONTRADICTED, -failure.finding.support))
    finding = worst.finding
    if finding.conflict:
        said = f"The observation says “{_short(finding.conflict.told)}”, not “{_short(finding.conflict.claimed)}”"
    else:
        said = "The observation does not bear out what is said"
    return JudgementDraft(
        RoundLabel.ERROR,
        error_type=worst.find_type().value,
        groups=tuple(sorted({number for failure in failures for number in failure.groups})),
        explanation=worst.explanation or f"{said}: “{_short(finding.claim.text)}”.",
    )


def _content(group: GroupUnderAudit, asked: frozenset[str]) -> dict[str, float]:
    own = {claim.text for claim in claims_of_group(group.title, group.text, group.fields, number=group.number)}
    failed = [check.claim for check in group.claims if check.status != SUPPORTED and check.claim in own]
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


@kept_by_text(lambda forms: 8 * len(forms) + 1)
def _forms(text: str) -> frozenset[str]:
    return frozenset(token_forms(text))


def _group_forms(group: GroupUnderAudit) -> frozenset[str]:
    return _forms("\n".join((group.title, group.text, *group.fields.values())))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1].rstrip() + "…"
