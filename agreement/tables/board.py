"""Tables of the leaderboard: the models by each score, and every paired difference."""

from __future__ import annotations

from typing import Any

from agreement.stats.documents import Outside, Table
from agreement.stats.render import SCORE_NAMES, estimate_text, interval_text, p_text, reasons


def tables(report: dict[str, Any]) -> list[Table]:
    """Two tables for each score; AP in per cent."""
    return [
        table
        for score, board in report["leaderboard"].items()
        for table in (_models(score, board), _pairs(score, board))
    ]


def _scale(score: str) -> float:
    return 100.0 if score == "ap" else 1.0


def _name(score: str) -> str:
    return SCORE_NAMES[score] + (", per cent" if score == "ap" else "")


def _models(score: str, board: dict[str, Any]) -> Table:
    rows = [
        [
            _whole(entry["rank"]),
            Outside(entry["model"]),
            estimate_text(entry["mean"], _scale(score)),
            _span(entry["rank_interval"]),
            str(entry["tasks"]),
            str(entry["unscored"]),
        ]
        for entry in board["models"]
    ]
    notes = [
        f"{board['level']:.0%} intervals by Student's t over tasks. A rank interval runs from 1 plus the models "
        "that are better by the Holm-corrected tests to the number of models less those that are worse."
    ]
    notes += reasons({entry["model"]: entry["mean"] for entry in board["models"]})
    header = ["Rank", "Model", "Mean", "Rank interval", "Scored tasks", "Without a score"]
    return Table(f"Leaderboard by {_name(score)}", header, rows, notes)


def _pairs(score: str, board: dict[str, Any]) -> Table:
    rows = [
        [
            Outside(pair["first"]),
            Outside(pair["second"]),
            str(pair["difference"]["n"]),
            estimate_text(pair["difference"], _scale(score)),
            interval_text(pair["difference"]["bootstrap"], _scale(score)),
            p_text(pair["p"]),
            p_text(pair["p_holm"]),
        ]
        for pair in board["pairs"]
    ]
    notes = [
        "First less second on the tasks that both have a score for: Student's interval and test of the task "
        f"differences; beside them the percentiles of {board['resamples']} paired resamples of tasks, seed "
        f"{board['seed']}, which are too narrow on few tasks."
    ]
    header = ["First", "Second", "Tasks", "Difference", "Bootstrap", "p", "p, Holm"]
    return Table(f"Paired differences of {_name(score)}", header, rows, notes)


def _whole(rank: Any) -> str:
    return "undefined" if isinstance(rank, dict) else str(rank)


def _span(ranks: Any) -> str:
    if isinstance(ranks, dict):
        return "undefined"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]} to {ranks[1]}"
