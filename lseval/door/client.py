"""Where a request comes from, as far as that can be believed."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

_IPV6_HOME = 64
"""Bits of an IPv6 address that a subscriber cannot choose."""


def address_of(request: HttpRequest) -> str | None:
    """The client's address; of IPv6 its /64 network, within which a client picks addresses at will.

    That of the connection; `X-Forwarded-For` is believed only where a proxy is said to be in front
    (`LSEVAL_BEHIND_PROXY`), and of it only the last entry, which that proxy has written. None where there is no
    readable address, as over a Unix socket.
    """
    peer = _canonical(request.META.get("REMOTE_ADDR", ""))
    if not settings.BEHIND_PROXY:
        return peer
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return _canonical(forwarded.rpartition(",")[2].strip()) or peer


def _canonical(text: str) -> str | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), _IPV6_HOME), strict=False).network_address)
