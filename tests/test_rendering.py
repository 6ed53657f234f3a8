"""Words from outside on a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval import rendering
from lseval.rendering import MARKDOWN_LIMIT, render_markdown, web_link


def test_markdown_becomes_lists_tables_and_emphasis() -> None:
    html = render_markdown("3. **one**\n4. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert '<ol start="3">' in html
    assert "<strong>one</strong>" in html
    assert "<td>2</td>" in html


def test_headings_of_a_response_stand_below_those_of_the_page() -> None:
    html = render_markdown("## One\n\n#### Two\n\n## Three")
    assert "<h3>One</h3>" in html
    assert "<h4>Two</h4>" in html
    assert "<h3>Three</h3>" in html


def test_raw_html_is_shown_as_text() -> None:
    html = render_markdown('<script>alert(1)</script>\n\n<b onclick="x()">b</b>')
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "<b " not in html


def test_a_web_link_opens_apart_and_tells_nothing() -> None:
    html = render_markdown("[ferry](https://ferries.example/a?b=1&c=2)")
    assert 'href="https://ferries.example/a?b=1&amp;c=2"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#10;script:alert(1)",
        "vbscript:x",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//evil.example/x",
        "/logout/",
        "mailto:a@b.example",
    ],
)
def test_no_other_address_becomes_a_link(address: str) -> None:
    assert "href" not in render_markdown(f"[press me](<{address}>)")


def test_images_are_left_out_so_that_no_page_calls_home() -> None:
    html = render_markdown("![alt](https://tracker.example/pixel.png)")
    assert "<img" not in html


def test_what_is_longer_than_the_limit_is_cut() -> None:
    html = render_markdown("x" * (MARKDOWN_LIMIT + 50))
    assert html.count("x") == MARKDOWN_LIMIT


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://ferries.example/aldis", "https://ferries.example/aldis"),
        ("http://[::1]:8000/", "http://[::1]:8000/"),
        ("HTTPS://Ferries.example/", "HTTPS://Ferries.example/"),
        ("javascript:alert(1)", ""),
        (" https://ferries.example/", ""),
        ("https://ferries.example/a b", ""),
        ("java\nscript:alert(1)", ""),
        ("https://", ""),
        ("https://[broken/", ""),
        ("ferries.example/aldis", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_only_http_addresses_with_a_host_become_links(url: object, expected: str) -> None:
    assert web_link(url) == expected


@pytest.mark.parametrize("piece", ["[", "(", "<", "[](", "![", "[[]", "**[", "<a", "`["])
@pytest.mark.timeout(60)  # it takes a fraction of a second; in time growing with the square it would take minutes
def test_a_hundred_thousand_brackets_stay_as_text(piece: str) -> None:
    """X05."""
    text = (piece * 100_000)[:100_000]
    html = render_markdown(text)
    assert len(html) >= 90_000


def test_an_ordinary_number_of_links_still_is_links() -> None:
    assert render_markdown("[1](https://a.example/) " * 1000).count("<a ") == 1000


@given(st.text("abZ09é漢 ,;’%–-.x)*_'&", max_size=12))
def test_plain_words_are_what_markdown_makes_of_them(text: str) -> None:
    quick = render_markdown(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rendering, "_PLAIN_WORDS", re.compile(r"(?!)"))
        assert render_markdown(text) == quick
