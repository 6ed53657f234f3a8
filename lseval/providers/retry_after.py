"""How long a server asks its clients to wait, in every form that servers use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?", re.ASCII)
_SPAN = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|d|h|m|s))+", re.ASCII)
_PART = re.compile(r"([0-9.]+)(ms|d|h|m|s)", re.ASCII)
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_RESETS = ("requests", "tokens")


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a reply's headers ask to wait, at least 0; None where they ask for nothing readable.

    `headers` has names in lower case; `now` knows its time zone. `retry-after-ms` (Azure, OpenAI) is the finest and
    comes first, then `retry-after` as a whole or decimal number or as one of the three date forms of RFC 9110
    (a date that has passed asks for 0). Where neither is there, the resets of those limits of OpenAI's
    `x-ratelimit-remaining-*` that stand at 0 count, the longest of them. No cap is applied: what is too long to
    sit out is for the caller to say.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1_000
    stated = headers.get("retry-after", "").strip()
    if stated:
        seconds = _number(stated)
        return seconds if seconds is not None else _span(stated, _until(stated, now))
    return _longest_reset(headers)


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _until(text: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if then.tzinfo is None:
        # An asctime date, and one that ends in "-0000", are in UTC.
        then = then.replace(tzinfo=UTC)
    try:
        return max(0.0, (then - now).total_seconds())
    except OverflowError:
        return None


def _span(text: str, otherwise: float | None = None) -> float | None:
    """Seconds of a length of time such as `20ms`, `1s` or `6m0s`."""
    if not _SPAN.fullmatch(text):
        return otherwise
    try:
        return sum(float(amount) * _UNIT_S[unit] for amount, unit in _PART.findall(text))
    except ValueError:
        return otherwise


def _longest_reset(headers: Mapping[str, str]) -> float | None:
    """The wait until the limit that is used up is reset; a limit with something left asks for no wait."""
    waits = []
    for limit in _RESETS:
        reset = headers.get(f"x-ratelimit-reset-{limit}", "").strip()
        remaining = headers.get(f"x-ratelimit-remaining-{limit}", "").strip()
        wait = _span(reset, _number(reset))
        # Some vendors state the moment instead, in seconds since 1970: not a length of time.
        if wait is not None and remaining in ("", "0") and wait < 1e9:
            waits.append(wait)
    return max(waits, default=None)
