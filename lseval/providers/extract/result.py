"""What extraction gives back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lseval.domain.labels import PageOutcome
from lseval.domain.storable_text import storable

MOST_TEXT: Final = 5_000_000
"""Characters of a page's text that are kept; what is longer is cut and flagged `text_cut`."""

_LONGEST_TITLE: Final = 500
_CONTROLS: Final = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a page, or why there is none.

    `outcome` is a `PageOutcome` value. `refresh` is where a meta refresh leads, as it is written. `decoder` names
    the character encoding as Python does, empty where there was nothing to decode; `decoder_source` is bom, header,
    meta or guess.
    """

    outcome: str
    text: str = ""
    title: str = ""
    detail: str = ""
    sniffed_type: str = ""
    decoder: str = ""
    decoder_source: str = ""
    flags: tuple[str, ...] = ()
    refresh: str = ""
    published: str = ""


def failure_of(sniffed_type: str, detail: str, flags: tuple[str, ...] = ()) -> Extracted:
    """A page whose text could not be had, for a reason that lies with reading it and not with the page."""
    outcome = PageOutcome.PDF_FAILED if sniffed_type == "application/pdf" else PageOutcome.EXTRACT_FAILED
    return Extracted(outcome, detail=detail, sniffed_type=sniffed_type, flags=flags)


def tidy(text: str) -> str:
    """Text fit to store and show: one kind of line end, no control characters, at most one blank line in a row."""
    text = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub(" ", text)
    text = re.sub(r"[ \t]+\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def tidy_title(text: str) -> str:
    """A title on one line."""
    return " ".join(storable(text).split())[:_LONGEST_TITLE]
