"""Which characters the bytes of a page are: by byte order mark, header, the page's own word, or a guess."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lseval.providers.extract.sniffing import BOMS, HTML, XML
from lseval.providers.extract.word_sets import words

MISLABELLED: Final = "mislabelled_encoding"
"""Flag: the bytes are not in the encoding that the server or the page names."""

UNDECODED: Final = "undecoded_bytes"
"""Flag: some bytes fit no character and show as U+FFFD."""

_LABEL: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_META: Final = re.compile(rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_XML_ENCODING: Final = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_META_WITHIN: Final = 8192
_GUESSED_FROM: Final = 65_536
_FEW: Final = 0.001
"""Share of characters that may be unreadable before an encoding counts as the wrong one."""

# Browsers read these labels so (WHATWG Encoding, 4.2), and so do the people who write them.
_READ_AS: Final = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "shift_jisx0213": "cp932", "euc_kr": "cp949", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "big5": "big5hkscs", "utf-16": "utf-16-le",
}  # fmt: skip
_KNOWN: Final = words(
    "utf-8 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be cp874 cp866 koi8-r koi8-u mac-roman mac-cyrillic gb18030 "
    "hz big5hkscs cp950 cp932 cp949 johab euc_jp iso2022_jp iso2022_kr cp437 cp850 cp852"
) | frozenset(
    [f"cp125{number}" for number in range(9)] + [f"iso8859-{number}" for number in range(2, 17)]
)  # never "rot13", "idna", "unicode_escape" and other codecs that are no character encodings


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with the encoding it was read in and how that was known."""

    text: str
    decoder: str
    source: str
    flags: tuple[str, ...] = ()


def decode(content: bytes, content_type: str, kind: str) -> Decoded:
    """The characters of a page; never fails, since the last resort shows what it cannot read as U+FFFD.

    UTF-8 is recognised by its bytes even where another encoding is named, which is then flagged.
    """
    for mark, marked in BOMS:
        if content.startswith(mark):
            return _final(content, marked, "bom", ())
    is_utf8 = _read(content, "utf-8") is not None
    has_wide_bytes = not content.isascii()
    flags: tuple[str, ...] = ()
    for label, source in _named(content, content_type, kind):
        name = codec_of(label)
        if name is None:
            continue
        if is_utf8 and has_wide_bytes and name != "utf-8" and not name.startswith("utf-"):
            flags = (MISLABELLED,)
            continue
        if _is_fit(content, name):
            return _final(content, name, source, flags)
        flags = (MISLABELLED,)
    return _final(content, "utf-8" if is_utf8 else _guess(content), "guess", flags)


def codec_of(label: str) -> str | None:
    """Python's name of the encoding that a label stands for; None for one that is unknown or no text encoding."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    name = _READ_AS.get(name, name)
    return name if name in _KNOWN else None


def _named(content: bytes, content_type: str, kind: str) -> Iterator[tuple[str, str]]:
    header = _LABEL.search(content_type)
    if header:
        yield header[1], "header"
    if kind in (HTML, XML):
        start = content[:_META_WITHIN]
        for found in (_XML_ENCODING.search(start), _META.search(start)):
            if found:
                label = found[1].decode("ascii", "replace")
                # A page that can be read as far as this is in no two-byte encoding, whatever it says.
                yield ("utf-8" if label.lower().startswith("utf-16") else label), "meta"


def _read(content: bytes, name: str) -> str | None:
    """The text, or None where a byte does not fit; a character cut off at the end is left out."""
    try:
        return codecs.getincrementaldecoder(name)("strict").decode(content)
    except (UnicodeError, ValueError):
        return None


def _is_fit(content: bytes, name: str) -> bool:
    if _read(content, name) is not None:
        return True
    text = content.decode(name, "replace")
    return text.count("\ufffd") <= max(1, len(text) * _FEW)


def _guess(content: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(content[:_GUESSED_FROM], enable_fallback=False).best()
    name = codec_of(best.encoding) if best is not None else None
    return name or "cp1252"


def _final(content: bytes, name: str, source: str, flags: tuple[str, ...]) -> Decoded:
    text = _read(content, name)
    if text is None:
        text = content.decode(name, "replace")
        flags = (*flags, UNDECODED)
    return Decoded(text.removeprefix("\ufeff"), "utf-8" if name == "utf-8-sig" else name, source, flags)
