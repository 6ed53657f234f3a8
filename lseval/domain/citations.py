"""Which sources a response cites, where, and under what marker."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lseval.domain.answers import CitationDraft
from lseval.domain.links import Link, find_links
from lseval.domain.markdown_blocks import Document, parse_blocks
from lseval.domain.reference_list import Entry, ReferenceLists, find_reference_lists, normal_label
from lseval.domain.spans import Span, blanked, holds, merged
from lseval.domain.urls import canonical_key
from lseval.errors import InputError

_LARGEST_MARKER = 999
_WIDEST_RANGE = 100
_NUMBERS = r"\d{1,4}(?:\s{0,2}[-,;~、，；–—‑]\s{0,2}\d{1,4}){0,60}"
_MARKER = re.compile(
    rf"\\?\[\s?(?P<square>{_NUMBERS})\s?\\?\]"
    rf"|【\s?(?P<lens>{_NUMBERS})(?:[:：]\d{{1,4}})?(?:†[^】\n]{{0,80}})?\s?】"
    rf"|［\s?(?P<wide>{_NUMBERS})\s?］"
    r"|\[\^(?P<note>[\w-]{1,40})\^?\]"
    r"|\[(?P<word>(?:citation|source|ref|reference|来源|文献|引用|参考)\s?[:：#]?\s?\d{1,4})\]"
    rf"|<sup>\s?(?P<raised>{_NUMBERS})\s?</sup>",
    re.IGNORECASE,
)
_SHAPES = {
    "square": "[{}]",
    "lens": "【{}】",
    "wide": "［{}］",
    "note": "[^{}]",
    "word": "[{}]",
    "raised": "<sup>{}</sup>",
}
_SEPARATOR = re.compile(r"\s*([-,;~、，；–—‑])\s*")
_LISTING = ",;、，；"
_WORD = re.compile(r"\D+")
_NUMERIC_LABEL = re.compile(r"\\?\[?\^?(\d{1,4})\^?\\?\]?")


@dataclass(frozen=True, slots=True)
class Mention:
    """One place in a response that cites one source.

    `url` is empty where the marker points at no listed source. `start` and `end` are offsets in the response.
    """

    start: int
    end: int
    marker: str
    url: str

    def drafted(self, *, is_inline: bool = True) -> CitationDraft:
        """This mention as a citation. An address that no page can have is its own key."""
        return CitationDraft(self.url, page_key(self.url), self.marker, is_inline)


@dataclass(frozen=True, slots=True)
class Citations:
    """What a response cites, each in order of appearance.

    `inline` are the mentions in the answer itself, dangling ones among them. `listed` are the sources of the
    run-level lists and the addresses in fenced code, which tie nothing to a part of the answer. `list_spans`
    are the run-level lists.
    """

    inline: tuple[Mention, ...]
    listed: tuple[Mention, ...]
    list_spans: tuple[Span, ...]

    @property
    def dangling(self) -> tuple[str, ...]:
        """The markers that point at no listed source, each once."""
        return tuple(dict.fromkeys(mention.marker for mention in self.inline if not mention.url))

    def between(self, start: int, end: int) -> Sequence[Mention]:
        """The inline mentions that begin in `[start, end)`."""
        first = bisect_left(self.inline, start, key=lambda mention: mention.start)
        last = bisect_left(self.inline, end, key=lambda mention: mention.start)
        return self.inline[first:last]


def page_key(url: str) -> str:
    """The canonical key of a cited address; the address itself where it has none, and empty for an empty one."""
    try:
        return canonical_key(url) if url else ""
    except InputError:
        return url


def find_citations(response: str | Document) -> Citations:
    """Every citation of a Markdown or plain-text response.

    Markers are `[n]`, `[1, 2]`, `[1-3]`, `【3】`, `【3†source】`, `［3］`, `[^1]`, `[^1^]`, `[citation:3]` and
    `<sup>1</sup>`, one mention for each number. A marker means the entry of the same number in a list of
    sources: every such entry of the run-level lists, or the next one after it where sections have their own
    lists; failing that, an inline link of the form `[1](url)`; failing that, it dangles. An entry with several
    addresses is one mention for each. Links and addresses are mentions of their own.

    A number in brackets is a marker when a listed source has it, or when it is from 1 to 999: larger ones are
    years, and 0 is an index. `<sup>2</sup>` is a marker only when a source has that number. Markers in code are
    none, and an address in fenced code is listed, not cited. Never raises; takes time linear in the text.
    """
    document = parse_blocks(response) if isinstance(response, str) else response
    code = document.code_spans()
    fences = document.fences()
    links = find_links(document.source)
    lists = find_reference_lists(document, links, code)
    labels = {link.start: entry.label for entry in lists.entries for link in entry.links}
    inline: list[Mention] = []
    listed: list[Mention] = []
    for link in links:
        is_loose = holds(lists.spans, link.start) or holds(fences, link.start)
        label = labels.get(link.start, "") if is_loose else _number_of(link)
        mention = Mention(link.start, link.end, f"[{label}]" if label else link.url, link.url)
        (listed if is_loose else inline).append(mention)
    resolver = _Resolver(lists, links)
    hidden = merged([*lists.spans, *code, *_labels(lists.entries), *(_address_span(link) for link in links)])
    inline += _marker_mentions(blanked(document.source, hidden), resolver)
    inline.sort(key=lambda mention: mention.start)
    return Citations(tuple(inline), tuple(listed), lists.spans)


def distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """The first mention of each address and of each dangling marker, in order."""
    seen: dict[tuple[str, str], Mention] = {}
    for mention in mentions:
        seen.setdefault(("", mention.url) if mention.url else (mention.marker, ""), mention)
    return tuple(seen.values())


class _Resolver:
    """Finds the addresses that a label means at a place in the text."""

    def __init__(self, lists: ReferenceLists, links: Sequence[Link]) -> None:
        self._spans = lists.spans
        self._entries: dict[str, list[Entry]] = defaultdict(list)
        for entry in lists.entries:
            self._entries[entry.label].append(entry)
        self._numbered_links: dict[str, str] = {}
        for link in links:
            if number := _number_of(link):
                self._numbered_links.setdefault(normal_label(number), link.url)

    def knows(self, label: str) -> bool:
        return label in self._entries or label in self._numbered_links

    def urls(self, label: str, offset: int) -> tuple[str, ...]:
        entries = self._entries.get(label)
        if not entries:
            url = self._numbered_links.get(label)
            return (url,) if url else ()
        index = min(bisect_left(entries, offset, key=lambda entry: entry.start), len(entries) - 1)
        meant = [entries[index]]
        if holds(self._spans, meant[0].start):  # a run-level list that gives one number twice means both
            meant = [entry for entry in entries if holds(self._spans, entry.start)]
        return tuple(dict.fromkeys(link.url for entry in meant for link in entry.links))


def _number_of(link: Link) -> str:
    """The number that a link of the form `[1](url)` or `[[1]](url)` shows, else empty."""
    match = _NUMERIC_LABEL.fullmatch(link.label.strip())
    return match[1] if match else ""


def _address_span(link: Link) -> Span:
    """The part of a link in which nothing is a marker: all of it where its text is a number, else the address."""
    return (link.start if _number_of(link) else link.target, link.end)


def _labels(entries: Iterable[Entry]) -> Iterator[Span]:
    for entry in entries:
        yield entry.start, entry.label_end


def _marker_mentions(source: str, resolver: _Resolver) -> Iterator[Mention]:
    for match in _MARKER.finditer(source):
        kind = match.lastgroup or "square"
        for name, label in _cited(kind, match[kind], resolver):
            for url in resolver.urls(label, match.start()) or ("",):
                yield Mention(match.start(), match.end(), _SHAPES[kind].format(name), url)


def _cited(kind: str, content: str, resolver: _Resolver) -> Iterator[tuple[str, str]]:
    """The sources that a marker cites: what each is called in the text, and its label. None if it is no marker."""
    if kind == "word":
        yield content, normal_label(_WORD.sub("", content))
    elif kind == "note" and not content.isdecimal():
        if resolver.knows(normal_label(content)):
            yield content, normal_label(content)
    else:
        labels = _expanded(content)
        largest = 0 if kind == "raised" else _LARGEST_MARKER
        if all(1 <= int(label) <= largest or resolver.knows(label) for label in labels):
            yield from ((label, label) for label in labels)


def _expanded(content: str) -> list[str]:
    """The numbers of `1`, `1, 2` or `1-3`. A range that is not ascending or too wide stands for its two ends."""
    labels: list[str] = []
    is_range = False
    for part in _SEPARATOR.split(content):
        if not part.isdecimal():
            is_range = part not in _LISTING
            continue
        number = int(part)
        first = int(labels[-1]) + 1 if is_range else number
        labels += map(str, range(first, number + 1) if first < number <= first + _WIDEST_RANGE else [number])
        is_range = False
    return labels
