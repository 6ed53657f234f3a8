"""The chat of a run as it is sent, which may be shortened when it no longer fits the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lseval.agent.wording import Wording
from lseval.domain.chat import Message

KEPT_CHARS = 200
_RECENT_KEPT = 4
_LEAST_SAVED = 100


class ChatLog:
    """The messages so far, in order. Observations can be shortened for the model; the run keeps them whole."""

    def __init__(self, opening: Sequence[Message], words: Wording) -> None:
        self._messages = list(opening)
        self._observations: list[int] = []
        self._words = words

    def say(self, message: Message) -> None:
        """Add a message."""
        self._messages.append(message)

    def observe(self, message: Message) -> None:
        """Add what a tool returned."""
        self._observations.append(len(self._messages))
        self._messages.append(message)

    def messages(self) -> tuple[Message, ...]:
        """What is sent."""
        return tuple(self._messages)

    def shorten(self, *, also_recent: bool = False) -> bool:
        """Shorten the older half of the long observations, at least one; False when there is none left to shorten.

        The latest few stay as they are, unless asked for: then everything long is shortened at once.
        """
        candidates = self._observations if also_recent else self._observations[:-_RECENT_KEPT]
        long = [index for index in candidates if len(self._messages[index].content) > KEPT_CHARS + _LEAST_SAVED]
        if not long:
            return False
        for index in long if also_recent else long[: (len(long) + 1) // 2]:
            content = self._messages[index].content
            left_out = len(content) - KEPT_CHARS
            short = f"{content[:KEPT_CHARS]}\n{self._words.notice('shortened', count=left_out)}"
            self._messages[index] = replace(self._messages[index], content=short)
        return True
