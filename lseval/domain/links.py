"""Finding the web addresses in a text, exactly as their author meant them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_URL = 4096
"""Longer runs are cut: few servers take them, and a bound keeps hostile text linear."""

# What can never belong to an address that stands bare in running text: blanks, quotes and marks of markup,
# typographic and full-width punctuation, text of scripts written without spaces, private use, symbols.
# An en dash may: it stands in many titles that are addresses too. Never match this ignoring case: the range
# holds KELVIN SIGN, which would end an address at every k.
_END = (
    r"\s<>\"`|\\^\x00-\x20\x7f-\xa0\u00ab\u00b2\u00b3\u00b9\u00bb\u060c\u061b\u061f\u0964\u0965\u0e00-\u0eff"
    r"\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u200b-\u2012\u2014-\u2bff\u2e80-\u9fff\ua000-\ua4cf\ua960-\ua97f"
    r"\uac00-\ufaff\ufe10-\ufe6f\uff00-\uffff\U0001f000-\U0010ffff"
)
_UNSPACED_HOST = r"[\u3041-\u9fff\uac00-\ud7a3][^\s/?#.<>\u3000-\u3040\uff00-\uffef]{0,62}\."
_HOST_END = r"\s/?#<>\u3000-\u3040\uff00-\uffef"
_BARE = re.compile(
    rf"(?i:https?)://(?:[^{_END}/?#()\[\]{{}}*]|\[[0-9a-fA-F:.]+\]|{_UNSPACED_HOST}[^{_HOST_END}]{{1,190}})"
)
_REST = re.compile(rf"[^{_END}]*(?:\\[_*~#&.+!()\[\]-][^{_END}]*)*")
_TURN = re.compile(r"\\?[()\[\]{}]|\*\*|[,;]?https?://", re.IGNORECASE)
_MARKER_AHEAD = re.compile(r"\\?\[\^?\d{1,4}(?:[\s,;\-\u2013]+\d{1,4})*\^?\\?\]")
_ENTITY = re.compile(r"&(?:quot|gt|lt|nbsp|apos|#39|#34|#x27);", re.IGNORECASE)
_UNDERSCORE_OPENS = re.compile(r"(?<![^\s(\"'*])_{1,3}(?=[^\s_])")
_UNDERSCORE_CLOSES = re.compile(r"(?<=[^\s_])_{1,3}(?![^\s).,;:!?\"'*])")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'*&\u2013"

_ANGLE = re.compile(rf"<(https?://[^<>\s]{{1,{_MAX_URL}}})>", re.IGNORECASE)
_TARGET = re.compile(r"\]\([ \t]{0,8}\n?[ \t]{0,8}(?=<?https?://[^\s)])", re.IGNORECASE)
_TARGET_TURN = re.compile(r"\\[()]|[()\uff08\uff09\s<>]|\]\(")
_TITLE = r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'|\([^()\n]{0,500}\)|\u201c[^\u201d\n]{0,500}\u201d"
_AFTER_TARGET = re.compile(rf"(?:\s{{1,8}}(?:{_TITLE}))?[ \t]{{0,8}}[)\uff09]")
_BRACKET = re.compile(r"\\.|[\[\]]|\n[ \t\r]*\n", re.DOTALL)
_UNESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Link:
    """An address in a text. `text[start:end]` is all that expresses it, such as `[label](url)`.

    `url` is the address itself, without escapes and marks of markup; `label` is the text of a Markdown link,
    else empty. `target` is the offset where the address's own part begins: after the label, else `start`.
    """

    start: int
    end: int
    url: str
    label: str
    target: int


def find_links(text: str) -> tuple[Link, ...]:
    """Every http(s) address of a Markdown or plain text, in order of appearance.

    Knows `[label](url "title")` with balanced brackets in the address, `<url>`, and addresses standing bare.
    A bare one ends before punctuation that is not its own, an unbalanced bracket, emphasis around it, a
    citation marker, full-width punctuation and unspaced scripts; in the other forms the author's delimiters
    decide. What lacks `http://` or `https://` is no address. Runs of over 4096 characters are cut. Code is not
    treated apart. Takes time linear in the text.
    """
    found = list(_markdown_links(text))
    found += [Link(m.start(), m.end(), _unescape(m[1]), "", m.start()) for m in _ANGLE.finditer(text)]
    found += _bare_links(text, sorted(found, key=lambda link: link.target))
    return tuple(sorted(found, key=lambda link: (link.start, link.end)))


def _markdown_links(text: str) -> Iterator[Link]:
    openings = _label_starts(text)
    for match in _TARGET.finditer(text):
        target = _target_at(text, match.end())
        if target is not None:
            url, end = target
            start = openings.get(match.start(), match.start())
            yield Link(start, end, url, text[start + 1 : match.start()], match.start())


def _target_at(text: str, start: int) -> tuple[str, int] | None:
    """The address in the brackets that open before `start`, and the offset after them; None if they never close."""
    limit = min(len(text), start + _MAX_URL)
    if text[start] == "<":
        stop = text.find(">", start, limit) + 1
        url = text[start + 1 : stop - 1]
        if not stop or "\n" in url:
            return None
    else:
        stop = _balanced_end(text, start, limit)
        url = text[start:stop]
    tail = _AFTER_TARGET.match(text, stop)
    return (_unescape(url).strip(), tail.end()) if tail else None


def _balanced_end(text: str, start: int, limit: int) -> int:
    depth = {"(": 0, "（": 0}
    for match in _TARGET_TURN.finditer(text, start, limit):
        turn = match[0]
        if turn in depth:
            depth[turn] += 1
        elif turn in ")）":
            opener = "(" if turn == ")" else "（"
            depth[opener] -= 1
            if depth[opener] < 0:
                return match.start()
        elif turn[0] != "\\":
            return match.start()
    return limit


def _label_starts(text: str) -> dict[int, int]:
    """For each closing square bracket, the offset of the one that opens it; pairs never cross a blank line."""
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    for match in _BRACKET.finditer(text):
        if match[0] == "[":
            open_at.append(match.start())
        elif match[0] == "]":
            if open_at:
                pairs[match.start()] = open_at.pop()
        elif match[0][0] == "\n":
            open_at.clear()
    return pairs


def _bare_links(text: str, delimited: list[Link]) -> Iterator[Link]:
    """The addresses outside the targets of `delimited`, which are in order of target."""
    targets = [link.target for link in delimited]
    position = 0
    while match := _BARE.search(text, position):
        start = match.start()
        index = bisect_right(targets, start)
        if index and start < delimited[index - 1].end:
            position = delimited[index - 1].end
            continue
        rest = _REST.match(text, match.end(), start + _MAX_URL)
        end = _bare_end(text, start, rest.end() if rest else match.end())
        position = max(end, start + len("http://"))
        url = _unescape(text[start:end]).replace("&amp;", "&")
        labels = delimited[index] if index < len(delimited) and delimited[index].start < start else None
        # A link's text often shows the start of its own address.
        if not url.endswith("://") and not (labels and labels.url.startswith(url)):
            yield Link(start, end, url, "", start)


def _bare_end(text: str, start: int, end: int) -> int:
    end = _first_stop(text, start, end)
    entity = _ENTITY.search(text, start, end)
    if entity:
        end = entity.start()
    floor = text.index("://", start) + 3
    while end > floor:
        if text[end - 1] in _TRAILING or _closes_emphasis(text, start, end):
            end -= 1
        elif text.endswith(("'s", "~~"), floor, end):
            end -= 2
        else:
            break
    return end


def _first_stop(text: str, start: int, end: int) -> int:
    """Where a run of address characters stops being one address."""
    opened: list[tuple[str, int]] = []
    for match in _TURN.finditer(text, start + len("http"), end):
        turn, at = match[0], match.start()
        bracket = turn[-1]
        if bracket == "/":
            is_stop = bool(opened) or turn[0] in ",;"
        elif bracket in _CLOSERS:
            is_stop = not opened or opened.pop()[0] != _CLOSERS[bracket]
        elif bracket == "[":
            is_stop = bool(_MARKER_AHEAD.match(text, at)) or not _may_hold_square(text, start, at)
            opened.append((bracket, at))
        else:
            is_stop = bracket == "*"
            opened.append((bracket, at))
        if is_stop:
            end = at
            break
    return min(end, opened[0][1]) if opened else end


def _may_hold_square(text: str, start: int, at: int) -> bool:
    """Square brackets belong to an IPv6 host or to a query, nowhere else."""
    return text.endswith("://", start, at) or text.find("?", start, at) >= 0


def _closes_emphasis(text: str, start: int, end: int) -> bool:
    if text[end - 1] != "_":
        return False
    before = text[max(text.rfind("\n", 0, start) + 1, start - 300) : start + 1]
    return len(_UNDERSCORE_OPENS.findall(before)) > len(_UNDERSCORE_CLOSES.findall(before))


def _unescape(url: str) -> str:
    return _UNESCAPE.sub(r"\1", url)
