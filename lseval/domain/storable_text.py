"""Text that a database can keep."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for each NUL and each lone surrogate, which PostgreSQL and UTF-8 have no place for."""
    return text if text.isascii() and "\x00" not in text else _UNSTORABLE.sub("\ufffd", text)
