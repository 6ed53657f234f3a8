"""The text of an HTML page: trafilatura's where it finds the page's substance, else all that a reader would see."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Final

import lxml.etree
import lxml.html
import trafilatura

from lseval.providers.extract.decoding import Decoded, decode
from lseval.providers.extract.plain_html import BLOCKS, UNSEEN, PlainHtml, is_hidden_style, nesting, plain_lines
from lseval.providers.extract.result import MOST_TEXT, Extracted, failure_of, tidy, tidy_title
from lseval.providers.extract.suspicions import INSTRUCTIONS, gives_orders, outcome_of_html
from lseval.providers.extract.word_sets import words

DEEP: Final = "deep_nesting"
"""Flag: the markup nests deeper than parsers go, and the text was read without a tree."""

WHOLE: Final = "whole_page_text"
"""Flag: the text is all of the page, menus included, since no part stood out as its substance."""

DEEPEST: Final = 200
"""Levels that are given to a parser with a tree; libxml2 drops what lies below 256 without a word."""

_MOST_ELEMENTS: Final = 10_000
"""Elements of a page in which its substance is looked for, which takes about 0.2 ms each; more are read whole."""

_LEAST_SHARE: Final = 0.35
_MOST_OF: Final = 0.8
_LEAST_CHARS: Final = 250
_REFRESH: Final = re.compile(
    r"^\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?\s*([^\"']+?)\s*[\"']?\s*$", re.IGNORECASE
)
_LONGEST_REFRESH: Final = 4_000
_TABLE_RULE: Final = re.compile(r"^\|?(?:-{3,}\|)+\n", re.MULTILINE)
_SOON_S: Final = 30
_PUBLISHED: Final = words(
    "article:published_time datepublished date dc.date dc.date.issued dcterms.created pubdate publishdate "
    "publication_date citation_publication_date"
)

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
logging.getLogger("htmldate").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page's markup tells besides its text. `unseen` are words that no reader sees."""

    title: str
    metas: list[dict[str, str]]
    unscripted: str
    unseen: str
    scripts: int


def read_html(content: bytes, content_type: str, kind: str) -> Extracted:
    """The text of an HTML or XML page. Its words hidden by markup are looked at for orders, and left out."""
    decoded = decode(content, content_type, kind)
    markup = decoded.text.replace("\0", "")
    if nesting(markup) > DEEPEST:
        facts, text = _without_tree(markup)
        return _result(decoded, facts, text, kind, (DEEP,))
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (lxml.etree.LxmlError, ValueError):
        facts, text = _without_tree(markup)
        return _result(decoded, facts, text, kind, (WHOLE,))
    facts = _take_apart(tree)
    whole = plain_lines("".join(_visible(tree)))
    main = _substance(tree) if sum(1 for _ in tree.iter()) <= _MOST_ELEMENTS else ""
    if len(main) >= _LEAST_CHARS and len(main) >= _LEAST_SHARE * len(whole):
        return _result(decoded, facts, main, kind, ())
    text = whole or main
    if not text and markup.strip() and re.search(r"\w{3}", re.sub(r"(?s)<script.*?</script>|<[^>]*>", " ", markup)):
        facts, text = _without_tree(markup)
    return _result(decoded, facts, text, kind, (WHOLE,) if len(main) < _MOST_OF * len(text) else ())


def _result(decoded: Decoded, facts: Facts, text: str, kind: str, flags: tuple[str, ...]) -> Extracted:
    text = tidy(text)
    if DEEP in flags and not text:
        return failure_of(kind, "the markup nests too deep to be read", (DEEP,))
    if len(text) > MOST_TEXT:
        text, flags = text[:MOST_TEXT], (*flags, "text_cut")
    if gives_orders(text) or gives_orders(facts.unseen):
        flags = (*flags, INSTRUCTIONS)
    title = tidy_title(facts.title)
    outcome, detail = outcome_of_html(text, title=title, unscripted=facts.unscripted, scripts=facts.scripts)
    return Extracted(
        outcome,
        text=text,
        title=title,
        detail=detail,
        sniffed_type=kind,
        decoder=decoded.decoder,
        decoder_source=decoded.source,
        flags=(*decoded.flags, *flags),
        refresh=_refresh(facts.metas),
        published=_published(facts.metas),
    )


def _without_tree(markup: str) -> tuple[Facts, str]:
    reader = PlainHtml()
    reader.feed(markup)
    reader.close()
    facts = Facts(
        "".join(reader.title_pieces),
        reader.metas,
        " ".join(reader.unscripted),
        "\n".join(reader.unseen),
        reader.scripts,
    )
    return facts, reader.text


def _take_apart(tree: lxml.html.HtmlElement) -> Facts:
    """Take out of the tree what no reader sees; returns what it was, with the facts of the head."""
    metas = [{str(name): str(value) for name, value in meta.attrib.items()} for meta in tree.iter("meta")]
    title = next((element.text_content() for element in tree.iter("title")), "")
    unscripted = " ".join(element.text_content() for element in tree.iter("noscript"))
    scripts = sum(1 for _ in tree.iter("script"))
    unseen = [str(element.get("alt")) for element in tree.iter("img", "area", "input") if element.get("alt")]
    gone = []
    for element in list(tree.iter("embed")):
        element.drop_tag()  # to libxml2 it is no void element, and would hold all that follows
    for element in tree.iter():
        if element.tag is lxml.etree.Comment or element.tag is lxml.etree.PI:
            unseen.append(element.text or "")
            gone.append(element)
        elif not isinstance(element.tag, str):
            continue
        elif element.tag in ("script", "style", "template", "noscript"):
            gone.append(element)
        elif element.tag not in ("html", "body", "head") and (
            element.get("hidden") is not None or is_hidden_style(element.get("style") or "")
        ):
            unseen.append(element.text_content())
            gone.append(element)
    for element in gone:
        if element.getparent() is not None:
            element.drop_tree()
    return Facts(title or _heading(tree), metas, unscripted, "\n".join(unseen), scripts)


def _heading(tree: lxml.html.HtmlElement) -> str:
    return next((element.text_content() for element in tree.iter("h1")), "")


def _substance(tree: lxml.html.HtmlElement) -> str:
    try:
        found = trafilatura.extract(
            tree,
            output_format="txt",
            include_comments=False,
            include_tables=True,
            include_links=False,
            include_formatting=False,
            favor_recall=True,
            with_metadata=False,
        )
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, lxml.etree.LxmlError):
        return ""  # a page that trips it still has its visible text
    return _TABLE_RULE.sub("", found or "")


def _visible(tree: lxml.html.HtmlElement) -> list[str]:
    """The pieces of visible text in order, with line ends where blocks begin and end."""
    pieces: list[str] = []
    walker = lxml.etree.iterwalk(tree, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if not isinstance(tag, str) or tag in UNSEEN:
                walker.skip_subtree()
                continue
            if tag in ("td", "th"):
                pieces.append(" | ")
            elif tag in BLOCKS:
                pieces.append("\n")
            pieces.append(element.text or "")
        else:
            if tag in BLOCKS and tag not in ("td", "th"):
                pieces.append("\n")
            pieces.append(element.tail or "")
    return pieces


def _refresh(metas: list[dict[str, str]]) -> str:
    """Where the page sends its reader within a while; empty where it only reloads itself or stays."""
    for meta in metas:
        if meta.get("http-equiv", "").strip().lower() == "refresh":
            match = _REFRESH.match(" ".join(meta.get("content", "")[:_LONGEST_REFRESH].split()))
            if match and int(match[1]) <= _SOON_S:
                return match[2]
    return ""


def _published(metas: list[dict[str, str]]) -> str:
    for meta in metas:
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name in _PUBLISHED and meta.get("content"):
            return meta["content"].strip()[:40]
    return ""
