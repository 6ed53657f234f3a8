"""An answer as a tree of titled sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lseval.domain.markdown_blocks import Block
from lseval.domain.section_titles import clean_title, is_frame_title, is_reference_title, is_support_lead

_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)(?P<title>[^*\n]{1,200}?)(?:\*\*|__)\s*[:：]?\s*")
_BELOW_HEADINGS = 7


@dataclass(slots=True)
class Section:
    """A titled part. `body` are its blocks before the first section inside it; the root has no title."""

    title: str
    level: int
    start: int
    heading_end: int
    body: list[Block] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The end of the last block in it."""
        last = self
        while last.children:
            last = last.children[-1]
        return last.body[-1].end if last.body else last.heading_end

    @property
    def body_end(self) -> int:
        return self.body[-1].end if self.body else self.heading_end

    def blocks(self) -> list[Block]:
        """All blocks in it and in the sections inside it, without their headings."""
        found: list[Block] = []
        waiting = [self]
        while waiting:
            section = waiting.pop()
            found += section.body
            waiting.extend(reversed(section.children))
        return found

    def content(self) -> list[Section]:
        """The sections right inside it that hold answer, without those that only frame it or list sources."""
        return [child for child in self.children if not child._is_dropped()]

    def _is_dropped(self) -> bool:
        if is_reference_title(self.title):
            return True
        is_leaf = all(is_reference_title(child.title) for child in self.children)
        is_support = self.level == _BELOW_HEADINGS and is_support_lead(self.title)
        return is_leaf and (is_frame_title(self.title) or is_support)


def by_headings(blocks: Sequence[Block]) -> Section:
    """The sections under the headings among these blocks, below an untitled root."""
    root = _root(blocks)
    path = [root]
    for block in blocks:
        if block.kind != "heading":
            path[-1].body.append(block)
            continue
        while path[-1].level >= block.level:
            path.pop()
        section = Section(clean_title(block.content), block.level, block.start, block.end)
        path[-1].children.append(section)
        path.append(section)
    return root


def by_bold_lines(blocks: Sequence[Block]) -> Section:
    """The sections under the paragraphs that begin with a line all in bold, below an untitled root."""
    root = _root(blocks)
    for block in blocks:
        first, _, rest = block.content.partition("\n")
        title = _BOLD_LINE.fullmatch(first) if block.kind == "paragraph" else None
        if title:
            root.children.append(Section(clean_title(title["title"]), _BELOW_HEADINGS, block.start, block.end))
        if not title or rest.strip():
            (root.children[-1] if root.children else root).body.append(block)
    return root


def is_bold_line(block: Block) -> bool:
    """Whether the block is a paragraph of one line all in bold."""
    return block.kind == "paragraph" and _BOLD_LINE.fullmatch(block.content.strip()) is not None


def _root(blocks: Sequence[Block]) -> Section:
    start = blocks[0].start if blocks else 0
    return Section("", 0, start, start)
