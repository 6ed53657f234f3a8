"""From what a server complains of to the error that says what can be done about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lseval.domain.storable_text import storable
from lseval.providers.errors import (
    AccessRefusedError,
    ContextTooLongError,
    MalformedReplyError,
    OutOfCreditError,
    ProviderError,
    RateLimitedError,
    RequestRefusedError,
    TimedOutError,
    UnavailableError,
)
from lseval.providers.keys import without_key
from lseval.providers.retry_after import retry_after_s
from lseval.providers.transport import HttpReply

_MOST_WORDS = 300

_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"})
_NO_CREDIT = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "billing_not_active"}
)
_CROWDED = frozenset(
    {"rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests", "resource_exhausted"}
)
_ILL = frozenset({"server_error", "internal_error", "internal_server_error", "overloaded_error", "api_error"})
_DENIED = frozenset({"invalid_api_key", "authentication_error", "permission_error", "permission_denied"})

# vLLM says that a chat is too long with a plain 400 and these words alone. Both readings of it are final, so that
# words never decide whether something is tried again; they only tell the reader, and the agent, what the matter is.
_TOO_LONG_WORDS = re.compile(r"maximum context length", re.IGNORECASE)

_STATUSES_TOO_SLOW = frozenset({408, 504, 524})
_STATUSES_FOR_NOW = frozenset({409, 425})


@dataclass(frozen=True, slots=True)
class Complaint:
    """The error in a reply's body: its words, and the codes that stand beside them, in lower case."""

    words: str = ""
    codes: frozenset[str] = frozenset()

    @property
    def status(self) -> int | None:
        """The HTTP status that stands as a code inside of the body; None where there is none."""
        statuses = [int(code) for code in self.codes if re.fullmatch(r"[1-5][0-9][0-9]", code, re.ASCII)]
        return max(statuses, default=None)


def complaint_in(value: Any) -> Complaint:
    """The complaint in the JSON of a reply, in the forms of OpenAI, vLLM, FastAPI and the search engines."""
    if isinstance(value, list):
        # Gemini puts its errors in a list.
        value = next((part for part in value if isinstance(part, Mapping)), None)
    if not isinstance(value, Mapping):
        return Complaint(_words(value) if isinstance(value, str) else "")
    error = value.get("error") or value.get("detail") or value
    if isinstance(error, list):
        error = next((part for part in error if isinstance(part, Mapping)), None)
    if not isinstance(error, Mapping):
        return Complaint(_words(error))
    if isinstance(error.get("error"), str):
        return Complaint(_words(error["error"]))
    codes = (error.get(name) for name in ("code", "type", "status", "status_code"))
    found = frozenset(str(code).lower()[:80] for code in codes if isinstance(code, str | int))
    return Complaint(_words(error.get("message") or error.get("detail") or error.get("msg")), found)


def error_of(
    reply: HttpReply,
    who: str,
    key: str = "",
    *,
    now: datetime | None = None,
    no_credit_statuses: frozenset[int] = frozenset(),
) -> ProviderError:
    """The error that a reply with a status other than 2xx stands for.

    `who` is the endpoint as people know it, `key` what must not be shown, and `no_credit_statuses` are statuses
    that this vendor has for a used-up account.
    """
    if 300 <= reply.status < 400:
        return RequestRefusedError(
            f"{who} redirects to {_shown(reply.headers.get('location', 'another place'))}. "
            "Redirects are not followed, so that the key goes nowhere else: give the final address as base_url."
        )
    try:
        complaint = complaint_in(json.loads(reply.body.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        complaint = Complaint(_words(reply.body[:2_000].decode("utf-8", "replace")))
    if reply.status in no_credit_statuses:
        complaint = Complaint(complaint.words, _NO_CREDIT)
    return error_for(reply.status, complaint, reply.headers, who, key, now)


def error_for(
    status: int,
    complaint: Complaint,
    headers: Mapping[str, str],
    who: str,
    key: str = "",
    now: datetime | None = None,
) -> ProviderError:
    """The error for an HTTP status (from the status line, or from inside of a body) and what was said with it."""
    said = without_key(complaint.words, key).rstrip(".")
    stated = f"{who} replied {status}: {said}." if said else f"{who} replied {status}."
    if status == 402 or complaint.codes & _NO_CREDIT:
        return OutOfCreditError(f"{stated} The account's credit is used up: add some and go on.")
    if status == 429:
        return RateLimitedError(stated, retry_after_s(headers, now or datetime.now(UTC)))
    if status in (401, 403):
        return AccessRefusedError(f"{stated} Check the key and what it may do.")
    if status in _STATUSES_TOO_SLOW:
        return TimedOutError(stated)
    if status >= 500 or status in _STATUSES_FOR_NOW:
        return UnavailableError(stated, retry_after_s(headers, now or datetime.now(UTC)))
    if complaint.codes & _TOO_LONG or _TOO_LONG_WORDS.search(complaint.words):
        return ContextTooLongError(stated)
    return RequestRefusedError(stated)


def error_inside(complaint: Complaint, headers: Mapping[str, str], who: str, key: str = "") -> ProviderError:
    """The error for a reply whose status is 200 and whose body is a complaint."""
    status = complaint.status
    if status is None or status < 400:
        for codes, meant in ((_CROWDED, 429), (_ILL, 500), (_DENIED, 401), (_TOO_LONG, 400), (_NO_CREDIT, 402)):
            if complaint.codes & codes:
                status = meant
                break
        else:
            words = without_key(complaint.words, key) or "no reason given"
            return MalformedReplyError(f"{who} replied with an error in the place of an answer: {words}")
    return error_for(status, complaint, headers, who, key)


def _words(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, default=str)[:2_000]
    return _shown(text)


def _shown(text: str) -> str:
    """At most a few lines' worth on one line, with nothing that a log or a database stumbles over."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in storable(text[:2_000])).split())
    return plain if len(plain) <= _MOST_WORDS else plain[: _MOST_WORDS - 1] + "…"
