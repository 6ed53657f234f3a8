"""The codebook as a text: version 1 with the labels and the ten types, and what of a text is not filled in yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from annotation.codebook import QUESTIONS
from annotation.models import ItemKind
from lseval.domain.labels import GroupLabel, LinkLabel, RoundLabel
from lseval.domain.taxonomy import ErrorType

LABEL_EXAMPLES: Final[Mapping[tuple[str, str], str]] = {
    (ItemKind.GROUP, GroupLabel.CORRECT): (
        "Asked for ferries opened before 1975, the group names the Aldis ferry and 1962; the cited page says that "
        "it opened in 1962."
    ),
    (ItemKind.GROUP, GroupLabel.INCORRECT): (
        "The group says 1962, the cited page 1978. Or the page can be read, ought to give the year, and does not."
    ),
    (ItemKind.GROUP, GroupLabel.UNVERIFIABLE): (
        "The one page cited was behind a wall. That you remember the year yourself changes nothing."
    ),
    (ItemKind.ROUND, RoundLabel.ERROR): "The round notes “opened in 1962” from a page that says 1978.",
    (ItemKind.ROUND, RoundLabel.NON_ERROR): "The round notes “opened in 1962” from a page that says so.",
    (ItemKind.ROUND, RoundLabel.SKIPPED): "The round says “Next I will look for ferries” and searches.",
    (ItemKind.LINK, LinkLabel.CORRESPONDS): (
        "The round reads of the Aldis ferry's year, and the group states that year for the Aldis ferry."
    ),
    (ItemKind.LINK, LinkLabel.DOES_NOT): "The round reads of the Borun ferry, the group is about the Aldis ferry.",
    (ItemKind.LINK, LinkLabel.CANNOT_TELL): "The observation is cut off before the ferry's name would come.",
}
"""By kind and label; all of a made-up world."""

TYPE_EXAMPLES: Final[Mapping[ErrorType, str]] = {
    ErrorType.WRONG_ENTITY: "Aldis Bridge is taken for the Aldis ferry.",
    ErrorType.CONSTRAINT_VIOLATION: "A ferry for cars is asked for; one for people on foot is kept.",
    ErrorType.MISSING_REQUIRED_FIELD: "Operator and length are asked for; the unit has no operator.",
    ErrorType.INSUFFICIENT_EVIDENCE: "“Opened in 1962” rests on a search result's title.",
    ErrorType.SOURCE_NOT_SUPPORTING: "The page was read whole and gives 820 m where the round says 840 m.",
    ErrorType.SOURCE_QUALITY_ERROR: "The operator's own figures are asked for; a fan page is used.",
    ErrorType.TEMPORAL_ERROR: "Passengers of 2023 are asked for; those of 2019 are taken.",
    ErrorType.SCOPE_ERROR: "The lake's northern shore is asked for; the figure is for the whole lake.",
    ErrorType.MAPPING_ERROR: "The year of the last refit is put down as the year of opening.",
    ErrorType.GROUPING_ERROR: "Two ferries are reported as one unit.",
}


TO_FILL_IN: Final = "**Label:** …, because …"
"""The last line of an example that is made of an item, for the lead to fill in."""

_LABEL_LINE: Final = re.compile(r"^\s*\*\*Label:\*\*(.*)$")
_UNFILLED: Final = re.compile(r"^\s*(…|\.\.\.)|\bbecause\s*(…|\.\.\.)?\s*$")


def to_fill_in(text: str) -> str:
    """What to do about the first example of a Markdown text that has no label or no reason yet; empty for none."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _LABEL_LINE.match(line)
        if found and (not found[1].strip() or _UNFILLED.search(found[1])):
            return (
                f"The example in line {number} is not filled in: “{line.strip()}”. Put its label and the reason in "
                "place of the dots, or take the example out."
            )
    return ""


def first_text() -> str:
    """Version 1 in Markdown, to begin a version of one's own with."""
    parts = ["Judge by the pages shown, not by what you know."]
    for question in QUESTIONS.values():
        parts.append(f"## {question.title}\n\n{question.ask}")
        parts.append(
            "\n".join(
                f"- **{choice.word}** ({choice.key}): {choice.meaning} "
                f"*Example:* {LABEL_EXAMPLES[question.kind, choice.value]}"
                for choice in question.choices
            )
        )
    parts.append(
        "## The ten error types\n\nThe type of a round with an error. Where two fit, choose the one whose border "
        "does not send you to the other."
    )
    rows = [
        f"| **{kind.display_name}** | {kind.definition} | {kind.nearest_boundary} | {TYPE_EXAMPLES[kind]} |"
        for kind in ErrorType
    ]
    parts.append("\n".join(["| Type | What it is | Nearest border | Example |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"
