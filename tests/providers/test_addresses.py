"""Which addresses may be dialled."""

from __future__ import annotations

import pytest

from lseval.providers.addresses import (
    Allowed,
    BadAddressError,
    Target,
    UnresolvedError,
    checked_addresses,
    is_public,
    parse_target,
)
from lseval.providers.errors import BlockedAddressError


def resolves_to(*addresses: str):
    return lambda host, port, seconds: addresses


def check(url: str, *addresses: str, allowed: Allowed | None = None) -> tuple[str, ...]:
    return checked_addresses(parse_target(url), allowed or Allowed(), resolves_to(*addresses), 1.0)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "2130706433",
            "0x7f.1",
            "0x7F.0.0.0x1",
            "0177.0.0.1",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "0",
            "0x",
            "0.0.0.0",
        ),
        *("127。0。0。1", "①②⑦.⓪.⓪.①", "１２７.0.0.1"),
        *("[::1]", "[::]", "[::ffff:169.254.169.254]", "[::ffff:7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]"),
        *("[2002:a9fe:a9fe::]", "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[2001:db8::1]"),
        *("[2001:0:7f00:1::]", "[2001:0:808:808:0:0:80ff:fffe]", "[2606:4700::5efe:7f00:1]", "[100::1]"),
        *("224.0.0.1", "100.64.0.1", "10.0.0.5", "192.168.1.1", "172.16.0.1", "169.254.169.254", "255.255.255.255"),
        *("198.18.0.1", "192.0.0.8", "240.0.0.1", "3232235777"),
        *("localhost", "LOCALHOST", "a.localhost", "intranet", "db", "printer.local", "vault.internal"),
    ],
)
def test_host_that_is_not_on_the_public_internet_is_blocked(host: str) -> None:
    """S01, S02, S03, S11."""
    # The names would resolve to a public address, so only their being local ones blocks them.
    with pytest.raises(BlockedAddressError):
        check(f"http://{host}/", "93.184.216.34")


@pytest.mark.parametrize(
    ("host", "dialled"),
    [
        ("93.184.216.34", "93.184.216.34"),
        ("1572395042", "93.184.216.34"),  # 93·2²⁴ + 184·2¹⁶ + 216·2⁸ + 34
        ("[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
        ("[64:ff9b::5db8:d822]", "64:ff9b::5db8:d822"),  # NAT64 of 93.184.216.34
    ],
)
def test_public_address_is_dialled_as_it_is(host: str, dialled: str) -> None:
    assert check(f"http://{host}/") == (dialled,)


@pytest.mark.parametrize("hidden", ["10.0.0.5", "::1", "::ffff:10.0.0.5", "fd00::1", "not an address"])
def test_one_address_that_is_not_public_refuses_the_whole_host(hidden: str) -> None:
    """S04."""
    with pytest.raises(BlockedAddressError, match=r"mixed\.example leads to"):
        check("https://mixed.example/", "93.184.216.34", hidden)


@pytest.mark.parametrize("port", [0, 22, 25, 6379, 8080, 65535])
def test_only_web_ports_are_dialled(port: int) -> None:
    """S10."""
    with pytest.raises(BlockedAddressError, match=f"Port {port}"):
        check(f"http://good.example:{port}/", "93.184.216.34")


@pytest.mark.parametrize("url", ["http://good.example:443/", "https://good.example:80/", "https://good.example/"])
def test_both_web_ports_are_fine_with_either_scheme(url: str) -> None:
    assert check(url, "93.184.216.34") == ("93.184.216.34",)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://good.example:65536/",
            "http://good.example:-1/",
            "http://good.example:x/",
            "http://good.example: 80/",
        ),
        *("http://good.example\\@127.0.0.1/", "http://good.example@127.0.0.1/", "http://u:p@good.example/"),
        *(
            "http://@good.example/",
            "http:\\\\good.example/",
            "http:/good.example/",
            "http://",
            "http:///x",
            "//x/y",
        ),
        *(
            "file:///etc/passwd",
            "gopher://good.example/",
            "javascript:alert(1)",
            "ftp://good.example/",
            "",
            "good.example",
        ),
        *(
            "http://exa\u200bmple.com/",
            "http://exam\u00adple.com/",
            "http://a\nb.example/",
            "http://good.example/\0",
        ),
        *(
            "http://1.2.3.4.5/",
            "http://1.2.3.256/",
            "http://256.1/",
            "http://a.0x1/",
            "http://09.1.1.1/",
            "http://4294967296/",
        ),
        *(
            "http://[::1/",
            "http://[v1.x]/",
            "http://a..example/",
            "http://-a.example/",
            f"http://{'a' * 64}.example/",
        ),
        *("http://good.example/\ud800", "http://☃\u200d.example/", "http://good.exa mple/"),
    ],
)
def test_what_is_no_web_address_is_told_apart_from_what_is_blocked(url: str) -> None:
    """S07, S09, S10."""
    with pytest.raises(BadAddressError):
        check(url, "93.184.216.34")


def test_address_is_taken_apart_once() -> None:
    assert parse_target(" HTTPS://Bücher.Example:8443/ä b/%2F?q=ü&r=a b#part ") == Target(
        "https", "xn--bcher-kva.example", 8443, "/%C3%A4%20b/%2F?q=%C3%BC&r=a%20b"
    )
    assert parse_target("http://good.example?x").path == "/?x"
    assert parse_target("http://good.example.").host == "good.example"


def test_the_host_header_names_a_port_only_where_it_is_not_the_usual_one() -> None:
    assert parse_target("http://good.example:80/").authority == "good.example"
    assert parse_target("https://good.example:80/").authority == "good.example:80"
    assert parse_target("http://[::1]:81/").authority == "[::1]:81"


def test_allowed_origin_may_lie_anywhere_and_no_other_origin_with_it() -> None:
    allowed = Allowed.of(["http://127.0.0.1:8001/v1", "http://box.lan:9000"])
    assert check("http://127.0.0.1:8001/x", allowed=allowed) == ("127.0.0.1",)
    assert check("http://box.lan:9000/", "10.0.0.5", allowed=allowed) == ("10.0.0.5",)
    for url in ("http://127.0.0.1:8002/", "https://127.0.0.1:8001/", "http://127.0.0.1/", "http://box.lan/"):
        with pytest.raises(BlockedAddressError):
            check(url, "10.0.0.5", allowed=allowed)


def test_host_without_an_address_is_unresolved() -> None:
    with pytest.raises(UnresolvedError):
        check("http://good.example/")


def test_only_whole_ip_addresses_are_public() -> None:
    assert is_public("8.8.8.8")
    assert not any(is_public(text) for text in ("", "8.8.8", "8.8.8.8 ", "good.example", "08.8.8.8"))
