"""Words from outside made fit for a page: Markdown without anything active, and links that lead to the web only."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN_LIMIT = 100_000
"""Characters of a response that are rendered. What is longer is cut, and the page says so."""

_MOST_BRACKETS = 3_000
"""Brackets in a text whose links are looked for: each may begin one, and a hundred thousand would take seconds."""


def _parser(*left_out: str) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return parser.enable(["table", "strikethrough"]).disable(["image", *left_out])


_PLAIN_WORDS = re.compile(r"[^\W_](?:[^\W_]|[ ,;’%–-](?=[^\W_ ,;’%–-]))*")
"""A line of words that Markdown has nothing to do with, like most values of a group's fields."""

_MARKDOWN = _parser()
_WITHOUT_LINKS = _parser("link", "autolink", "reference")
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "target"}, "ol": {"start"}}
_LOWEST_HEADING = 6


def render_markdown(text: str, highest_heading: int = 3) -> SafeString:
    """Markdown as HTML with text, lists, tables and web links; raw HTML is shown as text and images are left out.

    A line break in the text is one on the page, since responses rely on it.

    Only the first `MARKDOWN_LIMIT` characters are rendered, and no links in a text with thousands of brackets.
    Headings begin at level `highest_heading`, below the page's own.
    """
    text = text[:MARKDOWN_LIMIT]
    if _PLAIN_WORDS.fullmatch(text):
        return mark_safe(f"<p>{text}</p>\n")  # noqa: S308 - letters, digits and a few signs that need no escaping
    parser = _MARKDOWN if text.count("[") + text.count("<") <= _MOST_BRACKETS else _WITHOUT_LINKS
    tokens = parser.parse(text)
    _lower_headings(tokens, highest_heading)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_keep_web_links,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has left only the tags and attributes named above


def _lower_headings(tokens: list[Token], highest: int) -> None:
    """Headings from the highest level down, without a gap between the levels that are used."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    used = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(highest + used.index(token.tag), _LOWEST_HEADING)}"


def _keep_web_links(tag: str, attribute: str, value: str) -> str | None:
    """Ends links into this site too: a response has no business to point there."""
    if (tag, attribute) == ("a", "href"):
        return web_link(value) or None
    return value


def web_link(url: Any) -> str:
    """The URL where it may become a link: http or https, with a host and no control characters; else empty."""
    if not isinstance(url, str) or any(ord(sign) <= 32 or ord(sign) == 127 for sign in url):
        return ""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and host else ""
