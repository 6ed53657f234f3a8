"""One claim against one text: supported, contradicted or not found, and by which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.claims import Claim, clauses_of, is_number_form
from lseval.judging.embedded.meeting import Conflict, counted, home_of, misplaced
from lseval.judging.embedded.passages import PageIndex, Passage
from lseval.judging.embedded.quantities import Date, Number, Quantities, quantities
from lseval.judging.embedded.text import token_forms

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
NOT_FOUND: Final = "not_found"

SUPPORT_THRESHOLD: Final = 0.45
"""A claim with at least this support is supported. Chosen on the dev part of WiCE."""

_TOPIC_THRESHOLD: Final = 0.5
_PASSAGES: Final = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What a text says to a claim.

    `support` is the share of the claim's words, weighted by rarity, that its best passages hold, minus the shares
    of its names, of its numbers and of its dates that they lack: 1 at best, -3 at worst. `missing_names` and
    `missing_quantities` are those they lack. `start` and `end` give the best passage; equal where there is none.
    """

    claim: Claim
    status: str
    support: float
    start: int = 0
    end: int = 0
    missing_names: tuple[str, ...] = ()
    missing_quantities: tuple[str, ...] = ()
    conflict: Conflict | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        return self.missing_names + self.missing_quantities


def check_claim(claim: Claim, index: PageIndex) -> Finding:
    """The claim against one text, by its three best passages and their neighbours.

    Contradicted: a year or an amount of the claim is not told there, and one of those passages, on the same matter,
    tells another year, or another amount of the same unit or counted thing. Supported: it is not contradicted, and
    `support` reaches `SUPPORT_THRESHOLD`. Not found: neither. Contradicted too: the value is on the page under
    another field's name, another year or another thing (`meeting.misplaced`).
    """
    sought = claim.forms | claim.context if claim.label else claim.forms
    best = index.best(sought, most=_PASSAGES, context=claim.context)
    if home := home_of(claim, index):
        best = [home, *(passage for passage in best if passage is not home)][:_PASSAGES]
    near = index.around(best)
    held = frozenset[str]().union(*(passage.forms for passage in near))
    told = quantities("\n".join(index.words(passage) for passage in near))
    names = [name for name in claim.names if not held.issuperset(token_forms(name))]
    numbers = [number for number in claim.quantities.numbers if not _is_number_told(number, told)]
    dates = [date for date in claim.quantities.dates if not _is_date_told(date, told)]
    words = [form for form in claim.forms if not is_number_form(form)]
    support = index.coverage(words, best) if words else float(bool(best))
    support -= _share(names, claim.names) + _share(numbers, claim.quantities.numbers)
    support -= _share(dates, claim.quantities.dates)
    status = SUPPORTED if support >= SUPPORT_THRESHOLD else NOT_FOUND
    conflict, place = None, best[0] if best else None
    if numbers or dates:
        for passage in best:
            conflict = _conflict(claim, index, passage, numbers, dates)
            if conflict:
                status, place = CONTRADICTED, passage
                break
    if conflict is None:
        for part in clauses_of(claim):
            if elsewhere := misplaced(part, index):
                conflict, place = elsewhere
                status = CONTRADICTED
                break
    start, end = (place.start, place.end) if place else (0, 0)
    lacking: tuple[Number | Date, ...] = (*numbers, *dates)
    return Finding(
        claim, status, support, start, end, tuple(names), tuple(_shown(claim, one) for one in lacking), conflict
    )


def best_finding(findings: Sequence[Finding]) -> int:
    """The place of the finding that says most: supported before contradicted before not found, then by support."""
    rank = {SUPPORTED: 2, CONTRADICTED: 1, NOT_FOUND: 0}
    return max(
        range(len(findings)), key=lambda place: (rank[findings[place].status], findings[place].support, -place)
    )


def _share(lacking: Sequence[object], wanted: Sequence[object]) -> float:
    return len(lacking) / len(wanted) if wanted else 0.0


def _shown(claim: Claim, quantity: Number | Date) -> str:
    return claim.value[quantity.start : quantity.end].strip()


def _is_number_told(number: Number, told: Quantities) -> bool:
    if any(number.is_told_by(other) for other in told.numbers):
        return True
    return any(number.value == date.year and not date.month for date in told.dates)


def _is_date_told(date: Date, told: Quantities) -> bool:
    if any(date.is_told_by(other) for other in told.dates):
        return True
    return not date.month and any(date.year == number.value for number in told.numbers)


def _conflict(
    claim: Claim, index: PageIndex, passage: Passage, numbers: Sequence[Number], dates: Sequence[Date]
) -> Conflict | None:
    """What the passage tells otherwise than the claim, provided that it is about the same matter.

    It is when it holds half of the rarity of the claim's words and label, numbers and the group's title aside, and
    at least one word of the label where there is one.
    """
    if not numbers and not dates:
        return None
    topic = [form for form in (claim.forms | claim.label) - claim.subject if not is_number_form(form)]
    if claim.label and not claim.label & passage.forms:
        return None
    if not topic or index.coverage(topic, [passage]) < _TOPIC_THRESHOLD:
        return None
    words = index.words(passage)
    told = quantities(words)
    for date in dates:
        for other in told.dates:
            if date.year and other.year and not any(mine.is_told_by(other) for mine in claim.quantities.dates):
                return Conflict("date", _shown(claim, date), words[other.start : other.end].strip())
    for number in numbers:
        thing = number.unit or counted(claim.value, number)
        for rival in told.numbers:
            if (
                thing
                and thing == (rival.unit or counted(words, rival))
                and not _is_number_told(rival, claim.quantities)
            ):
                return Conflict("number", _shown(claim, number), words[rival.start : rival.end].strip())
    return None
