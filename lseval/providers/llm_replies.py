"""What an OpenAI-compatible server replied, read without trust: what was paid for is kept where it can be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lseval.domain.chat import CalledTool, ChatReply, Usage
from lseval.domain.storable_text import storable
from lseval.providers.complaints import complaint_in, error_inside
from lseval.providers.errors import MalformedReplyError
from lseval.providers.keys import without_key
from lseval.providers.transport import HttpReply

_MOST_TOKENS = 10**12
_LONGEST_NUMBER = 25
_LONGEST_WORD = 80
_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_PARTS = ("thinking", "reasoning", "reasoning_text")
_FINISH = {"function_call": "tool_calls", "max_tokens": "length", "end_turn": "stop"}


def reply_in(reply: HttpReply, who: str, key: str = "") -> ChatReply:
    """The chat reply in an HTTP reply with status 2xx.

    Strings come out storable (NUL and lone surrogates as U+FFFD); arguments of tool calls are otherwise kept as the
    model wrote them. Numbers that no count of tokens can be are None.

    Raises a `ProviderError`: what the complaint in the body stands for, where it holds one and no choice, and
    `MalformedReplyError` where the body is no chat completion.
    """
    value = _json_in(reply.body, who)
    if not isinstance(value, Mapping):
        raise MalformedReplyError(f"{who} replied with JSON that is no object.")
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        if value.get("error"):
            raise error_inside(complaint_in(value), reply.headers, who, key)
        raise MalformedReplyError(f"{who} replied without a choice.")
    message = choice.get("message")
    if choice.get("error") and not (isinstance(message, Mapping) and message.get("content")):
        raise error_inside(complaint_in(choice), reply.headers, who, key)
    if not isinstance(message, Mapping):
        raise MalformedReplyError(f"{who} replied with a choice that holds no message.")
    try:
        return _chat_reply(value, choice, message)
    except _UnreadableError as error:
        raise MalformedReplyError(f"{who} replied with {without_key(str(error), key)}.") from None


class _UnreadableError(Exception):
    """A part of the message is not what the interface promises; the text says which."""


def _chat_reply(value: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any]) -> ChatReply:
    text, reasoned, refused = _content(message.get("content"))
    stated = [message[name] for name in ("reasoning_content", "reasoning") if isinstance(message.get(name), str)]
    text, tagged = split_reasoning(text)
    calls = _calls(message)
    reasoning = "\n\n".join(dict.fromkeys(part.strip() for part in (*stated, reasoned, tagged) if part.strip()))
    refusal = message.get("refusal")
    return ChatReply(
        text=storable(text),
        tool_calls=calls,
        reasoning=storable(reasoning),
        finish_reason=_finish_reason(choice.get("finish_reason"), bool(calls)),
        usage=usage_in(value.get("usage")),
        refusal=storable(refusal if isinstance(refusal, str) and refusal else refused),
        served_model=_word(value.get("model")),
    )


def split_reasoning(text: str) -> tuple[str, str]:
    """The text without what stands between reasoning tags, and what stood there.

    Known are <think>, <thinking> and <reasoning>. A tag that opens the text and is never closed takes all of it:
    the model was cut off while it reasoned. A closing tag that none opened takes what is before it: some chat
    templates open the reasoning themselves.
    """
    if "<" not in text:
        return text, ""
    kept: list[str] = []
    reasoned: list[str] = []
    start = 0
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if opened is None:
                opened = tag
        elif opened is not None:
            if tag[2].lower() == opened[2].lower():
                kept.append(text[start : opened.start()])
                reasoned.append(text[opened.end() : tag.start()])
                start, opened = tag.end(), None
        elif not kept and not reasoned:
            reasoned.append(text[start : tag.start()])
            start = tag.end()
    if opened is not None and not "".join((*kept, text[start : opened.start()])).strip():
        reasoned.append(text[opened.end() :])
        start = len(text)
    if not reasoned:
        return text, ""
    kept.append(text[start:])
    return "".join(kept).strip(), "\n\n".join(part.strip() for part in reasoned)


def usage_in(value: Any) -> Usage:
    """The tokens that a provider states, in the spellings of OpenAI, DeepSeek, Moonshot, Anthropic and Gemini."""
    if not isinstance(value, Mapping):
        return Usage()
    given = _first(value, "prompt_tokens", "input_tokens")
    generated = _first(value, "completion_tokens", "output_tokens")
    reasoning = _first(_part(value, "completion_tokens_details", "output_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = _first(value, "reasoning_tokens")
    cached = _first(_part(value, "prompt_tokens_details", "input_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _first(value, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    if cached is not None and given is not None:
        cached = min(cached, given)
    total = _first(value, "total_tokens")
    if None not in (total, given, generated) and total > given + generated:  # type: ignore[operator]
        # Gemini and xAI leave reasoning out of what was completed, and count it in the total.
        generated = total - given  # type: ignore[operator]
    return Usage(input_tokens=given, cached_tokens=cached, output_tokens=generated, reasoning_tokens=reasoning)


def _json_in(body: bytes, who: str) -> Any:
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return json.loads(text, parse_constant=_no_number, parse_int=_integer)
    except json.JSONDecodeError as error:
        kind = "JSON that breaks off" if text.lstrip().startswith("{") else "something that is not JSON"
        raise MalformedReplyError(f"{who} replied with {kind} ({error.msg} at character {error.pos:,}).") from error
    except RecursionError as error:
        raise MalformedReplyError(f"{who} replied with JSON nested too deep.") from error


def _no_number(_: str) -> None:
    """NaN and the infinities, which are no JSON: nothing that is read here can mean them."""


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else None


def _content(value: Any) -> tuple[str, str, str]:
    """Text, reasoning and refusal of a message's content, be it a text or a list of parts."""
    if value is None:
        return "", "", ""
    if isinstance(value, str):
        return value, "", ""
    if not isinstance(value, list):
        raise _UnreadableError("a content that is neither a text nor a list")
    texts, reasoned, refused = [], [], []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            kind = part.get("type")
            if kind == "refusal":
                refused.append(_text(part.get("refusal")))
            elif kind in _REASONING_PARTS:
                reasoned.append(_text(part.get("thinking") or part.get("reasoning") or part.get("text")))
            else:
                texts.append(_text(part.get("text")))
    return "".join(texts), "\n\n".join(filter(None, reasoned)), "".join(refused)


def _text(value: Any) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, Mapping))
    return ""


def _calls(message: Mapping[str, Any]) -> tuple[CalledTool, ...]:
    stated = message.get("tool_calls")
    if not stated:
        older = message.get("function_call")
        stated = [{"function": older}] if isinstance(older, Mapping) else []
    if not isinstance(stated, list):
        raise _UnreadableError("tool calls that are no list")
    calls: list[CalledTool] = []
    taken: set[str] = set()
    for number, call in enumerate(stated, 1):
        function = _part(call, "function") if isinstance(call, Mapping) else {}
        name = function.get("name")
        if not isinstance(name, str) or not name.strip():
            raise _UnreadableError(f"a tool call (number {number}) without a name")
        call_id = _word(call.get("id"))
        if not call_id or call_id in taken:
            # Some servers leave the identifier out or repeat it; ours depends on the place alone, as a replay must.
            call_id = f"call_{number}" if f"call_{number}" not in taken else f"call_{number}_{len(taken)}"
        taken.add(call_id)
        calls.append(CalledTool(call_id, storable(name.strip()), _arguments(function.get("arguments"))))
    return tuple(calls)


def _arguments(value: Any) -> str:
    """The arguments as the model wrote them; as JSON where a server has read them already."""
    if isinstance(value, str):
        return storable(value)
    return "" if value is None else storable(json.dumps(value, ensure_ascii=False))


def _finish_reason(value: Any, has_calls: bool) -> str:
    word = _word(value)
    if not word:
        return "tool_calls" if has_calls else "stop"
    return _FINISH.get(word, word)


def _word(value: Any) -> str:
    return storable(value[:_LONGEST_WORD]) if isinstance(value, str) else ""


def _part(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((value[name] for name in names if isinstance(value.get(name), Mapping)), {})


def _first(value: Mapping[str, Any], *names: str) -> int | None:
    """The first of these that is a count of tokens."""
    for name in names:
        count = value.get(name)
        if isinstance(count, float) and count.is_integer():
            count = int(count)
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS:
            return count
    return None
