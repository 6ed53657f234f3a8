"""Deciding which structure of an answer holds its units."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from lseval.domain.answer_units import Listing, Unit, find_listings
from lseval.domain.citations import Citations
from lseval.domain.group_text import fields_of, title_of
from lseval.domain.markdown_blocks import Block
from lseval.domain.section_titles import (
    announces_list,
    announces_sources,
    is_frame_title,
    is_reference_title,
    is_support_lead,
    states_answer,
)
from lseval.domain.sections import Section, by_bold_lines
from lseval.domain.spans import blanked, merged

_SHORT_ANSWER = 1500
"""Characters up to which running text without any structure is one answer rather than several."""

_DOMINANT = 0.6
"""Share of each section that numbered lists and tables must fill for their items to be the units."""

_SMALL_TALK = 300
"""Characters up to which an opening or closing paragraph that cites nothing is no unit of a long text."""

_PRIORITY = {"numbered_list": 1.5, "table": 1.25, "bullet_list": 1.0}
_TITLED = re.compile(r"\s*(?:\*\*|__|\[[^\[\]\n]+\]\()")

Units = tuple[str, list[Unit]]
"""The method, as in `GroupedAnswer`, and the units in order."""


class UnitFinder:
    """Finds the units of one answer from its source and what it cites."""

    def __init__(self, source: str, cited: Citations) -> None:
        self.source = source
        self.cited = cited

    def units_of(self, section: Section) -> Units:
        """The units of a section of the answer, or of the whole; none where nothing is said in it.

        Of several sections with content each is a unit, unless numbered lists or tables fill every one of them,
        or the only one that cites anything and is most of the text; a single section is looked into.
        """
        content = section.content()
        if len(content) > 1:
            return self._from_lists_in(content) or self._from_cited_one(content) or self._from_sections(content)
        listed = self._from_structure(section.body)
        if content:
            inside = content[0]
            is_outside = listed and self._cites(section.body) and not self._is_cited(inside.start, inside.end)
            return listed if listed and is_outside else self.units_of(inside)
        if listed:
            return listed
        blocks = section.body
        if not blocks or (not self._cites(blocks) and self._cites(section.blocks())):
            blocks = section.blocks()
        return self._from_structure(blocks) or ("prose", self._from_prose(blocks, section))

    def _from_structure(self, blocks: Sequence[Block]) -> Units | None:
        """The units in the bold titles, lists and tables among the blocks; None where they hold none."""
        listed = self._from_listings(blocks)
        bold = by_bold_lines(blocks)
        starts = {section.start for section in bold.content()}
        # Bold lines that are numbered come as both; the list knows better where its last item ends.
        is_numbered = listed and listed[0] == "numbered_list" and starts <= {unit.start for unit in listed[1]}
        return self.units_of(bold) if len(starts) > 1 and not is_numbered else listed

    def _from_lists_in(self, sections: Sequence[Section]) -> Units | None:
        found: list[Listing] = []
        for section in sections:
            listings = [item for item in self._listings(section.blocks()) if item.method != "bullet_list"]
            filled = sum(listing.end - listing.start for listing in listings)
            if not listings or filled < _DOMINANT * (section.end - section.heading_end):
                return None
            found += listings
        return found[0].method, [unit for listing in found for unit in listing.units]

    def _from_cited_one(self, sections: Sequence[Section]) -> Units | None:
        cited = [section for section in sections if self._is_cited(section.start, section.end)]
        sizes = [section.end - section.start for section in sections]
        if len(cited) != 1 or cited[0].end - cited[0].start < _DOMINANT * sum(sizes):
            return None
        method, units = self.units_of(cited[0])
        return (method, units) if method in ("numbered_list", "table") and len(units) > 1 else None

    def _from_sections(self, sections: Sequence[Section]) -> Units:
        spread = Counter(
            title for section in sections for title in {child.title.lower() for child in section.children}
        )
        units: list[Unit] = []
        for section in (section for section in sections if section.blocks()):
            parts = [child for child in section.children if not self._is_aside(child)]
            repeated = sum(spread[part.title.lower()] > 1 for part in parts)
            if len(parts) < 2 or 2 * repeated >= len(parts):
                units.append(Unit(section.start, section.end, section.title, fields_of(section.blocks())))
                continue
            if self._cites(section.body):
                units.append(Unit(section.start, section.body_end, section.title, fields_of(section.body)))
            units += [Unit(part.start, part.end, part.title, fields_of(part.blocks())) for part in parts]
        return "headings", units

    def _is_aside(self, part: Section) -> bool:
        """Whether a section inside another one is a list of sources, or frames it and cites nothing."""
        if is_reference_title(part.title):
            return True
        return is_frame_title(part.title) and not part.children and not self._is_cited(part.start, part.end)

    def _from_listings(self, blocks: Sequence[Block]) -> Units | None:
        """The units in the lists and tables among the blocks: those of the kind that cites or says most."""
        by_method: dict[str, list[Unit]] = defaultdict(list)
        has_lead = False
        for listing in self._listings(blocks):
            by_method[listing.method] += listing.units
            has_lead |= listing.lead is not None
        if not by_method:
            return self._from_records(blocks)
        method = max(by_method, key=lambda name: self._weight(name, by_method[name]))
        units = by_method[method]
        filled = sum(unit.end - unit.start for unit in units)
        is_main = len(units) > 1 or has_lead or 2 * filled >= blocks[-1].end - blocks[0].start
        return (method, units) if is_main else None

    def _from_records(self, blocks: Sequence[Block]) -> Units | None:
        """Units from several lists that each describe one thing, with the paragraph that names it."""
        units = []
        for listing in find_listings(self.source, blocks):
            if listing.is_record:
                lead = listing.lead
                title = title_of(lead.content) if lead else listing.units[0].title
                units.append(Unit(lead.start if lead else listing.start, listing.end, title, dict(listing.pairs)))
        return ("bullet_list", units) if len(units) > 1 else None

    def _listings(self, blocks: Sequence[Block]) -> list[Listing]:
        return [listing for listing in find_listings(self.source, blocks) if self._holds_units(listing)]

    def _holds_units(self, listing: Listing) -> bool:
        """Whether a list gives answer units, not one thing's fields, the evidence for an answer, or its links."""
        if listing.is_record:
            return False
        lead = listing.lead.content if listing.lead else ""
        if lead and is_support_lead(lead):
            return False
        if listing.method == "table" or not lead or announces_list(lead):
            return True
        if listing.method == "bullet_list" and states_answer(lead):
            return False
        return self._is_cited(listing.start, listing.end) and not self._is_only_links(listing)

    def _weight(self, method: str, units: Sequence[Unit]) -> tuple[float, float]:
        citing = sum(self._is_cited(unit.start, unit.end) for unit in units)
        return _PRIORITY[method] * citing, _PRIORITY[method] * sum(unit.end - unit.start for unit in units)

    def _from_prose(self, blocks: Sequence[Block], section: Section) -> list[Unit]:
        """The whole as one unit, or its paragraphs, each with the lists and sources that follow it."""
        content = [block for block in blocks if block.kind != "heading"]
        if not content:
            return []
        start = section.start if section.title else content[0].start
        whole = Unit(start, content[-1].end, section.title or title_of(_words(content[0])), fields_of(content))
        parts = self._paragraphs(content)
        if whole.end - whole.start <= _SHORT_ANSWER:
            parts = self._separate(parts)
        elif sum(self._is_cited(part.start, part.end) for part in parts) > 1:
            parts = [
                part for i, part in enumerate(parts) if 0 < i < len(parts) - 1 or not self._is_small_talk(part)
            ]
        return parts if len(parts) > 1 else [whole]

    def _paragraphs(self, content: Sequence[Block]) -> list[Unit]:
        parts: list[list[Block]] = []
        for block in content:
            goes_on = block.kind != "paragraph" or announces_sources(block.content)
            if parts and (goes_on or parts[-1][-1].content.rstrip().endswith((":", "："))):
                parts[-1].append(block)
            else:
                parts.append([block])
        return [Unit(part[0].start, part[-1].end, title_of(_words(part[0])), fields_of(part)) for part in parts]

    def _separate(self, parts: Sequence[Unit]) -> list[Unit]:
        """The paragraphs of a short text that are answers of their own: titled, or all citing other sources."""
        cited = [part for part in parts if self._is_cited(part.start, part.end)]
        titled = [part for part in cited if _TITLED.match(self.source, part.start)]
        if len(titled) > 1:
            return titled
        urls = [
            url for part in cited for url in {mention.url for mention in self.cited.between(part.start, part.end)}
        ]
        is_each_own = len(cited) == len(parts) > 2 and len(urls) == len(set(urls))
        return cited if is_each_own else []

    def _is_small_talk(self, unit: Unit) -> bool:
        return unit.end - unit.start <= _SMALL_TALK and not self._is_cited(unit.start, unit.end)

    def _is_only_links(self, listing: Listing) -> bool:
        mentions = [mention for mention in self.cited.between(listing.start, listing.end) if mention.url]
        spans = merged((mention.start - listing.start, mention.end - listing.start) for mention in mentions)
        return not re.search(r"[^\W\d_]{2}", blanked(self.source[listing.start : listing.end], spans))

    def _cites(self, blocks: Iterable[Block]) -> bool:
        return any(self._is_cited(block.start, block.end) for block in blocks)

    def _is_cited(self, start: int, end: int) -> bool:
        return any(mention.url for mention in self.cited.between(start, end))


def _words(block: Block) -> str:
    for part in block.walk():
        if part.content:
            return part.content
    return ""
