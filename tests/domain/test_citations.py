"""Markers, lists of sources, and what they resolve to."""

from __future__ import annotations

import pytest

from lseval.domain.citations import find_citations

LIST = "\n\n## Sources\n[1] One: https://example.org/1\n[2] Two: https://example.org/2\n[3] Three: https://example.org/3\n"


def inline(text: str) -> list[tuple[str, str]]:
    """The inline mentions, with the addresses of example.org shortened to what follows the slash."""
    return [(m.marker, m.url.removeprefix("https://example.org/")) for m in find_citations(text).inline]


def listed(text: str) -> list[tuple[str, str]]:
    return [(m.marker, m.url.removeprefix("https://example.org/")) for m in find_citations(text).listed]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("[1]", [("[1]", "1")]),
        ("[1][2]", [("[1]", "1"), ("[2]", "2")]),
        ("[1, 2]", [("[1]", "1"), ("[2]", "2")]),
        ("[1,3]", [("[1]", "1"), ("[3]", "3")]),
        ("[1-3]", [("[1]", "1"), ("[2]", "2"), ("[3]", "3")]),
        ("[1–3]", [("[1]", "1"), ("[2]", "2"), ("[3]", "3")]),
        ("[3-1]", [("[3]", "3"), ("[1]", "1")]),
        ("[1，2；3]", [("[1]", "1"), ("[2]", "2"), ("[3]", "3")]),
        ("【3】", [("【3】", "3")]),
        ("【1,2】", [("【1】", "1"), ("【2】", "2")]),
        ("【3†source】", [("【3】", "3")]),
        ("【2†L10-L20】", [("【2】", "2")]),
        ("［3］", [("［3］", "3")]),
        ("[^1]", [("[^1]", "1")]),
        ("[^1^]", [("[^1]", "1")]),
        (r"\[2\]", [("[2]", "2")]),
        ("[citation:2]", [("[citation:2]", "2")]),
        ("<sup>2</sup>", [("<sup>2</sup>", "2")]),
        ("([1](#sources), [2](#sources))", [("[1]", "1"), ("[2]", "2")]),
        ("[text][2]", [("[2]", "2")]),
        ("**bold[2]**", [("[2]", "2")]),
    ],
)
def test_marker_resolves_through_the_list_of_sources(marker: str, expected: list[tuple[str, str]]) -> None:
    assert inline(f"A claim {marker}." + LIST) == expected


@pytest.mark.parametrize("marker", ["[9]", "【9】", "［9］", "[^9]"])
def test_marker_without_source_dangles(marker: str) -> None:
    found = find_citations(f"A {marker}, B [1]." + LIST)
    assert found.dangling == (marker,)
    assert [m.url for m in found.inline] == ["", "https://example.org/1"]


@pytest.mark.parametrize(
    "text",
    [
        "- [x] done\n- [ ] open",
        "born [2024] and [1939-1945]",
        "the interval [0, 1] and index [0]",
        "code `a[1]` and\n\n```\nb[2] = c[3]\n```",
        "area in m<sup>2</sup>",
        "[note] and [T: 5] and [^abc]",
        "[link](https://example.org/1) text",
    ],
)
def test_other_brackets_are_no_markers(text: str) -> None:
    assert not [marker for marker, _ in inline(text) if not marker.startswith("https")]


def test_listed_year_is_a_marker() -> None:
    assert inline("As in [2024].\n\n## References\n[2024] Yearbook https://example.org/y") == [("[2024]", "y")]


@pytest.mark.parametrize(
    "entries",
    [
        "[1] Title: https://example.org/1\n[2] Title: https://example.org/2",
        "[1] Title — https://example.org/1\n[2] Title — https://example.org/2.",
        "1. [Title](https://example.org/1)\n2. [Title](https://example.org/2)",
        "1) Title https://example.org/1\n2) Title https://example.org/2",
        "1、标题：https://example.org/1。\n2、标题：https://example.org/2。",
        "(1) Title https://example.org/1\n(2) Title https://example.org/2",
        "¹ Title https://example.org/1\n² Title https://example.org/2",
        "- [1] Title (https://example.org/1)\n- [2] Title (https://example.org/2)",
        "- [1] [A](https://example.org/1) | [2] [B](https://example.org/2)",
        "**[1]** Title https://example.org/1\n\n**[2]** Title https://example.org/2",
        "【1】标题 https://example.org/1\n【2】标题 https://example.org/2",
        '[1]: https://example.org/1 "Title"\n[2]: <https://example.org/2>',
        "[^1]: Title https://example.org/1\n[^2]: Title https://example.org/2",
        "[1] Title in\n    two lines https://example.org/1\n[2] Title\nhttps://example.org/2",
        "1. **Title**\n   - URL: https://example.org/1\n2. **Title**\n   - URL: https://example.org/2",
        "1. Title https://example.org/1\n1. Title https://example.org/2",
        "[[1] Title](https://example.org/1)\n[[2] Title](https://example.org/2)",
        "| # | Source |\n|---|---|\n| 1 | https://example.org/1 |\n| 2 | [T](https://example.org/2) |",
        "[1] [PDF] Title [Updated 2024] https://example.org/1\n[2] Title https://example.org/2",
    ],
)
@pytest.mark.parametrize("title", ["## Sources", "**References:**", "参考文献：", "### 七、主要参考资料"])
def test_shapes_of_listed_sources(entries: str, title: str) -> None:
    text = f"A [1], B [2].\n\n{title}\n\n{entries}\n"
    assert inline(text) == [("[1]", "1"), ("[2]", "2")]
    assert [url for _, url in listed(text)] == ["1", "2"]
    ((start, end),) = find_citations(text).list_spans
    assert start == text.index(title)
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "tail",
    [
        "[1] Title: https://example.org/1\n[2] Title: https://example.org/2",
        "[1] A https://example.org/1 [2] B https://example.org/2",
        "[1]: https://example.org/1\n[2]: https://example.org/2\n\nHope this helps!",
        "1. https://example.org/1\n2. https://example.org/2",
        "---\n[1] https://example.org/1\n\n[2] https://example.org/2",
    ],
)
def test_list_at_the_end_needs_no_title(tail: str) -> None:
    text = f"A [1], B [2].\n\n{tail}\n"
    assert inline(text) == [("[1]", "1"), ("[2]", "2")]
    assert listed(text) == [("[1]", "1"), ("[2]", "2")]


@pytest.mark.parametrize(
    "title",
    [
        "Sources",
        "References",
        "Works Cited",
        "Key Sources",
        "Sources and Further Reading",
        "来源",
        "参考",
        "参考文献",
        "信息来源",
        "主要引用文献",
        "参考文献与权威来源",
        "📚 Sources (accessed May 2025)",
        "VII. References",
        "8. Bibliography",
        "Quellen",
        "Références",
        "Fuentes",
        "出典",
        "참고 문헌",
    ],
)
def test_titles_of_source_lists(title: str) -> None:
    text = f"# T\n\nA [1].\n\n## {title}\n\n1. https://example.org/1\n"
    assert listed(text) == [("[1]", "1")]


@pytest.mark.parametrize(
    "title",
    ["Sources of funding", "Natural Resources", "Data sources, integration and processing", "数据来源与测量方法"],
)
def test_section_about_sources_is_no_list(title: str) -> None:
    text = f"## {title}\n\nText https://example.org/1\n\n## More\n\nText\n"
    assert find_citations(text).list_spans == ()
    assert inline(text) == [("https://example.org/1", "1")]


def test_sections_with_their_own_lists_resolve_in_their_own() -> None:
    text = (
        "# T\n## A\nx [1]\n### Sources\n[1] T https://example.org/a\n"
        "## B\ny [1]\n### Sources\n[1] T https://example.org/b\n"
    )
    assert [url for marker, url in inline(text) if marker == "[1]"] == ["a", "b"]
    assert find_citations(text).list_spans == ()


def test_numbered_link_cites_its_own_address_and_serves_later_markers() -> None:
    text = "A [1](https://example.org/1), B [[2]](https://example.org/2), again [1] and [2]."
    assert inline(text) == [("[1]", "1"), ("[2]", "2"), ("[1]", "1"), ("[2]", "2")]


def test_entry_with_two_addresses_cites_both() -> None:
    text = "A [1].\n\n## Sources\n[1] T https://example.org/1 (copy: https://example.org/1b)\n"
    assert inline(text) == [("[1]", "1"), ("[1]", "1b")]


def test_number_listed_twice_cites_both() -> None:
    text = "A [1].\n\n## Sources\n[1] T https://example.org/1\n[2] U https://example.org/2\n[1] V https://example.org/3\n"
    assert inline(text) == [("[1]", "1"), ("[1]", "3")]


def test_entry_without_address_dangles() -> None:
    found = find_citations("A [1], B [2].\n\n## Sources\n[1] T https://example.org/1\n[2] A book, 1999\n")
    assert found.dangling == ("[2]",)


def test_address_in_fenced_code_is_listed_but_not_cited() -> None:
    text = "Run\n\n```\ncurl https://example.org/api\n```\n\nas `https://example.org/doc` says."
    assert inline(text) == [("https://example.org/doc", "doc")]
    assert listed(text) == [("https://example.org/api", "api")]


def test_offsets_hold_in_text_with_other_line_ends() -> None:
    text = "\ufeffA [1].\r\n\r\nB https://example.org/2\r\n\r\n[1] T https://example.org/1\r\n"
    assert [text[m.start : m.end] for m in find_citations(text).inline] == ["[1]", "https://example.org/2"]
