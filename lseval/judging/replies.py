"""Reading a judge's reply: what it plainly says, or why it cannot be used. Never a guess.

A reply is first read strictly. Only where that fails is it mended, by the few rules of `mending`, and then it must
satisfy the same schema; a mended reply is flagged. Whatever cannot be used has a reason, so that no lost bracket
becomes a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from lseval.domain.chat import ChatReply
from lseval.errors import LsevalError
from lseval.formats.strict_json import (
    DuplicateKeyError,
    IntegerRangeError,
    JsonError,
    NonFiniteNumberError,
    parse_json,
)
from lseval.judging.mending import mended

Schema = TypeVar("Schema", bound=BaseModel)

MOST_DEPTH: Final = 30
MOST_CANDIDATES: Final = 50
MENDED: Final = "repaired"
"""The flag of a reply that could only be read after mending."""


class Unusable(StrEnum):
    """Why a reply is none."""

    REFUSED = "refused"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    NO_JSON = "no_json"
    AMBIGUOUS = "ambiguous"
    INVALID = "invalid"
    UNREACHABLE = "unreachable"
    TOO_LONG = "too_long"


class UnusableReplyError(LsevalError):
    """A reply that says nothing usable; `reason` is one of `Unusable`."""

    code = "unusable_reply"

    def __init__(self, reason: Unusable, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reading(Generic[Schema]):
    """What a reply says, and the flags of how it was read."""

    value: Schema
    flags: tuple[str, ...] = ()


def read_reply(reply: ChatReply, schema: type[Schema]) -> Reading[Schema]:
    """The one object in the reply that satisfies the schema, fenced or in prose or alone.

    What follows it counts too: a further answer that breaks off, that differs or that the schema does not hold
    makes the reply unusable, whatever finish reason the provider gives. A brace of the prose that is never closed
    is passed over and flagged.

    Raises:
        UnusableReplyError: the model refused, said nothing, or was cut off; no object satisfies the schema; or two
            that differ do, or one beside an answer that does not. A key given twice, a number that is none, and
            nesting beyond `MOST_DEPTH` satisfy none.
    """
    text = reply.text
    if reply.refusal or reply.finish_reason == "content_filter":
        said = (reply.refusal or "its provider filtered the reply")[:300]
        raise UnusableReplyError(Unusable.REFUSED, f"The model refused: {said}")
    if not text.strip():
        if reply.finish_reason == "length":
            raise UnusableReplyError(Unusable.TRUNCATED, "The model ran out of tokens before it answered.")
        raise UnusableReplyError(Unusable.EMPTY, "The model said nothing.")
    found = _Found(schema)
    tail = ""
    for candidate, is_whole in _objects(text):
        if is_whole:
            found.look_at(candidate)
        else:
            tail = candidate
    if tail and (reply.finish_reason == "length" or (found.has_answer and _QUOTED.search(tail))):
        raise UnusableReplyError(Unusable.TRUNCATED, "The reply broke off in the middle of its JSON.")
    reading = found.only_one()
    return replace(reading, flags=(MENDED,)) if tail else reading


_KEY: Final = re.compile(r"[\"“](\w{1,60})[\"”]\s*:")
_QUOTED: Final = re.compile(r"[\"“]")


class _Found(Generic[Schema]):
    """The objects of a reply that satisfy the schema, and what was wrong with the first that does not."""

    def __init__(self, schema: type[Schema]) -> None:
        self._schema = schema
        self._readings: list[Reading[Schema]] = []
        self._problem = ""
        self._is_spoilt = False

    @property
    def has_answer(self) -> bool:
        return bool(self._readings)

    def look_at(self, candidate: str) -> None:
        before = len(self._readings)
        self._look_at(candidate)
        if len(self._readings) == before and self._is_meant_as_answer(candidate):
            self._is_spoilt = True

    def _is_meant_as_answer(self, candidate: str) -> bool:
        """Whether an object that cannot be used has a key of the schema, and so is another answer."""
        try:
            value: Any = parse_json(candidate.encode("utf-8", "replace")).value
        except JsonError:
            keys = [match[1] for match in _KEY.finditer(candidate)]
        else:
            keys = list(value)
        return not self._schema.model_fields.keys().isdisjoint(keys)

    def _look_at(self, candidate: str) -> None:
        try:
            self._readings.append(Reading(self._read(candidate)))
            return
        except (DuplicateKeyError, NonFiniteNumberError, IntegerRangeError) as error:
            # Mending could only choose one of two values, or make one up.
            self._problem = self._problem or str(error)
            return
        except JsonError as error:
            problem = str(error)
        except ValidationError as error:
            self._problem = self._problem or _told(error)
            return
        try:
            self._readings.append(Reading(self._read(mended(candidate)), (MENDED,)))
        except JsonError:
            self._problem = self._problem or problem
        except ValidationError as error:
            self._problem = self._problem or _told(error)

    def only_one(self) -> Reading[Schema]:
        if not self._readings:
            if self._problem:
                raise UnusableReplyError(Unusable.INVALID, f"The reply's JSON cannot be used: {self._problem}")
            raise UnusableReplyError(Unusable.NO_JSON, "The reply holds no JSON object.")
        if any(reading.value != self._readings[0].value for reading in self._readings):
            raise UnusableReplyError(Unusable.AMBIGUOUS, "The reply gives two different answers.")
        if self._is_spoilt:
            raise UnusableReplyError(
                Unusable.AMBIGUOUS, f"The reply gives a second answer, which cannot be used: {self._problem}"
            )
        return min(self._readings, key=lambda reading: len(reading.flags))

    def _read(self, candidate: str) -> Schema:
        value: Any = parse_json(candidate.encode("utf-8", "replace")).value
        return self._schema.model_validate(value)


def _objects(text: str) -> Iterator[tuple[str, bool]]:
    """The outermost `{...}` stretches in order, and whether each is whole.

    The last one may not be: it is opened and never closed, or too deep, and runs to the end of the text.

    Quotation marks are minded only inside braces, so that an apostrophe in the prose before hides nothing.
    """
    place, found = 0, 0
    while found < MOST_CANDIDATES and (start := text.find("{", place)) >= 0:
        end = _end_of(text, start)
        found += 1
        if end is None:
            yield text[start:], False
            return
        yield text[start:end], True
        place = end


def _end_of(text: str, start: int) -> int | None:
    depth, is_quoted, place = 0, False, start
    while place < len(text):
        sign = text[place]
        if is_quoted:
            if sign == "\\":
                place += 1
            elif sign == '"':
                is_quoted = False
        elif sign == '"':
            is_quoted = True
        elif sign in "{[":
            depth += 1
            if depth > MOST_DEPTH:
                return None
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return None


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place + ': ' if place else ''}{first['msg']}"
