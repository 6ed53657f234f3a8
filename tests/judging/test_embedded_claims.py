"""How the embedded judges read a group: plain words, names, claims and passages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.domain.grouping import group_answer
from lseval.judging.embedded.attributes import attributes
from lseval.judging.embedded.claims import MOST_CLAIMS, claims_of_group, claims_of_text
from lseval.judging.embedded.names import names
from lseval.judging.embedded.passages import PageIndex
from lseval.judging.embedded.plain import plain_words
from lseval.judging.embedded.quantities import quantities
from lseval.judging.embedded.text import LONGEST_SENTENCE, sentence_spans, token_forms, tokens


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Museum** opened in 1987 [3].", "Museum opened in 1987 ."),
        ("[Museum](https://m.example/a_(b)) is old", "Museum is old"),
        ("opened【3†source】 in 1987 [3](https://m.example)", "opened in 1987"),
        ("See https://m.example/x. Source: https://m.example", "See"),
        ("| Museum | Esbjerg |\n|---|---|\n", "Museum\nEsbjerg"),
        ("## Museum\n- old\n", "Museum\nold"),
        ("## 2. Museum\n**3. Old**\n**4.** new", "Museum\nOld\nnew"),
        ("2、Museum\n② old\n（3）new\n#4 last", "Museum\nold\nnew\nlast"),
        ("1. Museum\n    - **Source:** [source](https://m.example/a)", "Museum\nSource:"),
        ("1987. A year\n3.5 m\n12:30", "1987. A year\n3.5 m\n12:30"),
        ("old (https://m.example/a) and (https://m.example/b_(c))", "old and"),
        ("snake_case stays, _emphasis_ goes", "snake_case stays, emphasis goes"),
        ("a\x00b", "a b"),
        ("【北京大学】很大", "【北京大学】很大"),
        ("It covers 90 m² and is old².", "It covers 90 m² and is old."),
    ],
)
def test_plain_words_lose_markup_markers_and_addresses(text: str, plain: str) -> None:
    assert plain_words(text) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was built by Lene Kirk of the Bank of England.", ("Lene Kirk", "Bank of England")),
        ("Police were called to New York.", ("New York",)),
        ("In March it was NASA and iPhone maker Apple.", ("NASA", "Apple")),
        ("He read 《红楼梦》.", ("红楼梦",)),
        ("北京大学位于北京市海淀区", ("北京大学", "北京市海淀区")),
        ("", ()),
        ("nothing here", ()),
    ],
)
def test_names(text: str, expected: tuple[str, ...]) -> None:
    assert names(text) == expected


def test_group_claims_its_title_its_fields_and_each_sentence() -> None:
    claims = claims_of_group(
        "Harbour Museum",
        "**Harbour Museum**. It opened in 1987. Admission is free on Sundays.",
        {"City": "Esbjerg"},
    )
    assert [(claim.kind, claim.text) for claim in claims] == [
        ("title", "Harbour Museum"),
        ("field", "City: Esbjerg"),
        ("statement", "It opened in 1987."),
        ("statement", "Admission is free on Sundays."),
    ]


def test_sentences_that_repeat_fields_or_speak_of_sources_claim_nothing_more() -> None:
    claims = claims_of_group(
        "Museum",
        "- City: Esbjerg\n- Source: https://m.example\nThis conclusion is supported by several credible sources.",
        {"City": "Esbjerg", "Source": "Wikipedia", "Rank": "1"},
    )
    assert [claim.text for claim in claims] == ["Museum", "City: Esbjerg"]


@pytest.mark.parametrize(
    "text",
    [
        "According to the city's site, it opened in 1987.",
        "The page says that it opened in 1987.",
        "I found that it opened in 1987.",
    ],
)
def test_saying_where_a_claim_comes_from_is_no_part_of_it(text: str) -> None:
    assert [claim.value for claim in claims_of_text(text)] == ["it opened in 1987."]


def test_list_of_attributes_is_a_claim_for_each() -> None:
    claims = claims_of_group(
        "Harbour Museum",
        "- **Harbour Museum**: owner: City of Esbjerg; opened in 1987, area 1,200 m² (two halls, one yard)",
        {},
    )
    assert [(claim.kind, claim.text) for claim in claims[1:]] == [
        ("field", "owner: City of Esbjerg"),
        ("field", "opened in: 1987"),
        ("field", "area 1,200 m² (two halls, one yard)"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It opened in 1987, and since the extension of the old customs house it has been shown in 4 halls.",  # long
        "It is large, old and open.",  # no values
        "It opened on May 12, 1987.",  # the comma is the date's
    ],
)
def test_running_text_is_no_list_of_attributes(text: str) -> None:
    assert attributes(text) == []


def test_links_after_the_last_sentence_name_sources_and_claim_nothing() -> None:
    text = "It opened in 1987. [Daily Harbour](https://news.example), [museum](https://m.example/a)"
    assert [claim.value for claim in claims_of_text(text)] == ["It opened in 1987."]
    assert [claim.value for claim in claims_of_text("It holds [Moby Dick](https://m.example).")] == [
        "It holds Moby Dick."
    ]


def test_field_that_links_to_a_page_claims_nothing() -> None:
    fields = {"Link": "[page](https://m.example)", "Page": "[here](https://m.example)", "City": "Esbjerg"}
    assert [claim.text for claim in claims_of_group("Museum", "", fields)] == ["Museum", "City: Esbjerg"]


def _claimed(answer: str) -> list[list[str]]:
    """What the groups of a response claim beside their titles, as Stage 1 asks for it."""
    return [
        [
            claim.text
            for claim in claims_of_group(group.title, group.text, group.fields, number=number)
            if claim.kind != "title"
        ]
        for number, group in enumerate(group_answer(answer).groups, 1)
    ]


@pytest.mark.parametrize(
    "head", ["#", "No.", "Nr", "№", "Rank", "Index", "S.No.", "Item", "Entry", "Row", "", "序号"]
)
@pytest.mark.parametrize("mark", ["{}", "{}.", "#{}", "**{}**"])
def test_column_that_counts_the_rows_claims_nothing(head: str, mark: str) -> None:
    rows = [
        f"| {mark.format(n)} | {name} | 2 | https://{name}.example |" for n, name in enumerate(("Kelm", "Arlen"), 1)
    ]
    answer = "Here:\n\n" + "\n".join([f"| {head} | Museum | Rooms | Source |", "|---|---|---|---|", *rows])
    assert _claimed(answer) == [["Rooms: 2"], ["Rooms: 2"]]


def test_first_column_that_counts_the_rows_under_another_name_claims_nothing() -> None:
    rows = "| 1 | Anna Kirk | 4 | https://a.example |\n| 2 | Bo Lund | 1 | https://b.example |"
    answer = f"Here:\n\n| Season | Winner | Goals | Source |\n|---|---|---|---|\n{rows}"
    assert [group.title for group in group_answer(answer).groups] == ["Anna Kirk", "Bo Lund"]
    assert _claimed(answer) == [["Goals: 4"], ["Goals: 1"]]


def test_column_of_ordinals_that_does_not_count_the_rows_is_claimed() -> None:
    rows = "| 3 | Kelm Hall | https://a.example |\n| 2 | Arlen Hall | https://b.example |"
    answer = f"Here:\n\n| Floors | Museum | Source |\n|---|---|---|\n{rows}"
    assert _claimed(answer)[0] == ["Museum: Kelm Hall"]  # the first cell is the title then
    answer = answer.replace("| Floors | Museum |", "| Museum | Floors |")
    swapped = "| Kelm Hall | 1 | https://a.example |\n| Arlen Hall | 2 | https://b.example |"
    assert _claimed(answer.replace(rows, swapped)) == [["Floors: 1"], ["Floors: 2"]]


@pytest.mark.parametrize(
    ("item", "next_item"),
    [
        ("1. **Kelm Hall** has 2 rooms.", "2. **Arlen Hall** has 2 rooms."),
        ("### 1. Kelm Hall\n\nIt has 2 rooms.", "### 2. Arlen Hall\n\nIt has 2 rooms."),
        ("**1.** Kelm Hall: it has 2 rooms.", "**2.** Arlen Hall: it has 2 rooms."),
        ("**1. Kelm Hall**\nIt has 2 rooms.", "**2. Arlen Hall**\nIt has 2 rooms."),
        ("(1) Kelm Hall: it has 2 rooms.", "(2) Arlen Hall: it has 2 rooms."),
        ("① Kelm Hall: it has 2 rooms.", "② Arlen Hall: it has 2 rooms."),
        ("1、Kelm Hall: it has 2 rooms.", "2、Arlen Hall: it has 2 rooms."),
    ],
)
def test_number_of_an_item_claims_nothing(item: str, next_item: str) -> None:
    claimed = _claimed(f"{item} https://a.example\n\n{next_item} https://b.example")
    assert len(claimed) == 2
    for texts in claimed:
        assert [[number.value for number in quantities(text).numbers] for text in texts] == [[2]]


def test_field_that_is_called_a_number_claims_nothing_and_a_number_of_something_does() -> None:
    numbering = {"No.": "2", "#": "2", "Item": "2", "Rank": "2nd", "Row": "#2"}
    text = "- **No.:** 2\n- **Rank:** 2nd"
    assert [claim.text for claim in claims_of_group("Museum", text, numbering)] == ["Museum"]
    real = {"Number of rooms": "2", "ID": "B 204/7", "Floors": "2"}
    assert [claim.text for claim in claims_of_group("Museum", "", real, number=2)] == [
        "Museum",
        "Number of rooms: 2",
        "ID: B 204/7",
        "Floors: 2",
    ]


def test_long_label_before_a_bare_value_is_its_label() -> None:
    text = "area: 900 m²; number of paying visitors in 2024: 5,300; it is known to all who ask there: fine"
    claims = claims_of_group("Museum", f"**Museum** – {text}", {})
    assert [claim.text for claim in claims[1:3]] == ["area: 900 m²", "number of paying visitors in 2024: 5,300"]
    assert "it is known to all who ask there" in [claim.text for claim in claims]


@pytest.mark.parametrize("text", ["", "[1](https://m.example)", "\x00", "---", "the of and"])
def test_group_without_words_claims_nothing(text: str) -> None:
    assert claims_of_group("", text, {}) == []


def test_huge_group_is_cut_to_its_first_claims() -> None:
    claims = claims_of_text("\n".join(f"Museum number {number} opened in Esbjerg." for number in range(500)))
    assert len(claims) == MOST_CLAIMS
    assert claims[0].value == "Museum number 0 opened in Esbjerg."


def test_tokens_fold_case_width_accents_and_endings() -> None:
    assert token_forms("Bücher BUCHER") == token_forms("bucher Bücher")
    assert token_forms("cities") == token_forms("city")
    assert token_forms("ＡＢＣ") == token_forms("abc")
    assert token_forms("opened") == token_forms("opening")
    assert token_forms("北京大学") == ["北京", "京大", "大学"]
    assert token_forms("the of 的") == []


@given(st.text(max_size=300))
def test_tokens_have_their_offsets(text: str) -> None:
    assert all(0 <= token.start < token.end <= len(text) for token in tokens(text))


@given(st.text(alphabet=st.sampled_from("ab .。\n!?\x00京"), max_size=3 * LONGEST_SENTENCE))
def test_sentences_are_ascending_trimmed_and_hold_all_words(text: str) -> None:
    spans = list(sentence_spans(text))
    assert all(0 < end - start <= LONGEST_SENTENCE for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Dr. Kirk met J. R. Holm at 5 p.m. in the U.S. office. Then she left. 他走了。她来了。"
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "Dr. Kirk met J. R. Holm at 5 p.m. in the U.S. office.",
        "Then she left.",
        "他走了。",
        "她来了。",
    ]


def test_measured_value_ends_a_sentence_where_a_new_one_begins() -> None:
    text = "It is 84 m. Its length is 5 t. of it, and 3 g. 4 more. See J. Holm."
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "It is 84 m.",
        "Its length is 5 t. of it, and 3 g. 4 more.",
        "See J. Holm.",
    ]


def test_best_passages_prefer_rare_words_and_complete_each_other() -> None:
    index = PageIndex(
        "The museum is open. The museum is large. The museum shows whales. A planetarium opened nearby."
    )
    best = index.best(token_forms("museum with whales and a planetarium"), most=2)
    assert [index.words(passage) for passage in best] == [
        "The museum shows whales.",
        "A planetarium opened nearby.",
    ]
    assert index.coverage(token_forms("museum whales planetarium"), best) == 1
    assert index.best(token_forms("submarine")) == []
    assert index.coverage([], best) == 0


def test_index_of_an_empty_page_has_no_passages() -> None:
    assert PageIndex("").best({"museum"}) == []
    assert PageIndex(" \n\x0b").passages == []
