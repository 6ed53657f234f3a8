"""Log lines that stay one line and hold no secret, whoever writes them. Used by the settings: no Django here."""

from __future__ import annotations

import logging
import re

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SECRETS = re.compile(r"\bls([it])_[\w-]{8,}|(/reset/[\w-]+/)(?!set-password)[\w-]+", re.ASCII)


def printable(text: str) -> str:
    """The text with control characters, line ends and marks of direction written as escapes."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def without_secrets(text: str) -> str:
    """The text with the tokens of invitations, of the API and of password resets blotted out."""
    return _SECRETS.sub(lambda found: f"{found[2]}***" if found[2] else f"ls{found[1]}_***", text)


class OneLine(logging.Formatter):
    """Formats a record's message as one printable line without secrets; a traceback keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = without_secrets(printable(record.message))
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:
        lines = super().formatException(ei).split("\n")  # type: ignore[arg-type]
        return "\n".join(without_secrets(printable(line)) for line in lines)
