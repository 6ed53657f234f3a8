"""What is marked for a labeler, by words alone."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.marking import LONGEST_SHOWN, group_forms, marked, nearest_passages, shared_words, word_forms
from lseval.judging.embedded.passages import page_index, page_words
from lseval.judging.embedded.text import token_forms

PAGE = (
    "Visits. Tickets cost 5 crowns in summer.\n"
    "History. The Norra light was automated in 1993 by the state.\n"
    "The cafe sells soup.\n"
    "In 2008 the municipality took over the Norra light.\n"
)


def passages(text: str, *words: str) -> list[str]:
    forms = group_forms(words[0], " ".join(words[1:]), {})
    return [text[start:end] for start, end in nearest_passages(text, forms)]


def test_passages_with_the_groups_words_are_marked_in_the_order_of_the_page() -> None:
    assert passages(PAGE, "Norra light", "automated in 1993, owned by the municipality since 2008") == [
        "The Norra light was automated in 1993 by the state.",
        "In 2008 the municipality took over the Norra light.",
    ]


def test_second_mention_of_a_fact_is_marked_too() -> None:
    text = "Opened in 1962 near Aldis. Nothing else. Aldis opened in 1962, they say."
    assert passages(text, "Aldis", "opened in 1962") == [
        "Opened in 1962 near Aldis.",
        "Aldis opened in 1962, they say.",
    ]


def test_page_without_a_word_of_the_group_has_no_mark() -> None:
    assert passages(PAGE, "Submarine", "yellow") == []
    assert passages("", "Norra", "light") == []
    assert nearest_passages(PAGE, frozenset()) == []


def test_words_of_an_address_do_not_count() -> None:
    assert passages("Example norra org.", "x", "[see](https://example.org/norra)") == []


def test_shared_words_are_joined_and_short_ones_left_out() -> None:
    text = "1. An owl by the Lake Aldis ferry, opened 1962 [1]."
    forms = word_forms("Lake Aldis ferry [1]", "1. opens in 1962, by an ox")
    assert [text[start:end] for start, end in shared_words(text, forms)] == ["Lake Aldis ferry", "opened 1962"]


def test_numbers_are_shared_whole() -> None:
    """305,000 and 229,000 share their zeros and nothing else; 305000 is the same number."""
    text = "305,000 rode, 229,000 drove, 2.5 km, 25 m"
    forms = word_forms("305000 in all, 410,000 in part, 2.5 hours")
    assert [text[start:end] for start, end in shared_words(text, forms)] == ["305,000", "2.5"]


def test_shared_words_of_a_script_without_spaces() -> None:
    text = "这是北京大学的校园"
    forms = word_forms("北京大学")
    assert [text[start:end] for start, end in shared_words(text, forms)] == ["北京大学"]


@given(st.text(max_size=300), st.data())
def test_marks_change_nothing_but_the_marks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = [(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False) if start < end]
    html = marked(text, spans, anchor="p").html
    assert unescape(re.sub(r"</?mark[^>]*>", "", html)) == text
    assert [unescape(found) for found in re.findall(r"<mark id=\"p\d+\">(.*?)</mark>", html, re.DOTALL)] == [
        text[start:end] for start, end in spans
    ]


def test_active_text_is_escaped() -> None:
    text = '<script>alert("x")</script>'
    assert marked(text, [(0, 8)]).html == ("<mark>&lt;script&gt;</mark>alert(&quot;x&quot;)&lt;/script&gt;")


def test_long_text_is_cut_and_says_so() -> None:
    shown = marked(
        "x" * (LONGEST_SHOWN + 5), [(LONGEST_SHOWN - 2, LONGEST_SHOWN + 3), (LONGEST_SHOWN + 4, LONGEST_SHOWN + 5)]
    )
    assert shown.is_cut
    assert shown.marks == 1
    assert len(re.sub(r"</?mark>", "", shown.html)) == LONGEST_SHOWN
    assert not marked("x", []).is_cut


@pytest.mark.timeout(60)
def test_hundred_thousand_brackets_are_shown_without_marks() -> None:
    text = "[" * 100_000
    shown = marked(text, nearest_passages(text, group_forms("[", "[x](", {})))
    assert (shown.html, shown.marks) == (text, 0)


@given(
    st.text("aldisAB 12.'’é\n渡船、", max_size=200), st.text("aldisAB 12.'’é渡船", max_size=60), st.integers(1, 6)
)
def test_passages_are_those_that_the_whole_index_gives(text: str, words: str, most: int) -> None:
    forms = frozenset(token_forms(words))
    few, whole = page_words(text).index(forms), page_index(text)
    assert few.shares(forms) == whole.shares(forms)
    assert [found.number for found in few.best(forms, most=most)] == [
        found.number for found in whole.best(forms, most=most)
    ]
    assert [few.words(found) for found in few.passages] == [whole.words(found) for found in whole.passages]
