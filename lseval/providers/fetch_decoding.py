"""Undoing a body's content codings while it is read, with no more in memory than one chunk."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from lseval.errors import LsevalError

ACCEPTED: Final = "gzip, deflate"
"""What is asked for in Accept-Encoding."""

_CHUNK: Final = 1 << 16
_MOST_CODINGS: Final = 2
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_GZIP_MARK: Final = b"\x1f\x8b"


class UndecodableError(LsevalError):
    """The body's coding is unknown, or its bytes are not in it."""

    code = "undecodable"


class CutShortError(LsevalError):
    """The body ended before its coding did."""

    code = "cut_short"


def decoded(chunks: Iterator[bytes], codings: tuple[str, ...]) -> Iterator[bytes]:
    """The body as it was before the server encoded it with `codings`, in chunks of at most 64 KiB.

    Raises, while reading, UndecodableError and CutShortError, and whatever `chunks` raises.
    """
    if len(codings) > _MOST_CODINGS:
        raise UndecodableError(f"the body is encoded {len(codings)} times over")
    for coding in reversed(codings):
        if coding in _GZIP:
            chunks = _inflated(chunks, 16 + zlib.MAX_WBITS)
        elif coding == "deflate":
            chunks = _deflated(chunks)
        else:
            raise UndecodableError(f"the body is encoded with {coding[:40]!r}, which was not asked for")
    return chunks


def _inflated(chunks: Iterator[bytes], wbits: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits)
    has_begun = False
    for chunk in chunks:
        rest = chunk
        while True:
            if unpacker.eof:
                # A gzip file may have further members; what else follows the end is no part of the body.
                if wbits <= zlib.MAX_WBITS or not rest.startswith(_GZIP_MARK):
                    rest = b""
                    break
                unpacker = zlib.decompressobj(wbits)
            try:
                piece = unpacker.decompress(rest, _CHUNK)
            except zlib.error as error:
                raise UndecodableError(f"the body is not what its coding says: {error}") from error
            has_begun = has_begun or bool(rest)
            if piece:
                yield piece
            rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if not rest and len(piece) < _CHUNK:
                break
    if has_begun and not unpacker.eof:
        raise CutShortError("the body ended before its coding did")


def _deflated(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """`deflate` is zlib's format by the standard, and bare deflate with some servers."""
    first = next(chunks, b"")
    while len(first) < 2:
        more = next(chunks, b"")
        if not more:
            break
        first += more
    is_zlib = len(first) >= 2 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0

    def again() -> Iterator[bytes]:
        yield first
        yield from chunks

    return _inflated(again(), zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
