"""The embedded baseline for Stage 1: an answer group against the pages it cites, by words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.domain.evidence import ClaimCheck, EvidencePage, Quotation, VerdictDraft
from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.checking import CONTRADICTED, NOT_FOUND, SUPPORTED, Finding, best_finding, check_claim
from lseval.judging.embedded.claims import Claim, claims_of_group
from lseval.judging.embedded.conditions import Broken, broken_condition
from lseval.judging.embedded.meeting import untold
from lseval.judging.embedded.namesakes import is_only_set_apart
from lseval.judging.embedded.partly import is_partly_borne_out
from lseval.judging.embedded.passages import page_index
from lseval.judging.embedded.required import missing_fields

SUPPORTED_SHARE: Final = 2 / 3
"""The least share of a group's sentences, weighted by their facts, that must be supported for a correct group."""

MOST_SENTENCES_OF_A_UNIT: Final = 3
"""The title of a longer group is taken for a heading, which need not stand on the cited page."""

_OUTCOME_WORDS: Final = {
    "not_found": "not found",
    "walled": "behind a wall",
    "unavailable": "not available",
    "empty": "empty",
    "ok": "empty",
}
_LONGEST_SHOWN: Final = 90


def verify_group(
    question: str,
    rubric: RubricRecord,
    group_title: str,
    group_text: str,
    fields: Mapping[str, str],
    pages: Sequence[EvidencePage],
    number: int = 0,
) -> VerdictDraft:
    """Stage 1's verdict on one group, from nothing but the cited pages.

    `number` is the group's in its response, where it is known: a row that begins with it claims no such value.

    The group's title, each field and each sentence is a claim, checked against every readable page; the page that
    says most counts. The label follows by this rule:

    - U where no cited page is readable, and only then.
    - I where every readable page only sets the title apart from its own subject (`namesakes`); or a claim is
      contradicted; or a field is not found, or the title of a group of at most three sentences; or a number in
      digits or a date is on none of the pages; or a condition is plainly broken (`conditions`); or a field that the
      rubric requires is not supplied; or the supported sentences weigh less than two thirds of all (a sentence
      weighs one plus the number of its names, numbers and dates).
    - C otherwise.
    - *unjudged* where the group holds no word that could be compared with a page.

    Every quotation is a substring of its page's text at its offsets.
    """
    readable = [page for page in pages if page.is_readable]
    if not readable:
        return VerdictDraft(GroupLabel.UNVERIFIABLE, _unreadable_reason(pages))
    claims = claims_of_group(group_title, group_text, fields, question, number)
    if not claims:
        return VerdictDraft(UNJUDGED, "The group holds no words that could be compared with a page.")
    name = claims[0].value if claims[0].kind == "title" else ""
    about = [page for page in readable if not is_only_set_apart(name, page_index(page.text))]
    if not about:
        return _of_a_namesake(claims)
    checked = [_on_best_page(claim, about) for claim in claims]
    indexes = [page_index(page.text) for page in about]
    faults = _Faults(
        missing_fields(rubric.required_fields, group_title, group_text, fields, given=question),
        broken_condition(rubric.constraints, claims, indexes),
        next(((claim, words) for claim in claims if (words := untold(claim, indexes))), None),
    )
    label, reason = _decide([finding for finding, _ in checked], faults)
    if len(readable) < len(pages):
        reason += f" {len(pages) - len(readable)} of {len(pages)} cited pages could not be read."
    checks = tuple(_claim_check(finding, page) for finding, page in checked)
    if faults.broken:
        checks += (_condition_check(faults.broken, about),)
    absent = tuple(
        ClaimCheck(f"required field: {name}", NOT_FOUND, note="The response does not supply it.")
        for name in faults.lacking
    )
    return VerdictDraft(label, reason, checks + absent)


@dataclass(frozen=True, slots=True)
class _Faults:
    """What is wrong beyond single claims: fields left out, a condition broken, a value that no page tells."""

    lacking: tuple[str, ...]
    broken: Broken | None
    untold: tuple[Claim, str] | None


def _on_best_page(claim: Claim, pages: Sequence[EvidencePage]) -> tuple[Finding, EvidencePage]:
    findings = [check_claim(claim, page_index(page.text)) for page in pages]
    place = best_finding(findings)
    return findings[place], pages[place]


def _of_a_namesake(claims: Sequence[Claim]) -> VerdictDraft:
    title = _short(claims[0].text)
    note = f"The page is about something else: it names “{title}” only to tell it from its own subject."
    reason = f"The cited page is about something else, and only tells “{title}” from it."
    return VerdictDraft(
        GroupLabel.INCORRECT, reason, tuple(ClaimCheck(claim.text, NOT_FOUND, note=note) for claim in claims)
    )


def _condition_check(broken: Broken, pages: Sequence[EvidencePage]) -> ClaimCheck:
    quotation = None
    if broken.passage:
        start, end, page = broken.passage.start, broken.passage.end, pages[broken.page]
        quotation = Quotation(page.key, page.text[start:end], start, end)
    return ClaimCheck(broken.claim, CONTRADICTED, quotation, f"{_said_by(broken)}.")


def _said_by(broken: Broken) -> str:
    who = "The cited page" if broken.passage else "The response itself"
    return f"{who} says “{_short(broken.said)}”"


def _decide(findings: Sequence[Finding], faults: _Faults) -> tuple[GroupLabel, str]:
    for finding in findings:
        if finding.status == CONTRADICTED and finding.conflict:
            return GroupLabel.INCORRECT, (
                f"The cited page says “{finding.conflict.told}” where the response says "
                f"“{finding.conflict.claimed}”: “{_short(finding.claim.text)}”."
            )
    sentences = [finding for finding in findings if finding.claim.kind == "statement"]
    for finding in findings:
        is_decisive = finding.claim.kind == "field" or (
            finding.claim.kind == "title" and len(sentences) <= MOST_SENTENCES_OF_A_UNIT
        )
        if is_decisive and finding.status == NOT_FOUND:
            return (
                GroupLabel.INCORRECT,
                f"The cited pages do not bear out “{_short(finding.claim.text)}”{_lacks(finding)}.",
            )
    if faults.untold:
        claim, words = faults.untold
        return GroupLabel.INCORRECT, f"No cited page tells “{_short(words)}”: “{_short(claim.text)}”."
    if faults.broken:
        said = _lower_first(_said_by(faults.broken))
        return GroupLabel.INCORRECT, f"The condition “{_short(faults.broken.condition)}” does not hold: {said}."
    if faults.lacking:
        name = _short(faults.lacking[0])
        return GroupLabel.INCORRECT, f"The response does not supply the required field “{name}”."
    weights = {SUPPORTED: 0, NOT_FOUND: 0, CONTRADICTED: 0}
    for finding in sentences:
        weights[finding.status] += weight_of(finding)
    unsupported = [finding for finding in findings if finding.status != SUPPORTED]
    if sentences and weights[SUPPORTED] < SUPPORTED_SHARE * sum(weights.values()):
        worst = next(finding for finding in sentences if finding.status != SUPPORTED)
        return GroupLabel.INCORRECT, (
            f"The cited pages do not bear out {len(unsupported)} of {len(findings)} claims, "
            f"such as “{_short(worst.claim.text)}”{_lacks(worst)}."
        )
    if unsupported:
        borne_out = len(findings) - len(unsupported)
        return (
            GroupLabel.CORRECT,
            f"The cited pages bear out {borne_out} of {len(findings)} claims and contradict none.",
        )
    if len(findings) > 1:
        return GroupLabel.CORRECT, "The cited pages bear out every claim of the group."
    return GroupLabel.CORRECT, "The cited pages bear out the claim."


def weight_of(finding: Finding) -> int:
    """How much a sentence counts among a group's: one, and one more for each name, number and date."""
    told = finding.claim.quantities
    return 1 + len(finding.claim.names) + len(told.numbers) + len(told.dates)


def _claim_check(finding: Finding, page: EvidencePage) -> ClaimCheck:
    quotation = None
    if finding.start < finding.end:
        quotation = Quotation(page.key, page.text[finding.start : finding.end], finding.start, finding.end)
    if finding.conflict:
        note = f"The page says “{finding.conflict.told}”, the claim “{finding.conflict.claimed}”."
    elif finding.status == NOT_FOUND:
        note = _what_lacks(finding, page)
    else:
        note = ""
    return ClaimCheck(finding.claim.text, finding.status, quotation, note)


def _what_lacks(finding: Finding, page: EvidencePage) -> str:
    if finding.missing:
        lacking = f"Not found nearby: {', '.join(_short(name) for name in finding.missing[:5])}."
    else:
        lacking = "Too few of its words stand together on the page."
    is_partly = finding.claim.kind == "statement" and is_partly_borne_out(finding.claim, page_index(page.text))
    return f"Borne out in part. {lacking}" if is_partly else lacking


def _lacks(finding: Finding) -> str:
    return f" (no {_short(finding.missing[0])} nearby)" if finding.missing else ""


def _unreadable_reason(pages: Sequence[EvidencePage]) -> str:
    if not pages:
        return "The group cites no page."
    counts = Counter(_OUTCOME_WORDS.get(page.outcome, page.outcome.replace("_", " ")) for page in pages)
    if len(pages) == 1:
        return f"The cited page could not be read: {next(iter(counts))}."
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"None of the {len(pages)} cited pages could be read: {told}."


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _short(text: str) -> str:
    text = text.rstrip(" .。")
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1].rstrip() + "…"
