"""A lean OpenAI-compatible server: an agent whose next turn follows from how many turns the chat has.

    python -m bench._collection.llm WAIT_MS

prints its port. It waits that long before each reply and does next to nothing else, so that what is measured is the
client: it counts turns in the body's bytes and sends replies made beforehand.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any

TURNS = 28
"""Replies of the model in a run: 27 with two tool calls each, then the answer."""

ANSWER = "1. Lake Aldis ferry: opened in 1962 (https://ferries.example/1)"


def calls_of(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """The tool calls of a turn, from 0: 54 in all, of which 6 are searches."""
    if turn % 5 == 0:
        return [
            ("web_search", {"query": f"ferries opened before {1900 + turn}"}),
            ("open_page", {"url": f"https://ferries.example/{turn}"}),
        ]
    page = f"p{turn // 5 + 1}"
    return [
        ("read_page", {"page_id": page, "offset": 3000 * (turn % 5)}),
        ("find_in_page", {"page_id": page, "pattern": f"opened in {1900 + turn}"}),
    ]


def reply_of(turn: int) -> bytes:
    """The whole HTTP reply of a turn."""
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if turn < TURNS - 1:
        message["content"] = f"Turn {turn}: the page says more about the ferries, so I read on. " * 4
        message["tool_calls"] = [
            {"id": f"c{turn}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(calls_of(turn))
        ]
    usage = {
        "prompt_tokens": 1500 * (turn + 1),
        "completion_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 1500 * turn},
    }
    body = json.dumps(
        {"model": "bench", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    )
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


REPLIES = [reply_of(turn) for turn in range(TURNS)]


class Endpoint(asyncio.Protocol):
    """One connection: requests one after the other."""

    served = 0

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        self._parts: list[bytes] = []
        self._missing = -1
        self._size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._missing < 0:
            whole = b"".join(self._parts)
            end = whole.find(b"\r\n\r\n")
            if end < 0:
                return
            place = whole.lower().index(b"content-length:") + len(b"content-length:")
            self._missing = end + 4 + int(whole[place : whole.index(b"\r\n", place)])
            self._parts = [whole]
        if self._size >= self._missing:
            turn = b"".join(self._parts).count(b'"role":"assistant"')
            self._parts, self._missing, self._size = [], -1, 0
            asyncio.get_running_loop().call_later(self._wait_s, self._reply, turn)

    def _reply(self, turn: int) -> None:
        Endpoint.served += 1
        self._transport.write(REPLIES[min(turn, TURNS - 1)])


async def main(wait_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Endpoint(wait_s), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)  # ends with whoever started it
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"served": Endpoint.served, "cpu_s": used.ru_utime + used.ru_stime}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) / 1000))
