"""Text made safe to store and to send on."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "�"


def clean(text: str) -> str:
    """The text with split surrogate pairs joined, and lone halves and NUL replaced: as PostgreSQL can store it."""
    if text.isascii() and "\x00" not in text:
        return text
    if _UNSTORABLE.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", _REPLACEMENT)


def one_line(text: str, most_chars: int) -> str:
    """The text on one line, cut with an ellipsis after so many characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most_chars else plain[: most_chars - 1].rstrip() + "…"
