"""The figures that can be downloaded, from an audit's numbers to a chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement import charts, selectors
from agreement.charts import Chart, DrawnInterval
from agreement.people_report import people_of
from agreement.presenting.labels import BLOCK_TITLES, MAIN_COEFFICIENTS
from agreement.presenting.process import TYPE_NAMES
from agreement.presenting.scores import LONG_SCORE_NAMES, SCORE_NAMES, STATISTIC_NAMES
from agreement.presenting.study import ESTIMATOR_NAMES
from agreement.reporting import labels_report, process_parts
from agreement.shown import Shown
from agreement.stats.groups import group_table
from agreement.study_selectors import study_runs
from agreement.whole_study import whole_study_report

_CORRELATIONS = ("pearson", "spearman", "kendall_b")
_COMPARED = ("naive", "human", "ppi_tuned")


def score_figure(shown: Shown) -> Chart:
    """The paper's Figure 5."""
    panels = charts.score_panels(group_table(selectors.group_rows(shown.audit, shown.source)))
    return charts.score_scatter(panels, "Automatic", shown.second)


def interval_figure(shown: Shown) -> Chart:
    """The main coefficients and the correlations of scores, automatic-H1 beside H1-H2."""
    rows = selectors.group_rows(shown.audit, shown.source)
    report = labels_report(shown.audit, shown.source, rows)
    lines = []
    for key, (title, *_) in BLOCK_TITLES.items():
        block = report[key]
        lines += [drawn(term, title, block["nominal"][name]) for name, term in MAIN_COEFFICIENTS.items()]
        lines += [
            drawn(f"{STATISTIC_NAMES[name]}, {short}", title, block["scores"][score][name])
            for score, short in SCORE_NAMES.items()
            for name in _CORRELATIONS
        ]
    return charts.interval_chart(lines, "Estimate with 95% interval", _least(lines), 1)


def model_figure(shown: Shown) -> Chart:
    """Each model's Answer Score over the whole study by three estimators."""
    rows = selectors.group_rows(shown.audit, shown.source)
    whole = whole_study_report(shown.audit, rows, study_runs(shown.access.study))
    lines = [
        drawn(model["model"], ESTIMATOR_NAMES[name], model["as"][name])
        for model in whole["models"]
        for name in _COMPARED
    ]
    return charts.interval_chart(lines, "Answer Score with 95% interval", 0, 100)


def board_figure(score: str, board: dict[str, Any]) -> Chart:
    """The models' mean automatic scores in order."""
    scale = 100.0 if score == "ap" else 1.0
    lines = [drawn(entry["model"], "mean", entry["mean"], scale) for entry in board["models"]]
    return charts.interval_chart(lines, f"{LONG_SCORE_NAMES[score]} with 95% interval", 0, 100)


def people_figure(shown: Shown) -> Chart:
    """Every pair of raters that met an item: observed agreement and kappa."""
    names = {"observed": "Observed agreement", "kappa": "Cohen's kappa"}
    lines = [
        drawn(f"{pair['first']}, {pair['second']}", title, pair[key])
        for pair in people_of(shown.audit, shown.source)["pairs"]
        if pair["n"]
        for key, title in names.items()
    ]
    return charts.interval_chart(lines, "Estimate with 95% interval", _least(lines), 1)


def link_figure(shown: Shown) -> Chart:
    """Correspondence precision, overall, by error type and by model, with cluster-robust intervals."""
    links = process_parts(shown.audit, shown.source)["links"]
    found = [("All links", links["overall"])]
    found += [(TYPE_NAMES.get(name, name), entry) for name, entry in links["by_type"].items()]
    found += list(links["by_model"].items())
    lines = [
        drawn(f"{term}, {entry['k']} of {entry['n']}", "precision", {**entry, "interval": entry["cluster_robust"]})
        for term, entry in found
    ]
    return charts.interval_chart(lines, "Precision with 95% cluster-robust interval", 0, 1)


def _least(lines: list[DrawnInterval]) -> float:
    return -1.0 if any(line.low is not None and line.low < 0 for line in lines) else 0.0


def drawn(term: str, series: str, estimate: dict[str, Any], scale: float = 1.0) -> DrawnInterval:
    """An estimate of a report as a line of a figure."""
    point, interval = estimate["point"], estimate["interval"]
    if isinstance(point, dict):
        return DrawnInterval(term, series, None, None, None)
    if isinstance(interval, dict):
        return DrawnInterval(term, series, point * scale, None, None)
    return DrawnInterval(term, series, point * scale, interval[0] * scale, interval[1] * scale)


FIGURES: dict[str, Callable[[Shown], Chart]] = {
    "scores": score_figure,
    "intervals": interval_figure,
    "models": model_figure,
    "people": people_figure,
    "links": link_figure,
}
