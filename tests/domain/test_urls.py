"""One key for one page, and addresses exactly as their author meant them."""

from __future__ import annotations

import pytest

from lseval.domain.links import find_links
from lseval.domain.urls import archived_original, canonical_key
from lseval.errors import InputError


def urls_in(text: str) -> list[str]:
    return [link.url for link in find_links(text)]


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/A/b?q=1",
        "HTTPS://Example.ORG/A/b?q=1",
        "http://example.org/A/b?q=1",
        "https://example.org:443/A/b?q=1",
        "http://example.org:80/A/b?q=1",
        "https://example.org./A/b?q=1",
        "https://example.org/A/b/?q=1",
        "https://example.org/A/b?q=1#section-2",
        "https://example.org/A/b?utm_source=x&q=1&utm_medium=mail&gclid=9&fbclid=8&srsltid=7",
        "https://example.org/A/./x/../b?q=1",
        "https://example.org/%41/b?q=1",
        "  https://example.org/A/b?q=1\n",
    ],
)
def test_spellings_of_one_page_share_one_key(spelling: str) -> None:
    """U03 of the hostile inputs."""
    assert canonical_key(spelling) == "https://example.org/A/b?q=1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a", "https://www.example.org/a"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/a?q=1", "https://example.org/a?q=2"),
        ("https://example.org/a?q=1&r=2", "https://example.org/a?r=2&q=1"),
        ("https://example.org/a", "https://example.org:8080/a"),
        ("https://example.org/a?x=%26", "https://example.org/a?x=&"),
        ("https://web.archive.org/web/2023/http://example.org/a", "http://example.org/a"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert canonical_key(one) != canonical_key(other)


def test_encoded_slash_stays_encoded() -> None:
    assert canonical_key("https://example.org/a%2fb") == "https://example.org/a%2Fb"


def test_unicode_and_punycode_host_share_one_key() -> None:
    """U01 of the hostile inputs; a host with a zero-width space is refused below."""
    # The IDNA form of "bücher" is xn--bcher-kva (RFC 3492, section 7 gives the method).
    assert canonical_key("https://bücher.example/") == "https://xn--bcher-kva.example"
    assert canonical_key("https://XN--bcher-kva.example") == "https://xn--bcher-kva.example"


def test_raw_and_escaped_characters_of_a_path_share_one_key() -> None:
    # 量 is E9 87 8F and 子 is E5 AD 90 in UTF-8.
    assert canonical_key("https://zh.wikipedia.org/wiki/量子") == "https://zh.wikipedia.org/wiki/%E9%87%8F%E5%AD%90"
    assert canonical_key("https://zh.wikipedia.org/wiki/%e9%87%8f%E5%AD%90") == canonical_key(
        "https://zh.wikipedia.org/wiki/量子"
    )
    assert canonical_key("https://en.wikipedia.org/wiki/X_%28Y%29") == "https://en.wikipedia.org/wiki/X_(Y)"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org/a",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "https://",
        "https:///a",
        "https://user@example.org/",
        "http://good.example\\@127.0.0.1/",
        "https://example.org:port/",
        "https://example.org:99999/",
        "https://exam\u200bple.org/",
        "https://exa mple.org/",
        "https://example..org/",
        "https://example.org/a\x00b",
        "https://example.org/a\nb",
        "https://[::1/",
        "https://[v1.x]/",
        "https://example.org/\ud800",
        "https://" + "a" * 300 + ".example/",
    ],
)
def test_what_is_no_web_page_is_refused(address: str) -> None:
    with pytest.raises(InputError):
        canonical_key(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/100%?q=50%",
        "https://example.org/%%341/%zz?%",
        "https://example.org/a b/ü?ü=ü b",
        "http://[2001:db8::1]:8080/x",
        "https://例子.中国/路",
        "https://example.org//a//b//",
        "https://example.org/../../a/..",
        "https://example.org?",
    ],
)
def test_a_key_is_its_own_key(address: str) -> None:
    key = canonical_key(address)
    assert canonical_key(key) == key
    assert key.isascii()


def test_archived_copy_is_linked_to_its_original() -> None:
    """U04 of the hostile inputs; the copy keeps a key of its own, and is fetched as given."""
    copy = "https://web.archive.org/web/20230101000000/http://example.org/a?b=1"
    assert archived_original(copy) == "http://example.org/a?b=1"
    assert archived_original("https://example.org/web/2023/http://x.org") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Emphasis and quotes around an address (U02).
        ("**https://example.org/a**", ["https://example.org/a"]),
        ("*https://example.org/a*, _https://example.org/b_.", ["https://example.org/a", "https://example.org/b"]),
        ("_Source: https://example.org/a_b_", ["https://example.org/a_b"]),
        ("see https://example.org/a_ now", ["https://example.org/a_"]),
        ("~~https://example.org/a~~ `https://example.org/b`", ["https://example.org/a", "https://example.org/b"]),
        ('"https://example.org/a" and “https://example.org/b”', ["https://example.org/a", "https://example.org/b"]),
        ("**[T](https://example.org/a)**", ["https://example.org/a"]),
        ("[10.1/x](https://doi.org/10.1/x)", ["https://doi.org/10.1/x"]),
        # Brackets that belong to the address, and brackets that do not.
        ("https://en.wikipedia.org/wiki/X_(Y).", ["https://en.wikipedia.org/wiki/X_(Y)"]),
        ("(https://en.wikipedia.org/wiki/X_(Y))", ["https://en.wikipedia.org/wiki/X_(Y)"]),
        ("[X](https://en.wikipedia.org/wiki/X_(Y))", ["https://en.wikipedia.org/wiki/X_(Y)"]),
        ("(see https://example.org/a), then", ["https://example.org/a"]),
        ("https://example.org/f(23)4/g next", ["https://example.org/f(23)4/g"]),
        ("https://example.org/a(see there", ["https://example.org/a"]),
        ("https://example.org/?f[x]=1 and", ["https://example.org/?f[x]=1"]),
        ("https://example.org/a[1][2]", ["https://example.org/a"]),
        ("https://example.org/a[^1]", ["https://example.org/a"]),
        # Punctuation after an address, ASCII and full-width, and Han text right after it.
        ("https://example.org/a, https://example.org/b; or https://example.org/c?!", list("abc")),
        ("https://example.org/a...", ["https://example.org/a"]),
        ("https://example.org's page", ["https://example.org"]),
        ("（https://example.org/a）。", ["https://example.org/a"]),
        (
            "见https://example.org/a，以及https://example.org/b的报告",
            ["https://example.org/a", "https://example.org/b"],
        ),
        ("https://example.org/a—which", ["https://example.org/a"]),
        ("https://en.wikipedia.org/wiki/Kerr–Newman_metric", ["https://en.wikipedia.org/wiki/Kerr–Newman_metric"]),
        # Delimited by their author.
        ("<https://zh.wikipedia.org/wiki/量子>", ["https://zh.wikipedia.org/wiki/量子"]),
        ("[量子](https://zh.wikipedia.org/wiki/长津湖（电影）)", ["https://zh.wikipedia.org/wiki/长津湖（电影）"]),
        ('[T](https://example.org/a "Title (b)")', ["https://example.org/a"]),
        ("[T](<https://example.org/a b>)", ["https://example.org/a b"]),
        ("[T](https://example.org/a）。", ["https://example.org/a"]),
        ("[T](https://example.org/a b)", ["https://example.org/a"]),
        ("![i](https://example.org/i.png)", ["https://example.org/i.png"]),
        (
            "[![i](https://example.org/i.png)](https://example.org/a)",
            ["https://example.org/a", "https://example.org/i.png"],
        ),
        # An address inside a link's own text, or inside an address.
        ("[https://example.org/](https://example.org/a)", ["https://example.org/a"]),
        ("[https://example.org/x](https://example.net/y)", ["https://example.net/y", "https://example.org/x"]),
        ("https://web.archive.org/web/2023/http://x.org/a", ["https://web.archive.org/web/2023/http://x.org/a"]),
        ("https://example.org/a,https://example.org/b", ["https://example.org/a", "https://example.org/b"]),
        # Escapes of Markdown and HTML.
        (r"https://example.org/a\_b", ["https://example.org/a_b"]),
        ("https://example.org/?a=1&amp;b=2", ["https://example.org/?a=1&b=2"]),
        ('<a href="https://example.org/a">x</a>', ["https://example.org/a"]),
        ("|https://example.org/a|https://example.org/b|", ["https://example.org/a", "https://example.org/b"]),
        # No address at all.
        ("https:// and http://, 以https://开头，ftp://example.org", []),
    ],
)
def test_addresses_are_found_exactly(text: str, expected: list[str]) -> None:
    full = [url if "://" in url else f"https://example.org/{url}" for url in expected]
    assert urls_in(text) == full


def test_link_spans_cover_all_that_expresses_the_address() -> None:
    text = "See [the page](https://example.org/a) and https://example.org/b."
    assert [text[link.start : link.end] for link in find_links(text)] == [
        "[the page](https://example.org/a)",
        "https://example.org/b",
    ]
    assert [link.label for link in find_links(text)] == ["the page", ""]


@pytest.mark.parametrize(
    "piece", ["[", "](", "](http://a", "http://a(", "http://a(=", "[t](http://a", "<http://a", "http://a,"]
)
@pytest.mark.timeout(60)  # a quadratic scan of 200,000 characters takes minutes
def test_hostile_runs_are_scanned_to_their_end(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    find_links(text + " https://example.org/after")
