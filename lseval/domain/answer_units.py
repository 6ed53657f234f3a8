"""The lists and tables of an answer that may hold its units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lseval.domain import answer_words as words
from lseval.domain.group_text import fields_of, is_record, key_value, table_pairs, title_of
from lseval.domain.markdown_blocks import Block
from lseval.domain.section_titles import plain, without_markers
from lseval.domain.sections import is_bold_line

_MARK = re.compile(
    r"[ \t]*(?:\*\*|__)?(?:(?P<number>\d{1,3})\s?(?:[、．)）:：]|\.(?!\d))|[（(](?P<round>\d{1,2})[)）]"
    r"|(?P<circle>[①-⑳])|(?P<keycap>\d)\ufe0f?\u20e3|(?:第)?(?P<han>[一二三四五六七八九十]{1,3})[、.．]"
    r"|(?:answer|item|group|candidate|result|entry|option|答案|结果)\s?#?(?P<named>\d{1,3})\b)",
    re.IGNORECASE,
)
_DOT = re.compile(r"[ \t]*[•●▪◦‣]\s*")
_HAN_DIGITS = {char: value for value, char in enumerate("一二三四五六七八九", start=1)}
_INDEX_HEADER = re.compile(f"{words.INDEX_HEADER}?", re.IGNORECASE)
_ORDINAL_CELL = re.compile(r"#?\d{1,4}[.)]?|[①-⑳]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the answer that may become a group; offsets as in the response."""

    start: int
    end: int
    title: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list or table with its units and the paragraph right before it, if there is one.

    `method` is numbered_list, bullet_list or table. `is_record` says that it describes one thing: `pairs` are
    then that thing's fields.
    """

    method: str
    lead: Block | None
    units: tuple[Unit, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    is_record: bool = False

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end


@dataclass(slots=True)
class _Item:
    """An item while its list is read: its first line's Markdown and the blocks in it."""

    start: int
    end: int
    content: str
    blocks: list[Block]

    def take(self, blocks: Sequence[Block]) -> None:
        if blocks:
            self.blocks += blocks
            self.end = blocks[-1].end

    def unit(self) -> Unit:
        return Unit(self.start, self.end, title_of(self.content), fields_of(self.blocks))


def find_listings(source: str, blocks: Sequence[Block]) -> list[Listing]:
    """The lists and tables among sibling blocks, in order.

    A numbered list goes on over whatever stands between its items, which then belongs to the item before, as
    when nested bullets are indented too little. Lines such as `1、`, `(1)`, `①`, `**1. Title**` or
    `Answer 1:` make a numbered list too, and lines that begin with a dot a bullet list. A list of one item
    stands for the list inside it, if there is one.
    """
    reader = _NumberedReader(source)
    for index, block in enumerate(blocks):
        reader.read(block, _lead(blocks, index))
    reader.finish()
    listings = reader.listings
    for index, block in enumerate(blocks):
        if block.start in reader.taken:
            continue
        if block.kind == "table":
            listings += _table(block, _lead(blocks, index))
        elif block.kind == "bullet_list":
            listings += _bullets(source, block, _lead(blocks, index))
        elif block.kind == "paragraph":
            listings += _dotted(source, block)
    return sorted(listings, key=lambda listing: listing.start)


def _lead(blocks: Sequence[Block], index: int) -> Block | None:
    return blocks[index - 1] if index and blocks[index - 1].kind == "paragraph" else None


def _listing(method: str, lead: Block | None, items: Sequence[_Item]) -> Listing:
    pairs = tuple(pair for item in items if (pair := key_value(item.content)))
    return Listing(method, lead, tuple(item.unit() for item in items), pairs, is_record(pairs, len(items)))


class _NumberedReader:
    """Joins numbered items into lists while it reads sibling blocks.

    `listings` are the lists so far; `taken` the first offsets of the blocks that belong to them.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.listings: list[Listing] = []
        self.taken: set[int] = set()
        self._begin(None)

    def _begin(self, lead: Block | None) -> None:
        self.lead = lead
        self.items: list[_Item] = []
        self.last_number = 0
        self.between: list[Block] = []
        self.shape: list[str] = []
        self.blocks: list[Block] = []

    def read(self, block: Block, lead: Block | None) -> None:
        """Take in the next block; `lead` is the paragraph right before it, if any."""
        if block.kind == "heading":
            self.finish()
            return
        marked = list(_numbered_items(self.source, block))
        is_numbered = any(number in (1, self.last_number + 1) for number, _ in marked)
        if not is_numbered and block.kind != "ordered_list":
            self.between.append(block)
            return
        for number, item in marked:
            if self.items and (number == self.last_number + 1 or self._restarts(number, block)):
                self._give_between()
            elif number == 1 or block.kind == "ordered_list":
                self.finish()
                self._begin(lead)
            else:
                continue
            self.items.append(item)
            self.last_number = number
        self.blocks.append(block)

    def _restarts(self, number: int, block: Block) -> bool:
        """Whether a list that begins anew at 1 still goes on: every item so far was a list of its own."""
        is_apart = bool(self.between) and not any(is_bold_line(other) for other in self.between)
        return number == 1 == self.last_number and len(block.children) == 1 and is_apart

    def _give_between(self) -> None:
        """The blocks since the last item become part of it, but for a bold line that titles what follows."""
        given = self.between[:-1] if self.between and is_bold_line(self.between[-1]) else self.between
        if self.between:
            self.items[-1].take(given)
            self.shape = [block.kind for block in given]
            self.taken.update(block.start for block in given)
        self.between = []

    def finish(self) -> None:
        """End the list that is being read; its last item takes what follows it as the one before did."""
        rest = self.between
        count = 0
        while count < len(rest) and count < len(self.shape) and rest[count].kind == self.shape[count]:
            count += 1
        if self.items:
            self.items[-1].take(rest[:count])
        is_list = any(block.kind == "ordered_list" for block in self.blocks)
        inner = find_listings(self.source, self.items[0].blocks) if len(self.items) == 1 and is_list else []
        if inner:
            self.listings += inner
        elif is_list or len(self.items) > 1:
            self.listings.append(_listing("numbered_list", self.lead, self.items))
        if is_list or len(self.items) > 1:
            self.taken.update(block.start for block in [*self.blocks, *rest[:count]])
        self._begin(None)


def _numbered_items(source: str, block: Block) -> Iterator[tuple[int, _Item]]:
    if block.kind == "ordered_list":
        for number, item in enumerate(block.children, start=block.number):
            yield number, _Item(item.start, item.end, _first_words(source, item), list(item.children))
    elif block.kind == "paragraph":
        marks = list(_line_marks(source, block, _MARK))
        ends = [*(match.start() for match in marks[1:]), block.end]
        for match, end in zip(marks, ends, strict=False):
            text = source[match.start() : end].rstrip()
            part = replace(block, start=match.start(), end=match.start() + len(text), content=text)
            emphasis = match[0][: len(match[0]) - len(match[0].lstrip(" *_"))]
            yield _mark_number(match), _Item(part.start, part.end, emphasis + text[len(match[0]) :], [part])


def _line_marks(source: str, block: Block, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    start = block.start
    while start < block.end:
        match = pattern.match(source, start, block.end)
        if match:
            yield match
        newline = source.find("\n", start, block.end)
        start = block.end if newline < 0 else newline + 1


def _mark_number(match: re.Match[str]) -> int:
    kind = match.lastgroup or "number"
    word = match[kind]
    if kind == "circle":
        return ord(word) - ord("①") + 1
    if kind != "han":
        return int(word)
    tens, ten, ones = word.rpartition("十")
    value = _HAN_DIGITS.get(ones, 0)
    return value + (10 * _HAN_DIGITS.get(tens, 1) if ten else 0)


def _first_words(source: str, item: Block) -> str:
    first = item.children[0] if item.children else item
    return first.content or source[first.start : first.end]


def _bullets(source: str, block: Block, lead: Block | None) -> list[Listing]:
    items = [
        _Item(item.start, item.end, _first_words(source, item), list(item.children)) for item in block.children
    ]
    inner = find_listings(source, items[0].blocks) if len(items) == 1 else []
    return inner or [_listing("bullet_list", lead, items)]


def _dotted(source: str, block: Block) -> list[Listing]:
    marks = list(_line_marks(source, block, _DOT))
    ends = [*(match.start() for match in marks[1:]), block.end]
    items = []
    for match, end in zip(marks, ends, strict=False):
        text = source[match.start() : end].rstrip()
        items.append(_Item(match.start(), match.start() + len(text), source[match.end() : end], []))
    return [_listing("bullet_list", None, items)] if len(items) > 1 else []


def _table(block: Block, lead: Block | None) -> list[Listing]:
    header, *rows = block.children
    names = [plain(cell) for cell in header.cells]
    is_counted = _counts_rows(rows)
    units = [_row_unit(row, names, is_counted) for row in rows if any(row.cells)]
    pairs = table_pairs(block)
    return [Listing("table", lead, tuple(units), pairs, bool(pairs))] if units else []


def _counts_rows(rows: Sequence[Block]) -> bool:
    """Whether the first cells count the rows from 1, so that they name nothing, whatever their head is."""
    first = [plain(row.cells[0]) for row in rows if any(row.cells)]
    return len(first) > 1 and [cell.strip("#.) ") for cell in first] == [str(n) for n in range(1, len(first) + 1)]


def _row_unit(row: Block, names: Sequence[str], is_counted: bool) -> Unit:
    cells: dict[str, str] = {}
    title = ""
    for place, (name, cell) in enumerate(zip(names, row.cells, strict=False)):
        if not cell:
            continue
        if _INDEX_HEADER.fullmatch(name) and _ORDINAL_CELL.fullmatch(plain(cell)):
            continue
        if place or not is_counted:
            title = title or title_of(cell)
        if name:
            value = without_markers(cell) or cell
            cells[name] = f"{cells[name]}; {value}" if name in cells else value
    return Unit(row.start, row.end, title or title_of(row.cells[0]), cells)
