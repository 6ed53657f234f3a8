"""The items behind a number: of a cell, of a kind of disagreement, of a link's row, of a dot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from agreement import selectors
from agreement.charts import ScorePair, ScorePanel, pair_text, score_panels
from agreement.presenting.labels import BLOCK_TITLES, LABEL_NAMES
from agreement.presenting.process import LINK_NAMES, ROUND_NAMES, SETTING_NAMES, TYPE_NAMES
from agreement.selectors import GroupPlace, LocatedLink
from agreement.stats.groups import GroupRow, group_table
from agreement.stats.process import ROUND_LABELS
from agreement.stats.scores import LABELS
from annotation.models import Audit
from lseval.errors import InputError

DIFFER = "differ"
ROUNDS, LINKS = "rounds", "links"
LISTS = (*BLOCK_TITLES, DIFFER, ROUNDS, LINKS)
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list holds: `kind` is `group`, `round` or `link`, and says what its rows are."""

    title: str
    kind: str
    rows: list[Any]


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group in a list, with its labels and where it is."""

    row: GroupRow
    place: GroupPlace

    @property
    def run_id(self) -> int:
        return int(self.row.response_id)

    @property
    def number(self) -> int:
        return int(self.row.group_id[1:])


@dataclass(frozen=True, slots=True)
class ListedResponse:
    """A response behind a dot of the score figure."""

    run_id: int
    task: str
    model: str
    groups: int
    automatic: str
    h1: str


def listing_of(audit: Audit, source: str, asked: Mapping[str, str]) -> Listing:
    """The items that a cell or a row of a table counts.

    `asked["list"]` is one of `LISTS`; `first` and `second` are the labels of a cell's row and column, and links are
    narrowed by `label`, `by_type`, `by_model` and `by_judge_setting`. Raises `InputError` for anything else.
    """
    name = asked.get("list", DIFFER)
    if name in BLOCK_TITLES:
        return _cell(audit, source, name, asked.get("first", ""), asked.get("second", ""))
    if name == DIFFER:
        rows = [row for row in selectors.group_rows(audit, source) if selectors.differs(row)]
        return Listing("Answer groups on which two sources differ", "group", rows)
    if name == ROUNDS:
        return _rounds(audit, source, asked.get("first", ""), asked.get("second", ""))
    if name == LINKS:
        return _links(audit, source, asked)
    raise InputError(f"There is no list {name!r}: there is {', '.join(LISTS)}.")


def _cell(audit: Audit, source: str, name: str, first: str, second: str) -> Listing:
    title, row_title, column_title = BLOCK_TITLES[name]
    _check(first, LABELS)
    _check(second, LABELS)
    one, other = ("auto", "h1") if name == "auto_h1" else ("h1", "h2")
    rows = [
        row
        for row in selectors.group_rows(audit, source)
        if getattr(row, one) == first and getattr(row, other) == second
    ]
    words = f"{row_title} {LABEL_NAMES[first].lower()}, {column_title} {LABEL_NAMES[second].lower()}"
    return Listing(f"{title}: {words}", "group", rows)


def _rounds(audit: Audit, source: str, first: str, second: str) -> Listing:
    _check(first, ROUND_LABELS)
    _check(second, ROUND_LABELS)
    rows = [row for row in selectors.round_rows(audit, source) if (row.human, row.automatic) == (first, second)]
    words = f"human {ROUND_NAMES[first].lower()}, automatic {ROUND_NAMES[second].lower()}"
    return Listing(f"Rounds: {words}", "round", rows)


def _links(audit: Audit, source: str, asked: Mapping[str, str]) -> Listing:
    words = []
    rows: list[LocatedLink] = selectors.link_rows(audit, source)
    fields = {"label": "label", "by_type": "error_type", "by_model": "model", "by_judge_setting": "judge_setting"}
    names: dict[str, str] = LINK_NAMES | TYPE_NAMES | SETTING_NAMES
    for key, field in fields.items():
        if key in asked:
            rows = [row for row in rows if getattr(row, field) == asked[key]]
            words.append(names.get(asked[key], asked[key]))
    return Listing(f"Labeled links{': ' if words else ''}{', '.join(words)}", "link", rows)


def _check(label: str, known: tuple[str, ...]) -> None:
    if label not in known:
        raise InputError(f"The label {label!r} is none of {', '.join(known)}.")


def listed_groups(rows: list[GroupRow]) -> list[ListedGroup]:
    """The rows with model and title, for the few that a page shows. One query."""
    places = selectors.group_places(rows)
    unknown = GroupPlace("", "")
    return [ListedGroup(row, places.get((row.response_id, row.group_id), unknown)) for row in rows]


def responses_of_dot(audit: Audit, source: str, asked: Mapping[str, str]) -> tuple[str, list[ListedResponse]]:
    """A dot of the score figure in words, and its responses.

    `asked` has the dot's `score`, `x` (automatic) and `y` (H1). Raises `InputError` where there is no such dot.
    """
    rows = selectors.group_rows(audit, source)
    panel, pair = _dot(score_panels(group_table(rows)), asked)
    wanted = set(pair.responses)
    groups: dict[str, list[GroupRow]] = {}
    for row in rows:
        if row.response_id in wanted:
            groups.setdefault(row.response_id, []).append(row)
    models = selectors.models_of_runs(map(int, pair.responses))
    found = [
        ListedResponse(
            int(response),
            members[0].task_id,
            models.get(int(response), ""),
            len(members),
            " ".join(str(row.auto) for row in members),
            " ".join(str(row.h1) for row in members),
        )
        for response, members in groups.items()
    ]
    return pair_text(panel, pair), found


def _dot(panels: list[ScorePanel], asked: Mapping[str, str]) -> tuple[ScorePanel, ScorePair]:
    try:
        x, y = float(asked.get("x", "")), float(asked.get("y", ""))
    except ValueError:
        raise InputError("A dot is named by its score and two numbers, x and y.") from None
    for panel in panels:
        for pair in panel.pairs if panel.score == asked.get("score") and isfinite(x + y) else ():
            if abs(pair.x - x) < _SAME and abs(pair.y - y) < _SAME:
                return panel, pair
    raise InputError("No response has this pair of scores now; labels may have changed since.")
