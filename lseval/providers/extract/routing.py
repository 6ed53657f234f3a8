"""Which reader the bytes of a page go to."""

from __future__ import annotations

from dataclasses import replace

from lseval.domain.labels import PageOutcome
from lseval.providers.extract.decoding import decode
from lseval.providers.extract.result import MOST_TEXT, Extracted, tidy
from lseval.providers.extract.sniffing import HTML, JSON, PDF, PLAIN, XML, media_type, sniff
from lseval.providers.extract.suspicions import INSTRUCTIONS, gives_orders

OTHER_TYPE = "other_type"
"""Flag: the bytes are of another kind than the server says."""

_SAME = {
    HTML: ("text/html", "application/xhtml+xml"),
    PLAIN: ("text/", "application/javascript", "application/x-ndjson"),
    JSON: ("json", "text/plain"),
    XML: ("xml",),
    PDF: ("application/pdf",),
}


def extract(content: bytes, content_type: str = "", url: str = "") -> Extracted:
    """The text of a page by what its bytes are, in this process and without any limit on time or memory.

    For bytes of our own making; what strangers send goes through `Extractor`, which is the same in a process of its
    own that can be killed. `content_type` is the server's header; `url` is of no consequence today.
    """
    declared = media_type(content_type)
    kind = sniff(content, declared)
    found = _read(content, content_type, kind)
    expected = _SAME.get(kind)
    if declared and expected and not any(part in declared for part in expected):
        found = _flagged(found, OTHER_TYPE)
    return found


def _read(content: bytes, content_type: str, kind: str) -> Extracted:
    if not content.strip():
        return Extracted(PageOutcome.EMPTY, detail="nothing came", sniffed_type=kind)
    if kind == PDF:
        from lseval.providers.extract.pdf import read_pdf  # half a second to load, for few pages

        return read_pdf(content)
    if kind in (HTML, XML):
        from lseval.providers.extract.html import read_html

        return read_html(content, content_type, kind)
    if kind in (JSON, PLAIN):
        return _read_plain(content, content_type, kind)
    return Extracted(
        PageOutcome.UNDECODABLE, detail=f"the content is {kind}, which holds no text", sniffed_type=kind
    )


def _read_plain(content: bytes, content_type: str, kind: str) -> Extracted:
    decoded = decode(content, content_type, kind)
    text = tidy(decoded.text)
    flags = list(decoded.flags)
    if len(text) > MOST_TEXT:
        text = text[:MOST_TEXT]
        flags.append("text_cut")
    if gives_orders(text):
        flags.append(INSTRUCTIONS)
    return Extracted(
        PageOutcome.OK if text else PageOutcome.EMPTY,
        text=text,
        sniffed_type=kind,
        decoder=decoded.decoder,
        decoder_source=decoded.source,
        flags=tuple(flags),
    )


def _flagged(found: Extracted, flag: str) -> Extracted:
    return replace(found, flags=(*found.flags, flag))
