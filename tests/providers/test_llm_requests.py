"""What is sent to a model: the same bytes for the same request, with the key only where it belongs."""

from __future__ import annotations

import json
import logging

import pytest

from lseval.domain.chat import CalledTool, ChatRequest, Endpoint, Message, ToolSchema
from lseval.providers.errors import AccessRefusedError, ProviderError, RequestRefusedError
from lseval.providers.llm import OpenAIChat, body_of, chat_url
from tests.providers.bad_llm import BadLLM, fails, redirects
from tests.providers.clients import KEY, chat_for, http_for, request_to

TOOL = ToolSchema(
    "web_search", "Searches the web.", {"type": "object", "properties": {"query": {"type": "string"}}}
)
SCHEMA = {"type": "object", "properties": {"reason": {"type": "string"}, "label": {"type": "string"}}}


def sent(*messages: Message, sampling: dict[str, object] | None = None, **fields: object) -> dict[str, object]:
    request = ChatRequest(Endpoint("https://x.example/v1", "m", sampling=sampling or {}), messages, **fields)  # type: ignore[arg-type]
    return json.loads(body_of(request))


def test_a_chat_is_sent_in_the_form_that_the_interface_states() -> None:
    body = sent(
        Message("system", "Be brief."),
        Message("user", "Who?"),
        Message("assistant", "", (CalledTool("c1", "web_search", '{"query": "who"}'),)),
        Message("tool", "Nobody.", call_id="c1"),
        Message("assistant", "Nobody."),
        sampling={"temperature": 0.2, "max_tokens": 100},
        tools=(TOOL,),
        json_schema=SCHEMA,
    )
    call = {"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": '{"query": "who"}'}}
    function = {"name": "web_search", "description": "Searches the web.", "parameters": TOOL.parameters}
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "Nobody.", "tool_call_id": "c1"},
            {"role": "assistant", "content": "Nobody."},
        ],
        "tools": [{"type": "function", "function": function}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
        "temperature": 0.2,
        "max_tokens": 100,
    }


def test_a_chat_without_anything_optional_sends_nothing_optional() -> None:
    assert sent() == {"model": "m", "messages": []}
    assert sent(Message("user", "Who?")) == {"model": "m", "messages": [{"role": "user", "content": "Who?"}]}


def test_equal_requests_are_equal_bytes_whatever_the_order_of_the_settings() -> None:
    bodies = {
        body_of(ChatRequest(Endpoint("u", "m", sampling=sampling), (Message("user", "é"),), (tool,)))
        for sampling in ({"seed": 1, "top_p": 0.9}, {"top_p": 0.9, "seed": 1})
        for tool in (TOOL, ToolSchema(TOOL.name, TOOL.description, dict(TOOL.parameters)))
    }
    assert len(bodies) == 1


def test_other_tools_are_not_taken_for_the_last_ones() -> None:
    other = ToolSchema("open_page", "Opens.", {})
    names = [sent(tools=tools)["tools"][0]["function"]["name"] for tools in ((TOOL,), (other,), (TOOL,))]  # type: ignore[index]
    assert names == ["web_search", "open_page", "web_search"]


def test_a_schema_keeps_the_order_of_its_fields() -> None:
    """A model fills them in in this order: reasons come before the label that they lead to."""
    body = body_of(ChatRequest(Endpoint("u", "m"), (), json_schema=SCHEMA))
    assert body.index(b'"reason"') < body.index(b'"label"')


def test_a_response_format_of_the_settings_takes_the_schemas_place() -> None:
    body = sent(sampling={"response_format": {"type": "json_object"}}, json_schema=SCHEMA)
    assert body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("name", ["model", "messages", "tools", "stream", "n"])
def test_sampling_may_not_set_what_the_program_sets(name: str) -> None:
    with pytest.raises(RequestRefusedError, match=name):
        sent(sampling={name: 1})


@pytest.mark.parametrize("arguments", ['{"query": "longest riv', "", "[1]", "null", "{" * 100_000])
def test_unreadable_arguments_are_sent_back_as_an_object(arguments: str) -> None:
    message = Message("assistant", "", (CalledTool("c1", "web_search", arguments),))
    (call,) = sent(message)["messages"][0]["tool_calls"]  # type: ignore[index]
    assert json.loads(call["function"]["arguments"]) == {"unreadable": arguments}


def test_what_cannot_be_stored_is_not_sent() -> None:
    text = "half \ud83d of \x00 it, \\u0000 as text"
    body = sent(Message("user", text), Message("assistant", text, (CalledTool("c", "f", '{"a": "\ud83d\x00"}'),)))
    assert body["messages"][0]["content"] == "half \ufffd of \ufffd it, \\u0000 as text"  # type: ignore[index]
    assert "\ud83d" not in str(body)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://x.example/v1", "https://x.example/v1/chat/completions"),
        ("https://x.example/v1/", "https://x.example/v1/chat/completions"),
        ("https://x.example/o?api-version=1", "https://x.example/o/chat/completions?api-version=1"),
    ],
)
def test_the_address_follows_from_the_base_url(base_url: str, url: str) -> None:
    assert chat_url(Endpoint(base_url, "m")) == url


def test_the_key_is_sent_as_a_bearer_token_and_read_at_each_call() -> None:
    environ = {"SOME_KEY": "first"}
    with BadLLM() as llm:
        chat = OpenAIChat(http_for(llm), environ=environ)
        chat(request_to(llm.base_url))
        environ["SOME_KEY"] = "second\n"
        chat(request_to(llm.base_url))
    assert [request.headers["authorization"] for request in llm.requests] == ["Bearer first", "Bearer second"]
    assert llm.requests[0].path == "/v1/chat/completions"


def test_no_key_is_sent_where_none_is_named() -> None:
    with BadLLM() as llm:
        chat_for(llm)(ChatRequest(Endpoint(llm.base_url, "m"), (Message("user", "Who?"),)))
    assert "authorization" not in llm.requests[0].headers


@pytest.mark.parametrize("value", [None, "", "  ", "sk-1\nX: y", "sk-ключ", "two words"])
def test_a_missing_or_unusable_key_names_its_variable_and_never_its_value(value: str | None) -> None:
    environ = {} if value is None else {"SOME_KEY": value}
    with BadLLM() as llm, pytest.raises(AccessRefusedError, match="SOME_KEY") as caught:
        OpenAIChat(http_for(llm), environ=environ)(request_to(llm.base_url))
    assert llm.requests == []
    assert not (value and value.strip()) or value not in str(caught.value)


def test_a_redirect_to_another_host_is_refused_and_the_key_never_leaves() -> None:
    """S14."""
    with (
        BadLLM() as other,
        BadLLM([redirects(f"{other.base_url}/chat/completions", 307)]) as llm,
        pytest.raises(RequestRefusedError, match="redirects to") as caught,
    ):
        chat_for(llm, other)(request_to(llm.base_url))
    assert other.requests == []
    assert not caught.value.is_retryable


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_a_key_that_a_server_repeats_is_blotted_out(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        BadLLM([fails(status, message=f"Incorrect API key provided: {KEY}.")]) as llm,
        pytest.raises(ProviderError, match=r"\[key\]") as caught,
    ):
        chat_for(llm)(request_to(llm.base_url))
    assert KEY not in repr(caught.value)
    assert KEY not in caplog.text
