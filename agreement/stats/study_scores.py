"""Each model's scores over the whole study: every automatic verdict, corrected by the audited ones.

Several estimators stand side by side, each with the estimand it is for; none is the truth. All intervals take a
model's runs, one per task, for independent draws of tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.estimates import with_remark
from agreement.stats.prediction import prediction_powered
from agreement.stats.quantiles import student_quantile
from agreement.stats.rogan_gladen import Misclassification
from agreement.stats.scores import LABELS, SCORES, response_scores
from agreement.stats.undefined import Estimate, Undefined, check_level, plain
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]

_SAME_RATES = "if the automatic verdict misses and invents {} at the same rates in every run as in the whole audit"
SCORE_ESTIMANDS = {
    "naive": "the mean automatic score: what people would give if every automatic verdict were right",
    "human": "the mean human score of the audited runs alone",
    "ppi": "the mean human score over all runs (automatic scores in full, corrected by the audited ones)",
    "ppi_tuned": "the mean human score over all runs (automatic scores only as far as they help)",
    "rogan_gladen": f"the share of all supplied groups that people would call correct, {_SAME_RATES.format('C')}",
}
UGR_ESTIMANDS = {
    "naive": "the share of supplied groups that are unverifiable, were every automatic verdict right",
    "human": "the share of the audited groups that people call unverifiable",
    "ppi": "the share of supplied groups that people would call unverifiable (automatic counts in full)",
    "ppi_tuned": "the share of supplied groups that people would call unverifiable (automatic counts as they help)",
    "rogan_gladen": f"the share of supplied groups that people would call unverifiable, {_SAME_RATES.format('U')}",
}
MOST = {"as": 100.0, "ap": 1.0, "upper": 100.0, "ugr": 1.0}
"""The largest value that each measure can have; 0 is the least."""
_NO_CORRECTION = Undefined("Rogan-Gladen corrects a share of groups; a score capped at the required count is none")


@dataclass(frozen=True, slots=True)
class Run:
    """A model's fully judged run on a task: the required count, each group's automatic label, and people's.

    `human` is None for a run that was not audited. The two lists of labels of an audited run belong to the same
    groups in the same order.
    """

    model: str
    task: str
    required: int
    automatic: tuple[str, ...]
    human: tuple[str, ...] | None = None


def model_estimates(runs: Sequence[Run], level: float = 0.95) -> list[dict[str, Any]]:
    """One JSON-able entry per model: `as`, `ap`, `upper` and `ugr`, each with its estimators and their estimands.

    Estimators are `naive` (all automatic verdicts), `human` (audited runs only), `ppi`, `ppi_tuned` (with its
    `lambda`) and, of shares of groups, `rogan_gladen`; one outside the measure's range has a `remark`.
    Prediction-powered estimates need the audited runs of a model to be drawn without regard to their scores, as the
    audit's plan does. Raises `InputError` where a model has two runs on a task, an audited run has another number
    of human than of automatic labels, or a label is none of C, I, U: a run with an unjudged group has no score
    and is left out by the caller.
    """
    check_level(level)
    _check(runs)
    audited = [(run.task, run.automatic, run.human) for run in runs if run.human is not None]
    rates = {label: Misclassification.of(label, audited) for label in ("C", "U")}
    models = dict.fromkeys(run.model for run in runs)
    return [_one_model(model, [run for run in runs if run.model == model], rates, level) for model in models]


def _check(runs: Sequence[Run]) -> None:
    repeated = [key for key, count in Counter((run.model, run.task) for run in runs).items() if count > 1]
    if repeated:
        raise InputError(f"{repeated[0][0]} has two runs on task {repeated[0][1]}; a model has one run per task.")
    for run in runs:
        where = f"of {run.model} on task {run.task}"
        unknown = (set(run.automatic) | set(run.human or ())) - set(LABELS)
        if unknown:
            raise InputError(f"The label {min(unknown)!r} {where} is none of C, I, U.")
        if run.human is not None and len(run.human) != len(run.automatic):
            raise InputError(
                f"The audited run {where} has {len(run.human)} human and {len(run.automatic)} automatic labels; "
                "they belong to the same groups."
            )


def _one_model(
    model: str, runs: Sequence[Run], rates: dict[str, Misclassification], level: float
) -> dict[str, Any]:
    audited = np.array([run.human is not None for run in runs], dtype=bool)
    known = [(run.required, run.human) for run in runs if run.human is not None]
    automatic = np.array([[float(s) for s in response_scores(run.required, run.automatic)] for run in runs])
    human = np.array([[float(s) for s in response_scores(*run)] for run in known]).reshape(-1, len(SCORES))
    groups = np.array([len(run.automatic) for run in runs], dtype=np.float64)
    tasks = [run.task for run in runs]
    flagged = {
        label: np.array([run.automatic.count(label) for run in runs], dtype=np.float64) for label in ("C", "U")
    }
    result: dict[str, Any] = {"model": model, "runs": len(runs), "audited": int(audited.sum())}
    for k, score in enumerate(SCORES):
        result[score] = _estimators(
            automatic[:, k], human[:, k], audited, np.ones(len(runs)), SCORE_ESTIMANDS, level
        )
        correction = (
            {
                "estimand": SCORE_ESTIMANDS["rogan_gladen"],
                **rates["C"].corrected(flagged["C"], groups, tasks, level),
            }
            if score == "ap"
            else plain(_NO_CORRECTION)
        )
        result[score]["rogan_gladen"] = correction
        result[score] = remarked(result[score], MOST[score])
    called = np.array([labels.count("U") for _, labels in known], dtype=np.float64)
    result["ugr"] = _estimators(flagged["U"], called, audited, groups, UGR_ESTIMANDS, level)
    result["ugr"]["rogan_gladen"] = {
        "estimand": UGR_ESTIMANDS["rogan_gladen"],
        **rates["U"].corrected(flagged["U"], groups, tasks, level),
    }
    result["ugr"] = remarked(result["ugr"], MOST["ugr"])
    return result


def remarked(estimators: dict[str, Any], most: float) -> dict[str, Any]:
    """The estimators of a measure, those outside its range with a remark."""
    return {name: with_remark(found, most) if "point" in found else found for name, found in estimators.items()}


def _estimators(
    automatic: Floats,
    human: Floats,
    audited: NDArray[np.bool_],
    sizes: Floats,
    estimands: dict[str, str],
    level: float,
) -> dict[str, Any]:
    """Naive, human-only, PPI and PPI++ of sum(score) / sum(size) over one model's runs."""
    known, rest = automatic[audited], automatic[~audited]
    found: dict[str, Any] = {
        "naive": plain(_ratio_of_means(automatic, sizes, level, "all automatic verdicts")),
        "human": plain(_ratio_of_means(human, sizes[audited], level, "audited runs only")),
    }
    for name, tuning in (("ppi", 1.0), ("ppi_tuned", None)):
        powered = prediction_powered(human, known, rest, tuning, sizes[audited], sizes[~audited], level)
        found[name] = {**plain(powered.estimate), "lambda": powered.tuning}
    return {name: {"estimand": estimands[name], **entry} for name, entry in found.items()}


def _ratio_of_means(values: Floats, sizes: Floats, level: float, source: str) -> Estimate:
    """sum(values) / sum(sizes) over independent runs, with its linearized variance and Student's quantile."""
    n, total = len(values), float(sizes.sum())
    method = f"{source}, Student's t"
    if n == 0 or total == 0:
        reason = Undefined("no run was audited" if n == 0 else "no group was supplied")
        return Estimate(reason, reason, level, method, n, n)
    point = float(values.sum()) / total
    if n < 2:
        return Estimate(point, Undefined("there is only one run"), level, method, n, n)
    se = float((values - point * sizes).std(ddof=1)) / n**0.5 / (total / n)
    if se == 0:
        why = Undefined("the runs do not differ, so this interval would have no width")
        return Estimate(point, why, level, method, n, n, se=se)
    reach = student_quantile(level, n - 1) * se
    return Estimate(point, (point - reach, point + reach), level, method, n, n, se=se)
