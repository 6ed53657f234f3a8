"""The block structure of a Markdown text, with offsets into the text as it was given."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lseval.domain.spans import Span, blanked

_PARSER = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table")
# Indented text is a sloppily nested list far more often than code, a line of dashes below a paragraph is a
# rule, not a heading, and `[1]: url` and HTML must stay where they stand so that their addresses are seen.
_PARSER.disable(["code", "html_block", "lheading", "reference"])
_PARSER.core.ruler.enableOnly(["normalize", "block"])

_FENCE_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*(\w*)[^\n]*")
_BACKTICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "ordered_list_open": "ordered_list",
    "bullet_list_open": "bullet_list",
    "list_item_open": "item",
    "table_open": "table",
    "tr_open": "row",
    "blockquote_open": "quote",
    "fence": "fence",
    "hr": "rule",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `source[start:end]` is what expresses it, without blank space around it.

    `kind` is heading, paragraph, ordered_list, bullet_list, item, table, row, fence, rule or quote. `content`
    is the inline source of a heading or paragraph; `level` a heading's level; `number` the first number of
    an ordered list; `cells` a row's cells, inline source too. `children` are a list's items, a table's rows
    (the header first), or the blocks of an item or a quote.
    """

    kind: str
    start: int
    end: int
    content: str = ""
    level: int = 0
    number: int = 1
    cells: tuple[str, ...] = ()
    children: tuple[Block, ...] = ()

    def walk(self) -> Iterator[Block]:
        """This block and all below it, in order."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its top-level blocks.

    `source` is the text in the form to search: as long as `text`, with the same offsets, but every line ends in
    a line feed and a byte order mark or the lines of a false code fence are blank.
    """

    text: str
    source: str
    blocks: tuple[Block, ...]

    def walk(self) -> Iterator[Block]:
        """Every block at every depth, in order."""
        for block in self.blocks:
            yield from block.walk()

    def fences(self) -> list[Span]:
        """The spans of fenced code, in order."""
        return [(block.start, block.end) for block in self.walk() if block.kind == "fence"]

    def code_spans(self) -> list[Span]:
        """The spans of fenced and inline code, in order, not overlapping; inline code crosses no blank line."""
        spans = self.fences()
        fence_ends = [end for _, end in spans]
        runs = []
        for match in _BACKTICKS.finditer(self.source):
            index = bisect_left(fence_ends, match.end())
            if index == len(spans) or match.start() < spans[index][0]:
                runs.append(match.span())
        blank_lines = [match.start() for match in _BLANK_LINE.finditer(self.source)]
        barriers = sorted(blank_lines + [start for start, _ in spans])
        position = 0
        for (start, end), closing in zip(runs, _next_of_same_length(runs), strict=True):
            if start < position or closing is None:
                continue
            barrier = bisect_left(barriers, end)
            if barrier == len(barriers) or barriers[barrier] > closing[0]:
                position = closing[1]
                spans.append((start, position))
        return sorted(spans)


def parse_blocks(text: str) -> Document:
    """The blocks of `text`; any text at all has some parse, and blank text has no blocks.

    A top-level fence that is labelled as Markdown, or that never closes, holds no code: its lines are read as
    blank. Structure nested deeper than 40 levels is left out. Takes time linear in the text.
    """
    source = text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")
    if source.startswith("\ufeff"):
        source = " " + source[1:]
    blocks = _parse(source)
    unfenced = _without_false_fences(source, blocks)
    if unfenced != source:
        source, blocks = unfenced, _parse(unfenced)
    return Document(text, source, blocks)


def _without_false_fences(source: str, blocks: tuple[Block, ...]) -> str:
    blank: list[Span] = []
    for fence in blocks:
        opening = _FENCE_OPENING.match(source, fence.start) if fence.kind == "fence" else None
        if opening is None:
            continue
        last_line = max(source.rfind("\n", 0, fence.end) + 1, opening.end())
        is_closed = source[last_line : fence.end].strip().startswith(opening[1])
        if not is_closed or opening[2].lower() in ("markdown", "md"):
            blank.append(opening.span())
            if is_closed:
                blank.append((last_line, fence.end))
    return blanked(source, blank)


def _next_of_same_length(runs: list[Span]) -> list[Span | None]:
    following: list[Span | None] = []
    nearest: dict[int, Span] = {}
    for start, end in reversed(runs):
        following.append(nearest.get(end - start))
        nearest[end - start] = (start, end)
    return following[::-1]


@dataclass(slots=True)
class _Open:
    """A block while its parts are still being read."""

    kind: str
    start: int
    end: int
    level: int = 0
    number: int = 1
    content: str = ""
    cells: list[str] = field(default_factory=list)
    children: list[Block] = field(default_factory=list)

    def closed(self) -> Block:
        cells, children = tuple(self.cells), tuple(self.children)
        return Block(self.kind, self.start, self.end, self.content, self.level, self.number, cells, children)


def _parse(source: str) -> tuple[Block, ...]:
    line_starts = [0, *(match.end() for match in re.finditer("\n", source)), len(source)]
    waiting = [_Open("document", 0, len(source))]
    for token in _PARSER.parse(source):
        if token.type == "inline":
            if waiting[-1].kind == "row":
                waiting[-1].cells.append(token.content.strip())
            else:
                waiting[-1].content = token.content
        elif token.nesting < 0:
            if token.type.removesuffix("close") + "open" in _KINDS:
                done = waiting.pop().closed()
                waiting[-1].children.append(done)
        elif token.type in _KINDS:
            opened = _opened(token, source, line_starts)
            if token.nesting:
                waiting.append(opened)
            else:
                waiting[-1].children.append(opened.closed())
    return tuple(waiting[0].children)


def _opened(token: Token, source: str, line_starts: list[int]) -> _Open:
    first, last = token.map or (0, 0)
    start, end = line_starts[first], line_starts[min(last, len(line_starts) - 1)]
    while end > start and source[end - 1].isspace():
        end -= 1
    while start < end and source[start].isspace():
        start += 1
    level = int(token.tag[1]) if token.type == "heading_open" else 0
    number = token.attrGet("start")
    return _Open(_KINDS[token.type], start, end, level, 1 if number is None else int(number))
