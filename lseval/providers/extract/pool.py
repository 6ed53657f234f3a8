"""Reading pages in a few processes of their own, which can be killed without loss."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import lseval
from lseval.providers.extract.frames import FrameError, receive_frame, send_frame
from lseval.providers.extract.result import Extracted, failure_of
from lseval.providers.extract.sniffing import media_type, sniff

_ROOT: Final = Path(lseval.__file__).resolve().parents[1]
_START_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """What reading one page may take: bytes of address space, seconds of CPU, seconds by the clock."""

    memory_bytes: int = 1 << 30
    cpu_s: int = 15
    wall_s: float = 20.0


class Extractor:
    """Reads pages in at most `processes` children; any number of threads may use one.

    A child starts when it is first needed, is kept for the next page, and is replaced when it dies or is killed. It
    gets no environment, so it knows no secret. Close an extractor when it is no longer needed; one that is
    forgotten ends with this process.
    """

    def __init__(self, limits: ExtractLimits | None = None, processes: int | None = None) -> None:
        self.limits = limits or ExtractLimits()
        self._most = processes or min(4, os.cpu_count() or 1)
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._free = threading.Semaphore(self._most)
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._is_closed = False

    def __call__(self, content: bytes, content_type: str = "") -> Extracted:
        """The text of a page, as `lseval.providers.extract.routing.extract` reads it.

        Where the child dies or is killed for what it takes, the outcome is `extract_failed`, for a PDF
        `pdf_failed`.
        """
        reply = self._ask("extract", content, content_type, self.limits.wall_s)
        if reply is None:
            kind = sniff(content, media_type(content_type))
            return failure_of(kind, "reading it took more time or memory than is allowed, and was given up")
        return Extracted(**{**reply, "flags": tuple(reply["flags"])})

    def sanitised(self, content: bytes, content_type: str, wall_s: float) -> str:
        """The page's markup made fit to be looked at; empty where that is not to be had in `wall_s` seconds."""
        reply = self._ask("sanitise", content, content_type, wall_s)
        return str(reply.get("html", "")) if reply is not None else ""

    def close(self) -> None:
        """End the children."""
        if self._owner != os.getpid():
            return  # they belong to the process that we were forked from
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()

    def _ask(self, what: str, content: bytes, content_type: str, wall_s: float) -> dict[str, Any] | None:
        if self._owner != os.getpid():
            self._reset()
        with self._free:
            child = self._take()
            try:
                reply = child.ask({"what": what, "content_type": content_type}, content, wall_s)
            except FrameError:
                child.kill()
                return None
            except BaseException:
                child.kill()
                raise
            if reply.pop("is_last"):
                child.end()
            else:
                self._give_back(child)
            return reply

    def _take(self) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Child(self.limits)

    def _give_back(self, child: _Child) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(child)
                return
        child.end()


class _Child:
    def __init__(self, limits: ExtractLimits) -> None:
        ours, theirs = socket.socketpair()
        self._is_new = True
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, with three numbers
                [
                    *(sys.executable, "-m", "lseval.providers.extract.child"),
                    *(str(theirs.fileno()), str(limits.memory_bytes), str(limits.cpu_s)),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._ours = ours

    def ask(self, header: dict[str, str], content: bytes, wall_s: float) -> dict[str, Any]:
        # A child that has just begun has its libraries to load, which is not the page's fault.
        until = time.monotonic() + wall_s + (_START_S if self._is_new else 0)
        self._is_new = False
        send_frame(self._ours, json.dumps(header).encode("utf-8"), until)
        send_frame(self._ours, content, until)
        reply = json.loads(receive_frame(self._ours, until))
        assert isinstance(reply, dict)
        return reply

    def end(self) -> None:
        """Let it end by itself, which it does when its socket closes."""
        self._ours.close()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._ours.close()


@lru_cache(maxsize=1)
def default_extractor() -> Extractor:
    """The one extractor that the whole process shares."""
    extractor = Extractor()
    atexit.register(extractor.close)
    return extractor
