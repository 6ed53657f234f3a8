"""Telling a response that declines to answer from one that answers."""

from __future__ import annotations

import re

LONGEST_REFUSAL = 800
"""Characters. A longer response says more than that there is no answer, and is taken at its word."""

_ABILITY = r"(?:could\s+not|couldn[’']t|can\s?not|can[’']t|(?:am|was)\s+(?:unable|not\s+able)\s+to)"
_DEED = r"(?:find|determine|answer|verify|identify|locate|complete|provide|confirm|access|establish|resolve)"
_OPENING = re.compile(
    rf"""\W*(?:
        (?:i\s+am|i[’']m|we\s+are)?\s*(?:very\s+)?sorry\b
      | (?:i|we)\s+(?:apologi[sz]e|regret)\b
      | (?:unfortunately,?\s+)?(?:i|we)\s+{_ABILITY}\s+{_DEED}
      | unable\s+to\s+{_DEED}
      | no\s+(?:answer|result)s?\b(?:\s+(?:was|were)?\s*found)?\W*$
      | (?:很)?抱歉 | 对不起 | (?:我)?无法(?:回答|确定|找到)
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def is_refusal(text: str) -> bool:
    """Whether a response opens by saying that it has no answer, and is short enough to say little else.

    Only the opening counts: a response that answers and then names what it could not find is no refusal. Whether
    it cites anything is for the caller to see.
    """
    return len(text) <= LONGEST_REFUSAL and _OPENING.match(text.strip()) is not None
