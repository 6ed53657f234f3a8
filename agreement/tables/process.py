"""Tables of links and rounds: correspondence precision, and the paper's Table A10."""

from __future__ import annotations

from typing import Any

from agreement.presenting.process import ROUND_NAMES, SETTING_NAMES, TYPE_NAMES
from agreement.stats.documents import Outside, Table
from agreement.stats.render import interval_text, value_text

_SPLITS = {"by_type": "Error type", "by_model": "Model", "by_judge_setting": "Judge setting"}
_NAMES = {"by_type": TYPE_NAMES, "by_judge_setting": SETTING_NAMES}


def tables(report: dict[str, Any]) -> list[Table]:
    """Link precision with its breakdowns, the rounds' cross-tabulation, and recall and precision of its labels."""
    return [_links(report["links"]), _rounds(report["rounds"]), _measures(report["rounds"])]


def _links(links: dict[str, Any]) -> Table:
    rows = [_link_row("", "Overall", links["overall"])]
    for key, title in _SPLITS.items():
        names = _NAMES.get(key, {})
        rows += [_link_row(title, names.get(label, Outside(label)), found) for label, found in links[key].items()]
    header = [
        "By",
        "Links",
        "k of n",
        "Precision",
        "Wilson",
        "By tasks",
        "Cannot tell",
        "If none hold",
        "If all hold",
    ]
    return Table("Link precision", header, rows, _left_out(links))


def _link_row(by: str, term: str, found: dict[str, Any]) -> list[str]:
    return [
        by,
        term,
        f"{found['k']} of {found['n']}",
        value_text(found["point"]),
        interval_text(found["wilson"]),
        interval_text(found["cluster_robust"]),
        str(found["cannot_tell"]),
        value_text(found["if_none_hold"]),
        value_text(found["if_all_hold"]),
    ]


def _rounds(rounds: dict[str, Any]) -> Table:
    names = [ROUND_NAMES[label] for label in rounds["labels"]]
    rows = [
        [title, *map(str, row), str(total)]
        for title, row, total in zip(names, rounds["matrix"], rounds["human_totals"], strict=True)
    ]
    rows.append(["Total", *map(str, rounds["automatic_totals"]), str(rounds["rounds"])])
    title = f"Rounds: human in rows, automatic in columns ({rounds['rounds']} rounds, {rounds['tasks']} tasks)"
    return Table(title, ["Human / Automatic", *names, "Total"], rows, _left_out(rounds))


def _measures(rounds: dict[str, Any]) -> Table:
    rows, notes = [], []
    for measure in ("recall", "precision"):
        for label in rounds["labels"]:
            share, name = rounds[measure][label], ROUND_NAMES[label]
            ends = (interval_text(share["wilson"]), interval_text(share["cluster_robust"]))
            rows.append(
                [
                    f"{measure.capitalize()} of {name}",
                    f"{share['k']} of {share['n']}",
                    value_text(share["point"]),
                    *ends,
                ]
            )
            if isinstance(share["point"], dict):
                notes.append(f"{measure.capitalize()} of {name}: undefined, {share['point']['undefined']}.")
    return Table(
        "Recall and precision of the round labels",
        ["Measure", "k of n", "Share", "Wilson", "By tasks"],
        rows,
        notes,
    )


def _left_out(part: dict[str, Any]) -> list[str]:
    return [f"Left out: {entry['count']}, {entry['reason']}." for entry in part.get("left_out", [])]
