"""Which endpoints of models and search engines may be called, and at which address each is dialled."""

from __future__ import annotations

from functools import lru_cache

from lseval.providers.addresses import (
    Allowed,
    BadAddressError,
    Resolve,
    Target,
    UnresolvedError,
    checked_addresses,
    parse_target,
    resolve_as_written,
)
from lseval.providers.addresses import resolve as resolve_qualified
from lseval.providers.errors import BlockedAddressError, UnavailableError


@lru_cache(maxsize=256)
def endpoint_target(url: str) -> Target:
    """An endpoint's address taken apart. Raises BlockedAddressError for what is no http(s) address."""
    try:
        return parse_target(url)
    except BadAddressError as error:
        raise BlockedAddressError(f"The endpoint {url[:200]!r} cannot be called. {error}") from error


def endpoint_addresses(
    target: Target, allowed: Allowed, seconds: float, resolve: Resolve | None = None
) -> tuple[str, ...]:
    """The IP addresses of an endpoint, at least one: dial one of these, without asking the name server again.

    An endpoint is called over https at a public address, or stands by its exact origin among those allowed: then
    http, loopback, private networks and any port are its owner's choice, and its name is one of this machine's.
    `resolve`, where given, stands in for both of the system's ways to look a name up.

    Raises:
        BlockedAddressError: it may not be called; the message says what to add to the study's file.
        UnavailableError: its name has no address at the moment.
    """
    if target.scheme != "https" and not allowed.has(target):
        raise _blocked(target, "It is not https, so the key and the prompts could be read on the way.")
    try:
        ask = resolve or (resolve_as_written if allowed.has(target) else resolve_qualified)
        return checked_addresses(target, allowed, ask, seconds)
    except BlockedAddressError as error:
        raise _blocked(target, str(error)) from error
    except UnresolvedError as error:
        raise UnavailableError(f"{target.origin} could not be reached. {error}") from error


def _blocked(target: Target, reason: str) -> BlockedAddressError:
    return BlockedAddressError(
        f"The endpoint {target.origin} is not called. {reason} If it is meant, add it to the study's file: "
        f'[providers] allow = ["{target.origin}"].'
    )
