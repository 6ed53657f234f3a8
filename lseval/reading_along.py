"""What a view always reads of the person who asks, read in one message with their session.

A view says so with `reads_along`, and takes the rows with `rows_read_along`. It must be able to do without them:
whose a session is, is only guessed until it has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.http import HttpRequest

from lseval.models import User
from lseval.plain_sql import Rows, Statement

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reading:
    """Statements and their parameters; `user`, the id of the person, is added to those."""

    statements: Sequence[Statement] = ()
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadAlong:
    """What came with a session: the person who was guessed, and for them the rows of each statement."""

    person: User | None
    rows: Sequence[Rows]


def reads_along(reading: Callable[..., Reading]) -> Callable[[View], View]:
    """A decorator: `reading(request, **kwargs of the view)` says what is read along with the session."""

    def mark(view: View) -> View:
        view.reads_along = reading  # type: ignore[attr-defined]
        return view

    return mark


def reading_of(view: Callable[..., Any], request: HttpRequest, kwargs: Mapping[str, Any]) -> Reading:
    """What the view reads along; nothing for a view that has not said."""
    reading = getattr(view, "reads_along", None)
    found: Reading = reading(request, **kwargs) if reading else Reading()
    return found


def rows_read_along(request: HttpRequest) -> Sequence[Rows] | None:
    """The rows of each statement that the view reads along, for the person who asks; None if they were not read."""
    along: ReadAlong | None = getattr(request.session, "read_along", None)
    if along is None or along.person is None or not along.rows or along.person.pk != request.user.pk:
        return None
    return along.rows
