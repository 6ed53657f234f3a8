"""Endpoints over https: the certificate must hold for the name that the settings give."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest
import trustme

from lseval.providers.addresses import Allowed
from lseval.providers.errors import RequestRefusedError, UnavailableError
from lseval.providers.transport import GuardedHttp
from tests.providers.bad_llm import BadLLM


class SecureLLM(BadLLM):
    """The server behind TLS, with a certificate for model.test."""

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("model.test").configure_cert(context)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def origin_as(self, host: str) -> str:
        return f"https://{host}:{self.port}"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[SecureLLM]:
    with SecureLLM(authority) as server:
        yield server


def client(origin: str, authority: trustme.CA | None) -> GuardedHttp:
    context = ssl.create_default_context()
    if authority is not None:
        authority.configure_trust(context)
    return GuardedHttp(Allowed.of([origin]), resolve=lambda *_: ("127.0.0.1",), tls=lambda: context)


def test_a_certificate_that_holds_lets_the_request_through(server: SecureLLM, authority: trustme.CA) -> None:
    origin = server.origin_as("model.test")
    http = client(origin, authority)
    for _ in range(2):
        assert http.request("POST", f"{origin}/v1", body=b"{}", timeout_s=10).status == 200
    assert [request.body for request in server.requests] == [b"{}", b"{}"]


def test_a_certificate_for_another_name_is_refused_and_nothing_sent(
    server: SecureLLM, authority: trustme.CA
) -> None:
    origin = server.origin_as("other.test")
    with pytest.raises(RequestRefusedError, match="certificate"):
        client(origin, authority).request("POST", origin, timeout_s=10)
    assert server.requests == []


def test_a_certificate_of_a_stranger_is_refused_and_nothing_sent(server: SecureLLM) -> None:
    origin = server.origin_as("model.test")
    with pytest.raises(RequestRefusedError, match="certificate"):
        client(origin, None).request("POST", origin, timeout_s=10)
    assert server.requests == []


def test_a_server_that_speaks_no_tls_is_unavailable(authority: trustme.CA) -> None:
    with BadLLM() as plain:
        origin = f"https://model.test:{plain.port}"
        with pytest.raises(UnavailableError, match="secure"):
            client(origin, authority).request("POST", origin, timeout_s=10)
    assert plain.requests == []
