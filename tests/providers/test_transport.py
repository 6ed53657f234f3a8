"""One request, one reply: bounded in time and size, never sent on, over connections that are used again."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib

import pytest

from lseval.providers.addresses import Allowed
from lseval.providers.errors import (
    MalformedReplyError,
    ProviderError,
    TimedOutError,
    UnavailableError,
)
from lseval.providers.transport import GuardedHttp, HttpReply
from tests.providers.bad_llm import (
    BadLLM,
    answers_bytes,
    cut_off_connection,
    endless,
    hangs,
    redirects,
    resets,
    says,
    trickles,
    trickles_headers,
)
from tests.providers.clients import http_for
from tests.providers.loopback import Behaviour, Exchange


def ask(server: BadLLM, **options: float) -> HttpReply:
    return http_for(server).request("POST", server.base_url, body=b"{}", **{"timeout_s": 10.0, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("behaviour", [hangs(), trickles(), trickles_headers()], ids=["hangs", "body", "headers"])
def test_the_time_is_over_however_the_bytes_trickle(behaviour: Behaviour) -> None:
    with BadLLM([behaviour]) as server:
        before = time.monotonic()
        with pytest.raises(TimedOutError):
            ask(server, timeout_s=0.3)
        assert time.monotonic() - before < 5


def test_the_reply_has_its_own_bound_after_connecting() -> None:
    with BadLLM([hangs()]) as server, pytest.raises(TimedOutError):
        ask(server, timeout_s=600, reply_s=0.2)


@pytest.mark.parametrize("behaviour", [resets(), cut_off_connection()], ids=["reset", "cut off"])
def test_a_lost_connection_may_come_back(behaviour: Behaviour) -> None:
    with BadLLM([behaviour]) as server, pytest.raises(UnavailableError) as caught:
        ask(server)
    assert "was lost" in str(caught.value)


def test_a_reply_that_is_not_http_is_a_lost_connection() -> None:
    def babble(exchange: Exchange) -> None:
        exchange.send_raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        exchange.end()

    with BadLLM([babble]) as server, pytest.raises(UnavailableError):
        ask(server)


def test_nobody_listening_is_unavailable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(UnavailableError, match="could not be reached"):
            GuardedHttp(Allowed.of([origin])).request("GET", origin, timeout_s=5)


def test_another_address_of_the_name_is_tried() -> None:
    with BadLLM() as server:
        origin = f"http://model.test:{server.port}"
        http = GuardedHttp(Allowed.of([origin]), resolve=lambda *_: ("127.0.0.2", "127.0.0.1"))
        assert http.request("POST", origin, timeout_s=10).status == 200


def test_a_body_without_end_is_given_up_at_the_bound() -> None:
    with BadLLM([endless()]) as server, pytest.raises(MalformedReplyError, match="larger than 1,000,000"):
        ask(server, most_bytes=1_000_000)


def test_a_body_that_unpacks_beyond_the_bound_is_given_up() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    with (
        BadLLM([answers_bytes(bomb, headers=[("Content-Encoding", "gzip")])]) as server,
        pytest.raises(MalformedReplyError, match="larger than 1,000,000"),
    ):
        ask(server, most_bytes=1_000_000)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_body_compressed_unasked_is_unpacked(encoding: str, pack) -> None:
    with BadLLM([answers_bytes(pack(b'{"a": 1}'), headers=[("Content-Encoding", encoding)])]) as server:
        assert ask(server).body == b'{"a": 1}'
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_body_that_is_not_what_its_encoding_says_is_malformed() -> None:
    with (
        BadLLM([answers_bytes(b"plain", headers=[("Content-Encoding", "gzip")])]) as server,
        pytest.raises(MalformedReplyError, match="decompressed"),
    ):
        ask(server)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_reply_and_is_not_followed(status: int) -> None:
    with BadLLM() as other, BadLLM([redirects(f"{other.origin}/v1", status)]) as server:
        reply = http_for(server, other).request("POST", server.base_url, body=b"{}", timeout_s=10)
    assert reply.status == status
    assert other.requests == []


def connections_of(server: BadLLM) -> list[int]:
    """Counts the connections that a server accepts, from now on."""
    accepted: list[int] = []
    accept = server._server.get_request

    def counting():
        found = accept()
        accepted.append(found[1][1])
        return found

    server._server.get_request = counting  # type: ignore[method-assign]
    return accepted


def test_a_connection_is_used_again() -> None:
    with BadLLM() as server:
        accepted = connections_of(server)
        http = http_for(server)
        for _ in range(5):
            http.request("POST", server.base_url, body=b"{}", timeout_s=10)
    assert len(server.requests) == 5
    assert len(accepted) == 1


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    def says_and_closes(exchange: Exchange) -> None:
        says("Paris")(exchange)
        exchange.end()

    with BadLLM(default=says_and_closes) as server:
        accepted = connections_of(server)
        http = http_for(server)
        for _ in range(3):
            assert http.request("POST", server.base_url, body=b"{}", timeout_s=10).status == 200
            time.sleep(0.05)
    assert len(accepted) == 3


@pytest.mark.parametrize("behaviour", [trickles(), endless(), resets()], ids=["trickles", "endless", "resets"])
def test_a_connection_that_went_wrong_is_not_used_again(behaviour: Behaviour) -> None:
    with BadLLM([behaviour]) as server:
        accepted = connections_of(server)
        http = http_for(server)
        with pytest.raises(ProviderError):
            http.request("POST", server.base_url, body=b"{}", timeout_s=0.3, most_bytes=500_000)
        assert http.request("POST", server.base_url, body=b"{}", timeout_s=10).status == 200
    assert len(accepted) == 2


def test_threads_get_their_own_replies() -> None:
    wrong: list[bytes] = []
    with BadLLM(lambda request: answers_bytes(request.body)) as server:
        http = http_for(server)

        def work(name: int) -> None:
            for number in range(20):
                sent = f"{name}:{number}".encode() * 500
                if http.request("POST", server.base_url, body=sent, timeout_s=20).body != sent:
                    wrong.append(sent)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    assert len(server.requests) == 160
    assert wrong == []


def test_an_early_reply_to_a_body_that_is_not_read_is_seen() -> None:
    """A server that answers 413 and closes without reading on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        reply = GuardedHttp(Allowed.of([origin])).request("POST", origin, body=bytes(3_000_000), timeout_s=10)
        thread.join(timeout=10)
    assert reply.status == 413


def test_closing_lets_go_of_kept_connections() -> None:
    with BadLLM() as server:
        accepted = connections_of(server)
        http = http_for(server)
        http.request("POST", server.base_url, timeout_s=10)
        http.close()
        http.request("POST", server.base_url, timeout_s=10)
    assert len(accepted) == 2
