"""The people behind the labels: who agrees with whom, how each uses the labels, and whether that changes.

An adjudicated label settles a disagreement; it is not an independent reading, so no function here counts it as a
rater's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from agreement.stats import nominal
from agreement.stats.bootstrap import Resampling, jackknife
from agreement.stats.cells import points, recode
from agreement.stats.draws import Draw
from agreement.stats.estimates import jackknife_estimate
from agreement.stats.label_block import label_part
from agreement.stats.proportions import cluster_interval_of, proportion_interval
from agreement.stats.raters import alpha_estimate, rater_matrix
from agreement.stats.scores import pair_part
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Undefined, Value, check_level, plain, ratio
from lseval.errors import InputError

ADJUDICATOR = "adjudicator"


@dataclass(frozen=True, slots=True)
class Labelling:
    """One person's label of one item.

    `order` is the item's place in what the person labelled (from 1), `seconds` how long it took; None for unknown.
    `role` is `h1`, `h2` or `adjudicator`.
    """

    item: str
    task: str
    rater: str
    role: str
    label: str
    order: int | None = None
    seconds: float | None = None


def independent(labellings: Iterable[Labelling]) -> list[Labelling]:
    """The labellings that are a rater's own reading: all but the adjudicators'."""
    return [labelling for labelling in labellings if labelling.role != ADJUDICATOR]


def people_report(
    labellings: Iterable[Labelling], categories: Sequence[str], how: Resampling | None = None
) -> dict[str, Any]:
    """The raters' pairwise agreement, alpha over all of them, and a profile of each; JSON-able.

    Raises `InputError` where one rater has two labels on one item.
    """
    how = how or Resampling()
    kept = independent(labellings)
    by_rater = _by_rater(kept)
    tasks = {labelling.item: labelling.task for labelling in kept}
    units = [[labels.get(item) for labels in by_rater.values()] for item in tasks]
    return {
        "raters": list(by_rater),
        "pairs": rater_matrix(by_rater, tasks, categories, how),
        "alpha": plain(alpha_estimate(units, list(tasks.values()), how)),
        "profiles": [profile(kept, rater, categories) for rater in by_rater],
    }


def _by_rater(labellings: Sequence[Labelling]) -> dict[str, dict[str, str]]:
    by_rater: dict[str, dict[str, str]] = {}
    for labelling in labellings:
        labels = by_rater.setdefault(labelling.rater, {})
        if labelling.item in labels:
            raise InputError(
                f"{labelling.rater} has two labels on item {labelling.item}; give the one that counts."
            )
        labels[labelling.item] = labelling.label
    return by_rater


def profile(labellings: Sequence[Labelling], rater: str, categories: Sequence[str]) -> dict[str, Any]:
    """How one rater labels: counts and shares of each label, agreement with the others, and pace; JSON-able.

    Agreement counts every pair of this rater's label with another rater's on the same item.
    """
    by_rater = _by_rater(independent(labellings))
    own = by_rater.get(rater, {})
    counts = {category: sum(label == category for label in own.values()) for category in categories}
    others = [labels for name, labels in by_rater.items() if name != rater]
    met = [(label, labels[item]) for item, label in own.items() for labels in others if item in labels]
    agreeing = sum(label == other for label, other in met)
    times = [entry.seconds for entry in labellings if entry.rater == rater and entry.seconds is not None]
    return {
        "rater": rater,
        "items": len(own),
        "labels": counts,
        "shares": {key: plain(ratio(count, len(own), "no item labelled")) for key, count in counts.items()},
        "agreement": {
            "agreeing": agreeing,
            "of": len(met),
            "point": plain(ratio(agreeing, len(met), "nobody else labelled these items")),
            "wilson": plain(proportion_interval(agreeing, len(met))),
        },
        "median_seconds": median(times) if times else plain(Undefined("no time was recorded")),
    }


def drift(
    labellings: Iterable[Labelling],
    reference: dict[str, str],
    parts: int = 4,
    level: float = 0.95,
) -> dict[str, Any]:
    """Whether agreement with a reference changes as a person goes on, or with the time taken; JSON-able.

    `reference[item]` is the label to agree with: the automatic one, or the other person's. `by_order` cuts what was
    labelled into `parts` of equal size, each with k of n, Wilson and cluster intervals; `order_trend` and
    `speed_trend` are tau-b of agreement (0 or 1) with the order and with the seconds, with the interval of their
    delete-one-task jackknife, since a bootstrap of few tasks sees trends where there are none. Items without a
    reference are left out and counted.
    """
    check_level(level)
    if parts < 1:
        raise InputError(f"The items are cut into at least one part; got {parts}.")
    kept = independent(labellings)
    met = [labelling for labelling in kept if labelling.item in reference]
    ordered = sorted((entry for entry in met if entry.order is not None), key=lambda entry: entry.order or 0)
    timed = [entry for entry in met if entry.seconds is not None]
    return {
        "n": len(met),
        "left_out": len(kept) - len(met),
        "by_order": [
            _stretch([ordered[i] for i in indices], reference, level)
            for indices in np.array_split(np.arange(len(ordered)), parts)
        ],
        "order_trend": _trend(ordered, [float(entry.order or 0) for entry in ordered], reference, level),
        "speed_trend": _trend(timed, [float(entry.seconds or 0) for entry in timed], reference, level),
    }


def _stretch(entries: Sequence[Labelling], reference: dict[str, str], level: float) -> dict[str, Any]:
    hits = np.array([entry.label == reference[entry.item] for entry in entries], dtype=np.int64)
    task, _ = task_indices([entry.task for entry in entries])
    k, n = int(hits.sum()), len(hits)
    return {
        "from": entries[0].order if entries else None,
        "to": entries[-1].order if entries else None,
        "agreeing": k,
        "of": n,
        "point": plain(ratio(k, n, "no item in this part")),
        "wilson": plain(proportion_interval(k, n, "wilson", level)),
        "cluster_robust": plain(cluster_interval_of(hits, task, level)),
    }


def _trend(entries: Sequence[Labelling], by: list[float], reference: dict[str, str], level: float) -> Any:
    agreeing = np.array([float(entry.label == reference[entry.item]) for entry in entries])
    task, n_tasks = task_indices([entry.task for entry in entries])
    cells = recode(np.array(by, dtype=np.float64), agreeing)
    part = pair_part("trend", cells, task, ("kendall_b",))
    left_out = jackknife([part], n_tasks)["trend"]["kendall_b"] if n_tasks > 1 else np.zeros(n_tasks)
    point = points(cells, ("kendall_b",))["kendall_b"]
    if len(entries) > 1 and len(set(agreeing.tolist())) == 1:
        point = Undefined("agreement is the same on every group")
    return plain(jackknife_estimate(point, left_out, len(entries), level))


def ceiling(
    triples: Sequence[tuple[str, str, str]],
    tasks: Sequence[object],
    categories: Sequence[str],
    how: Resampling | None = None,
    name: str = "kappa",
) -> dict[str, Any]:
    """The machine beside the human ceiling on the same items: automatic-H1 against H1-H2, and their difference.

    `triples` holds (automatic, H1, H2) labels of the items that both people labelled. `difference` is automatic-H1
    less H1-H2 under one draw of the tasks, so its interval allows for the items being the same: one that holds 0
    says that the machine agrees with H1 about as well as H2 does. `name` is one of `nominal.COEFFICIENTS`.
    """
    how = how or Resampling()
    clusters = range(len(tasks)) if how.unit == "row" else tasks
    task, n_tasks = task_indices(list(clusters))
    position = {category: index for index, category in enumerate(categories)}
    q = len(categories)
    sides = {"auto_h1": (0, 1), "h1_h2": (1, 2)}
    matrices = {
        side: nominal.confusion_matrix(((triple[a], triple[b]) for triple in triples), categories)
        for side, (a, b) in sides.items()
    }
    points: dict[str, Value] = {side: nominal.coefficient(name, matrix) for side, matrix in matrices.items()}
    parts = []
    for side, (a, b) in sides.items():
        code = np.array([position[triple[a]] * q + position[triple[b]] for triple in triples], dtype=np.int64)
        parts.append(label_part(code, task, categories, name=side))
    draw = Draw.of(parts, n_tasks, how)
    n = len(triples)
    return {
        "coefficient": name,
        "n": n,
        **{
            side: {
                "matrix": matrices[side].tolist(),
                **plain(draw.estimate(side, name, points[side], n, n_tasks)),
            }
            for side in sides
        },
        "difference": plain(
            draw.difference(("auto_h1", name), ("h1_h2", name), points["auto_h1"], points["h1_h2"], n, n_tasks)
        ),
    }
