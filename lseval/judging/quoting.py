"""Finding a judge's quotation in the text that it claims to quote."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 2_000
"""A longer quotation is no quotation; it is not looked for."""

_ALIKE: Final = {
    "'": "['‘’ʼ′]", "‘": "['‘’ʼ′]", "’": "['‘’ʼ′]",
    '"': "[\"“”„″]", "“": "[\"“”„″]", "”": "[\"“”„″]", "„": "[\"“”„″]",
    "-": "[-‐‑‒–—−]", "‐": "[-‐‑‒–—−]", "‑": "[-‐‑‒–—−]", "‒": "[-‐‑‒–—−]",
    "–": "[-‐‑‒–—−]", "—": "[-‐‑‒–—−]", "−": "[-‐‑‒–—−]",
}  # fmt: skip
_MARKS: Final = "\"“”„'‘’`… \t\n"


def find_quotation(text: str, quotation: str) -> tuple[int, int] | None:
    """Start and end of the quotation's first occurrence in the text; None where its words do not stand there.

    White space may differ, and so may straight and curly quotation marks, the kinds of dash, and capitals; marks
    and dots round the quotation are left out. Words, figures and their order may not differ.
    """
    words = quotation.strip(_MARKS).removesuffix("...").split()
    if not words or len(quotation) > LONGEST:
        return None
    pattern = r"\s+".join("".join(_ALIKE.get(sign) or re.escape(sign) for sign in word) for word in words)
    found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
    return found.span() if found else None
