"""The ledger: nothing answered is asked again, every attempt is a row, and what comes back is what was given."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Endpoint, Message, ToolSchema, Usage
from lseval.domain.pricing import Price
from lseval.domain.web import SearchHit
from lseval.models import Call, Phase, StoredMessage, Study
from lseval.pipeline.budgets import forget_budgets
from lseval.pipeline.ledger import Ledger, messages_of_call, reply_of_call
from lseval.providers.concurrency import forget_limits
from lseval.providers.errors import (
    AccessRefusedError,
    BudgetSpentError,
    DeferredError,
    RateLimitedError,
    UnavailableError,
)
from lseval.providers.retrying import RetryPolicy
from tests.factories import make_study

pytestmark = pytest.mark.django_db

ENDPOINT = Endpoint("http://127.0.0.1:9/v1", "m-large", sampling={"temperature": 0})
TOOLS = (ToolSchema("web_search", "Searches.", {"type": "object"}),)
PRICE = Price(Decimal("2"), Decimal("10"), Decimal("0.5"))
USAGE = Usage(1000, 400, 50, 20)
OPENING = (Message("system", "Answer."), Message("user", "What is the capital of Peru?"))


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    forget_limits()
    forget_budgets()


class Transport:
    """Replies in turn, or raises what stands in their place; counts what it was asked."""

    def __init__(self, *replies: ChatReply | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


def ledger_of(study: Study, **options: object) -> Ledger:
    return Ledger(study, Phase.COLLECTION, rng=random.Random(1), sleep=lambda seconds: None, **options)


def request_of(*messages: Message) -> ChatRequest:
    return ChatRequest(ENDPOINT, (*OPENING, *messages), TOOLS)


def test_a_request_is_paid_once_and_then_served() -> None:
    study = make_study()
    transport = Transport(ChatReply("Lima", usage=USAGE))
    first = ledger_of(study).chat(transport, price=PRICE)(request_of())
    again = ledger_of(study).chat(transport, price=PRICE)(request_of())
    assert first == again == ChatReply("Lima", usage=USAGE)
    assert len(transport.asked) == Call.objects.count() == 1


def test_a_preloaded_cell_is_served_without_another_query(django_assert_num_queries) -> None:
    study = make_study()
    ledger_of(study).chat(Transport(ChatReply("Lima")))(request_of())
    ledger = ledger_of(study)
    assert ledger.preload() == 1
    with django_assert_num_queries(0):
        assert ledger.chat(Transport(AssertionError()))(request_of()).text == "Lima"


def test_cost_counts_cached_tokens_at_their_price_and_at_the_full_one() -> None:
    # 600 fresh at $2, 400 cached at $0.5, 50 output at $10 per million; the upper scenario has 1,000 at $2.
    ledger_of(make_study()).chat(Transport(ChatReply("Lima", usage=USAGE)), price=PRICE)(request_of())
    call = Call.objects.get()
    assert call.cost_usd == Decimal("0.0019")
    assert call.upper_cost_usd == Decimal("0.0025")
    assert (call.input_tokens, call.cached_tokens, call.output_tokens, call.reasoning_tokens) == (1000, 400, 50, 20)


@pytest.mark.parametrize(("price", "usage"), [(None, USAGE), (PRICE, Usage()), (PRICE, Usage(5, 0, None))])
def test_what_has_no_price_or_no_tokens_is_unpriced_and_never_free(price: Price | None, usage: Usage) -> None:
    ledger_of(make_study()).chat(Transport(ChatReply("Lima", usage=usage)), price=price)(request_of())
    assert Call.objects.get().cost_usd is None


def test_every_attempt_is_a_row_and_an_error_is_never_served() -> None:
    study = make_study()
    transport = Transport(RateLimitedError("slow down"), UnavailableError("gone"), ChatReply("Lima"))
    assert ledger_of(study).chat(transport)(request_of()).text == "Lima"
    rows = Call.objects.order_by("attempt").values_list("attempt", "error_code")
    assert list(rows) == [(1, "rate_limited"), (2, "unavailable"), (3, "")]


def test_attempts_are_numbered_on_over_ledgers() -> None:
    study = make_study()
    for _ in range(2):
        with pytest.raises(AccessRefusedError):
            ledger_of(study).chat(Transport(AccessRefusedError("no key")))(request_of())
    assert list(Call.objects.order_by("attempt").values_list("attempt", flat=True)) == [1, 2]


def test_an_error_text_with_nul_and_half_a_surrogate_is_kept() -> None:
    """K10."""
    with pytest.raises(AccessRefusedError):
        ledger_of(make_study()).chat(Transport(AccessRefusedError("no\0 k\ud83dey")))(request_of())
    assert Call.objects.get().error_message == "no\ufffd k\ufffdey"


def test_a_pause_too_long_to_sit_out_defers() -> None:
    with pytest.raises(DeferredError) as caught:
        ledger_of(make_study()).chat(Transport(RateLimitedError("tomorrow", 86_400.0)))(request_of())
    assert caught.value.retry_after_s == 86_400
    assert Call.objects.get().error_code == "rate_limited"


def test_the_same_chat_asked_again_is_a_repeat_and_replays_in_order() -> None:
    study = make_study()
    ask = ledger_of(study).chat(Transport(ChatReply(""), ChatReply("Lima")))
    assert [ask(request_of()).text, ask(request_of()).text] == ["", "Lima"]
    again = ledger_of(study).chat(Transport(AssertionError()))
    assert [again(request_of()).text, again(request_of()).text] == ["", "Lima"]


def test_a_request_that_failed_for_good_is_no_repeat() -> None:
    study = make_study()
    ask = ledger_of(study).chat(Transport(AccessRefusedError("no"), ChatReply("Lima")))
    with pytest.raises(AccessRefusedError):
        ask(request_of())
    assert ask(request_of()).text == "Lima"
    assert set(Call.objects.values_list("repeat", flat=True)) == {0}


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": (*OPENING, Message("user", "And of Chile?"))},
        {"messages": OPENING[:1]},
        {"tools": ()},
        {"json_schema": {"type": "object"}},
        {"endpoint": replace(ENDPOINT, model="m-small")},
        {"endpoint": replace(ENDPOINT, sampling={"temperature": 1})},
        {"endpoint": replace(ENDPOINT, base_url="http://127.0.0.1:10/v1")},
    ],
)
def test_another_request_is_asked(changes: dict) -> None:
    study = make_study()
    transport = Transport(ChatReply("Lima"))
    ledger_of(study).chat(transport)(request_of())
    ledger_of(study).chat(transport)(replace(request_of(), **changes))
    assert len(transport.asked) == 2


@pytest.mark.parametrize("changes", [{"key_env": "OTHER_KEY"}, {"timeout_s": 5.0}])
def test_the_key_and_the_patience_are_no_part_of_the_request(changes: dict) -> None:
    study = make_study()
    transport = Transport(ChatReply("Lima"))
    ledger_of(study).chat(transport)(request_of())
    ledger_of(study).chat(transport)(replace(request_of(), endpoint=replace(ENDPOINT, **changes)))
    assert len(transport.asked) == 1


def test_cells_roles_and_phases_do_not_share_replies() -> None:
    study = make_study()
    task = study.tasks.create(key="t", question="q")
    transport = Transport(ChatReply("Lima"))
    ledger_of(study).chat(transport)(request_of())
    ledger_of(study, task_id=task.pk).chat(transport)(request_of())
    ledger_of(study, role="stage2_a").chat(transport)(request_of())
    Ledger(study, Phase.STAGE_2, rng=random.Random(1)).chat(transport)(request_of())
    assert len(transport.asked) == 4


def chat_of_turns(turns: int) -> list[ChatRequest]:
    """A chat that grows by a reply and an observation each turn."""
    messages: list[Message] = []
    requests = [request_of()]
    for turn in range(turns):
        called = CalledTool(f"c{turn}", "web_search", f'{{"query": "{turn}"}}')
        messages += [
            Message("assistant", f"turn {turn}", (called,)),
            Message("tool", f"seen {turn}", call_id=f"c{turn}"),
        ]
        requests.append(request_of(*messages))
    return requests


def test_a_growing_chat_is_kept_without_its_square_and_put_together_again() -> None:
    study = make_study()
    requests = chat_of_turns(12)
    ask = ledger_of(study).chat(Transport(*(ChatReply(str(number)) for number in range(13))))
    for request in requests:
        ask(request)
    calls = list(Call.objects.order_by("pk"))
    assert [messages_of_call(call) for call in calls] == [request.messages for request in requests]
    assert StoredMessage.objects.count() == 1 + 2 + 24  # the tools, the opening, and each message once
    assert [len(call.request["messages"]) for call in calls] == [2] + [2] * 12
    # Another process that starts in the middle knows the same requests by the same digests.
    late = ledger_of(study).chat(Transport(AssertionError()))
    assert late(requests[7]).text == "7"


def test_a_shortened_chat_is_another_one_and_kept_whole() -> None:
    study = make_study()
    requests = chat_of_turns(3)
    shortened = replace(
        requests[3], messages=(*OPENING, Message("tool", "cut", call_id="c0"), *requests[3].messages[4:])
    )
    ask = ledger_of(study).chat(Transport(*(ChatReply(str(number)) for number in range(5))))
    for request in [*requests, shortened]:
        ask(request)
    assert messages_of_call(Call.objects.latest("pk")) == shortened.messages


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
_COUNT = st.none() | st.integers(0, 10**9)
_REPLY = st.builds(
    ChatReply,
    text=_TEXT,
    tool_calls=st.lists(st.builds(CalledTool, _TEXT, _TEXT, _TEXT), max_size=3).map(tuple),
    reasoning=_TEXT,
    finish_reason=_TEXT,
    usage=st.builds(Usage, _COUNT, _COUNT, _COUNT, _COUNT),
    refusal=_TEXT,
    served_model=_TEXT,
)
_AS_ONE = hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_AS_ONE
@given(reply=_REPLY)
def test_a_reply_comes_back_exactly(reply: ChatReply, db: None) -> None:
    study, _ = Study.objects.get_or_create(slug="replies")
    Call.objects.all().delete()
    given_back = ledger_of(study).chat(Transport(reply))(request_of())
    assert given_back == reply == reply_of_call(Call.objects.get())
    assert ledger_of(study).chat(Transport(AssertionError()))(request_of()) == reply


@_AS_ONE
@given(text=st.text(max_size=40), arguments=st.text(max_size=40))
def test_what_no_database_can_keep_is_replaced_before_anybody_sees_it(text: str, arguments: str, db: None) -> None:
    study, _ = Study.objects.get_or_create(slug="replies")
    Call.objects.all().delete()
    dirty = ChatReply(f"{text}\0\ud83d", (CalledTool("c", "web_search", f"{arguments}\udc00"),))
    request = request_of(Message("user", f"\ud800{text}\0"))
    live = ledger_of(study).chat(Transport(dirty))(request)
    assert live == ledger_of(study).chat(Transport(AssertionError()))(request)
    assert live.text.endswith("\ufffd\ufffd")


def test_counts_of_tokens_that_cannot_be_are_unknown() -> None:
    reply = ChatReply("Lima", usage=Usage(10**30, -1, 5, None))
    assert ledger_of(make_study()).chat(Transport(reply))(request_of()).usage == Usage(None, None, 5, None)


def test_a_search_is_paid_once_whoever_repeats_it() -> None:
    study = make_study()
    asked: list[str] = []

    def engine(query: str, count: int) -> tuple[SearchHit, ...]:
        asked.append(query)
        return (SearchHit("https://a.example/", "A", "about", "2020"),)

    search = ledger_of(study).search(engine, provider="searxng", base_url="", price_usd=Decimal("0.005"))
    hits = [search("lakes\0", 10), search("lakes\0", 10), search("lakes\0", 5)]
    assert hits[0] == hits[1] == (SearchHit("https://a.example/", "A", "about", "2020"),)
    assert len(asked) == 2
    assert {call.cost_usd for call in Call.objects.all()} == {Decimal("0.005")}


def test_a_search_is_preloaded_with_the_rest_of_its_cell() -> None:
    study = make_study()
    ledger_of(study).search(lambda query, count: (), provider="searxng", base_url="")("Lima", 10)
    assert Call.objects.get().kind == "search"
    assert ledger_of(study).preload() == 1


def test_the_budget_of_calls_stops_before_the_next_one_and_counts_failures() -> None:
    study = make_study()
    study.settings = {"budget": {"calls": 3}}
    study.save()
    transport = Transport(RateLimitedError("slow down"))
    with pytest.raises(BudgetSpentError, match="3 calls"):
        ledger_of(study, policy=RetryPolicy(tries=9)).chat(transport)(request_of())
    assert len(transport.asked) == Call.objects.count() == 3


def test_the_budget_of_dollars_stops_once_it_is_reached() -> None:
    study = make_study()
    study.settings = {"budget": {"usd": "0.0038"}}
    study.save()
    ask = ledger_of(study).chat(Transport(ChatReply("Lima", usage=USAGE)), price=PRICE)  # $0.0019 each
    ask(request_of())
    ask(request_of())
    with pytest.raises(BudgetSpentError, match=r"\$0.0038"):
        ask(request_of())
    assert Call.objects.count() == 2


def test_what_is_in_the_ledger_is_served_when_the_budget_is_spent() -> None:
    study = make_study()
    study.settings = {"budget": {"calls": 1}}
    study.save()
    ledger_of(study).chat(Transport(ChatReply("Lima")))(request_of())
    assert ledger_of(study).chat(Transport(AssertionError()))(request_of()).text == "Lima"


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_one_request_end_with_one_reply_and_both_are_paid() -> None:
    study = make_study()
    both = threading.Barrier(2)
    got: list[str] = []

    def work(text: str) -> None:
        def transport(request: ChatRequest) -> ChatReply:
            both.wait(10)
            return ChatReply(text, usage=USAGE)

        got.append(ledger_of(study).chat(transport, price=PRICE)(request_of()).text)
        connection.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] == got[1]
    rows = Call.objects.order_by("attempt").values_list("error_code", "cost_usd")
    assert list(rows) == [("", Decimal("0.0019")), ("superseded", Decimal("0.0019"))]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_after_the_reply_loses_and_doubles_nothing() -> None:
    study = make_study()

    def transport(request: ChatRequest) -> ChatReply:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (pid,) = cursor.fetchone()
        killed = threading.Thread(target=_terminate, args=(pid,))
        killed.start()
        killed.join()
        return ChatReply("Lima", usage=USAGE)

    assert ledger_of(study).chat(transport, price=PRICE)(request_of()).text == "Lima"
    assert Call.objects.count() == 1


def _terminate(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    connection.close()
