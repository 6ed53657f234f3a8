"""The judges' prompts: text files with a version in their name, filled with text that stays text.

A prompt is cut at lines `=== system` and `=== user`. Its places are written `<<name>>`; a brace is a brace. Text
from a page or a response is put between two lines of a mark that cannot stand in it, so that words in a page can
never be taken for the prompt's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from lseval.domain.chat import Message

_PLACE: Final = re.compile(r"<<([a-z_]+)>>")
_PART: Final = re.compile(r"^=== (system|user)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: its name with the version, its text, and the digest (SHA-256) that verdicts keep."""

    name: str
    text: str
    digest: str

    def filled(self, **values: str) -> tuple[Message, ...]:
        """The prompt's messages with its places filled. A value is put in as it is, whatever it holds.

        Raises:
            KeyError: a place of the prompt has no value, or a value no place.
        """
        places = set(_PLACE.findall(self.text))
        if places != set(values):
            raise KeyError(f"{self.name} wants {sorted(places)}, not {sorted(values)}")
        parts = _PART.split(self.text)[1:]
        return tuple(
            Message("system" if role == "system" else "user", _fill(body, values))
            for role, body in zip(parts[::2], parts[1::2], strict=True)
        )


@lru_cache(maxsize=64)
def prompt(name: str) -> Prompt:
    """The prompt of that name and version, such as `verify.1`."""
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text, hashlib.sha256(text.encode()).hexdigest())


def fenced(texts: Mapping[str, str]) -> str:
    """Texts that are data, each under its heading, between lines of one mark.

    The mark is made from the texts themselves, so it is the same when the same is asked again (and the ledger
    answers), while nobody who writes a text can know it beforehand.
    """
    whole = "\x00".join(f"{heading}\x00{text}" for heading, text in texts.items())
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    while mark in whole:
        mark = hashlib.sha256(mark.encode()).hexdigest()[:20]
    return "\n\n".join(f"{heading}\n<data {mark}>\n{text}\n</data {mark}>" for heading, text in texts.items())


def _fill(body: str, values: Mapping[str, str]) -> str:
    # One pass: a value that holds a place of its own is not filled again.
    return _PLACE.sub(lambda match: values[match[1]], body).strip()
