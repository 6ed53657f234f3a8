"""The visible text of HTML of any depth, without a tree: slower on good pages, and safe on the worst."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from lseval.providers.extract.word_sets import words

BLOCKS: Final = words(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section "
    "select summary table tbody td tfoot th thead title tr ul"
)
"""Elements that begin a new line; a cell of a table is parted from the next by ` | `."""

UNSEEN: Final = words(
    "script style template noscript head title svg math iframe object canvas audio video map datalist noframes"
)
"""Elements whose content no reader sees as text."""

_VOID: Final = words("area base br col embed hr img input link meta param source track wbr")
_MAY_STAY_OPEN: Final = _VOID | words(
    "p li dt dd tr td th thead tbody tfoot option optgroup colgroup html body head"
)
_HIDDEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])", re.IGNORECASE
)
_OPENING: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")


def is_hidden_style(style: str) -> bool:
    """Whether a style attribute keeps its element from being seen."""
    return _HIDDEN_STYLE.search(style) is not None


def nesting(html: str) -> int:
    """About how deep the markup nests, an upper bound on well-formed pages; in one pass over the text."""
    depth = deepest = 0
    for match in _OPENING.finditer(html):
        name = match[2].lower()
        if name in _MAY_STAY_OPEN:
            continue
        if match[1]:
            depth = max(0, depth - 1)
        else:
            depth += 1
            deepest = max(deepest, depth)
    return deepest


class PlainHtml(HTMLParser):
    """Reads markup and gathers `text`, the `unseen` words, and what the head says."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.unseen: list[str] = []
        self.unscripted: list[str] = []
        self.metas: list[dict[str, str]] = []
        self.title_pieces: list[str] = []
        self.scripts = 0
        self._closed_over: list[str] = []  # open elements that hide what is in them, and those within them

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta":
            self.metas.append(given)
        if tag == "script":
            self.scripts += 1
        if given.get("alt"):
            self.unseen.append(given["alt"])
        if self._closed_over:
            if tag not in _VOID:
                self._closed_over.append(tag)
            return
        hides = tag in UNSEEN - {"head"} or "hidden" in given or is_hidden_style(given.get("style", ""))
        if hides and tag not in _VOID:
            self._closed_over.append(tag)
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag in BLOCKS:
            self.pieces.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._closed_over:
            if tag in self._closed_over:
                while self._closed_over.pop() != tag:
                    pass
            return
        if tag in BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._closed_over:
            self.pieces.append(data)
        elif "title" in self._closed_over[:1]:
            self.title_pieces.append(data)
        elif "noscript" in self._closed_over:
            self.unscripted.append(data)
        elif self._closed_over[0] not in ("script", "style"):
            self.unseen.append(data)

    def handle_comment(self, data: str) -> None:
        self.unseen.append(data)

    @property
    def text(self) -> str:
        return plain_lines("".join(self.pieces))


def plain_lines(text: str) -> str:
    """Text with single spaces within its lines and without the empty ones that markup leaves."""
    lines = (" ".join(line.split()).removeprefix("| ") for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
