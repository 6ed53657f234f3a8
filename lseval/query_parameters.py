"""What an address may ask for after its question mark. Anything else is refused, never ignored.

A parameter that looks like a filter or an order could tell of columns that the person may not see; an address that
refuses every unknown one cannot be asked. A view says with `takes` what it may be asked for; one that says nothing
may be asked for nothing. `lseval.site.middleware.errors_as_pages` holds every page to that before its
view is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from django.http import QueryDict

from lseval.errors import InputError

LARGEST_PAGE = 1_000_000
_SHOWN_CHARACTERS = 40


View = TypeVar("View", bound=Callable[..., Any])


def takes(*names: str) -> Callable[[View], View]:
    """A decorator for views: these parameters may be in the view's address, each once."""

    def declare(view: View) -> View:
        view.query_parameters = names  # type: ignore[attr-defined]
        return view

    return declare


def taken_by(view: Callable[..., Any]) -> Collection[str]:
    """The parameters that a view has declared with `takes`."""
    found: Collection[str] = getattr(view, "query_parameters", ())
    return found


def require_known(given: QueryDict, known: Collection[str] = ()) -> None:
    """Refuse parameters that are not known, and known ones that are given twice.

    Raises InputError that names them and those that may be used.
    """
    unknown = sorted(_shown(name) for name in given if name not in known)
    if unknown:
        usable = f"use {', '.join(sorted(known))}" if known else "it takes none"
        raise InputError(f"This address does not know {', '.join(unknown[:5])}: {usable}.")
    repeated = sorted(name for name in given if len(given.getlist(name)) > 1)
    if repeated:
        raise InputError(f"{', '.join(repeated)} may be given once only.")


def page_number(given: QueryDict) -> int:
    """The parameter `page`, 1 where it is not given. Raises InputError for anything but a number from 1."""
    text = given.get("page", "1")
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_PAGE)) and int(text) >= 1):
        raise InputError("page must be a whole number from 1.")
    return int(text)


def _shown(name: str) -> str:
    return ascii(name[:_SHOWN_CHARACTERS])
