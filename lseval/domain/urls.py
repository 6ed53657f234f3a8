"""Web addresses: one key for one page."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import SplitResult, quote, urlsplit

import idna

from lseval.errors import InputError

_TRACKING_PREFIX = "utm_"
_TRACKING_NAMES = """
    _ga _gac _gl _hsenc _hsmi _openstat dclid fb_action_ids fb_action_types fb_source fbclid gad_source
    gbraid gclid gclsrc hsctatracking igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid oly_anon_id
    oly_enc_id rb_clickid s_cid spm srsltid ttclid twclid vero_conv vero_id wbraid wickedid yclid ysclid
"""  # query parameters that say how a reader came to a page, never which page it is
_TRACKING = frozenset(_TRACKING_NAMES.split())

_DEFAULT_PORTS = frozenset({80, 443})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ASCII_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_-])?")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAME_IN_PATH = _UNRESERVED | frozenset("!'()*,:@")
_PATH_SAFE = "%/:@!$&'()*+,;=~-._"
_QUERY_SAFE = _PATH_SAFE + "?[]"
_ARCHIVED = re.compile(
    r"https?://web\.archive\.org/web/\d{1,14}(?:[a-z]{2}_)?\*?/(https?):/{1,2}(\S+)", re.IGNORECASE
)


def canonical_key(url: str) -> str:
    """The key that all spellings of one page's address share; a key is its own key.

    Two addresses have the same key when they differ only in: scheme (http and https are one page), case of
    scheme and host, IDN or punycode host, a dot after the host, port 80 or 443, fragment, tracking parameters
    (`utm_*`, `gclid`, ...), slashes at the end of the path, dot segments, or in how a character that
    carries no meaning is escaped (`%7E` and `~`; in a path also `%28` and `(`, raw and escaped non-ASCII).
    Kept apart: `www.` and the bare host, the path's case, `%2F` and `/`, every other query parameter and the
    order of parameters. The key names a page; fetch the address as it was written.

    Raises InputError for anything that is not an http(s) address of a usable host: another scheme, no host,
    user information or a backslash before the path, a bad port, control characters, invisible characters in
    the host, or a host that IDNA 2008 refuses.
    """
    # A run meets the same addresses in every list of results.
    return _known_key(url) if len(url) <= _LONGEST_KNOWN else _key_of(url)


def _key_of(url: str) -> str:
    address = url.strip()
    if _CONTROL.search(address):
        raise InputError(f"The address {url!r} contains control characters; remove them.")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise InputError(f"The address {url!r} cannot be read: {error}.") from error
    if parts.scheme.lower() not in ("http", "https"):
        raise InputError(f"The address {url!r} is not http or https.")
    host = canonical_host(parts, url)
    suffix = "" if port is None or port in _DEFAULT_PORTS else f":{port}"
    try:
        path = _canonical_path(parts.path)
        query = _canonical_query(parts.query)
    except UnicodeEncodeError as error:
        raise InputError(f"The address {url!r} contains a character that has no encoding.") from error
    return f"https://{host}{suffix}{path}" + (f"?{query}" if query else "")


_LONGEST_KNOWN = 500
_known_key = lru_cache(maxsize=4_096)(_key_of)


def archived_original(url: str) -> str | None:
    """The address that a Wayback Machine snapshot is a copy of, or None where `url` is no such snapshot.

    The snapshot and its original are different pages with different keys; this only links them.
    """
    match = _ARCHIVED.fullmatch(url.strip())
    return f"{match[1].lower()}://{match[2]}" if match else None


def canonical_host(parts: SplitResult, url: str) -> str:
    """The host of a split address in its one spelling: lower case, punycode, without the last dot.

    An IPv6 address comes in brackets; a name of digits and dots is left as it is. Raises InputError where there is
    no usable host, or user information or a backslash stands before the path.
    """
    if "@" in parts.netloc or "\\" in parts.netloc:
        raise InputError(f"The address {url!r} has user information or a backslash before its path.")
    host = (parts.hostname or "").removesuffix(".")
    if not host or len(host) > 253:
        raise InputError(f"The address {url!r} has no usable host.")
    if ":" in host or "[" in parts.netloc:
        try:
            return f"[{ipaddress.IPv6Address(host).compressed}]"
        except ValueError as error:
            raise InputError(f"The address {url!r} has an unreadable IPv6 host.") from error
    if host.isascii():
        if not _ASCII_HOST.fullmatch(host) or ".." in host:
            raise InputError(f"The address {url!r} has no usable host.")
        return host
    # UTS 46 would silently drop what cannot be seen, so that a look-alike got a stranger's key.
    if any(unicodedata.category(char) in ("Cf", "Zs") for char in host):
        raise InputError(f"The address {url!r} has an invisible character in its host.")
    try:
        return idna.encode(host, uts46=True).decode("ascii").removesuffix(".")
    except (idna.IDNAError, UnicodeError) as error:
        raise InputError(f"The address {url!r} has a host that is not a valid name: {error}.") from error


def _canonical_path(path: str) -> str:
    escaped = quote(_ESCAPE.sub(lambda m: _plain_or_upper(m[1], _SAME_IN_PATH), path), safe=_PATH_SAFE)
    return _without_dot_segments(escaped).rstrip("/")


def _canonical_query(query: str) -> str:
    kept = []
    for part in query.split("&"):
        name = part.partition("=")[0].lower()
        if part and name not in _TRACKING and not name.startswith(_TRACKING_PREFIX):
            plain = _ESCAPE.sub(lambda m: _plain_or_upper(m[1], _UNRESERVED), part)
            kept.append(quote(plain, safe=_QUERY_SAFE))
    return "&".join(kept)


def _plain_or_upper(digits: str | None, meaningless: frozenset[str]) -> str:
    if digits is None:  # a lone "%" stands for itself
        return "%25"
    char = chr(int(digits, 16))
    return char if char in meaningless else f"%{digits.upper()}"


def _without_dot_segments(path: str) -> str:
    """RFC 3986, 5.2.4, for a path that is empty or starts with a slash."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)
