"""How a page's numbers were computed: what they rest on, what is left out and why, formulas, and sources."""

from __future__ import annotations

from typing import Any

from agreement.presenting.intervals import DASH
from agreement.presenting.labels import BLOCK_TITLES
from agreement.stats.formulas import FORMULAS, PAGES, cited_by

_NEVER_MIXED = (
    "People's and simulated labels are never mixed, H2 never stands in for H1, and an adjudicated label is no "
    "rater's. What does not exist for these data is shown as undefined, with the reason."
)


def _panel(
    page: str, notes: list[str], columns: list[str], used: list[list[Any]], left_out: list[dict[str, Any]]
) -> dict[str, Any]:
    """What `agreement/_computed.html` takes; `columns` and `used` are a table, its first column words."""
    return {
        "notes": notes,
        "columns": columns,
        "used": [{"term": term, "counts": counts} for term, *counts in used],
        "left_out": left_out,
        "formulas": [FORMULAS[name] for name in PAGES[page]],
        "references": cited_by(page),
    }


def _resampled(report: dict[str, Any]) -> str:
    return f"{report['resamples']:,} resamples of whole tasks (seed {report['seed']})"


def labels_panel(report: dict[str, Any]) -> dict[str, Any]:
    """Of the main page."""
    notes = [
        f"Intervals are 95% percentiles of {_resampled(report)}, one draw for all labels and scores of a "
        "comparison, since responses to one task are alike. Resample b is row b of "
        "numpy.random.default_rng(seed).integers(0, tasks, size=(resamples, tasks)), tasks in order of first "
        "appearance. A resample in which a statistic does not exist is set aside and counted.",
        "A response's scores follow from its labels as exact fractions, so that equal scores tie. Kendall is "
        "tau-b. Analytic intervals take groups for independent; an end of one may lie beyond the range.",
        _NEVER_MIXED,
    ]
    used, left_out = [], []
    for key, (title, *_) in BLOCK_TITLES.items():
        block, pairs = report[key], report[key]["score_pairs"]
        used.append([title, block["n"], block["tasks"], pairs["responses"], pairs["tasks"]])
        for unit, entries in (("answer groups", block["left_out"]), ("responses", pairs["left_out"])):
            left_out += [{"of": title, "unit": unit, **entry} for entry in entries]
    return _panel("labels", notes, ["Comparison", "Groups", "on tasks", "Responses", "on tasks"], used, left_out)


def people_panel(people: dict[str, Any]) -> dict[str, Any]:
    """Of the people page."""
    notes = [
        f"Coefficients of pairs and alpha have 95% percentiles of {_resampled(people)}. An end then has a "
        "Monte-Carlo error of about a fiftieth of the interval's width.",
        "Shares of profiles have Wilson's interval, those of quarters the cluster-robust one. A trend's interval "
        "leaves out one task at a time and takes Student's quantile on tasks less one: where nothing changes, it "
        "lies off 0 about one time in twenty, on few tasks as well.",
        _NEVER_MIXED,
    ]
    alpha, groups = people["alpha"], people["groups"]
    used = [
        ["Groups with a label", groups, DASH],
        ["Groups with two labels or more", alpha["n"], alpha["clusters"]],
    ]
    used += [[f"{entry['rater']}'s groups", entry["items"], DASH] for entry in people["profiles"]]
    reasons = [
        ("Pairs and alpha", "answer groups", "labeled by one person only", groups - alpha["n"]),
        ("Agreement with automatic labels", "answer groups", "no automatic label", people["without_automatic"]),
        ("Everything", "adjudicated groups", "an adjudicator is no rater", people["adjudicated"]),
    ]
    return _panel("people", notes, ["What", "Groups", "on tasks"], used, _counted(reasons))


def _counted(reasons: list[tuple[str, str, str, int]]) -> list[dict[str, Any]]:
    return [
        {"of": of, "unit": unit, "reason": reason, "count": count} for of, unit, reason, count in reasons if count
    ]


def process_panel(links: dict[str, Any], rounds: dict[str, Any]) -> dict[str, Any]:
    """Of the page of links and rounds."""
    notes = [
        "Nothing is drawn at random here. Wilson's interval takes items for independent; the cluster-robust one "
        "takes its effective number from the variance between tasks, and Student's quantile on tasks less one.",
        "A link on which H1 cannot tell is in neither k nor n; the bounds say what the precision would be were all "
        "of these to hold, or none. A round's automatic label is the judges' consensus, or skipped where it was "
        "set aside before judging. Recall and precision at 0 / 0 are undefined, not 0.",
        _NEVER_MIXED,
    ]
    used = [
        ["Links decided by H1", links["overall"]["n"], links["drew"], links["overall"]["tasks"]],
        ["Rounds labeled and settled", rounds["rounds"], rounds["drew"], rounds["tasks"]],
    ]
    left_out = [{"of": "Links", "unit": "links", **entry} for entry in links["left_out"]]
    left_out += [{"of": "Rounds", "unit": "rounds", **entry} for entry in rounds["left_out"]]
    return _panel("process", notes, ["What", "Used", "Drawn", "on tasks"], used, left_out)


def study_panel(whole: dict[str, Any]) -> dict[str, Any]:
    """Of the page of the whole study."""
    notes = [
        "Nothing is drawn at random here. Over the study each audited group stands for 1 / inclusion probability "
        "groups, by the probability with which the audit draws it; post-stratification scales these "
        "weights to the study's counts of automatic labels. The variance leaves out one task at a time.",
        "Scores of models: y are human, f automatic scores of the audited runs. Prediction-powered estimates need "
        "runs that were drawn without regard to their scores, as the audit's plan does. Runs without a group score "
        "0 whoever labels them and count with that 0 in AS, AP and Upper.",
        "An estimate or an end of an interval that lies where no value can is marked and kept: an estimator that "
        "is right on average may miss on that side, and to hold it in would bias it.",
        _NEVER_MIXED,
    ]
    used = [
        ["Groups with an automatic label and H1's", whole["audited_groups"], whole["drawn_groups"]],
        ["Runs of which H1 labeled every group", whole["audited_runs"], whole["labelable_runs"]],
        ["Groups with an automatic label", sum(whole["automatic_totals"].values()), DASH],
    ]
    reasons = [
        (
            "Agreement",
            "answer groups",
            "without one of the two labels",
            whole["drawn_groups"] - whole["audited_groups"],
        )
    ]
    for model in whole["models"]:
        name = model["model"]
        reasons.append((name, "runs", "an unjudged group or no required count, so no score", model["unscored"]))
        reasons.append((name, "runs", "supplied no group: in AS, AP, Upper with 0, not in UGR", model["empty"]))
    return _panel("study", notes, ["What", "Used", "of"], used, _counted(reasons))


def leaderboard_panel(board: dict[str, Any]) -> dict[str, Any]:
    """Of the leaderboard."""
    notes = [
        "A pair is tested by Student's test of its task differences, and Holm's correction makes the p-values good "
        "for all pairs at once. Where all models are equal, a study of 6 to 100 tasks tells some pair apart at "
        "most one time in twenty; a bootstrap of as few as 6 does so in up to one of five.",
        f"The files also hold the percentiles of {_resampled(board)}, one draw for all models.",
        "A mean is over the tasks on which the model has a score, a difference over those on which both have. A "
        "run without a score is counted and never taken for 0; a run that supplied no group scores 0.",
    ]
    used = [[entry["model"], entry["tasks"], board["tasks"]] for entry in board["models"]]
    reasons = [
        (entry["model"], "tasks", "no run, an unjudged group, or no required count", entry["unscored"])
        for entry in board["models"]
    ]
    return _panel("leaderboard", notes, ["Model", "Scored tasks", "of"], used, _counted(reasons))
