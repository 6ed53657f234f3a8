"""Reading judges' replies: hostile rows J01 to J09."""

from __future__ import annotations

import contextlib
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lseval.domain.chat import ChatReply
from lseval.judging.mending import mended
from lseval.judging.replies import Unusable, UnusableReplyError, read_reply


def listed(word: object) -> object:
    return {"correct": "correct", "incorrect": "incorrect"}.get(str(word).casefold().strip(" ."), word)


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    verdict: Annotated[Literal["correct", "incorrect"], BeforeValidator(listed)]
    note: str = ""
    score: float = Field(default=0, ge=0, le=10)


def read(text: str, finish_reason: str = "stop", refusal: str = "") -> tuple[str, tuple[str, ...]]:
    reading = read_reply(ChatReply(text, finish_reason=finish_reason, refusal=refusal), Verdict)
    return reading.value.verdict, reading.flags


def reason(text: str, finish_reason: str = "stop", refusal: str = "") -> Unusable:
    with pytest.raises(UnusableReplyError) as caught:
        read(text, finish_reason, refusal)
    return caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "correct"}',
        '```json\n{"verdict": "correct"}\n```',
        'It\'s clear {as day}: here it is.\n\n{"verdict": "correct", "note": "says \\"{x}\\""} I hope it helps!',
        'Say "so:\n{"verdict": "correct"}',
        '{"verdict": "correct"}\n{"verdict": "correct"}',
    ],
)
def test_fenced_json_and_prose_round_it_are_read(text):
    """J01."""
    assert read(text) == ("correct", ())


def test_two_answers_are_ambiguous():
    """J02."""
    assert reason('{"verdict":"incorrect"} wait {"verdict":"correct"}') == Unusable.AMBIGUOUS


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "correct",}',
        '{“verdict”: “correct”, “note”: “he said "no"”}',
        '{"verdict": "correct", "note": "a", }',
    ],
)
def test_small_faults_are_mended_and_flagged(text):
    """J03."""
    assert read(text) == ("correct", ("repaired",))


def test_python_words_are_mended_only_outside_quotation_marks():
    assert mended('{"a": True, "b": [None, False,], "True": "None, ]"}') == (
        '{"a": true, "b": [null, false], "True": "None, ]"}'
    )


@pytest.mark.parametrize("text", ['{"verdict":"corr', '{"verdict":"correct","note":"because', ""])
def test_a_reply_cut_off_is_truncated_and_never_half_a_word(text):
    """J04."""
    assert reason(text, "length") == Unusable.TRUNCATED


def test_an_answer_before_a_cut_is_not_taken_for_the_last_word():
    assert reason('{"verdict":"incorrect"} wait {"verdict":"corr', "length") == Unusable.TRUNCATED


@pytest.mark.parametrize("finish_reason", ["stop", "length", "", "tool_calls"])
@pytest.mark.parametrize(
    "tail",
    [
        ' wait {"verdict":"corr',
        ' {"verdict":"incorrect","note":"bec',
        '\n```json\n{\n  "',
        " {“verdict”: “incorrect",
    ],
)
def test_an_answer_before_a_broken_one_does_not_count_whatever_the_finish_reason(tail, finish_reason):
    assert reason('{"verdict":"correct"}' + tail, finish_reason) == Unusable.TRUNCATED


def test_a_brace_of_the_prose_after_the_answer_is_passed_over_and_flagged():
    assert read('{"verdict":"correct"} as in {this case') == ("correct", ("repaired",))


@pytest.mark.parametrize(
    "other",
    [
        '{"verdict":"unsure"}',
        '{"verdict":"incorrect","verdict":"correct"}',
        '{"verdict":"incorrect","score":NaN}',
        '{"verdict":"incorrect" "note":"no comma"}',
    ],
)
def test_an_answer_beside_one_that_cannot_be_used_is_ambiguous(other):
    """J02."""
    assert reason(f'{other}\n{{"verdict":"correct"}}') == Unusable.AMBIGUOUS
    assert reason(f'{{"verdict":"correct"}} or {other}') == Unusable.AMBIGUOUS


def test_objects_that_are_no_answers_are_passed_over():
    schema = '{"properties": {"verdict": {"type": "string"}}}'
    assert read(f'By {schema} and {{"plan": "read"}}: {{"verdict":"correct"}}') == ("correct", ())


def test_a_whole_answer_at_the_token_limit_counts():
    assert read('{"verdict":"correct"}', "length") == ("correct", ())


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict":"correct","score":NaN}',
        '{"verdict":"correct","score":1e999}',
        '{"verdict":"correct","score":11}',
        '{"verdict":"correct","score":' + "9" * 5000 + "}",
        '{"verdict":"correct","score":"7"}',
        '{"verdict":"partially"}',
        '{"verdict":"corr"}',
        '{"verdict":null}',
        '{"verdict":"correct","verdict":"incorrect"}',
        '{"verdict":"correct","final_verdict":"incorrect"}',
        '{"answer":"correct"}',
        "{verdict: correct}",
    ],
)
def test_what_the_schema_does_not_hold_is_invalid(text):
    """J05, J06 and J07."""
    assert reason(text) == Unusable.INVALID


@pytest.mark.parametrize("text", ["[" * 200_000, "{" * 200_000, "no", '["verdict"]', '{"a":' * 40 + "1" + "}" * 40])
def test_nesting_and_prose_hold_no_answer(text):
    """J05 and J06."""
    assert reason(text) == Unusable.NO_JSON


@pytest.mark.parametrize("word", ["Correct", "CORRECT.", " correct "])
def test_a_listed_spelling_is_mapped(word):
    assert read(f'{{"verdict": "{word}"}}') == ("correct", ())


def test_refusals_and_silence_are_reasons_of_their_own():
    """J09."""
    assert reason("", refusal="I cannot help with that") == Unusable.REFUSED
    assert reason('{"verdict":"correct"}', "content_filter") == Unusable.REFUSED
    assert reason("  \n") == Unusable.EMPTY


@given(st.text(alphabet='{}[]"\\ ,:“”Tcorectvdi1.', max_size=60))
def test_any_text_is_read_or_refused_with_a_reason(text):
    with contextlib.suppress(UnusableReplyError):
        assert read(text)[0] in ("correct", "incorrect")
