"""Whether a value on a page is what it is said to be: by the field's name, the year and the thing's own row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.claims import Claim, is_number_form
from lseval.judging.embedded.passages import PageIndex, Passage
from lseval.judging.embedded.quantities import Date, Number, quantities
from lseval.judging.embedded.surroundings import Told, surroundings
from lseval.judging.embedded.text import tokens

NAMED: Final = 0.6
"""The least share of a field name's rarity beside a value for the value to be under that name."""

UNNAMED: Final = 0.34
"""Below this share of it, a value is not under that name."""

_WHOLE: Final = 0.999

_COUNTED_REACH: Final = 30
_FIRST_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Conflict:
    """A date or an amount that the text tells where the claim tells another. `kind` is `date` or `number`."""

    kind: str
    claimed: str
    told: str


def misplaced(claim: Claim, index: PageIndex) -> tuple[Conflict, Passage] | None:
    """What the page tells instead, where it has the claim's one value under another name, year or thing; else None.

    Three rules, for a claim of one number, or of one date and no number:

    - *row*: the value stands in a table that has a row of the group's title, and not in that row.
    - *year*: wherever the number stands, its sentence or row, with the head of its column, tells a year, and never
      the claim's.
    - *name* (fields only): the sentence of the value does not hold the field's name, and the clause of another
      value of the same kind does; in one sentence the clauses are compared. A name of one word counts only in a
      sentence that begins with it or has a word of the title: roads open, too. Of a name of several words the
      value's sentence may hold some, where the other value's clause holds all: *tower height*, *focal height*.
    """
    value = _only_value(claim)
    places = _places(value, index)
    if value is None or not places:
        return None
    every = surroundings(index).told
    own = [told for told in places if is_own_row(claim, told, index)]
    if not own:
        return _other_row(claim, value, places, every)
    return _other_year(claim, value, own) or _other_name(claim, value, own, every, index)


def untold(claim: Claim, indexes: Sequence[PageIndex]) -> str:
    """The first number in digits, or date, of the claim that none of the pages tells anywhere; empty without one.

    Numbers written as words are left out: they are as often counted by the writer as read on a page.
    """
    for value in claim.quantities.values:
        words = claim.value[value.start : value.end].strip()
        if any(sign.isdigit() for sign in words) and not any(_is_told_anywhere(value, index) for index in indexes):
            return words
    return ""


def _is_told_anywhere(value: Number | Date, index: PageIndex) -> bool:
    page = surroundings(index)
    if page.telling(value):
        return True
    every = (told.quantity for told in page.told)
    if isinstance(value, Number):
        return any(isinstance(other, Date) and value.value == other.year for other in every)
    return any(value.is_told_by(other) if isinstance(other, Date) else value.year == other.value for other in every)


def home_of(claim: Claim, index: PageIndex) -> Passage | None:
    """The passage that tells a field's one value, and of several the one whose words name the field best."""
    value = _only_value(claim)
    if claim.kind != "field" or not (places := _places(value, index)):
        return None
    wanted = claim.label | claim.subject
    return max(
        places,
        key=lambda told: (is_own_row(claim, told, index), _share(wanted, told.forms, index), -told.passage.number),
    ).passage


def _places(value: Number | Date | None, index: PageIndex) -> tuple[Told, ...]:
    return surroundings(index).telling(value) if value is not None else ()


def _share(name: Collection[str], forms: frozenset[str], index: PageIndex) -> float:
    """The share of a name's rarity that the forms hold."""
    total = sum(index.rarity(form) for form in sorted(name))
    return sum(index.rarity(form) for form in sorted(forms.intersection(name))) / total if total else 0.0


def counted(text: str, number: Number) -> str:
    """The form of the word that follows a number, which is what it counts; empty where none does."""
    following = next(tokens(text[number.end : number.end + _COUNTED_REACH]), None)
    return following.form if following and not is_number_form(following.form) else ""


def _only_value(claim: Claim) -> Number | Date | None:
    numbers, dates = claim.quantities.numbers, claim.quantities.dates
    if len(numbers) == 1:
        return numbers[0]
    return dates[0] if len(dates) == 1 and not numbers and dates[0].year else None


def is_own_row(claim: Claim, told: Told, index: PageIndex) -> bool:
    """Whether a value is in the row of the claim's group, where its table has one; True outside such tables."""
    rows = surroundings(index).rows.get(told.column[0])
    if rows is None or not claim.subject or not any(_is_named(claim, row) for row in rows):
        return True
    return _is_named(claim, told.row)


def _is_named(claim: Claim, row: frozenset[str]) -> bool:
    return bool(row) and (row <= claim.subject or claim.subject <= row)


def _other_row(
    claim: Claim, value: Number | Date, places: Sequence[Told], every: Sequence[Told]
) -> tuple[Conflict, Passage] | None:
    columns = {told.column for told in places}
    for told in every:
        if told.column in columns and _is_named(claim, told.row) and type(told.quantity) is type(value):
            return _conflict(claim, value, told)
    return None


def _other_year(claim: Claim, value: Number | Date, places: Sequence[Told]) -> tuple[Conflict, Passage] | None:
    if not isinstance(value, Number):
        return None
    wanted = [date for date in (*claim.quantities.dates, *quantities(claim.label_text).dates) if date.year]
    if len({date.year for date in wanted}) != 1:
        return None
    year = wanted[0].year
    others: list[tuple[Told, Date]] = []
    for told in places:
        dates = [date for date in told.around.dates if date.year]
        years = {date.year for date in dates} | {number.value for number in told.around.numbers}
        if year in years or not dates:
            return None
        others.append((told, dates[-1]))
    told, date = others[0]
    return Conflict("date", str(year), str(date.year)), told.passage


def _other_name(
    claim: Claim, value: Number | Date, places: Sequence[Told], every: Sequence[Told], index: PageIndex
) -> tuple[Conflict, Passage] | None:
    words = claim.label or claim.forms
    name = [form for form in words - claim.subject if not is_number_form(form)]
    if claim.kind != "field" or not name:
        return None
    in_sentence = max(_share(name, told.forms, index) for told in places)
    in_clause = max(_share(name, told.clause_forms, index) for told in places)
    own = {told.passage.number for told in places}
    for told in every:
        beside = in_clause if told.passage.number in own else in_sentence
        if beside >= NAMED or not _is_rival(claim, value, told) or not is_own_row(claim, told, index):
            continue
        least = NAMED if beside < UNNAMED else _WHOLE
        is_on_it = len(name) > 1 or (beside < UNNAMED and _is_on_the_thing(claim, name[0], told))
        if is_on_it and _share(name, told.clause_forms, index) >= least:
            return _conflict(claim, value, told)
    return None


def _is_on_the_thing(claim: Claim, name: str, told: Told) -> bool:
    first = [token.form for token in tokens(" ".join(told.text.split(maxsplit=_FIRST_WORDS)[:_FIRST_WORDS]))]
    return bool(told.label or name in first or claim.subject & told.passage.forms)


def _is_rival(claim: Claim, value: Number | Date, told: Told) -> bool:
    other = told.quantity
    if isinstance(value, Date):
        return isinstance(other, Date) and bool(other.year) and not value.is_told_by(other)
    if not isinstance(other, Number) or value.kind != other.kind or value.is_told_by(other):
        return False
    thing = counted(claim.value, value)
    return bool(value.kind) or told.column[0] >= 0 or bool(thing and thing == counted(told.text, other))


def _conflict(claim: Claim, value: Number | Date, told: Told) -> tuple[Conflict, Passage]:
    kind = "number" if isinstance(value, Number) else "date"
    return Conflict(kind, claim.value[value.start : value.end].strip(), told.words), told.passage
