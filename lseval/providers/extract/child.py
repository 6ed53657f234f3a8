"""The process that reads what strangers send. It has no database, no secrets and limits that end it.

Started by `lseval.providers.extract.pool` with the arguments FD MEMORY_BYTES CPU_S. Over the socket FD it is sent
requests, a frame of JSON and the page's bytes, and answers each with a frame of JSON.
"""

from __future__ import annotations

import json
import resource
import socket
import sys
from dataclasses import asdict
from typing import Any

from lseval.domain.labels import PageOutcome
from lseval.providers.extract.frames import FrameError, receive_frame, send_frame
from lseval.providers.extract.result import Extracted, failure_of
from lseval.providers.extract.routing import extract
from lseval.providers.extract.sniffing import media_type, sniff

_MOST_REQUESTS = 2_000
_MOST_RSS_KB = 400 * 1024
_MOST_FILES = 64


def main(fd: int, memory_bytes: int, cpu_s: int) -> None:
    """Answer requests until the other side closes, or until this process has grown too large."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_FILES, _MOST_FILES))
    with socket.socket(fileno=fd) as other:
        for number in range(1, _MOST_REQUESTS + 1):
            try:
                header = json.loads(receive_frame(other, None))
                content = receive_frame(other, None)
            except FrameError:
                return  # the other side has closed
            _allow_cpu(cpu_s)
            reply, is_spent = _answer(header, content)
            is_last = is_spent or number == _MOST_REQUESTS or _rss_kb() > _MOST_RSS_KB
            send_frame(other, json.dumps({**reply, "is_last": is_last}).encode("utf-8"), None)
            if is_last:
                return


def _answer(header: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bool]:
    """The reply, and whether this process has run out of memory and had better end."""
    content_type = str(header["content_type"])
    try:
        if header["what"] == "sanitise":
            from lseval.providers.extract.sanitising import sanitise

            return {"html": sanitise(content, content_type)}, False
        return asdict(extract(content, content_type)), False
    except MemoryError:
        return asdict(_failure(content, content_type, "reading it needs more memory than is allowed")), True
    except RecursionError:
        return asdict(_failure(content, content_type, "it nests too deep to be read")), False
    except Exception as error:  # noqa: BLE001 - whatever a library raises on a stranger's bytes, the page is unread
        return asdict(_failure(content, content_type, f"reading it failed ({type(error).__name__})")), False


def _failure(content: bytes, content_type: str, detail: str) -> Extracted:
    found = failure_of(sniff(content, media_type(content_type)), detail)
    assert found.outcome in (PageOutcome.EXTRACT_FAILED, PageOutcome.PDF_FAILED)
    return found


def _allow_cpu(seconds: int) -> None:
    """Give this process so many seconds more; the kernel ends it after that."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


def _rss_kb() -> int:
    """What this process holds, in kilobytes; 0 where the system does not tell.

    `ru_maxrss` would not do: a process begins with its parent's, so each child of a large one seemed too large.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * resource.getpagesize() // 1024
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
