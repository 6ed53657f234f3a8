"""A chat, its retries and its endpoint's limit together, on a server that behaves badly in every way at once."""

from __future__ import annotations

import random
import threading

import pytest

from lseval.domain.chat import Message
from lseval.providers.concurrency import AdaptiveLimit
from lseval.providers.errors import DeferredError, MalformedReplyError, ProviderError
from lseval.providers.retrying import RetryPolicy, call_with_retries
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM
from tests.providers.clients import chat_for, request_to
from tests.providers.loopback import Behaviour, SeenRequest

PASSING = {
    "429 in seconds": bad_llm.rate_limited("0.01"),
    "429 with a date that has passed": bad_llm.rate_limited("Sun, 06 Nov 1994 08:49:37 GMT"),
    "429 with junk": bad_llm.rate_limited("soon"),
    "429 in milliseconds": bad_llm.rate_limited("5", header="retry-after-ms"),
    "429 bare": bad_llm.rate_limited(),
    "choices null": bad_llm.choices_null(),
    "choices empty": bad_llm.choices_empty(),
    "cut-off body": bad_llm.cut_off_body(),
    "cut-off connection": bad_llm.cut_off_connection(),
    "reset": bad_llm.resets(),
    "hang": bad_llm.hangs(),
    "trickle": bad_llm.trickles(),
    "502": bad_llm.fails(502),
    "529": bad_llm.fails(529),
}


def test_every_bad_behaviour_that_passes_is_outlasted_and_every_attempt_is_counted() -> None:
    """8 threads, 14 chats, whose first 1 to 3 attempts go wrong. Each ends with its own reply, once."""
    names = sorted(PASSING)
    plans = {
        f"chat {n}": [PASSING[names[(n + k) % len(names)]] for k in range(1 + n % 3)] for n in range(len(names))
    }
    left = {chat: [*behaviours, bad_llm.says(f"reply to {chat}")] for chat, behaviours in plans.items()}
    limit = AdaptiveLimit(4, 8)
    replies: dict[str, str] = {}
    failures: list[str] = []
    waiting = list(plans)
    lock = threading.Lock()

    def behave(request: SeenRequest) -> Behaviour:
        return left[request.json()["messages"][0]["content"]].pop(0)

    with BadLLM(behave) as llm:
        ask = chat_for(llm)

        def attempt(chat: str) -> str:
            with limit.place():
                return ask(request_to(llm.base_url, Message("user", chat), timeout_s=0.4)).text

        def work() -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    chat = waiting.pop()
                replies[chat] = call_with_retries(
                    lambda chat=chat: attempt(chat),  # type: ignore[misc]
                    policy=RetryPolicy(first_wait_s=0.01),
                    on_error=lambda error, number, wait_s, chat=chat: failures.append(chat),  # type: ignore[misc]
                    rng=random.Random(chat),
                )

        threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)

    assert replies == {chat: f"reply to {chat}" for chat in plans}
    assert {chat: failures.count(chat) for chat in plans} == {chat: len(plans[chat]) for chat in plans}
    assert len(llm.requests) == len(failures) + len(replies)
    assert (limit.state.under_way, limit.state.waiting) == (0, 0)


def ask_five_times(behaviour: Behaviour) -> tuple[ProviderError, int]:
    with BadLLM(default=behaviour) as llm:
        chat = chat_for(llm)
        with pytest.raises(ProviderError) as caught:
            call_with_retries(
                lambda: chat(request_to(llm.base_url)), sleep=lambda seconds: None, rng=random.Random(1)
            )
    return caught.value, len(llm.requests)


def test_a_server_that_stays_malformed_is_asked_five_times_and_no_more() -> None:
    error, asked = ask_five_times(bad_llm.choices_empty())
    assert (type(error), asked) == (MalformedReplyError, 5)


def test_a_pause_of_a_day_is_neither_sat_out_nor_asked_again() -> None:
    """R18."""
    error, asked = ask_five_times(bad_llm.rate_limited("86400"))
    assert isinstance(error, DeferredError)
    assert (error.retry_after_s, asked) == (86_400, 1)
