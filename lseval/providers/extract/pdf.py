"""The text of a PDF."""

from __future__ import annotations

import io
import logging
from typing import Final

import pypdf
from pypdf.errors import PyPdfError

from lseval.domain.labels import PageOutcome
from lseval.providers.extract.result import MOST_TEXT, Extracted, failure_of, tidy, tidy_title
from lseval.providers.extract.sniffing import PDF
from lseval.providers.extract.suspicions import INSTRUCTIONS, gives_orders

MOST_PAGES: Final = 1_000
"""Pages of a PDF that are read; what is longer is cut and flagged `text_cut`."""

logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read_pdf(content: bytes) -> Extracted:
    """The text of a PDF, its pages parted by a blank line.

    A locked, broken or scanned one is `pdf_failed`: nothing follows from it about what it says. A page that cannot
    be read is left out and flagged.
    """
    flags: list[str] = []
    pieces: list[str] = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            return failure_of(PDF, "the PDF is locked with a password")
        count = len(reader.pages)
        size = 0
        for number in range(min(count, MOST_PAGES)):
            text = _page_text(reader, number)
            if text is None:
                flags.append("pdf_page_unread")
                continue
            pieces.append(text)
            size += len(text)
            if size > MOST_TEXT:
                break
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except (
        PyPdfError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        OSError,
    ) as error:
        # pypdf raises what its parts raise on files that break the rules; all of them mean the same here.
        return failure_of(PDF, f"the PDF cannot be read ({type(error).__name__})")
    text = tidy("\n\n".join(pieces))
    if count > len(pieces) + flags.count("pdf_page_unread") or len(text) > MOST_TEXT:
        text = text[:MOST_TEXT]
        flags.append("text_cut")
    if not text:
        return failure_of(PDF, f"the PDF has no text on its pages ({count}); perhaps it was scanned")
    if gives_orders(text):
        flags.append(INSTRUCTIONS)
    return Extracted(
        PageOutcome.OK,
        text=text,
        title=tidy_title(title),
        sniffed_type=PDF,
        flags=tuple(dict.fromkeys(flags)),
    )


def _page_text(reader: pypdf.PdfReader, number: int) -> str | None:
    try:
        return reader.pages[number].extract_text()
    except (
        PyPdfError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        ArithmeticError,
    ):
        return None
