"""What an answer group claims, piece by piece, and the names, numbers and dates in each piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from lseval.judging.embedded.attributes import Attribute, attributes
from lseval.judging.embedded.names import names, weekdays
from lseval.judging.embedded.plain import plain_words
from lseval.judging.embedded.quantities import Quantities, quantities
from lseval.judging.embedded.text import clause_span, sentence_spans, token_forms, tokens

MOST_CLAIMS: Final = 60
"""A group with more pieces than this is judged by its first ones."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One piece of a group that a page can bear out or contradict.

    `kind` is `title`, `field` or `statement`. `value` is what is claimed, without a field's name; numbers and dates
    have their offsets in it. `forms` are the token forms to be found, `subject` those of the group's title and
    `label` those of the field's name, where there is one. `context` are forms that help to choose passages and
    need not be found.
    """

    value: str
    kind: str
    forms: frozenset[str]
    names: tuple[str, ...]
    quantities: Quantities
    subject: frozenset[str] = frozenset()
    context: frozenset[str] = frozenset()
    label: frozenset[str] = frozenset()
    label_text: str = ""

    @property
    def text(self) -> str:
        """The claim as it is shown to people."""
        return f"{self.label_text}: {self.value}" if self.label_text else self.value

    @property
    def has_facts(self) -> bool:
        """Whether it holds a name, a number or a date: something that a page either has or has not."""
        return bool(self.names or self.quantities.numbers or self.quantities.dates)


LONGEST_FIELD: Final = 12
_NO_CLAIM_FIELD: Final = re.compile(
    r"#|rank(?:ing)?|序号|排名|编号|名次|番号"
    r"|(?:\w+ )?(?:urls?|links?|pages?|websites?|sources?|citations?|references?|来源|链接)",
    re.IGNORECASE,
)
_NUMBERING_FIELD: Final = re.compile(
    r"(?:(?:row|item|entry|serial|list|result|answer|s(?:er|r|l)?\.?)\s*/?\s*)?(?:#|no\.?|nr\.?|n[°º]\.?|№|num(?:ber|\.)?|id|index)"
    r"|s/n|row|line|item|entry|result|answer|option|order|position|place|ordinal",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"[#№]?\s?\d{1,3}(?:[.):：]|st|nd|rd|th)?|[①-⑳]|[（(]\d{1,3}[）)]")
_ROW: Final = re.compile(r"^[ \t]*\|?([^|\n]*\|[^\n]*)$", re.MULTILINE)
_FEWEST_FORMS: Final = 3
_LONGEST_NAME: Final = 5
_LONGEST_VALUE: Final = 1_000
_MOST_CHARS: Final = 50_000

_ABOUT_SOURCES: Final = re.compile(
    r"^(?:this|these|the|all|both|my) (?:\w+ )?(?:conclusions?|findings|answer|information|details?|results?"
    r"|data)\b.{0,60}\b(?:supported|confirmed|verified|based|consistent|corroborated|validated|drawn|taken|comes?)\b"
    r"|\b(?:multiple|several|various|credible|reliable|independent|authoritative|cited|these|all)"
    r" (?:\w+ ){0,2}sources\b"
    r"|\bsearch results?\b|\bcross-?(?:check|referenc|verif)\w*|(?:多个|可靠)(?:来源|信源)",
    re.IGNORECASE,
)
"""Sentences about how well an answer is backed. No page could bear them out."""

_ATTRIBUTION: Final = re.compile(
    r"(?:so|thus|therefore|also|and)?,?\s*(?:according to [^,\n]{1,60},"
    r"|(?:the|this) (?:\w+ )?(?:page|article|source|site|website|document|text|results?|observation|entry)"
    r" (?:says?|states?|shows?|mentions?|confirms?|indicates?|notes?|reports?|tells?)(?: us)?(?: that)?"
    r"|(?:i|we) (?:have )?(?:now )?(?:found|see|learned|confirmed|verified)(?: that)?"
    r"|it (?:says|states|shows)(?: that)?)\s+",
    re.IGNORECASE,
)
"""Words that say where a claim comes from and are no part of it."""

_LABELLED: Final = re.compile(r"^\s*([^\W\d][^:：\n]{0,40}?)\s*[:：]\s+(?=\S)|^\s*([^\W\d][^:：\n]{0,20}?)[：]")


def claims_of_text(text: str, title: str = "") -> list[Claim]:
    """The claims of running words: one per sentence or line that has a fact or at least three tokens.

    A sentence that only repeats the title makes no claim of its own, nor does one about how well the answer is
    backed. `Label: value` claims the value, and *the page says that …* claims what it says. A list of attributes
    (`attributes`) makes one claim of kind `field` for each. Links after the last sentence of a line name its
    sources and claim nothing. At most `MOST_CLAIMS`.
    """
    named = plain_words(title)
    return list(islice(_text_claims(text, named, frozenset(token_forms(named))), MOST_CLAIMS))


def claims_of_group(
    title: str, text: str, fields: Mapping[str, str], context: str = "", number: int = 0
) -> list[Claim]:
    """A group's claims: its title, each field's value, then each sentence of its words that adds to those.

    A field of more than `LONGEST_FIELD` tokens is running words and claims what a sentence claims; a title or field
    that is a list of attributes claims each of them. What only numbers the groups claims nothing: a field called so
    (*#*, *No.*, *Rank*, *Item* with an ordinal), an ordinal in a row that no field has, the number of an item or
    heading, and the first cell of a row where it is the group's own `number` (0 where it is not known). Nor does a
    field that names sources. `context` is what the group answers, that is the question; it only helps to choose
    passages for the title. At most `MOST_CLAIMS`. Empty where the group holds no word to compare with a page.
    """
    claims = _known_claims if len(text) <= _LONGEST_KNOWN else _claims_of_group
    return list(claims(title, text, tuple(fields.items()), context, number))


def _claims_of_group(
    title: str, text: str, fields: tuple[tuple[str, str], ...], context: str, number: int
) -> tuple[Claim, ...]:
    text = _without_source_links(text)
    heading, *listed = attributes(_one_line(title)) or [Attribute(_one_line(title))]
    named = _claim(heading.value, "title", context=frozenset(token_forms(context)))
    subject = named.forms if named else frozenset()
    found = [named] if named else []
    found += _attribute_claims(listed, subject)
    row_number = _row_number(text, number)
    for name, value in fields:
        if _only_numbers(_one_line(name), value, row_number):
            continue
        found += _field_claims(_one_line(name), _one_line(_without_source_links(value)), subject)
    fields_found = [claim for claim in found if claim.kind != "title"]
    known = subject.union(*({*token_forms(claim.value)} | claim.context for claim in fields_found))
    told = claims_of_text(_without_ordinal_cells(text, fields), heading.value)
    found += [claim for claim in told if not claim.forms <= known]
    return tuple(found[:MOST_CLAIMS])


_LONGEST_KNOWN: Final = 10_000
_known_claims = lru_cache(maxsize=256)(_claims_of_group)
"""Stage 2 asks for the claims of a run's groups at every round."""


def _only_numbers(name: str, value: str, number: int) -> bool:
    """Whether a field tells only which of the groups it stands in, or where the group is from.

    `number` is the group's where only the first cell of its row has it, else 0.
    """
    if _NO_CLAIM_FIELD.fullmatch(name):
        return True
    if _NUMBERING_FIELD.fullmatch(name):
        return _is_ordinal(value)
    return number > 0 and _is_ordinal(value, number) and len(name.split()) == 1


def _row_number(text: str, number: int) -> int:
    """The group's number, where its text is a row that begins with it and has it in no other cell; else 0."""
    row = _ROW.match(text)
    if row is None or number < 1:
        return 0
    cells = row[1].split("|")
    is_counted = _is_ordinal(cells[0], number) and not any(_is_ordinal(cell, number) for cell in cells[1:])
    return number if is_counted else 0


def _is_ordinal(cell: str, number: int = 0) -> bool:
    """Whether the cell is an ordinal and nothing else; that `number` where one is given."""
    words = plain_words(cell.strip()) or cell.strip(" *_`")
    if not _ORDINAL.fullmatch(words):
        return False
    digits = "".join(sign for sign in words if sign.isdecimal())
    return number == 0 or (int(digits) if digits else ord(words) - ord("①") + 1) == number


def _without_ordinal_cells(text: str, fields: Sequence[tuple[str, str]]) -> str:
    """The text without the cells of its rows that are ordinals alone: the first, and any where there are fields.

    What a field has is among the claims of the fields.
    """

    def cells_kept(row: re.Match[str]) -> str:
        cells = row[1].split("|")
        return " | ".join(
            cell for place, cell in enumerate(cells) if not ((fields or place == 0) and _is_ordinal(cell))
        )

    return _ROW.sub(cells_kept, text)


def _text_claims(text: str, title: str, subject: frozenset[str]) -> Iterator[Claim]:
    for line in plain_words(_without_source_links(text)).split("\n"):
        rest = line[len(title) :].lstrip(" :：–—,-") if title and line.startswith(title) else line
        if subject and (listed := attributes(rest)):
            yield from _attribute_claims(listed, subject)
            continue
        label = _LABELLED.match(rest)
        body = rest[label.end() :] if label else rest
        if label and _only_numbers(label.group().strip(" :："), body, 0):
            continue
        for start, end in sentence_spans(body):
            if _ABOUT_SOURCES.search(body[start:end]):
                continue
            attribution = _ATTRIBUTION.match(body, start, end)
            told = body[attribution.end() if attribution else start : end]
            yield from _sentence_claims(told, label.group().strip(" :：") if label else "", subject)


def _sentence_claims(sentence: str, label: str, subject: frozenset[str]) -> Iterator[Claim]:
    if subject and (listed := attributes(sentence)):
        yield from _attribute_claims([Attribute(listed[0].value, listed[0].label or label), *listed[1:]], subject)
        return
    own = _LABELLED.match(sentence) if subject and not label else None
    if own:
        label, sentence = own.group().strip(" :："), sentence[own.end() :]
    claim = _claim(sentence, "statement", subject, label)
    if claim and (claim.has_facts or len(claim.forms) >= _FEWEST_FORMS) and not claim.forms <= subject:
        yield claim


def _attribute_claims(listed: Sequence[Attribute], subject: frozenset[str]) -> Iterator[Claim]:
    for attribute in listed:
        claim = _claim(attribute.value, "field", subject, attribute.label)
        if claim and not claim.forms <= subject:
            yield claim if claim.has_facts or claim.label else replace(claim, kind="statement")


def _field_claims(name: str, value: str, subject: frozenset[str]) -> Iterator[Claim]:
    listed = attributes(value)
    if len(listed) > 1:
        yield from _attribute_claims([Attribute(listed[0].value, listed[0].label or name), *listed[1:]], subject)
        return
    claim = _claim(value, "field", subject, name)
    if claim and not claim.forms <= subject:
        yield claim if len(claim.forms) <= LONGEST_FIELD else replace(claim, kind="statement")


_SOURCE_LINKS: Final = re.compile(
    r"(?:(?<=[.!?。！？]) |(?<=[.!?。！？])|[ \t]*\()(?:[ \t,;]*\[[^\[\]\n]{0,200}\]\([^()\s]*\))+[ \t,;.)|]*$",
    re.MULTILINE,
)


def _without_source_links(text: str) -> str:
    """The text without links that follow a line's last sentence, or stand in brackets of their own at its end."""
    return _SOURCE_LINKS.sub("", text[:_MOST_CHARS])


def clauses_of(claim: Claim) -> list[Claim]:
    """A sentence of a titled group as one `field` claim for each clause with a value; else the claim itself."""
    held = claim.quantities
    if claim.kind != "statement" or not claim.subject or claim.label:
        return [claim]
    spans = dict.fromkeys(clause_span(claim.value, value.start, value.end) for value in held.values)
    parts = [_claim(claim.value[start:end], "field", claim.subject) for start, end in spans]
    return [part for part in parts if part] or [claim]


def _one_line(text: str) -> str:
    return plain_words(text).replace("\n", " ")[:_LONGEST_VALUE]


def _claim(
    text: str,
    kind: str,
    subject: frozenset[str] = frozenset(),
    label: str = "",
    context: frozenset[str] = frozenset(),
) -> Claim | None:
    held = quantities(text)
    forms = _forms_to_find(text, held) if kind == "field" else frozenset(token_forms(text))
    if not forms:
        return None
    labelled = frozenset(token_forms(label))
    if labelled <= subject:
        label, labelled = "", frozenset()
    found = names(text)
    if kind == "title" and not found and len(forms) <= _LONGEST_NAME:
        found = (text,)
    if kind == "field":
        found += weekdays(text)
    near = (context | subject | labelled) - forms
    return Claim(text, kind, forms, found, held, subject, near, labelled, label)


def _forms_to_find(text: str, held: Quantities) -> frozenset[str]:
    """The forms of a text's tokens without units of measure, which are compared with their numbers."""
    units = [(number.start, number.end) for number in held.numbers if number.unit]
    return frozenset(
        token.form
        for token in tokens(text)
        if is_number_form(token.form) or not any(start <= token.start < end for start, end in units)
    )


def is_number_form(form: str) -> bool:
    """Whether a token form is made of digits alone, and so is compared by value and not by form."""
    return form.isdecimal()


def fact_forms(claims: Iterable[Claim]) -> frozenset[str]:
    """The token forms of all names, numbers and dates of the claims: what tells them from other text."""
    found: set[str] = set()
    for claim in claims:
        for name in claim.names:
            found.update(token_forms(name))
        found.update(form for form in claim.forms if any(sign.isdigit() for sign in form))
    return frozenset(found)
