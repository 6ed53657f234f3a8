"""Asking a judge until it gives a usable answer, a few times at most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from lseval.domain.chat import Chat, ChatRequest, Message
from lseval.judging.replies import Unusable, UnusableReplyError, read_reply
from lseval.providers.errors import ContextTooLongError, ProviderError, RequestRefusedError

Schema = TypeVar("Schema", bound=BaseModel)

MOST_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Answer(Generic[Schema]):
    """What a judge answered; `value` is None where nothing usable came, and `reason` and `told` say why.

    `flags` tell how the reply was read (`repaired`), `tries` how often the judge was asked.
    """

    value: Schema | None
    reason: str = ""
    told: str = ""
    flags: tuple[str, ...] = ()
    tries: int = 1


def ask(
    chat: Chat,
    request: ChatRequest,
    schema: type[Schema],
    fault_of: Callable[[Schema], str] = lambda value: "",
) -> Answer[Schema]:
    """The judge's answer, or why there is none after `MOST_TRIES` replies.

    `fault_of` says in a sentence what is wrong with an answer that satisfies the schema, such as an identifier
    given twice or made up; empty where nothing is. A further try tells the model what was wrong with the last one,
    without repeating it. A judge that cannot be reached, and a request that is too long, are reasons of their own.
    What only a person can mend (a wrong key, an empty account, a spent budget, a job to be put off) is raised,
    since it would fail every other group too.
    """
    tried = request
    problem: UnusableReplyError | None = None
    for number in range(1, MOST_TRIES + 1):
        try:
            reply = chat(tried)
            reading = read_reply(reply, schema)
            if fault := fault_of(reading.value):
                raise UnusableReplyError(Unusable.INVALID, fault)
        except UnusableReplyError as error:
            problem = error
            tried = _once_more(request, number, error)
        except ContextTooLongError as error:
            return Answer(None, Unusable.TOO_LONG, str(error), tries=number)
        except RequestRefusedError as error:
            return Answer(None, Unusable.REFUSED, str(error), tries=number)
        except ProviderError as error:
            if not error.is_retryable:
                raise
            return Answer(None, Unusable.UNREACHABLE, str(error), tries=number)
        else:
            return Answer(reading.value, flags=reading.flags, tries=number)
    assert problem is not None
    return Answer(None, problem.reason, str(problem), tries=MOST_TRIES)


def _once_more(request: ChatRequest, number: int, error: UnusableReplyError) -> ChatRequest:
    words = (
        f"Reply {number} could not be used. {error} Answer again, with one JSON object of the form asked for and "
        "nothing else."
    )
    return replace(request, messages=(*request.messages, Message("user", words)))
