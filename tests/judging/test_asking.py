"""Asking a judge again, and when not to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from lseval.domain.chat import ChatReply, ChatRequest, Endpoint, Message
from lseval.judging.asking import MOST_TRIES, ask
from lseval.judging.replies import Unusable
from lseval.providers.errors import (
    AccessRefusedError,
    BudgetSpentError,
    ContextTooLongError,
    ProviderError,
    UnavailableError,
)

REQUEST = ChatRequest(Endpoint("http://127.0.0.1:1", "judge"), (Message("user", "Is it so?"),))


class Reply(BaseModel):
    answer: int


class Scripted:
    """A model that gives replies in turn and remembers what it was asked."""

    def __init__(self, replies: Sequence[str | ProviderError]) -> None:
        self.replies = list(replies)
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, ProviderError):
            raise reply
        return ChatReply(reply)


def test_a_bad_reply_is_told_what_was_wrong_and_not_shown_again():
    judge = Scripted(["my secret words", '{"answer": 3}'])
    answer = ask(judge, REQUEST, Reply)
    assert (answer.value, answer.tries) == (Reply(answer=3), 2)
    said = judge.asked[1].messages[-1].content
    assert "no JSON object" in said
    assert "secret" not in said
    assert judge.asked[1].messages[:1] == REQUEST.messages


def test_three_bad_replies_are_three_different_requests_and_no_answer():
    judge = Scripted(["", "no", '{"answer": "x"}'])
    answer = ask(judge, REQUEST, Reply)
    assert (answer.value, answer.reason, answer.tries) == (None, Unusable.INVALID, MOST_TRIES)
    assert len({request.messages for request in judge.asked}) == MOST_TRIES


def test_a_fault_beyond_the_schema_is_asked_again():
    judge = Scripted(['{"answer": 9}', '{"answer": 4}'])
    answer = ask(judge, REQUEST, Reply, lambda reply: "There is no group 9." if reply.answer == 9 else "")
    assert answer.value == Reply(answer=4)
    assert "There is no group 9." in judge.asked[1].messages[-1].content


def test_a_judge_out_of_reach_leaves_the_group_unjudged():
    answer = ask(Scripted([UnavailableError("down")]), REQUEST, Reply)
    assert (answer.value, answer.reason) == (None, Unusable.UNREACHABLE)


def test_a_prompt_too_long_is_a_reason_of_its_own():
    assert ask(Scripted([ContextTooLongError("too long")]), REQUEST, Reply).reason == Unusable.TOO_LONG


@pytest.mark.parametrize("error", [AccessRefusedError("bad key"), BudgetSpentError("spent")])
def test_what_only_a_person_can_mend_stops_the_work(error):
    with pytest.raises(type(error)):
        ask(Scripted([error]), REQUEST, Reply)
