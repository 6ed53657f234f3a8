"""The title and the fields of an answer group, read from its Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lseval.domain import answer_words as words
from lseval.domain.markdown_blocks import Block
from lseval.domain.section_titles import clean_title, plain, without_markers

_LONGEST_TITLE = 160
_BOLD_PAIR = re.compile(
    r"(?P<mark>\*\*|__)(?P<key>[^*\n|<>`]{1,80}?)(?:[:：]\s*(?P=mark)|(?P=mark)\s*[:：]|(?P=mark)\s+[–—-]\s)\s*(?P<value>.*)",
    re.DOTALL,
)
_PLAIN_PAIR = re.compile(r"(?P<key>[^\n:：*\[\]|<>`#]{1,40}?)\s*(?:：|:(?=\s|$))\s*(?P<value>.*)", re.DOTALL)
_MOST_KEY_WORDS = 5
_MOST_KEY_HAN = 15
_HAN = re.compile(r"[\u3041-\u9fff]")
_SENTENCE_INSIDE = re.compile(r"[.!?;]\s|[。！？；，]")
_NAMING_KEY = re.compile(words.NAMING_KEY, re.IGNORECASE)
_SOURCE_KEY = re.compile(words.SOURCE_KEY, re.IGNORECASE)
_FIELD_HEADER = re.compile(f"{words.FIELD_HEADER}?", re.IGNORECASE)
_BULLET = re.compile(r"^[ \t>]*(?:[-*+](?=\s)|[•●▪◦‣·]|\d{1,4}(?:[.)](?=\s)|[、．）])|[（(]\d{1,3}[)）])\s*")
_BOLD_LEAD = re.compile(r"[^\w*\[]{0,4}(?:\*\*|__)(?P<bold>[^*\n]{1,300}?)(?:\*\*|__)")
_LINK_LEAD = re.compile(r"[^\w*\[]{0,4}[*_]{0,3}\[(?P<label>[^\[\]\n]{1,300})\]\(")
_BREAK = re.compile(r"\s+[–—-]\s+|——|[:：](?!//)\s*|(?<=\w[\w)）\"”'])[.!?]\s|[。！？；]|\s*\(?https?://")


def key_value(line: str) -> tuple[str, str] | None:
    """The key and the value of `**Key**: value`, `Key: value` or `**Key** - value`; None for other lines.

    A bold key has up to 80 characters, another one up to 5 words or 15 Han characters; neither holds a
    sentence. The value may be empty; it keeps its links and addresses but no citation markers and no emphasis.
    """
    text = _BULLET.sub("", line).strip()
    match = _BOLD_PAIR.fullmatch(text) or _PLAIN_PAIR.fullmatch(text)
    key = plain(match["key"]) if match else ""
    if match is None or not key or key.replace(" ", "").isdigit() or _SENTENCE_INSIDE.search(key):
        return None
    is_plain = match.re is _PLAIN_PAIR
    if is_plain and (len(key.split()) > _MOST_KEY_WORDS or len(_HAN.findall(key)) > _MOST_KEY_HAN):
        return None
    return key, without_markers(match["value"])


def title_of(markup: str) -> str:
    """What a list item, a row or a paragraph is about: its bold lead, link text, name, or first clause.

    Words only, at most 160 characters; empty for blank markup.
    """
    lines = [line for line in markup.strip().split("\n") if line.strip()]
    if not lines:
        return ""
    first = _BULLET.sub("", lines[0]).strip()
    pair = key_value(first)
    if pair and pair[1] and _NAMING_KEY.fullmatch(pair[0]):
        first = pair[1]
    lead = _BOLD_LEAD.match(first)
    link = _LINK_LEAD.match(first)
    if lead and clean_title(lead["bold"]):
        title = clean_title(lead["bold"])
    elif link and plain(link["label"]):
        title = clean_title(link["label"])
    else:
        whole = clean_title(first)
        head = _BREAK.split(whole, maxsplit=1)[0].strip()
        title = head or whole or plain(first) or first
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def fields_of(blocks: Sequence[Block]) -> dict[str, str]:
    """The `Key: value` bullets and lines among these blocks, keys as written, in order.

    A key's nested bullets are its value, joined by "; ", and so are the values of a repeated key. Plain lines
    of a paragraph count only where a mark or a second such line shows that they are fields.
    """
    found: dict[str, str] = {}
    for key, value in _pairs(blocks):
        found[key] = f"{found[key]}; {value}" if found.get(key) else value
    return {key: value for key, value in found.items() if value}


def is_record(pairs: Sequence[tuple[str, str]], items: int) -> bool:
    """Whether a list of so many items, some of them these pairs, describes one thing.

    Most of its items are pairs, no key comes twice, and one of them gives the thing's name or source.
    """
    keys = {key.lower() for key, _ in pairs}
    is_named = any(_SOURCE_KEY.fullmatch(key) or _NAMING_KEY.fullmatch(key) for key in keys)
    return is_named and len(keys) == len(pairs) and 2 * len(pairs) > items


def table_pairs(table: Block) -> tuple[tuple[str, str], ...]:
    """The fields in a table with the two columns Field and Value, or the like; empty for other tables."""
    header, *rows = table.children
    if len(header.cells) != 2 or not _FIELD_HEADER.fullmatch(plain(header.cells[0])):
        return ()
    return tuple((plain(row.cells[0]), without_markers(row.cells[1])) for row in rows if all(row.cells[:2]))


def _pairs(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        if block.kind in ("bullet_list", "ordered_list"):
            for item in block.children:
                pair = _item_pair(item)
                if pair:
                    yield pair
        elif block.kind == "table":
            yield from table_pairs(block)
        elif block.kind == "paragraph":
            lines = [line for line in block.content.split("\n") if line.strip()]
            pairs = [pair for line in lines if (pair := key_value(line))]
            if len(pairs) > 1 or (pairs and len(lines) == 1 and lines[0].lstrip().startswith(("**", "__"))):
                yield from pairs


def _item_pair(item: Block) -> tuple[str, str] | None:
    first = item.children[0] if item.children and item.children[0].kind == "paragraph" else None
    pair = key_value(first.content) if first else None
    if pair is None:
        return None
    key, value = pair
    nested = [part for block in item.children[1:] for part in _leaf_words(block)]
    return key, "; ".join([value, *nested] if value else nested)


def _leaf_words(block: Block) -> Iterator[str]:
    for part in block.walk():
        if part.kind == "paragraph":
            yield " ".join(without_markers(part.content).split())
