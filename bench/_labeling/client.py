"""`python -m bench._labeling.client`: a lean load client on asyncio's streams.

Reads one JSON object from standard input ({ports, clients, slices, queue, people, password}) and prints one: for
the floor and for the product the times in seconds of every `next` and every `submit`, the errors, and the labels
that were acknowledged. Each client is a person with a kept connection, cookies and anti-forgery token, who asks
again as soon as answered. `slices` is a list of [kind, seconds]: the two take turns, so that whatever else the
machine does weighs on both.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

_HIDDEN = re.compile(rb'name="(slot|request_key|base_version|evidence|csrfmiddlewaretoken)" value="([^"]*)"')
_LABELS = ("C", "I", "U")


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    cookies: dict[str, str]
    body: bytes


@dataclass
class Measured:
    """What the clients found."""

    next_s: list[float] = field(default_factory=list)
    submit_s: list[float] = field(default_factory=list)
    acknowledged: list[tuple[str, int]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Connection:
    """One kept connection with its cookies."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookies: dict[str, str] = {}
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def token(self) -> str:
        return self._cookies.get("csrftoken", "")

    async def get(self, path: str) -> Reply:
        return await self._send("GET", path, b"")

    async def post(self, path: str, values: dict[str, str]) -> Reply:
        return await self._send("POST", path, urlencode(values).encode())

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._reader = self._writer = None

    async def _send(self, method: str, path: str, body: bytes) -> Reply:
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        if self._cookies:
            head.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in self._cookies.items()))
        if method == "POST":
            head += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        data = "\r\n".join(head).encode() + b"\r\n\r\n" + body
        is_reused = self._writer is not None
        try:
            return await self._exchange(data)
        except (asyncio.IncompleteReadError, ConnectionError):
            # A server may close a connection that it kept: one that was open gets another try, as in a browser.
            self.close()
            if not is_reused:
                raise
            return await self._exchange(data)

    async def _exchange(self, data: bytes) -> Reply:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        assert self._reader is not None
        self._writer.write(data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers: dict[str, str] = {}
        for line in lines[1:-2]:
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                key, _, rest = value.strip().partition("=")
                self._cookies[key] = rest.partition(";")[0]
            else:
                headers[name.lower()] = value.strip()
        body = await self._reader.readexactly(int(headers["content-length"]))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Reply(int(lines[0].split()[1]), headers, self._cookies, body)


class Turns:
    """Whose slice it is. A client asks before each thing that it does, and says when it is done."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._kind: str | None = ""
        self._busy = 0

    async def mine(self, kind: str) -> bool:
        """Wait for a slice of the kind and begin something in it; False where there are no more."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._kind in (kind, None))
            if self._kind is None:
                return False
            self._busy += 1
            return True

    async def done(self) -> None:
        async with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    async def run(self, slices: list[tuple[str, float]]) -> None:
        for kind, seconds in slices:
            await self._turn_to(kind)
            await asyncio.sleep(seconds)
            await self._turn_to("")
            async with self._changed:
                await self._changed.wait_for(lambda: not self._busy)
        await self._turn_to(None)

    async def _turn_to(self, kind: str | None) -> None:
        async with self._changed:
            self._kind = kind
            self._changed.notify_all()


async def _label(given: dict[str, Any], username: str, ready: Any, turns: Turns, found: Measured) -> None:
    link = Connection(given["ports"]["product"])
    page = await link.get("/login/")
    reply = await link.post(
        "/login/",
        {
            "username": username,
            "password": given["password"],
            "csrfmiddlewaretoken": _fields(page.body)["csrfmiddlewaretoken"],
        },
    )
    if reply.status != 302:
        found.errors.append(f"login {reply.status}")
    ready()
    path = f"/queues/{given['queue']}/label/"
    while await turns.mine("product"):
        try:
            await _one_item(link, path, username, found)
        finally:
            await turns.done()
    link.close()


async def _one_item(link: Connection, path: str, username: str, found: Measured) -> None:
    now = time.perf_counter()
    page = await link.get(path)
    fields = _fields(page.body)
    if page.status != 200 or "slot" not in fields:
        found.errors.append(f"next {page.status}")
        return
    found.next_s.append(time.perf_counter() - now)
    label = _LABELS[len(found.next_s) % 3]
    now = time.perf_counter()
    reply = await link.post(path, {**fields, "label": label, "comment": "", "seconds_on_task": "1.5"})
    if reply.status == 302:
        found.submit_s.append(time.perf_counter() - now)
        found.acknowledged.append((username, int(fields["slot"])))
    else:
        found.errors.append(f"submit {reply.status}")


async def _claim(given: dict[str, Any], username: str, ready: Any, turns: Turns, found: Measured) -> None:
    link = Connection(given["ports"]["floor"])
    await link.get("/claim/")
    ready()
    while await turns.mine("floor"):
        now = time.perf_counter()
        try:
            reply = await link.get("/claim/")
            if reply.status != 200:
                found.errors.append(f"claim {reply.status}")
            found.next_s.append(time.perf_counter() - now)
        finally:
            await turns.done()
    link.close()


def _fields(body: bytes) -> dict[str, str]:
    """The hidden fields of the page's first form that decides; the names occur once each in it."""
    form = body.partition(b'class="decision-bar"')[2].partition(b"</form>")[0] or body
    return {name.decode(): value.decode() for name, value in _HIDDEN.findall(form)}


async def run(given: dict[str, Any]) -> dict[str, Measured]:
    """Let the clients log in, begin together, and work in their slices."""
    found = {"floor": Measured(), "product": Measured()}
    turns, all_ready = Turns(), asyncio.Event()
    waiting = 2 * given["clients"]

    def ready() -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            all_ready.set()

    people = given["people"][: given["clients"]]
    clients = [
        asyncio.create_task(work(given, username, ready, turns, found[kind]))
        for kind, work in (("floor", _claim), ("product", _label))
        for username in people
    ]
    gate = asyncio.create_task(all_ready.wait())
    await asyncio.wait([gate, *clients], return_when=asyncio.FIRST_COMPLETED)
    gate.cancel()
    await turns.run([(kind, seconds) for kind, seconds in given["slices"]])
    for ended in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(ended, BaseException):
            found["product"].errors.append(f"{type(ended).__name__}: {ended}")
    return found


if __name__ == "__main__":
    measured = asyncio.run(run(json.load(sys.stdin)))
    print(json.dumps({kind: vars(each) for kind, each in measured.items()}))
