"""Links and rounds: correspondence precision with what it is broken down by, and Table A10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement.presenting.intervals import bounds_text, share_view, value_text
from agreement.presenting.labels import CellAddress, heatmap
from lseval.domain.taxonomy import UNASSIGNED, ErrorType

ROUND_NAMES = {"error": "Error", "non_error": "Non-error", "skipped": "Skipped"}
TYPE_NAMES = {str(kind): kind.display_name for kind in ErrorType} | {UNASSIGNED: "Unassigned", "": "No type now"}
LINK_NAMES = {"corresponds": "Corresponds", "does_not": "Does not", "cannot_tell": "Cannot tell"}
SETTING_NAMES = {"both": "Both judges name the group", "either": "Either judge names the group"}
_BREAKDOWNS = {"by_type": "Error type", "by_model": "Model", "by_judge_setting": "Judge setting"}


def link_row(found: dict[str, Any], term: str = "", url: str = "") -> dict[str, Any]:
    """One precision: its counts, Wilson's interval as text, the cluster-robust one drawn, and its bounds."""
    return {
        "term": term,
        "url": url,
        **found,
        "wilson_text": bounds_text(found["wilson"]),
        "drawn": share_view(found),
        "if_none_text": value_text(found["if_none_hold"]),
        "if_all_text": value_text(found["if_all_hold"]),
    }


def link_tables(links: dict[str, Any], address: Callable[[str, str], str]) -> list[dict[str, Any]]:
    """Precision by type, model and judge setting; `address(breakdown, name)` lists the links behind a row."""
    names = {"by_type": TYPE_NAMES, "by_model": {}, "by_judge_setting": SETTING_NAMES}
    return [
        {
            "title": title,
            "rows": [
                link_row(found, names[key].get(name, name), address(key, name))
                for name, found in links[key].items()
            ],
        }
        for key, title in _BREAKDOWNS.items()
    ]


def round_heatmap(rounds: dict[str, Any], address: CellAddress | None = None) -> dict[str, Any] | None:
    """The cross-tabulation of labeled rounds (the paper's Table A10); None where no round is labeled."""
    if not rounds["rounds"]:
        return None
    return heatmap(
        rounds["matrix"], rounds["labels"], "Rounds", "Human", "Automatic", "rounds", ROUND_NAMES, address
    )


def round_rows(rounds: dict[str, Any]) -> list[dict[str, Any]]:
    """Recall and precision of each round label, with counts; undefined where they are 0/0."""
    return [
        {
            "term": ROUND_NAMES[label],
            "cells": [share_view(rounds[measure][label]) for measure in ("recall", "precision")],
        }
        for label in rounds["labels"]
    ]
