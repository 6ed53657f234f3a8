"""Lumps of bytes over a socket, each with its length before it."""

from __future__ import annotations

import socket
import struct
import time

from lseval.errors import LsevalError

_LENGTH = struct.Struct(">Q")
_CHUNK = 1 << 18


class FrameError(LsevalError):
    """The other side closed, or did not answer in time."""

    code = "frame_error"


def send_frame(other: socket.socket, content: bytes, until: float | None) -> None:
    """Send a lump; `until` is a moment of `time.monotonic`, None to wait for ever."""
    try:
        for part in (_LENGTH.pack(len(content)), content):
            other.settimeout(_left(until))
            other.sendall(part)
    except OSError as error:
        raise FrameError(f"not sent: {error}") from error


def receive_frame(other: socket.socket, until: float | None) -> bytes:
    """Wait for a lump and return it."""
    (length,) = _LENGTH.unpack(_receive(other, _LENGTH.size, until))
    return _receive(other, length, until)


def _receive(other: socket.socket, size: int, until: float | None) -> bytes:
    content = bytearray(size)
    view = memoryview(content)
    place = 0
    try:
        while place < size:
            other.settimeout(_left(until))
            count = other.recv_into(view[place : place + _CHUNK])
            if not count:
                raise FrameError("the other side has closed")
            place += count
    except OSError as error:
        raise FrameError(f"not received: {error}") from error
    view.release()
    return bytes(content)


def _left(until: float | None) -> float | None:
    if until is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("out of time")
    return left
