"""What people are asked, the labels they choose from, and what each label means: version 1 of the codebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from annotation.models import ItemKind
from lseval.domain.labels import GroupLabel, LinkLabel, RoundLabel
from lseval.domain.taxonomy import ErrorType
from lseval.errors import InputError

CODEBOOK_VERSION: Final = "1"
LONGEST_COMMENT: Final = 5000


@dataclass(frozen=True, slots=True)
class Choice:
    """One label: its stored value, its word on the button, its key, and what it means."""

    value: str
    word: str
    key: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one kind of item."""

    kind: str
    title: str
    ask: str
    choices: tuple[Choice, ...]


_GROUP = Question(
    ItemKind.GROUP,
    "Answer groups",
    "By the pages it cites, is this answer group correct?",
    (
        Choice(
            GroupLabel.CORRECT,
            "Correct",
            "c",
            "The group meets every hard constraint and has every required field, and the cited pages bear out "
            "what it says.",
        ),
        Choice(
            GroupLabel.INCORRECT,
            "Incorrect",
            "i",
            "A cited page says otherwise, or the group fails a constraint, lacks a required field, or states what "
            "a readable cited page ought to show and does not.",
        ),
        Choice(
            GroupLabel.UNVERIFIABLE,
            "Unverifiable",
            "u",
            "No cited page could be read, or none is cited, so that nothing there speaks for or against the group. "
            "Your own knowledge does not count.",
        ),
    ),
)
_ROUND = Question(
    ItemKind.ROUND,
    "Rounds",
    "Does the agent go wrong in this round?",
    (
        Choice(
            RoundLabel.ERROR,
            "Error",
            "e",
            "What the round says or takes over from its observation goes wrong in one of the ten ways. Choose the "
            "type.",
        ),
        Choice(
            RoundLabel.NON_ERROR,
            "No error",
            "n",
            "The round states or takes over something, and nothing is wrong with it.",
        ),
        Choice(
            RoundLabel.SKIPPED,
            "Nothing to judge",
            "x",
            "The round makes no claim: it plans, only lists search results, repeats an earlier round, or its tool "
            "gave nothing back.",
        ),
    ),
)
_LINK = Question(
    ItemKind.LINK,
    "Round–group links",
    "Does the content of this round correspond to that of the answer group?",
    (
        Choice(
            LinkLabel.CORRESPONDS,
            "Corresponds",
            "c",
            "Something in the round is found again in the group: the same entity, value, source, or missing part.",
        ),
        Choice(
            LinkLabel.DOES_NOT,
            "Does not",
            "d",
            "The round is about something else; nothing in it reaches the group.",
        ),
        Choice(
            LinkLabel.CANNOT_TELL,
            "Cannot tell",
            "t",
            "What is shown of the round and the group is not enough to say.",
        ),
    ),
)
QUESTIONS: Final[Mapping[str, Question]] = {question.kind: question for question in (_GROUP, _ROUND, _LINK)}
"""By kind, in the order in which a labeler meets them."""


def check_label(kind: str, label: str, error_type: str = "") -> None:
    """Raise InputError where a label does not fit the kind of item, or a type does not fit the label."""
    question = QUESTIONS[kind]
    values = [choice.value for choice in question.choices]
    if label not in values:
        raise InputError(f"{label[:40]!r} is no label for this item. Choose one of {', '.join(values)}.")
    if kind == ItemKind.ROUND and label == RoundLabel.ERROR:
        if error_type not in list(ErrorType):
            raise InputError(
                "A round with an error needs one of the ten error types. Choose the type, then the label."
            )
    elif error_type:
        raise InputError(
            "An error type goes only with a round that has an error. Clear the type, or choose the label “Error”."
        )


def label_word(kind: str, label: str) -> str:
    """The word that stands for a stored label on a button; the label itself where the codebook has none."""
    return next((choice.word for choice in QUESTIONS[kind].choices if choice.value == label), label)
