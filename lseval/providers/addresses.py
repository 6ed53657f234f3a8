"""Which addresses may be dialled: one parser for an address, and one check for what its host resolves to."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final
from urllib.parse import quote, urlsplit

from lseval.domain.urls import canonical_host
from lseval.errors import InputError, LsevalError
from lseval.providers.errors import BlockedAddressError

Resolve = Callable[[str, int, float], tuple[str, ...]]
"""Resolves (host, port, seconds at most) to IP addresses. Raises `UnresolvedError`."""

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

WEB_PORTS: Final = frozenset({80, 443})
_DEFAULT_PORT: Final = {"http": 80, "https": 443}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_LONGEST_LABEL: Final = 63
_TARGET_SAFE: Final = "%/:@!$&'()*+,;=~-._?[]|^`{}\"<>"
_LOCAL_NAMES: Final = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa")

_NOT_PUBLIC_4: Final = tuple(
    ipaddress.IPv4Network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
"""IANA's special-purpose registry, with multicast. `is_global` of Python 3.11 lets some of these pass."""

_GLOBAL_6: Final = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6: Final = tuple(
    ipaddress.IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")
)
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_TEREDO: Final = ipaddress.IPv6Network("2001::/32")
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


class BadAddressError(LsevalError):
    """Not an http(s) address of a usable host."""

    code = "bad_address"


class UnresolvedError(LsevalError):
    """The host's name has no address, or its name server does not answer."""

    code = "unresolved"


@dataclass(frozen=True, slots=True)
class Target:
    """An address taken apart: `host` in its one spelling (IPv6 bare), `path` with the query, escaped."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host as the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORT[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, the port always told."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_target(url: str) -> Target:
    """The address taken apart by the one parser whose reading everything else uses.

    An IPv4 host comes as four decimal numbers however it was written (`2130706433`, `0x7f.1`, `127.1`).

    Raises:
        BadAddressError: another scheme, user information or a backslash before the path, a bad port, control
            characters, or no usable host.
    """
    address = url.strip()
    if _CONTROL.search(address):
        raise BadAddressError("The address contains control characters.")
    try:
        parts = urlsplit(address)
        given_port = parts.port
        host = canonical_host(parts, address)
    except ValueError as error:
        raise BadAddressError(f"The address cannot be read: {error}.") from error
    except InputError as error:
        raise BadAddressError(str(error)) from error
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORT:
        raise BadAddressError(f"The address is {scheme or 'of no scheme'}, not http or https.")
    try:
        path = quote(parts.path or "/", safe=_TARGET_SAFE)
        query = quote(parts.query, safe=_TARGET_SAFE)
    except UnicodeEncodeError as error:
        raise BadAddressError("The address contains a character that has no encoding.") from error
    return Target(
        scheme=scheme,
        host=_plain_host(host),
        port=_DEFAULT_PORT[scheme] if given_port is None else given_port,
        path=(path if path.startswith("/") else f"/{path}") + (f"?{query}" if query else ""),
    )


def _plain_host(host: str) -> str:
    if host.startswith("["):
        return host[1:-1]
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return _ipv4(host)
    if any(len(label) > _LONGEST_LABEL for label in host.split(".")):
        raise BadAddressError(f"The host {host[:80]!r} has a part of more than {_LONGEST_LABEL} characters.")
    return host


def _ipv4(host: str) -> str:
    """The host as four decimal numbers, by the rules that browsers and `inet_aton` share (WHATWG URL, 3.5)."""
    labels = host.split(".")
    try:
        numbers = [_number(label) for label in labels]
    except ValueError as error:
        raise BadAddressError(f"The host {host!r} looks like an IPv4 address and is none.") from error
    *first, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise BadAddressError(f"The host {host!r} looks like an IPv4 address and is none.")
    value = last + sum(number << (8 * (3 - place)) for place, number in enumerate(first))
    return str(ipaddress.IPv4Address(value))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    if not label.isascii() or not label.isdigit() or len(label) > 20:
        raise ValueError(label)
    return int(label, 8 if label.startswith("0") and label != "0" else 10)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet; so must be every IPv4 address that it carries."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return not any(found in net for net in _NOT_PUBLIC_4)
    if not all(is_public(str(inner)) for inner in _embedded(found)):
        return False
    if found.ipv4_mapped is not None or found in _NAT64:
        return True  # what it carries is public
    return found in _GLOBAL_6 and not any(found in net for net in _NOT_PUBLIC_6)


def _embedded(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for or leads to."""
    low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    found = [inner for inner in (address.ipv4_mapped, address.sixtofour) if inner is not None]
    if address in _NAT64 or address in _COMPATIBLE:
        found.append(low)
    if address in _TEREDO and address.teredo is not None:
        found += address.teredo
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(low)
    return found


@dataclass(frozen=True, slots=True)
class Allowed:
    """Origins that may be dialled wherever they lie and on whatever port, such as `http://127.0.0.1:8001`.

    Make one with `Allowed.of`; empty, only the public web may be dialled.
    """

    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, addresses: Iterable[str]) -> Allowed:
        """The origins of these addresses. Raises BadAddressError for one that is none."""
        return cls(frozenset(parse_target(address).origin for address in addresses))

    def has(self, target: Target) -> bool:
        return target.origin in self.origins


def resolve(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """The host's addresses by the system's resolver, each once, in its order.

    The name is asked for fully qualified, so that no search domain of this machine is tried. Waits at
    most `seconds`.

    Raises:
        UnresolvedError: there is none, or no answer in time.
    """
    return resolve_as_written(f"{host}.", port, seconds)


def resolve_as_written(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """As `resolve`, for a name in this machine's own words: its hosts file and search domains have a say.

    For origins that are allowed, such as `http://localhost:8000`; the hosts file knows no fully qualified names.
    """
    reply: SimpleQueue[tuple[str, ...] | OSError | UnicodeError] = SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            reply.put(tuple(dict.fromkeys(str(entry[4][0]) for entry in found)))
        except (OSError, UnicodeError) as error:
            reply.put(error)

    # getaddrinfo takes no timeout; a thread that waits for a dead name server ends by itself.
    Thread(target=ask, daemon=True, name="resolve").start()
    try:
        answer = reply.get(timeout=max(seconds, 0))
    except Empty as error:
        raise UnresolvedError(f"The name server did not answer for {host.removesuffix('.')} in time.") from error
    if isinstance(answer, Exception):
        raise UnresolvedError(f"The name {host.removesuffix('.')} cannot be resolved: {answer}.") from answer
    return answer


def checked_addresses(target: Target, allowed: Allowed, ask: Resolve, seconds: float) -> tuple[str, ...]:
    """The IP addresses that may be dialled for a target, at least one: dial one of these and nothing else.

    A host with any address that is not public is refused whole, unless its origin is allowed.

    Raises:
        BlockedAddressError: the port, the name or one of its addresses is not for the public web.
        UnresolvedError: the name has no address.
    """
    is_allowed = allowed.has(target)
    if not is_allowed and target.port not in WEB_PORTS:
        raise BlockedAddressError(f"Port {target.port} is not a web port (80, 443).")
    addresses = _literal(target.host)
    if addresses is None:
        if not is_allowed and _is_local_name(target.host):
            raise BlockedAddressError(f"The name {target.host} is a local one.")
        addresses = ask(target.host, target.port, seconds)
    if not addresses:
        raise UnresolvedError(f"The name {target.host} has no address.")
    if not is_allowed:
        hidden = [address for address in addresses if not is_public(address)]
        if hidden:
            raise BlockedAddressError(f"{target.host} leads to {hidden[0]}, which is not on the public internet.")
    return addresses


def _literal(host: str) -> tuple[str, ...] | None:
    try:
        return (str(ipaddress.ip_address(host)),)
    except ValueError:
        return None


def _is_local_name(host: str) -> bool:
    return "." not in host or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES)
