"""What the bytes of a page are, whatever the server calls them."""

from __future__ import annotations

import codecs
import re
from typing import Final

HTML: Final = "text/html"
XML: Final = "application/xml"
PDF: Final = "application/pdf"
JSON: Final = "application/json"
PLAIN: Final = "text/plain"
BINARY: Final = "application/octet-stream"

BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""UTF-32 before UTF-16, whose mark it begins with."""

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"BZh", "application/x-bzip2"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"%!PS", "application/postscript"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_MEDIA_WORDS: Final = ((b"WEBP", 8, "image/webp"), (b"WAVE", 8, "audio/wav"), (b"ftyp", 4, "video/mp4"))
_LOOKED_AT: Final = 4096
_HTML_START: Final = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*+<(?:!doctype\s+html|html|head|body|title|meta|script|style|div|table|h[1-6]|p|a"
    rb"|br|ul|ol|"
    rb"article|section|main|span|center|font|b|iframe|link|base|form|img|svg)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Possessive: with many comments before what is no tag there are 2^n ways to take them apart."""

_HTML_WITHIN: Final = re.compile(rb"<(?:!doctype\s+html|html|body)\b", re.IGNORECASE)
_XML_START: Final = re.compile(rb"\s*<(?:\?xml\b|rss\b|feed\b|[a-z][\w.-]*:[a-z])", re.IGNORECASE)
_CONTROLS: Final = bytes(code for code in range(32) if code not in b"\t\n\r\x0c\x1b\x08")


def media_type(content_type: str) -> str:
    """The media type of a Content-Type header, in lower case and without parameters."""
    return content_type.partition(";")[0].strip().lower()


def sniff(content: bytes, declared: str) -> str:
    """The media type by content: one of the constants here, or that of a known binary kind.

    `declared` is the server's media type; it decides only what bytes leave open: plain text against markup.
    """
    start = content[:_LOOKED_AT]
    if b"%PDF-" in start[:1024]:
        return PDF
    bom = next((name for mark, name in BOMS if start.startswith(mark)), "")
    if not bom:
        for magic, kind in _MAGIC:
            if start.startswith(magic):
                return kind
        for word, place, kind in _MEDIA_WORDS:
            if start[place : place + 4] == word:
                return kind
    text = start.decode(bom, "replace").encode("utf-8", "replace") if bom else start
    if not bom and _is_wide(start):
        text = start.replace(b"\0", b"")  # UTF-16 without a mark: enough to tell markup by
    elif not bom and _is_binary(start):
        return BINARY
    return _kind_of_text(text, declared)


def _kind_of_text(text: bytes, declared: str) -> str:
    if declared == PLAIN and not _HTML_WITHIN.search(text[:1024]):
        return PLAIN
    if _HTML_START.match(text) or (_XML_START.match(text) and _HTML_WITHIN.search(text)):
        return HTML
    if _XML_START.match(text):
        return XML
    if text.lstrip()[:1] in (b"{", b"["):
        return JSON
    if _HTML_WITHIN.search(text) or (declared in (HTML, "application/xhtml+xml") and b"<" in text):
        return HTML
    return PLAIN


def _is_wide(start: bytes) -> bool:
    """Whether every second byte of what is mostly Latin text is zero."""
    if len(start) < 16:
        return False
    even, odd = start[::2].count(0) / len(start[::2]), start[1::2].count(0) / len(start[1::2])
    return max(even, odd) > 0.7 and min(even, odd) < 0.05


def _is_binary(start: bytes) -> bool:
    controls = len(start) - len(start.translate(None, _CONTROLS))
    return controls > len(start) * 0.02
