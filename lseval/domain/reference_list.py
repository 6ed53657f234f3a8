"""The lists of sources in an answer: where they stand, and which address each of their labels has."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lseval.domain.links import Link
from lseval.domain.markdown_blocks import Block, Document
from lseval.domain.section_titles import announces_sources, is_frame_title, is_reference_title
from lseval.domain.spans import Span, holds, merged

_BRACKETED = (
    r"\\?\[{1,2}\s?\^?(?P<square>\d{1,4})\^?\s?\\?\]|\[\^(?P<note>[\w-]{1,40})\^?\]|【\s?(?P<lens>\d{1,4})(?:†[^】\n]{0,80})?】"
    r"|［(?P<wide>\d{1,4})］"
)
_LEAD = r"^[ \t>]*(?:[-*+•·]\s+)?(?:\*\*|__)?"
_BRACKETED_LABEL = re.compile(rf"{_LEAD}(?:{_BRACKETED})", re.MULTILINE)
_ANY_LABEL = re.compile(
    rf"{_LEAD}(?:{_BRACKETED}|(?P<plain>\d{{1,4}})\\?[.)、．）:：](?!\d)|[（(](?P<paren>\d{{1,4}})[)）]"
    r"|\|\s*\[?(?P<cell>\d{1,4})\]?\s*\||(?P<raised>[¹²³⁰⁴-⁹]{1,3}))",
    re.MULTILINE,
)
_MID_LINE_LABEL = re.compile(r"\\?\[\^?(?P<square>\d{1,4})\^?\\?\]|【(?P<lens>\d{1,4})】|［(?P<wide>\d{1,4})］")
_BULLET = re.compile(r"^[ \t]*[-*+•·](?=\s)", re.MULTILINE)
_RAISED_DIGITS = str.maketrans("¹²³⁰⁴⁵⁶⁷⁸⁹", "1230456789")
_BULLET_RANK, _LABEL_RANK, _MID_LINE_RANK, _LINK_RANK = range(4)
_LINES_PER_ENTRY = 4
_LONGEST_NOTE = 400
_CLOSING_NOTE = re.compile(r"[\s\-*_]{0,40}(?![#|>\d\[【])(?:(?!\n\s*\n|://)[^\[【])+", re.DOTALL)
"""A paragraph that may follow the last list without being part of the answer: an offer to help further, a date."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One labelled source of a list: its label, its span, where its label ends, and its addresses in order."""

    label: str
    start: int
    end: int
    label_end: int
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ReferenceLists:
    """The sources that a response lists.

    `spans` are the run-level lists, in order: parts that hold sources and no answer. `entries` are the labelled
    entries of these and of any list inside the answer, in order.
    """

    spans: tuple[Span, ...]
    entries: tuple[Entry, ...]


def normal_label(text: str) -> str:
    """A label as the key of its entry: a number in plain digits without leading zeros, else lower case."""
    text = text.translate(_RAISED_DIGITS)
    return str(int(text)) if text.isdecimal() else text.lower()


def find_reference_lists(document: Document, links: Sequence[Link], code: Sequence[Span]) -> ReferenceLists:
    """The lists of sources of a response.

    A run-level list is a part under a title such as Sources, References or 参考文献 (a heading, or a line of its
    own before a list), or without a title the labelled lines that the response ends with. Where several
    sections have their own list, the lists belong to the sections and none of them is run-level. Labels are
    `[1]`, `【1】`, `［1］` and `[^1]` anywhere at the start of a line whose entry has an address, and under a title
    also `1.`, `1)`, `1、`, `(1)`, `¹` and a table's first cell. An entry may run on to the next lines. `links`
    and `code` are those of the document's source, in order.
    """
    run_level, local = _titled_lists(document)
    reader = _EntryReader(document.source, links, code)
    entries = [entry for span in run_level + local for entry in reader.under_title(span)]
    loose = reader.labelled_lines(merged(run_level + local))
    tail = _labelled_tail(document, loose, run_level) or _numbered_tail(document, reader, entries + loose)
    if tail is not None:
        span, more = tail
        run_level.append(span)
        entries += more
    return ReferenceLists(tuple(merged(run_level)), tuple(sorted(entries + loose, key=lambda entry: entry.start)))


def _titled_lists(document: Document) -> tuple[list[Span], list[Span]]:
    """The parts under a reference title: run-level ones, and those that belong to a section of the answer."""
    headed = _headed_lists(document)
    owners = {owner for _, owner in headed if owner is not None}
    run_level = [span for span, owner in headed if len(owners) < 2 or owner is None]
    local = [span for span, owner in headed if len(owners) >= 2 and owner is not None]
    taken = merged([span for span, _ in headed])
    lines: list[Span] = []
    for i, block in enumerate(document.blocks):
        is_new = not lines or block.start >= lines[-1][1]
        if is_new and not holds(taken, block.start) and _is_title_line(document.blocks, i):
            lines.append((block.start, _list_end(document, i)))
    ending = len(document.source)
    for start, end in sorted(lines + taken, reverse=True):
        if _has_words(document.source, end, ending) and not _is_closing_note(document.source, end, ending):
            break
        ending = start
    if lines and ending <= lines[0][0]:
        run_level += lines
    else:
        local += lines
    return run_level, local


def _headed_lists(document: Document) -> list[tuple[Span, int | None]]:
    """Each part under a reference heading, with the heading of the part of the answer that it closes.

    That owner is None where the list hangs below the whole response or below a conclusion.
    """
    headings = [block for block in document.blocks if block.kind == "heading"]
    tops = sum(1 for block in headings if block.level <= headings[0].level)
    found: list[tuple[Span, int | None]] = []
    open_lists: list[tuple[Block, int | None]] = []
    above: list[Block] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            closed = above.pop()
            if open_lists and open_lists[-1][0] is closed:
                found.append(((closed.start, heading.start), open_lists.pop()[1]))
        if is_reference_title(heading.content):
            is_whole = len(above) == 1 and tops == 1
            is_owned = bool(above) and not is_whole and not is_frame_title(above[-1].content)
            open_lists.append((heading, above[-1].start if is_owned else None))
        above.append(heading)
    return found + [((heading.start, len(document.source)), owner) for heading, owner in open_lists]


def _is_title_line(blocks: Sequence[Block], index: int) -> bool:
    """Whether a paragraph announces sources: `**Sources:**`, `Sources: [1] ...`, or `Sources` before a list."""
    block = blocks[index]
    if block.kind != "paragraph":
        return False
    if announces_sources(block.content):
        return True
    first = block.content.partition("\n")[0][:200]
    is_alone = first == block.content or first.strip().startswith("**")
    follows = blocks[index + 1].kind if index + 1 < len(blocks) else ""
    is_marked = first.strip().startswith(("**", "__")) or follows in ("ordered_list", "bullet_list", "table")
    return is_alone and is_marked and is_reference_title(first)


def _list_end(document: Document, index: int) -> int:
    """The end of the list that the title line at `index` announces: lists, and paragraphs with an address."""
    end = document.blocks[index].end
    for block in document.blocks[index + 1 :]:
        is_list = block.kind in ("ordered_list", "bullet_list", "table")
        has_address = block.kind == "paragraph" and "://" in document.source[block.start : block.end]
        is_labelled = block.kind == "paragraph" and _ANY_LABEL.match(document.source, block.start)
        if not (is_list or has_address or is_labelled):
            break
        end = block.end
    return end


@dataclass(slots=True)
class _Draft:
    """An entry while it is read."""

    label: str
    start: int
    label_end: int
    indent: int
    is_plain: bool = False
    links: list[Link] = field(default_factory=list)


class _EntryReader:
    """Reads labelled entries out of parts of one source."""

    def __init__(self, source: str, links: Sequence[Link], code: Sequence[Span]) -> None:
        self.source = source
        self.links = links
        self.link_starts = [link.start for link in links]
        self.code = code

    def under_title(self, span: Span) -> list[Entry]:
        """The labelled entries of a part that a title announces; a list all numbered 1 counts by position."""
        drafts = self._drafts(span, _ANY_LABEL)
        numbers = [draft for draft in drafts if draft.is_plain]
        if len(numbers) > 1 and len({draft.label for draft in numbers}) == 1:
            for position, draft in enumerate(numbers, start=1):
                draft.label = str(position)
        return self._entries(drafts, span[1])

    def labelled_lines(self, taken: Sequence[Span]) -> list[Entry]:
        """The entries with an address that start with a bracketed label on a line outside the spans `taken`."""
        labels = [
            m
            for m in _BRACKETED_LABEL.finditer(self.source)
            if not holds(taken, m.start()) and not self._is_code(m)
        ]
        entries: list[Entry] = []
        limits = [*(match.start() for match in labels[1:]), len(self.source)]
        for match, limit in zip(labels, limits, strict=False):
            end = self._entry_end(match.end(), limit)
            entries += self._entries(self._drafts((match.start(), end), _BRACKETED_LABEL), end)
        return entries

    def _entry_end(self, start: int, limit: int) -> int:
        """The end of a loose entry: of its line, or of a later line of the paragraph while it has no address."""
        end = start
        for _ in range(_LINES_PER_ENTRY):
            stop = self.source.find("\n", end + 1, limit)
            stop = limit if stop < 0 else stop
            if not self.source[end:stop].strip():
                return end
            end = stop
            if end >= limit or self._links_between(start, end):
                break
        return end

    def _drafts(self, span: Span, labels: re.Pattern[str]) -> list[_Draft]:
        drafts: list[_Draft] = []
        current: _Draft | None = None
        position = span[0]
        for rank, event in self._events(span, labels):
            if isinstance(event, Link):
                if current is not None:
                    current.links.append(event)
                position = max(position, event.end)
            elif event.start() < position:
                continue
            elif rank == _BULLET_RANK:
                if current is not None and len(event[0]) <= current.indent + 1:
                    current = None
            elif rank == _LABEL_RANK or current is None or self._is_next_on_line(current, event.start()):
                current = self._draft(event)
                drafts.append(current)
                position = event.end()
        return drafts

    def _events(self, span: Span, labels: re.Pattern[str]) -> list[tuple[int, re.Match[str] | Link]]:
        """What matters in a part, in order: at one place first a bullet, then a label, then a link."""
        events: list[tuple[int, int, re.Match[str] | Link]] = [
            (match.start(), rank, match)
            for rank, pattern in ((_BULLET_RANK, _BULLET), (_LABEL_RANK, labels), (_MID_LINE_RANK, _MID_LINE_LABEL))
            for match in pattern.finditer(self.source, *span)
            if not self._is_code(match)
        ]
        events += [(link.start, _LINK_RANK, link) for link in self._links_between(*span)]
        return [(rank, event) for _, rank, event in sorted(events, key=lambda item: item[:2])]

    def _is_next_on_line(self, current: _Draft, offset: int) -> bool:
        """Whether a label in the middle of the line begins another entry: the one before it has its address."""
        return bool(current.links) and self.source.find("\n", current.start, offset) < 0

    def _draft(self, match: re.Match[str]) -> _Draft:
        name = match.lastgroup or "square"
        line = match[0]
        indent = len(line) - len(line.lstrip(" \t>"))
        return _Draft(normal_label(match[name]), match.start(), match.end(), indent, name == "plain")

    def _entries(self, drafts: Iterable[_Draft], end: int) -> list[Entry]:
        kept = list(drafts)
        ends = [*(draft.start for draft in kept[1:]), end]
        return [
            Entry(draft.label, draft.start, stop, draft.label_end, tuple(draft.links))
            for draft, stop in zip(kept, ends, strict=False)
            if draft.links
        ]

    def _links_between(self, start: int, end: int) -> Sequence[Link]:
        return self.links[bisect_left(self.link_starts, start) : bisect_left(self.link_starts, end)]

    def _is_code(self, match: re.Match[str]) -> bool:
        return holds(self.code, match.end() - 1)


def _labelled_tail(document: Document, loose: list[Entry], titled: list[Span]) -> tuple[Span, list[Entry]] | None:
    """The labelled lines that the response ends with, where its text before them cites one of them."""
    source = document.source
    ending = min((start for start, end in titled if not _has_words(source, end, len(source))), default=len(source))
    if loose and ending == len(source) and _is_closing_note(source, loose[-1].end, ending):
        ending = loose[-1].end
    start = ending
    labels: set[str] = set()
    for entry in reversed(loose):
        if _has_words(source, entry.end, start):
            break
        start = entry.start
        labels.add(entry.label)
    is_cited = any(normal_label(m[m.lastgroup or 0]) in labels for m in _MID_LINE_LABEL.finditer(source, 0, start))
    return ((start, ending), []) if is_cited else None


def _numbered_tail(document: Document, reader: _EntryReader, known: list[Entry]) -> tuple[Span, list[Entry]] | None:
    """The numbered list of links that the response ends with, where markers before it point at nothing else."""
    blocks = [block for block in document.blocks if block.kind != "rule"]
    if known or not blocks or blocks[-1].kind != "ordered_list":
        return None
    span = (blocks[-1].start, blocks[-1].end)
    entries = reader.under_title(span)
    labels = {entry.label for entry in entries}
    cited = {normal_label(m[m.lastgroup or 0]) for m in _MID_LINE_LABEL.finditer(document.source, 0, span[0])}
    is_list = len(entries) == len(blocks[-1].children) and all(len(entry.links) == 1 for entry in entries)
    return (span, entries) if is_list and cited & labels else None


def _is_closing_note(source: str, start: int, end: int) -> bool:
    is_short_rest = end == len(source) and end - start < _LONGEST_NOTE
    return is_short_rest and _CLOSING_NOTE.fullmatch(source[start:end].rstrip()) is not None


def _has_words(source: str, start: int, end: int) -> bool:
    """Whether anything but rules and blank space stands between two offsets."""
    return bool(source[start:end].strip(" \t\n-*_"))
