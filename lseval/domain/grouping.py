"""Taking a final answer apart into answer groups with the sources that each cites."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from lseval.domain.answer_units import Unit
from lseval.domain.answers import GroupDraft, GroupedAnswer
from lseval.domain.citations import Citations, Mention, distinct, find_citations
from lseval.domain.group_text import title_of
from lseval.domain.markdown_blocks import parse_blocks
from lseval.domain.refusals import is_refusal
from lseval.domain.sections import by_headings
from lseval.domain.spans import holds
from lseval.domain.unit_finder import UnitFinder

_WORD = re.compile(r"\w")


def group_answer(text: str) -> GroupedAnswer:
    """The answer groups of a final answer, each with its fields and the sources that it cites.

    Groups are the units in which the response states its answer: the items of a numbered list, the rows of a
    table, sections under headings, bullets, or paragraphs; `method` says which. What frames an answer
    (introduction, conclusion, notes, evidence for a single answer, lists of sources) is no group. In a report
    with two levels of sections the lower one gives the groups, unless its titles repeat under each upper one
    (Strengths, Limitations), since then the upper section is what they describe. A short answer without such
    structure is one group.

    A group cites what is cited inside it: by markers that a list of sources resolves, links and addresses;
    markers that point at no source are kept with an empty address. `sources` are all other addresses of the
    response, each once, so that none is lost. Where the whole answer is one group that cites nothing, the
    list of sources is part of the group.

    Any text has a result: blank text has no groups and the method "none", and so has a short response that cites
    nothing and opens by saying that there is no answer: it supplies none. Takes time linear in the text.
    """
    document = parse_blocks(text)
    cited = find_citations(document)
    blocks = [b for b in document.blocks if b.kind != "rule" and not holds(cited.list_spans, b.start)]
    method, units = UnitFinder(document.source, cited).units_of(by_headings(blocks))
    units = [clipped for unit in units if (clipped := _clipped(unit, text, cited))]
    if not units and blocks:
        start, end = blocks[0].start, blocks[-1].end
        method, units = "prose", [Unit(start, end, title_of(text[start:end]))]
    mentions = [cited.between(unit.start, unit.end) for unit in units]
    if method == "prose" and not cited.inline and not cited.listed and is_refusal(text):
        units, mentions = [], []
    if len(units) == 1 and not any(mention.url for mention in mentions[0]):
        units = [replace(units[0], end=len(text.rstrip()))]
        mentions = [(*mentions[0], *(mention for mention in cited.listed if mention.start >= units[0].start))]
    return _drafted(text, method if units else "none", units, mentions, cited)


def group_by_units(text: str, units: Sequence[Unit], method: str) -> GroupedAnswer:
    """The answer groups at the places that somebody else found, each with the sources that it cites.

    The units must be ascending and apart. Sources that no unit cites, and markers that point at no source, are kept
    as `group_answer` keeps them; a unit that cites nothing itself gets the listed sources where it is the only one.
    """
    cited = find_citations(parse_blocks(text))
    mentions = [cited.between(unit.start, unit.end) for unit in units]
    if len(units) == 1 and not any(mention.url for mention in mentions[0]):
        mentions = [(*mentions[0], *cited.listed)]
    return _drafted(text, method if units else "none", units, mentions, cited)


def _clipped(unit: Unit, text: str, cited: Citations) -> Unit | None:
    """The unit up to the first run-level list inside it, as where a list item runs on into the sources.

    None where that leaves no words.
    """
    if holds(cited.list_spans, unit.start):
        return None
    following = bisect_left(cited.list_spans, unit.start, key=lambda span: span[0])
    end = min([unit.end, *(start for start, _ in cited.list_spans[following : following + 1])])
    while end > unit.start and text[end - 1].isspace():
        end -= 1
    return replace(unit, end=end) if _WORD.search(text, unit.start, end) else None


def _drafted(
    text: str, method: str, units: Sequence[Unit], mentions: Sequence[Sequence[Mention]], cited: Citations
) -> GroupedAnswer:
    groups = tuple(
        GroupDraft(
            title=unit.title,
            text=text[unit.start : unit.end],
            citations=tuple(mention.drafted() for mention in distinct(own)),
            start=unit.start,
            end=unit.end,
            fields=unit.fields,
        )
        for unit, own in zip(units, mentions, strict=True)
    )
    in_groups = {mention.url for own in mentions for mention in own}
    every = sorted((*cited.inline, *cited.listed), key=lambda mention: mention.start)
    rest = distinct(mention for mention in every if mention.url and mention.url not in in_groups)
    return GroupedAnswer(groups, tuple(m.drafted(is_inline=False) for m in rest), cited.dangling, method)
