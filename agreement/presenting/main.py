"""The main agreement page: headline numbers first, then labels and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement.presenting import labels, scores
from agreement.presenting.intervals import headline_number
from agreement.presenting.report import blocks_of


def main_page(report: dict[str, Any], address: Callable[[str, str, str], str]) -> dict[str, Any]:
    """Everything that the page shows of a report; `address(comparison, row, column)` opens a cell."""
    blocks = blocks_of(report)
    return {
        "headline": headline(report),
        "comparisons": [title for title, *_ in labels.BLOCK_TITLES.values()],
        "matrices": [
            labels.label_heatmap(block, key, lambda first, second, key=key: address(key, first, second))  # type: ignore[misc]
            for key, block in blocks.items()
        ],
        "coefficients": labels.coefficient_table(blocks, labels.MAIN_COEFFICIENTS),
        "more_coefficients": labels.coefficient_table(blocks, labels.MORE_COEFFICIENTS),
        "exact": labels.exact_rows(blocks),
        "classes": labels.class_table(blocks),
        "symmetry": labels.symmetry_rows(blocks),
        "ceiling": labels.ceiling_table(report["ceiling"]),
        "correlations": scores.correlation_rows(report["auto_h1"]),
        "scores": scores.score_rows(blocks, scores.STATISTIC_NAMES),
        "more_scores": scores.score_rows(blocks, scores.MORE_STATISTICS),
    }


def headline(report: dict[str, Any]) -> list[dict[str, str]]:
    """The numbers to read first, each with its interval or the reason why it has no value."""
    first, second = report["auto_h1"], report["h1_h2"]
    answer = first["scores"]["as"]
    agreeing = first["nominal"]["observed"]["analytic"]["agreeing"]
    return [
        headline_number(
            "Observed agreement", first["nominal"]["observed"], 3, f"{agreeing:,} of {first['n']:,} groups"
        ),
        headline_number("Cohen's kappa", first["nominal"]["kappa"], 3, "automatic – H1"),
        headline_number(
            "Kappa of H1 – H2", second["nominal"]["kappa"], 3, f"human ceiling, {second['n']:,} groups"
        ),
        headline_number("Pearson of AS", answer["pearson"], 3, f"{first['score_pairs']['responses']:,} responses"),
        headline_number("Tau-b of AS", answer["kendall_b"], 3, f"on {first['score_pairs']['tasks']:,} tasks"),
        headline_number("Bias of AS", answer["bias"], 2, "points, automatic less H1"),
    ]
