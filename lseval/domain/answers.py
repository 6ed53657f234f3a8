"""What a final answer is taken apart into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CitationDraft:
    """One cited source.

    `marker` is how the text cites it (`[3]`, `【3】`, or the URL itself). A dangling marker points at no
    listed source: `url` and `canonical_key` are empty then. `is_inline` is False for a source that the
    response lists without tying it to a group.
    """

    url: str
    canonical_key: str
    marker: str
    is_inline: bool = True

    @property
    def is_dangling(self) -> bool:
        return not self.url


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """One answer group as it stands in the response; `start` and `end` are character offsets there."""

    title: str
    text: str
    citations: tuple[CitationDraft, ...]
    start: int
    end: int
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupedAnswer:
    """A response taken apart: its groups, its run-level sources, and how the units were found.

    `method` names the structure used: numbered_list, table, headings, bullet_list, prose, or none.
    `sources` holds the listed sources that no group cites inline (`is_inline` False), `dangling` the
    markers of the whole response that point at no listed source.
    """

    groups: tuple[GroupDraft, ...]
    sources: tuple[CitationDraft, ...]
    dangling: tuple[str, ...]
    method: str
