"""Fits what of the embedded Stage 1 judge is fitted, and says what fitting is worth.

    python -m lseval.judging.embedded.fitting WICE_FOLDER [--write]

reads `claim.dev.jsonl` of WiCE, prints accuracies as one JSON object, and with `--write` keeps the weights
(`partly.json`) and the measured accuracy (`measured.json`) beside this file. The same folder and seed give the same
files. No text of the data is kept.

Every cross-validated figure is from ten folds, repeated five times with other folds; the claims of one article are
all in one fold, and whatever is fitted or chosen is fitted or chosen on the other nine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lseval.judging.embedded import STAGE1_NAME, VERSION, accuracy, partly
from lseval.judging.embedded.checking import CONTRADICTED, SUPPORT_THRESHOLD, Finding, check_claim
from lseval.judging.embedded.claims import Claim, claims_of_group
from lseval.judging.embedded.measuring import NOT, PARTIALLY, SUPPORTED, Measured, read_wice
from lseval.judging.embedded.meeting import untold
from lseval.judging.embedded.partly import Features, Weights, features_of
from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.stage1 import SUPPORTED_SHARE, weight_of

SEED: Final = 2023
FOLDS: Final = 10
REPEATS: Final = 5
RIDGE: Final = 1.0
ORIGIN: Final = {
    "data": "WiCE, dev part, claims against whole pages",
    "source": "Kamoi et al., 2023, WiCE: Real-World Entailment for Claims in Wikipedia",
    "licence": "annotations ODC-BY; texts CC BY-SA (Wikipedia) and Common Crawl's terms of use",
    "date": "2023",
    "script": "python -m lseval.judging.embedded.fitting WICE_FOLDER --write",
    "seed": SEED,
}

Numbers = NDArray[np.float64]
Chosen = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Row:
    """A claim of the data as numbers: `parts` has each piece's support and weight; `is_refuted` refuses all."""

    label: str
    article: str
    parts: tuple[tuple[float, int], ...]
    is_refuted: bool
    features: Features

    @property
    def least_support(self) -> float:
        """The support of the piece that has the least; 0 without any."""
        return min((support for support, _ in self.parts), default=0.0)

    def is_supported(self, threshold: float) -> bool:
        """What `verify_group` says to the claim with that threshold in place of `SUPPORT_THRESHOLD`."""
        every = sum(weight for _, weight in self.parts)
        held = sum(weight for support, weight in self.parts if support >= threshold)
        return not self.is_refuted and bool(every) and held >= SUPPORTED_SHARE * every


def rows_of(folder: Path) -> list[Row]:
    """The data as numbers, in the file's order."""
    return [_row(row) for row in read_wice(folder)]


def _row(row: Mapping[str, Any]) -> Row:
    index = page_index("\n".join(row["evidence"]))
    claims = claims_of_group("", row["claim"], {})
    findings = [check_claim(claim, index) for claim in claims]
    return Row(
        row["label"],
        row["meta"]["claim_title"],
        tuple((finding.support, weight_of(finding)) for finding in findings),
        any(finding.status == CONTRADICTED for finding in findings) or any(untold(one, [index]) for one in claims),
        _nearest(claims, findings, index),
    )


def _nearest(claims: Sequence[Claim], findings: Sequence[Finding], index: PageIndex) -> Features:
    """The features of the piece that comes nearest to being borne out."""
    every = [features_of(claim, index) for claim in claims]
    return max(every, key=lambda one: (one.coverage, one.closeness), default=Features(0.0, 0.0))


def fit_partly(rows: Sequence[Row]) -> Weights:
    """Partially against not supported, from the two features.

    The threshold is the one that gives the greatest mean of accuracy and balanced accuracy on the same rows.
    """
    rows = [row for row in rows if row.label != SUPPORTED]
    wanted = np.array([row.label == PARTIALLY for row in rows])
    slopes = _slopes(np.array([(row.features.coverage, row.features.closeness) for row in rows]), wanted)
    weights = Weights(round(float(slopes[0]), 4), round(float(slopes[1]), 4), 0.0)
    scores = np.array([weights.score(row.features) for row in rows])
    return Weights(weights.coverage, weights.closeness, _best_threshold(scores, wanted))


def _slopes(found: Numbers, wanted: Chosen) -> Numbers:
    """Logistic regression with a ridge on the standardised features: the slopes for the features as they are."""
    spread = found.std(axis=0)
    scaled = (found - found.mean(axis=0)) / spread

    def loss(weights: Numbers) -> float:
        scores = weights[0] + scaled @ weights[1:]
        return float(
            np.logaddexp(0, np.where(wanted, -scores, scores)).sum() + RIDGE / 2 * weights[1:] @ weights[1:]
        )

    slopes: Numbers = minimize(loss, np.zeros(found.shape[1] + 1), method="BFGS").x[1:] / spread
    return slopes


def choose_support_threshold(rows: Sequence[Row]) -> float:
    """The threshold from 0 to 1 in steps of 0.05 with the greatest mean of accuracy and balanced accuracy."""
    wanted = np.array([row.label == SUPPORTED for row in rows])
    steps = [round(0.05 * step, 2) for step in range(21)]
    return max(steps, key=lambda step: _worth(np.array([row.is_supported(step) for row in rows]), wanted))


def _best_threshold(scores: Numbers, wanted: Chosen) -> float:
    steps = [float(step) for step in np.round(np.quantile(scores, np.linspace(0.02, 0.98, 49)), 4)]
    return max(steps, key=lambda step: _worth(scores > step, wanted))


def _worth(told: Chosen, wanted: Chosen) -> float:
    right = told == wanted
    return float(right.mean() + (right[wanted].mean() + right[~wanted].mean()) / 2)


def folds(rows: Sequence[Row], seed: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """Ten times the rows to fit on and those held out, articles dealt out at random."""
    articles = sorted({row.article for row in rows})
    dealt = dict(zip(articles, np.random.default_rng(seed).permutation(len(articles)) % FOLDS, strict=True))
    for fold in range(FOLDS):
        yield (
            [row for row in rows if dealt[row.article] != fold],
            [row for row in rows if dealt[row.article] == fold],
        )


def degree_of(row: Row, threshold: float, weights: Weights) -> str:
    """The judge's degree with that threshold and those weights."""
    if row.is_supported(threshold):
        return SUPPORTED
    return PARTIALLY if weights.is_partly(row.features) else NOT


def cross_validated(rows: Sequence[Row]) -> dict[str, float]:
    """The mean figures over the repeats, the support threshold chosen and the weights fitted anew for each fold."""
    every = []
    for repeat in range(REPEATS):
        pairs = []
        for known, held_out in folds(rows, SEED + repeat):
            threshold, weights = choose_support_threshold(known), fit_partly(known)
            pairs += [(row.label, degree_of(row, threshold, weights)) for row in held_out]
        every.append(figures_of(Measured.of(pairs)))
    return {name: round(float(np.mean([figures[name] for figures in every])), 4) for name in every[0]}


def cross_validated_regression(rows: Sequence[Row]) -> dict[str, float]:
    """The two-way figures of a logistic regression in place of the rule that decides what is supported."""
    found = np.array([(row.least_support, row.features.coverage, row.features.closeness) for row in rows])
    wanted = np.array([row.label == SUPPORTED for row in rows])
    places = {id(row): place for place, row in enumerate(rows)}
    every = []
    for repeat in range(REPEATS):
        pairs = []
        for known, held_out in folds(rows, SEED + repeat):
            on, off = ([places[id(row)] for row in part] for part in (known, held_out))
            scores = found @ _slopes(found[on], wanted[on])
            told = scores > _best_threshold(scores[on], wanted[on])
            pairs += [(rows[place].label, SUPPORTED if told[place] else NOT) for place in off]
        every.append(figures_of(Measured.of(pairs)))
    return {
        name: round(float(np.mean([figures[name] for figures in every])), 4) for name in every[0] if "two" in name
    }


def figures_of(measured: Measured) -> dict[str, float]:
    """The figures of a comparison by name; an undefined one is left out."""
    found = {
        "two_way_accuracy": measured.two_way_accuracy,
        "two_way_balanced_accuracy": measured.two_way_balanced_accuracy,
        "two_way_kappa": measured.two_way_kappa,
        "three_way_accuracy": measured.three_way_accuracy,
        "three_way_kappa": measured.three_way_kappa,
        "three_way_macro_f1": measured.macro_f1,
    }
    return {name: round(value, 4) for name, value in found.items() if value is not None}


def results_of(rows: Sequence[Row]) -> dict[str, Any]:
    """All that the script prints."""
    weights = fit_partly(rows)
    pairs = [(row.label, degree_of(row, SUPPORT_THRESHOLD, weights)) for row in rows]
    return {
        "rows": len(rows),
        "weights": {
            "coverage": weights.coverage,
            "closeness": weights.closeness,
            "threshold": weights.threshold,
        },
        "figures": figures_of(Measured.of(pairs)),
        "cross_validated": cross_validated(rows),
        "cross_validated_regression_for_the_rule": cross_validated_regression(rows),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Fit and measure the embedded Stage 1 judge on WiCE.")
    parser.add_argument("folder", type=Path, help="the folder with claim.dev.jsonl")
    parser.add_argument("--write", action="store_true", help="keep the weights and the measured accuracy")
    asked = parser.parse_args(arguments)
    results = results_of(rows_of(asked.folder))
    print(json.dumps(results, indent=2))
    if asked.write:
        _write(partly.FILE, {"origin": ORIGIN, "weights": results["weights"]})
        head = {"judge": STAGE1_NAME, "version": VERSION, "origin": ORIGIN}
        kept = {name: results[name] for name in ("rows", "figures", "cross_validated")}
        _write(accuracy.FILE, head | kept)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
