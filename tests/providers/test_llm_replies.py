"""What comes back from a model, from servers that behave well and badly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.domain.chat import CalledTool, ChatReply, Usage
from lseval.providers import errors
from lseval.providers.llm_replies import reply_in, split_reasoning, usage_in
from lseval.providers.transport import HttpReply
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM, answers, answers_bytes, completion, fails
from tests.providers.clients import chat_for, request_to
from tests.providers.loopback import Behaviour


def reply_to(behaviour: Behaviour, timeout_s: float = 20.0) -> ChatReply:
    with BadLLM([behaviour]) as llm:
        return chat_for(llm)(request_to(llm.base_url, timeout_s=timeout_s))


def error_from(behaviour: Behaviour, timeout_s: float = 20.0) -> errors.ProviderError:
    with pytest.raises(errors.ProviderError) as caught:
        reply_to(behaviour, timeout_s)
    return caught.value


def message(**fields: object) -> Behaviour:
    return answers(completion(fields))


def test_a_plain_reply_is_read_whole() -> None:
    assert reply_to(bad_llm.says("Paris.")) == ChatReply(
        text="Paris.", usage=Usage(120, 100, 30, 10), served_model="served-model"
    )


def test_tool_calls_come_in_their_order() -> None:
    reply = reply_to(
        bad_llm.calls_tools(("web_search", '{"query": "a"}'), ("open_page", '{"url": "b"}'), text="So:")
    )
    assert reply.text == "So:"
    assert reply.finish_reason == "tool_calls"
    assert reply.tool_calls == (
        CalledTool("call_1", "web_search", '{"query": "a"}'),
        CalledTool("call_2", "open_page", '{"url": "b"}'),
    )


def test_broken_arguments_are_kept_as_the_model_wrote_them() -> None:
    """J11."""
    (call,) = reply_to(bad_llm.cut_off_arguments()).tool_calls
    assert call.arguments == '{"query": "longest river in'


def test_split_surrogates_and_nul_become_storable() -> None:
    """J11: as they come, neither UTF-8 nor PostgreSQL has a place for them."""
    reply = reply_to(bad_llm.split_surrogates())
    assert reply.text == "half \ufffd of \ufffd it"
    assert reply.tool_calls[0].arguments == '{"query": "smile \ufffd"}'
    assert reply.served_model == "m\ufffd"


def test_whole_emoji_are_no_split_surrogates() -> None:
    assert reply_to(answers_bytes(json.dumps(completion({"content": "😀"})).encode())).text == "😀"


def test_an_empty_reply_is_a_reply() -> None:
    reply = reply_to(bad_llm.says_nothing())
    assert (reply.text, reply.tool_calls, reply.finish_reason) == ("", (), "stop")


def test_a_refusal_is_kept_apart_from_the_text() -> None:
    reply = reply_to(bad_llm.refuses("I can't."))
    assert (reply.text, reply.refusal) == ("", "I can't.")


def test_a_filtered_reply_says_so() -> None:
    assert reply_to(bad_llm.filtered()).finish_reason == "content_filter"


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "Think"])
def test_reasoning_between_tags_is_no_text(tag: str) -> None:
    reply = reply_to(bad_llm.reasons_in_tags("\nIs it Lyon? No.\n", "\nParis.", tag))
    assert (reply.text, reply.reasoning) == ("Paris.", "Is it Lyon? No.")


def test_reasoning_that_is_cut_off_is_no_text() -> None:
    reply = reply_to(bad_llm.reasons_in_tags("Is it Ly", "", is_closed=False))
    assert (reply.text, reply.reasoning) == ("", "Is it Ly")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_read(field: str) -> None:
    reply = reply_to(bad_llm.reasons_in_field("Is it Lyon? No.", "Paris.", field))
    assert (reply.text, reply.reasoning) == ("Paris.", "Is it Lyon? No.")


def test_reasoning_told_twice_is_kept_once() -> None:
    reply = reply_to(message(content="<think>Hm.</think>Paris.", reasoning="Hm.", reasoning_content="Hm."))
    assert (reply.text, reply.reasoning) == ("Paris.", "Hm.")


@pytest.mark.parametrize(
    ("text", "kept", "reasoned"),
    [
        ("a <b>c</b>", "a <b>c</b>", ""),
        (" spaced ", " spaced ", ""),
        ("Is it?</think>Paris.", "Paris.", "Is it?"),
        ("<think>a</think>b<think>c</think>d", "bd", "a\n\nc"),
        ("<think>a <think> b</think>c", "c", "a <think> b"),
        ("<think>a</reasoning>b</think>c", "c", "a</reasoning>b"),
        ("Write <think> before you answer.", "Write <think> before you answer.", ""),
        ("<think>a</think>b <think> c", "b <think> c", "a"),
        ("<think></think>Paris.", "Paris.", ""),
    ],
)
def test_tags_are_told_from_talk_about_tags(text: str, kept: str, reasoned: str) -> None:
    assert split_reasoning(text) == (kept, reasoned)


@given(st.text(alphabet="<>/thinkreasog ", max_size=60))
def test_reasoning_and_text_are_never_longer_than_what_came(text: str) -> None:
    kept, reasoned = split_reasoning(text)
    assert len(kept) <= len(text)
    assert reasoned.strip() == reasoned


def test_many_open_tags_cost_no_more_than_their_length() -> None:
    text = "<think>" * 200_000
    assert split_reasoning(text)[0] == ""


def test_content_in_parts_is_put_together() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Pa"},
        {"type": "text", "text": "ris."},
        {"type": "image_url"},
        "!",
        None,
    ]
    reply = reply_to(message(content=parts))
    assert (reply.text, reply.reasoning) == ("Paris.!", "Hm.")
    assert reply_to(message(content=[{"type": "refusal", "refusal": "No."}])).refusal == "No."


def test_tool_calls_without_identifiers_get_one_by_their_place() -> None:
    calls = [
        {"id": call_id, "function": {"name": "f", "arguments": "{}"}} for call_id in ("", None, "x", "x", "call_2")
    ]
    ids = [call.call_id for call in reply_to(message(content=None, tool_calls=calls)).tool_calls]
    assert ids[:4] == ["call_1", "call_2", "x", "call_4"]
    assert len(set(ids)) == 5


def test_arguments_that_a_server_has_read_already_are_json_again() -> None:
    calls = [
        {"id": str(n), "function": {"name": "f", "arguments": given}} for n, given in enumerate([{"q": "é"}, None])
    ]
    assert [call.arguments for call in reply_to(message(tool_calls=calls)).tool_calls] == ['{"q": "é"}', ""]


def test_the_older_form_of_a_tool_call_is_read() -> None:
    call = {"name": "f", "arguments": "{}"}
    reply = reply_to(answers(completion({"content": None, "function_call": call}, finish_reason="function_call")))
    assert (reply.tool_calls, reply.finish_reason) == ((CalledTool("call_1", "f", "{}"),), "tool_calls")


@pytest.mark.parametrize(
    ("given_reason", "calls", "read"),
    [
        (None, [], "stop"),
        (None, [{"function": {"name": "f"}}], "tool_calls"),
        ("length", [], "length"),
        ("eos", [], "eos"),
    ],
)
def test_the_finish_reason_is_the_servers_word_or_follows_from_the_message(
    given_reason: str | None, calls: list[object], read: str
) -> None:
    value = completion({"content": "x", "tool_calls": calls}, finish_reason=given_reason)  # type: ignore[arg-type]
    assert reply_to(answers(value)).finish_reason == read


@pytest.mark.parametrize(
    ("stated", "usage"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": None, "completion_tokens": 3}, Usage(None, None, 3, None)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}, Usage(10, None, 3, None)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 8}, Usage(10, 8, 3, None)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "cached_tokens": 8}, Usage(10, 8, 3, None)),
        (
            {"input_tokens": 10, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 0}},
            Usage(10, 0, 3, None),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": None}, Usage(10, None, 3, None)),
        (
            {"prompt_tokens": 10, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 6}},
            Usage(10, None, 9, 6),
        ),
        # What is generated counts reasoning, also where the server counts it in the total alone: 59 - 10.
        ({"prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 59}, Usage(10, None, 49, None)),
        ({"prompt_tokens": 10, "cached_tokens": 12}, Usage(10, 10, None, None)),
        ({"prompt_tokens": -1, "completion_tokens": 10**30}, Usage()),
        ({"prompt_tokens": 10.0, "completion_tokens": 1.5}, Usage(10, None, None, None)),
        ({"prompt_tokens": "10", "completion_tokens": True}, Usage()),
        ({"prompt_tokens": float("inf"), "completion_tokens": float("nan")}, Usage()),
    ],
)
def test_usage_is_read_in_each_vendors_spelling(stated: object, usage: Usage) -> None:
    assert usage_in(stated) == usage


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000])
def test_numbers_that_are_none_do_not_cost_the_reply(number: str) -> None:
    body = '{"choices":[{"message":{"content":"Paris."},"logprobs":%s}],"usage":{"prompt_tokens":%s}}'
    reply = reply_to(answers_bytes((body % (number, number)).encode()))
    assert (reply.text, reply.usage.input_tokens) == ("Paris.", None)


def test_a_byte_order_mark_and_bytes_that_are_no_utf8_do_not_cost_the_reply() -> None:
    assert (
        reply_to(answers_bytes(b'\xef\xbb\xbf{"choices":[{"message":{"content":"Par\xffis"}}]}')).text
        == "Par\ufffdis"
    )


@pytest.mark.parametrize("code", [429, "429", "rate_limit_exceeded"])
def test_no_choices_and_a_rate_limit_inside_is_a_rate_limit(code: int | str) -> None:
    """J10."""
    error = error_from(bad_llm.choices_null(code))
    assert isinstance(error, errors.RateLimitedError)
    assert "Rate limit exceeded" in str(error)


def test_an_error_in_the_choice_is_what_it_stands_for() -> None:
    choice = {"error": {"code": 502, "message": "upstream"}, "message": {"content": ""}, "finish_reason": "error"}
    assert isinstance(error_from(answers({"choices": [choice]})), errors.UnavailableError)


@pytest.mark.parametrize(
    "behaviour",
    [
        bad_llm.choices_empty(),
        bad_llm.choices_null(None),
        bad_llm.choices_null("something_new"),
        bad_llm.cut_off_body(),
        answers({"choices": [None]}),
        answers({"choices": {"0": {}}}),
        answers({"choices": [{"message": None}]}),
        answers({"choices": [{"message": "Paris"}]}),
        answers([1]),
        answers("Paris"),
        answers_bytes(b""),
        answers_bytes(b"<html>Bad gateway</html>"),
        answers_bytes(b'data: {"choices": []}\n\n'),
        answers_bytes(b"[" * 100_000),
        message(content={"text": "Paris"}),
        message(tool_calls="web_search"),
        message(tool_calls=[None]),
        message(tool_calls=[{"id": "1"}]),
        message(tool_calls=[{"function": {"name": " ", "arguments": "{}"}}]),
        message(tool_calls=[{"function": {"name": 3}}]),
    ],
)
def test_what_is_no_chat_completion_is_malformed_and_may_be_tried_again(behaviour: Behaviour) -> None:
    error = error_from(behaviour)
    assert type(error) is errors.MalformedReplyError
    assert error.is_retryable


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad", errors.RequestRefusedError),
        (400, "context_length_exceeded", errors.ContextTooLongError),
        (400, "exceed_context_size_error", errors.ContextTooLongError),
        (401, "invalid_api_key", errors.AccessRefusedError),
        (402, None, errors.OutOfCreditError),
        (403, None, errors.AccessRefusedError),
        (404, "model_not_found", errors.RequestRefusedError),
        (405, None, errors.RequestRefusedError),
        (408, None, errors.TimedOutError),
        (409, None, errors.UnavailableError),
        (413, None, errors.RequestRefusedError),
        (413, "context_length_exceeded", errors.ContextTooLongError),
        (422, None, errors.RequestRefusedError),
        (425, None, errors.UnavailableError),
        (429, "rate_limit_exceeded", errors.RateLimitedError),
        (429, "insufficient_quota", errors.OutOfCreditError),
        (500, "server_error", errors.UnavailableError),
        (502, None, errors.UnavailableError),
        (503, None, errors.UnavailableError),
        (504, None, errors.TimedOutError),
        (529, "overloaded_error", errors.UnavailableError),
    ],
)
def test_a_status_and_its_code_decide_the_error(status: int, code: str | None, kind: type[Exception]) -> None:
    error = error_from(fails(status, code=code, message="Something\x00 is\nwrong."))
    assert type(error) is kind
    assert "Something is wrong." in str(error).replace("\ufffd", "")


@pytest.mark.parametrize(
    "value",
    [
        {"object": "error", "message": "This model's maximum context length is 8192 tokens.", "code": 400},
        {"error": {"code": 400, "message": "the request exceeds", "type": "exceed_context_size_error"}},
        [{"error": {"code": 400, "message": "maximum context length"}}],
    ],
)
def test_a_chat_that_is_too_long_is_told_from_other_refusals(value: object) -> None:
    assert type(error_from(answers(value, 400))) is errors.ContextTooLongError


@pytest.mark.parametrize(
    "value", [None, [], {}, {"error": None}, {"error": []}, {"detail": [{"msg": "x"}]}, {"error": 5}, 7]
)
def test_an_error_in_no_known_form_is_still_an_error(value: object) -> None:
    assert type(error_from(answers(value, 500))) is errors.UnavailableError


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("0.493", 0.493), ("86400", 86_400), ("junk", None), (None, None)]
)
def test_a_rate_limit_tells_the_pause_that_is_asked_for(text: str | None, seconds: float | None) -> None:
    """R18: the forms by themselves are in test_retry_after."""
    error = error_from(bad_llm.rate_limited(text))
    assert isinstance(error, errors.RateLimitedError)
    assert error.retry_after_s == seconds


def test_a_date_that_has_passed_asks_for_no_pause() -> None:
    error = error_from(bad_llm.rate_limited("Sun, 06 Nov 1994 08:49:37 GMT"))
    assert isinstance(error, errors.RateLimitedError)
    assert error.retry_after_s == 0


def test_an_unavailable_server_tells_the_pause_too() -> None:
    error = error_from(fails(503, headers=[("Retry-After", "7")]))
    assert isinstance(error, errors.UnavailableError)
    assert error.retry_after_s == 7


def test_a_server_that_hangs_or_breaks_off_may_be_asked_again() -> None:
    assert isinstance(error_from(bad_llm.hangs(), timeout_s=0.2), errors.TimedOutError)
    assert isinstance(error_from(bad_llm.trickles(), timeout_s=0.2), errors.TimedOutError)
    assert isinstance(error_from(bad_llm.resets()), errors.UnavailableError)
    assert isinstance(error_from(bad_llm.cut_off_connection()), errors.UnavailableError)


NAMES = ["choices", "message", "content", "tool_calls", "function", "name", "arguments", "usage", "error"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_no_json_makes_the_reading_fail_in_a_way_of_its_own(value: object) -> None:
    """A reply, or a `ProviderError`: nothing else can come out."""
    body = json.dumps({"choices": [value]} if isinstance(value, dict) else value).encode()
    try:
        reply = reply_in(HttpReply(200, {}, body), "somebody")
    except errors.ProviderError:
        return
    reply.text.encode()
    assert all(call.name for call in reply.tool_calls)
