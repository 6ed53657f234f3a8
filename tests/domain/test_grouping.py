"""Taking a final answer apart: which structure gives the groups, and what each group holds."""

from __future__ import annotations

import random

import pytest

from lseval.domain.answers import GroupedAnswer
from lseval.domain.grouping import group_answer
from lseval.domain.links import find_links


def titles(answer: GroupedAnswer) -> list[str]:
    return [group.title for group in answer.groups]


def urls(answer: GroupedAnswer) -> list[list[str]]:
    return [[cited.url for cited in group.citations if cited.url] for group in answer.groups]


LAKES = """\
Here are the five deepest lakes I found:

1. **Baikal** (Russia) [1]
   - Depth: 1642 m [2]
   - **Source**: https://example.org/baikal
2. **Tanganyika**
  - Depth: 1470 m [2]
3. **Caspian Sea**
- Depth: 1025 m
4. **Malawi**

   It is 706 m deep (https://example.org/malawi).
5. **Vostok** [9]

Together they hold most of the water; see [3].

## Sources
[1] One: https://example.org/1
[2] Two: https://example.org/2
[3] Three: https://example.org/3
[4] Four: https://example.org/4
"""


def test_numbered_items_are_groups_with_their_nested_bullets() -> None:
    answer = group_answer(LAKES)
    assert answer.method == "numbered_list"
    assert titles(answer) == ["Baikal", "Tanganyika", "Caspian Sea", "Malawi", "Vostok"]
    assert answer.groups[0].fields == {"Depth": "1642 m", "Source": "https://example.org/baikal"}
    assert answer.groups[2].text == "3. **Caspian Sea**\n- Depth: 1025 m"
    assert answer.groups[3].text.endswith("(https://example.org/malawi).")
    assert [group.fields.get("Depth") for group in answer.groups] == ["1642 m", "1470 m", "1025 m", None, None]


def test_groups_take_the_citations_inside_them() -> None:
    answer = group_answer(LAKES)
    assert [[(c.marker, c.url) for c in group.citations] for group in answer.groups] == [
        [
            ("[1]", "https://example.org/1"),
            ("[2]", "https://example.org/2"),
            ("https://example.org/baikal", "https://example.org/baikal"),
        ],
        [("[2]", "https://example.org/2")],
        [],
        [("https://example.org/malawi", "https://example.org/malawi")],
        [("[9]", "")],
    ]
    assert all(cited.is_inline for group in answer.groups for cited in group.citations)


def test_what_no_group_cites_is_a_source_of_the_run() -> None:
    answer = group_answer(LAKES)
    # [3] is cited only after the list, [4] nowhere.
    assert [(c.marker, c.url, c.is_inline) for c in answer.sources] == [
        ("[3]", "https://example.org/3", False),
        ("[4]", "https://example.org/4", False),
    ]
    assert answer.dangling == ("[9]",)
    assert answer.groups[4].citations[0].is_dangling


def test_offsets_are_those_of_the_original_text() -> None:
    for text in (LAKES, "\ufeff" + LAKES.replace("\n", "\r\n")):
        answer = group_answer(text)
        assert len(answer.groups) == 5
        for group in answer.groups:
            assert group.text == text[group.start : group.end]
            assert group.text == group.text.strip()


def test_citation_keys_are_canonical_and_addresses_as_written() -> None:
    answer = group_answer("1. A http://Example.org/x/?utm_source=y\n2. B https://example.org/x")
    first, second = (group.citations[0] for group in answer.groups)
    assert first.url == "http://Example.org/x/?utm_source=y"
    assert first.canonical_key == second.canonical_key == "https://example.org/x"


def test_address_that_no_page_can_have_is_kept_under_its_own_key() -> None:
    (group,) = group_answer("See https://user@example.org/x for it.").groups
    assert [(c.url, c.canonical_key) for c in group.citations] == [("https://user@example.org/x",) * 2]


def test_table_rows_are_groups_and_its_header_names_the_fields() -> None:
    answer = group_answer(
        "| # | Film | Year | Link |\n|---|---|---|---|\n"
        "| 1 | **Adam** | 2019 [1] | https://example.org/adam |\n"
        "| 2 | [In Between](https://example.org/between) | 2016 | [1] |\n\n"
        "[1]: https://example.org/1\n"
    )
    assert answer.method == "table"
    assert titles(answer) == ["Adam", "In Between"]
    assert answer.groups[0].fields == {"Film": "Adam", "Year": "2019", "Link": "https://example.org/adam"}
    assert urls(answer) == [
        ["https://example.org/1", "https://example.org/adam"],
        ["https://example.org/between", "https://example.org/1"],
    ]


REPORT = """\
# Three films

An opening paragraph [1].

## Introduction

Words.

## Films

### 1. Adam (2019)

- **Director**: Maryam Touzani [1]
- **Country:** Morocco [2]

---

### 2. In Between (2016)

Text [2].

### 3. Facing Mirrors (2011)

Text.

## Reception abroad

They did well [3].

## Conclusion

Good films [1].

### Sources

1. [One](https://example.org/1)
2. [Two](https://example.org/2)
3. [Three](https://example.org/3)
4. [Four](https://example.org/4)
"""


def test_sections_of_a_report_are_groups_without_what_frames_it() -> None:
    answer = group_answer(REPORT)
    assert answer.method == "headings"
    assert titles(answer) == ["Adam (2019)", "In Between (2016)", "Facing Mirrors (2011)", "Reception abroad"]
    assert answer.groups[0].fields == {"Director": "Maryam Touzani", "Country": "Morocco"}
    assert answer.groups[0].text.endswith("- **Country:** Morocco [2]")
    assert urls(answer) == [
        ["https://example.org/1", "https://example.org/2"],
        ["https://example.org/2"],
        [],
        ["https://example.org/3"],
    ]
    assert [cited.url for cited in answer.sources] == ["https://example.org/4"]


def test_sections_whose_parts_repeat_are_groups_as_a_whole() -> None:
    text = "# T\n\n" + "\n".join(
        f"## {name}\n\nAbout {name}.\n\n### Strengths\n\nfast [1]\n\n### Limitations\n\nrare [2]\n"
        for name in ("Foo", "Bar")
    )
    answer = group_answer(text + "\n## Sources\n[1] https://example.org/1\n[2] https://example.org/2\n")
    assert titles(answer) == ["Foo", "Bar"]
    assert answer.groups[0].text.endswith("### Limitations\n\nrare [2]")


def test_words_before_subsections_are_a_group_when_they_cite() -> None:
    answer = group_answer(
        "## A\n\nintro [1]\n\n### X\n\nx\n\n### Y\n\ny\n\n## B\n\nb\n\n[1]: https://example.org/1\n"
    )
    assert [(group.title, group.text) for group in answer.groups][:2] == [
        ("A", "## A\n\nintro [1]"),
        ("X", "### X\n\nx"),
    ]


def test_single_section_with_a_list_gives_its_items() -> None:
    answer = group_answer(
        "# Report\n\n## Overview\n\nblah\n\n## The winners\n\n1. Foo [1]\n2. Bar\n\n## Notes\n\n- a\n- b\n\n"
        "## References\n\n[1] https://example.org/1\n"
    )
    assert (answer.method, titles(answer)) == ("numbered_list", ["Foo", "Bar"])


def test_sections_filled_with_numbered_lists_give_the_items() -> None:
    answer = group_answer(
        "## Asia\n\n1. Tokyo [1]\n2. Seoul\n\n## Europe\n\n1. Paris\n2. Rome\n\n[1]: https://example.org/1\n"
    )
    assert (answer.method, titles(answer)) == ("numbered_list", ["Tokyo", "Seoul", "Paris", "Rome"])


def test_section_with_its_own_sources_keeps_them_inline() -> None:
    text = "# T\n" + "".join(f"## {n}\nx [1]\n### Sources\n[1] T https://example.org/{n}\n" for n in "ab")
    answer = group_answer(text)
    assert (titles(answer), urls(answer)) == (["a", "b"], [["https://example.org/a"], ["https://example.org/b"]])
    assert answer.sources == ()


@pytest.mark.parametrize(
    ("text", "method", "expected"),
    [
        # Numbers that Markdown does not know as a list.
        ("以下是三个城市：\n1、北京：2100万\n2、上海：2400万\n3、广州", "numbered_list", ["北京", "上海", "广州"]),
        ("（1）北京\n（2）上海", "numbered_list", ["北京", "上海"]),
        ("① 北京\n② 上海", "numbered_list", ["北京", "上海"]),
        ("**1. Foo**\nText\n\n**2. Bar**\nText\n\nBye.", "numbered_list", ["Foo", "Bar"]),
        ("Answer 1: Foo – good\nAnswer 2: Bar – bad", "numbered_list", ["Foo", "Bar"]),
        # Text between items belongs to the item before it.
        ("1. A\n\nText A\n\n2. B\n\nText B\n\nOverall nice.", "numbered_list", ["A", "B"]),
        ("1. A\n\nText A\n\n1. B\n\nText B", "numbered_list", ["A", "B"]),
        ("1. A\n\n---\n\n2. B", "numbered_list", ["A", "B"]),
        # Bullets.
        (
            "The papers:\n\n- [Paper A](https://example.org/a): x\n- [Paper B](https://example.org/b)",
            "bullet_list",
            ["Paper A", "Paper B"],
        ),
        ("• Foo\n• Bar", "bullet_list", ["Foo", "Bar"]),
        ("- Asia:\n  - Tokyo\n  - Seoul", "bullet_list", ["Tokyo", "Seoul"]),
        # Titles in bold where there are no headings.
        ("**Foo**\n\nText.\n\n**Bar**\n\nText.", "headings", ["Foo", "Bar"]),
        (
            "**Foo**\n- Year: 1\n- Source: a\n\n**Bar**\n- Year: 2\n- Source: b\n\n**Notes**\n- c",
            "headings",
            ["Foo", "Bar"],
        ),
        ("Foo\n- Year: 1\n- Source: a\n\nBar\n- Year: 2\n- Source: b", "bullet_list", ["Foo", "Bar"]),
        # Markdown inside a fence of its own.
        ("```markdown\n1. X\n2. Y\n```", "numbered_list", ["X", "Y"]),
        # One answer.
        ("Zoltán", "prose", ["Zoltán"]),
        ("# Paris", "prose", ["Paris"]),
        ("1. Only this", "numbered_list", ["Only this"]),
        ("Name: Ada\nBorn: 1815\nSource: https://example.org/a", "prose", ["Ada"]),
        ("- Name: Ada\n- Born: 1815\n- Source: https://example.org/a", "prose", ["Ada"]),
    ],
)
def test_structure_that_holds_the_units_is_chosen(text: str, method: str, expected: list[str]) -> None:
    answer = group_answer(text)
    assert (answer.method, titles(answer)) == (method, expected)


@pytest.mark.parametrize(
    "text",
    [
        "The town is **Whitby**.\n- **Jet Stone**: It is known for jet.\n- **Dracula**: The abbey is in it.",
        "It is **Lagos**.\n\n**Verification Steps**:\n1. **Festivals**: two [1]\n2. **Size**: large\n\n[1]: https://a.example",
        "It is **China**.\n\n**Key Evidence**:\n- won [1]\n- lost\n\nSo it is.\n\n[1]: https://a.example",
        "The class is:\n- **Kingdom**: Animalia\n- **Order**: Scorpiones",
        "It is **Dover**.\n\n- **Key Details**:\n  - **Cliffs**: white\n  - **Castle**: old\n\n- **Weather**: mild",
        "答案是北京。\n\n**验证依据**：\n1. 首都\n2. 人口",
    ],
)
def test_evidence_for_one_answer_does_not_split_it(text: str) -> None:
    answer = group_answer(text)
    assert (answer.method, len(answer.groups)) == ("prose", 1)
    assert not [cited for cited in answer.sources if cited.url not in urls(answer)[0]]


def test_key_value_lines_of_one_answer_are_its_fields() -> None:
    (group,) = group_answer(
        "- Name: Ada Lovelace\n- **Born:** 1815 [1]\n- Known for:\n  - notes\n  - letters\n\n[1]: https://a.example"
    ).groups
    assert group.fields == {"Name": "Ada Lovelace", "Born": "1815", "Known for": "notes; letters"}


def test_table_of_fields_is_read_as_fields() -> None:
    rows = "| Field | Value |\n|---|---|\n| Population | 14M |\n| Source | https://example.org/t |\n"
    answer = group_answer(f"## Tokyo\n\n{rows}\n## Paris\n\n{rows}")
    assert titles(answer) == ["Tokyo", "Paris"]
    assert answer.groups[0].fields == {"Population": "14M", "Source": "https://example.org/t"}


def test_short_paragraphs_that_cite_different_pages_are_groups() -> None:
    text = (
        "A shows it https://example.org/a.\n\nB does https://example.org/b.\n\nSo does C (https://example.org/c)."
    )
    answer = group_answer(text)
    assert answer.method == "prose"
    assert urls(answer) == [["https://example.org/a"], ["https://example.org/b"], ["https://example.org/c"]]


def test_long_prose_is_split_into_paragraphs() -> None:
    paragraph = "This sentence is about one of several things. " * 20
    text = "\n\n".join(f"{paragraph}See https://example.org/{n}." for n in "abc")
    answer = group_answer(f"Hello.\n\n{text}\n\nBye.")
    assert (answer.method, len(answer.groups)) == ("prose", 3)


def test_sole_group_without_citation_takes_the_listed_sources() -> None:
    answer = group_answer("The answer is Paris.\n\nSources:\n- https://example.org/1\n- https://example.org/2\n")
    assert urls(answer) == [["https://example.org/1", "https://example.org/2"]]
    assert answer.sources == ()
    cites = group_answer(
        "The answer is Paris [1].\n\nSources:\n[1] https://example.org/1\n[2] https://example.org/2\n"
    )
    assert urls(cites) == [["https://example.org/1"]]
    assert [(c.url, c.is_inline) for c in cites.sources] == [("https://example.org/2", False)]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "---\n\n***", "Sources:\n- https://example.org/1"])
def test_nothing_said_gives_no_groups(text: str) -> None:
    answer = group_answer(text)
    assert (answer.method, answer.groups) == ("none", ())
    assert [cited.url for cited in answer.sources] == (["https://example.org/1"] if "https" in text else [])


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "](http://a",
        "http://a(=",
        "> ",
        "- ",
        "1. ",
        "- a\n",
        "1. a\n\nb\n\n",
        "|a|b|\n|-|-|\n|c|d|\n\n",
        "`",
        "` x\n\n",
        "**A**\nx\n\n",
        "# a\n",
        "[1-999]",
        "[1]\n",
        "[1] http://a [2] ",
        "## S\nx [1]\n### Sources\n[1] http://a\n",
        "*",
        "a: b\n",
        "Sources: http://a\n\n",
        "x [1]\n\n[1] http://a\n\n",
        "1、a\n",
        "\x00",
        "\ud800",
        "\r",
        "【",
        "```\n",
    ],
)
@pytest.mark.timeout(120)  # about a second at most; anything quadratic would take minutes
def test_hostile_text_never_fails(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    answer = group_answer(text)
    assert all(group.text == text[group.start : group.end] for group in answer.groups)


PIECES = (
    *(
        "1. a\n",
        "2. **b** [1]\n",
        "- c: d\n",
        "1、丙\n",
        "are:\n",
        "x ",
        "text. ",
        "**bold**\n",
        "> q\n",
        "   ",
        "\n\n",
        "\r\n",
    ),
    *(
        "## H\n",
        "### Sources\n",
        "Sources:\n",
        "[1] T https://e.x/1\n",
        "[^1]: https://e.x/2\n",
        "【2】",
        "---\n",
        "```\n",
    ),
    *(
        "https://e.x/3 ",
        "[2](https://e.x/4)",
        "`https://e.x/5`",
        "<https://e.x/6>",
        "|a|b|\n|-|-|\n|c|https://e.x/7|\n",
    ),
)


def test_groups_are_in_order_and_no_address_is_lost_whatever_the_text() -> None:
    random_pieces = random.Random(20)
    for _ in range(300):
        text = "".join(random_pieces.choices(PIECES, k=random_pieces.randint(1, 30)))
        answer = group_answer(text)
        ends = 0
        for group in answer.groups:
            assert ends <= group.start < group.end
            assert group.text == text[group.start : group.end]
            ends = group.end
        kept = {url for own in urls(answer) for url in own} | {cited.url for cited in answer.sources}
        assert {link.url for link in find_links(text)} <= kept
