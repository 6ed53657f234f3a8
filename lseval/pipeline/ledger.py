"""Asking providers through the ledger: nothing answered is asked again, and every attempt is written down."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lseval.domain.chat import Chat, ChatReply, ChatRequest, Message, Usage
from lseval.domain.pricing import Cost, Price, cost_of
from lseval.domain.web import Search, SearchHit
from lseval.models import Call, CallKind, Phase, StoredMessage, Study
from lseval.pipeline.budgets import budget_guard
from lseval.pipeline.ledger_rows import (
    ChatChain,
    RequestRow,
    hits_of,
    hits_text,
    kept_usage,
    message_of_body,
    reply_of,
    reply_text,
    search_row,
)
from lseval.pipeline.ledger_store import Cell, Entry, KeptReply, look_up, record, replies_of
from lseval.providers.concurrency import AdaptiveLimit, limit_for
from lseval.providers.errors import ProviderError
from lseval.providers.retrying import RetryPolicy, call_with_retries

SLOT_START = 8
MOST_UNDER_WAY = 64


@dataclass(frozen=True, slots=True)
class CallSeen:
    """One attempt, or a reply that the ledger had, as whoever watches is told of it."""

    kind: str
    is_replayed: bool
    error_code: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one attempt needs to know besides its request."""

    kind: str
    repeat: int
    provider: str
    asked_model: str = ""
    base_url: str = ""


class Ledger:
    """The ledger as one run, or one judge of a run, uses it; not for several threads at once.

    `role` tells apart who asks for the same cell in the same phase (a judge, and what about); `repeat` is where the
    counting of repeats begins, for a person who wants an answer once more. `before_call` is called before
    each attempt and may raise to stop; `sleep` waits between two attempts and may raise too.

    `known` has every reply that there is for the cell, by digest and repeat, so that none is looked up alone; what
    comes is added.

    The same chat asked again is a *repeat*: the second time it is paid again and kept apart, since whoever asks
    once more wants another answer. The same search asked again gets the same results.
    """

    def __init__(
        self,
        study: Study,
        phase: Phase,
        *,
        task_id: int | None = None,
        model_id: int | None = None,
        role: str = "",
        repeat: int = 0,
        policy: RetryPolicy | None = None,
        before_call: Callable[[], None] = lambda: None,
        sleep: Callable[[float], object] = time.sleep,
        rng: random.Random | None = None,
        on_call: Callable[[CallSeen], None] = lambda seen: None,
        known: dict[tuple[str, int], KeptReply] | None = None,
    ) -> None:
        self._cell = Cell(study.pk, phase.value, task_id, model_id, role)
        self._scope = f"{phase.value}/{task_id or ''}/{model_id or ''}/{role}"
        self._chain = ChatChain(self._scope)
        self._policy = policy or RetryPolicy()
        self._before_call = before_call
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - jitter only
        self._on_call = on_call
        self._budget = budget_guard(study.pk)
        self._repeats: Counter[str] = Counter()
        self._first_repeat = repeat
        self._known = known
        self._limits: dict[tuple[str, str], AdaptiveLimit] = {}

    def preload(self) -> int:
        """Read all replies of the cell at once, so that none is looked up alone; returns how many there are."""
        self._known = replies_of(self._cell)
        return len(self._known)

    def chat(self, transport: Chat, *, price: Price | None = None, most: int | None = None) -> Chat:
        """The model behind `transport`, asked through the ledger.

        `price` None leaves its calls unpriced; `most` bounds the calls under way at its endpoint.

        The chat raises ProviderError when no try brought a usable reply: BudgetSpentError when the study's budget
        is spent, DeferredError when the provider asks for a pause too long to sit out.
        """

        def ask(request: ChatRequest) -> ChatReply:
            row = self._chain.row_of(request)
            repeat = self._first_repeat + self._repeats[row.digest]
            endpoint = request.endpoint
            asked = _Asked(CallKind.CHAT, repeat, endpoint.base_url, endpoint.model, endpoint.base_url)

            def answer() -> tuple[str, Usage, Cost | None]:
                reply = transport(request)
                usage = kept_usage(reply.usage)
                return reply_text(reply), usage, cost_of(usage, price)

            kept = self._served(asked, row) or self._call(asked, row, answer, most)
            self._repeats[row.digest] += 1
            self._chain.recorded(request, row)
            return reply_of(kept.value, kept.usage)

        return ask

    def search(
        self,
        transport: Search,
        *,
        provider: str,
        base_url: str = "",
        price_usd: Decimal | None = None,
        most: int | None = None,
    ) -> Search:
        """The search engine behind `transport`, asked through the ledger; `price_usd` is of one call."""
        cost = None if price_usd is None else Cost(price_usd, price_usd)

        def ask(query: str, count: int) -> tuple[SearchHit, ...]:
            row = search_row(self._scope, provider, query, count)
            asked = _Asked(CallKind.SEARCH, 0, provider, base_url=base_url)

            def answer() -> tuple[str, Usage, Cost | None]:
                return hits_text(transport(query, count)), Usage(), cost

            kept = self._served(asked, row) or self._call(asked, row, answer, most)
            return hits_of(kept.value)

        return ask

    def _served(self, asked: _Asked, row: RequestRow) -> KeptReply | None:
        """The reply, where the ledger has it."""
        key = (row.digest, asked.repeat)
        kept = self._known.get(key) if self._known is not None else look_up(self._cell, *key)
        if kept is not None:
            self._on_call(CallSeen(asked.kind, True, usage=kept.usage))
        return kept

    def _call(
        self,
        asked: _Asked,
        row: RequestRow,
        answer: Callable[[], tuple[str, Usage, Cost | None]],
        most: int | None,
    ) -> KeptReply:
        limit = self._limit_of(asked, most)
        kept = call_with_retries(
            lambda: self._attempt(asked, row, answer, limit), policy=self._policy, sleep=self._sleep, rng=self._rng
        )
        if self._known is not None:
            self._known[row.digest, asked.repeat] = kept
        return kept

    def _attempt(
        self,
        asked: _Asked,
        row: RequestRow,
        answer: Callable[[], tuple[str, Usage, Cost | None]],
        limit: AdaptiveLimit | None,
    ) -> KeptReply:
        """One attempt, committed before anything uses it."""
        self._before_call()
        started: float | None = None
        cost: Cost | None = None
        try:
            try:
                with limit.place() if limit is not None else nullcontext():
                    # In here, so that a call that waits for its place is not yet one that the budget pays.
                    self._before_call()
                    self._budget.begin()
                    started = time.perf_counter()
                    text, usage, cost = answer()
                    latency_s = time.perf_counter() - started
            except ProviderError as error:
                if started is not None:
                    self._record_error(asked, row, error, time.perf_counter() - started)
                raise
            is_first = record(self._cell, row, _entry(asked, latency_s, text, usage, cost))
        finally:
            if started is not None:
                self._budget.end(cost.usd if cost else None)
        self._on_call(CallSeen(asked.kind, False, "", usage, cost.usd if cost else None))
        if is_first:
            return KeptReply(json.loads(text), usage)
        kept = look_up(self._cell, row.digest, asked.repeat)
        assert kept is not None  # it stood in the way of ours
        return kept

    def _record_error(self, asked: _Asked, row: RequestRow, error: ProviderError, latency_s: float) -> None:
        entry = Entry(
            kind=asked.kind,
            repeat=asked.repeat,
            provider=asked.provider,
            asked_model=asked.asked_model,
            error_code=error.code,
            error_message=str(error),
            latency_s=latency_s,
        )
        record(self._cell, row, entry)
        self._on_call(CallSeen(asked.kind, False, error.code))

    def _limit_of(self, asked: _Asked, most: int | None) -> AdaptiveLimit | None:
        """The limit on calls under way at the endpoint; None for a provider in this process, which has none."""
        if not asked.base_url:
            return None
        key = (asked.base_url, asked.asked_model)
        if key not in self._limits:
            # Who states how much an endpoint bears need not wait for the limit to find out.
            start, most = (most, most) if most else (SLOT_START, MOST_UNDER_WAY)
            self._limits[key] = limit_for(*key, start=start, most=most)
        return self._limits[key]


def _entry(asked: _Asked, latency_s: float, text: str, usage: Usage, cost: Cost | None) -> Entry:
    """A reply as it is recorded."""
    return Entry(
        kind=asked.kind,
        repeat=asked.repeat,
        provider=asked.provider,
        asked_model=asked.asked_model,
        reply=text,
        usage=usage,
        cost_usd=cost.usd if cost else None,
        upper_cost_usd=cost.upper_usd if cost else None,
        latency_s=latency_s,
    )


def reply_of_call(call: Call) -> ChatReply:
    """The reply of a chat's row, exactly as whoever asked was given it."""
    usage = Usage(call.input_tokens, call.cached_tokens, call.output_tokens, call.reasoning_tokens)
    assert call.reply is not None
    return reply_of(call.reply, usage)


def messages_of_call(call: Call) -> tuple[Message, ...]:
    """The whole chat that a row's model was given, put together from the requests that it goes on from."""
    digests: list[str] = []
    request: Mapping[str, Any] | None = call.request
    while request is not None:
        digests[:0] = request["messages"]
        after = request.get("after")
        if not after:
            break
        request = (
            Call.objects.filter(study_id=call.study_id, phase=call.phase, digest=after)
            .values_list("request", flat=True)
            .first()
        )
    stored = StoredMessage.objects.filter(study_id=call.study_id, digest__in=set(digests))
    bodies = dict(stored.values_list("digest", "body"))
    return tuple(message_of_body(bodies[digest]) for digest in digests)
