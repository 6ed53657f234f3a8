"""S12: an endpoint on loopback, on a private network or without https is called only where a study allows it."""

from __future__ import annotations

import pytest

from lseval.providers.addresses import Allowed, UnresolvedError
from lseval.providers.errors import BlockedAddressError, UnavailableError
from lseval.providers.guard import endpoint_addresses, endpoint_target
from lseval.providers.transport import GuardedHttp
from tests.providers.bad_llm import BadLLM, says
from tests.providers.clients import chat_for, http_for, request_to

PUBLIC = "93.184.215.14"


def resolved(*addresses: str):
    return lambda host, port, seconds: addresses


def addresses_of(url: str, *allow: str, resolve=resolved(PUBLIC)) -> tuple[str, ...]:  # noqa: B008
    return endpoint_addresses(endpoint_target(url), Allowed.of(allow), 1.0, resolve)


def test_https_at_a_public_address_may_be_called() -> None:
    assert addresses_of("https://api.example.com/v1") == (PUBLIC,)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "http://127.0.0.1:8001/v1",
        "https://127.0.0.1/v1",
        "https://[::1]/v1",
        "https://10.1.2.3/v1",
        "https://169.254.169.254/latest",
        "https://0x7f.1/v1",
        "https://2130706433/v1",
        "https://[::ffff:127.0.0.1]/v1",
        "https://localhost/v1",
        "https://api.example.com:8443/v1",
    ],
)
def test_everything_else_is_blocked_and_the_message_says_what_to_add(url: str) -> None:
    with pytest.raises(BlockedAddressError) as caught:
        addresses_of(url)
    origin = endpoint_target(url).origin
    assert f'[providers] allow = ["{origin}"]' in str(caught.value)
    assert addresses_of(url, origin)


@pytest.mark.parametrize(
    "hidden", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1"]
)
def test_a_public_name_that_leads_to_a_hidden_address_is_blocked(hidden: str) -> None:
    with pytest.raises(BlockedAddressError):
        addresses_of("https://judge.example.com/v1", resolve=resolved(PUBLIC, hidden))


@pytest.mark.parametrize("listed", ["http://127.0.0.1:8002", "https://127.0.0.1:8001", "http://localhost:8001"])
def test_only_the_exact_origin_is_allowed(listed: str) -> None:
    with pytest.raises(BlockedAddressError):
        addresses_of("http://127.0.0.1:8001/v1", listed)


@pytest.mark.parametrize(
    "url", ["", "ftp://example.com", "file:///etc/passwd", "https://", "https://a@b.example/", "x y"]
)
def test_what_is_no_web_address_is_blocked(url: str) -> None:
    with pytest.raises(BlockedAddressError):
        endpoint_target(url)


def test_a_name_without_an_address_may_have_one_later() -> None:
    def unknown(host: str, port: int, seconds: float) -> tuple[str, ...]:
        raise UnresolvedError("no such name")

    with pytest.raises(UnavailableError, match="no such name"):
        addresses_of("https://api.example.com/v1", resolve=unknown)


def test_a_loopback_endpoint_is_not_even_connected_to() -> None:
    with BadLLM() as llm, pytest.raises(BlockedAddressError):
        chat_for()(request_to(llm.base_url))
    assert llm.requests == []


def test_the_address_that_was_checked_is_the_one_that_is_dialled() -> None:
    """A name server that answers the second question with loopback (rebinding) is never asked a second time."""
    answers = [("127.0.0.1",), ("10.0.0.1",)]
    asked = []

    def rebinding(host: str, port: int, seconds: float) -> tuple[str, ...]:
        asked.append(host)
        return answers.pop(0)

    with BadLLM([says("Paris")]) as llm:
        origin = f"http://model.test:{llm.port}"
        http = GuardedHttp(Allowed.of([origin]), resolve=rebinding)
        reply = http.request("POST", f"{origin}/v1/chat/completions", body=b"{}", timeout_s=10)
    assert reply.status == 200
    assert asked == ["model.test"]
    assert llm.requests[0].headers["host"] == f"model.test:{llm.port}"


def test_an_allowed_name_is_looked_up_in_this_machines_own_words() -> None:
    """The hosts file knows `localhost` and not `localhost.`."""
    with BadLLM() as llm:
        origin = f"http://localhost:{llm.port}"
        assert GuardedHttp(Allowed.of([origin])).request("GET", origin, timeout_s=10).status == 200


def test_an_allowed_endpoint_is_called() -> None:
    with BadLLM() as llm:
        assert http_for(llm).request("GET", llm.origin, timeout_s=10).status == 200
