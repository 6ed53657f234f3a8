"""The paper's Table A8 against independent packages, as recorded in the acceptance data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from agreement.stats import classes, nominal, proportions, symmetry
from agreement.stats import nominal_errors as errors
from agreement.stats.undefined import plain
from tests.shared import shared_path

CATEGORIES = ("C", "I", "U")
MATRICES = {
    "auto_H1": [[475, 21, 2], [22, 373, 1], [1, 5, 46]],
    "H1_H2": [[103, 5, 1], [6, 51, 0], [0, 0, 6]],
}


def everything(matrix: list[list[int]]) -> dict[str, Any]:
    """All that the module says of a matrix, under the oracle's names."""
    n = sum(map(sum, matrix))
    agree = sum(matrix[k][k] for k in range(3))
    said: dict[str, Any] = {"n": n, "agree_count": agree}
    names = {
        "observed": "observed_agreement",
        "kappa": "cohen_kappa",
        "pi": "scott_pi",
        "alpha": "krippendorff_alpha_nominal",
        "ac1": "gwet_ac1",
        "brennan_prediger": "brennan_prediger",
    }
    for ours, theirs in names.items():
        point, error = nominal.coefficient(ours, matrix), errors.standard_error(ours, matrix)
        said[theirs] = point
        said[f"{theirs}_se_gwet"] = error
        said[f"{theirs}_ci95_t"] = errors.wald_interval(point, error, n, quantile="t")
    kappa, error = nominal.cohen_kappa(matrix), errors.standard_error("kappa", matrix)
    null_error = errors.kappa_null_error(matrix)
    said |= {
        "cohen_kappa_se_gwet": error,
        "cohen_kappa_ci95_t": errors.wald_interval(kappa, error, n, quantile="t"),
        "cohen_kappa_se_asymptotic_FCE1969": error,
        "cohen_kappa_ci95_wald_FCE1969": errors.wald_interval(kappa, error, n),
        "cohen_kappa_se_null": null_error,
        "cohen_kappa_z_null": kappa / null_error,
        "cohen_kappa_se_pycm": errors.kappa_simple_error(matrix),
        "pabak_binary_2po_minus_1": nominal.pabak(matrix),
        "pabak_k_categories": nominal.brennan_prediger(matrix),
    }
    summary = classes.class_summary(matrix)
    said |= {
        "f1_macro": summary["macro_f1"],
        "f1_weighted": summary["weighted_f1"],
        "balanced_accuracy": summary["balanced_accuracy"],
        "mcc": summary["mcc"],
    }
    for label, scores in classes.class_scores(matrix, CATEGORIES).items():
        said |= {f"{measure}_{label}": scores[measure] for measure in ("precision", "recall", "f1")}
    said |= {
        "bowker_symmetry": symmetry.bowker(matrix),
        "bowker_symmetry_df2_variant": symmetry.bowker(matrix, drop_empty_pairs=True),
        "stuart_maxwell": symmetry.stuart_maxwell(matrix),
        "bhapkar": symmetry.bhapkar(matrix),
    }
    methods = ("wilson", "clopper_pearson", "wald", "agresti_coull", "jeffreys")
    said |= {f"agreement_ci95_{m}": proportions.proportion_interval(agree, n, m) for m in methods}
    said["agreement_ci95_wilson_cc"] = proportions.proportion_interval(agree, n, "wilson_corrected")
    return plain(said)


def oracle(block: str) -> dict[str, Any]:
    return json.loads(shared_path("acceptance/agreement/oracle_a8.json").read_text())[block]


def tolerance(expected: Any) -> float:
    """1e-9, or 1e-6 where the source prints fewer than 12 digits."""
    numbers = list(expected.values()) if isinstance(expected, dict) else np.atleast_1d(expected).tolist()
    return 1e-6 if any(number % 1 and len(repr(number)) < 12 for number in numbers) else 1e-9


@pytest.mark.parametrize("block", ["auto_H1", "H1_H2"])
def test_every_value_of_the_oracle_comes_out(block: str) -> None:
    said = everything(MATRICES[block])
    wanted = {name: entry["value"] for name, entry in oracle(block).items() if not name.endswith(("TRAP", "WRONG"))}
    assert set(wanted) <= set(said)
    for name, expected in wanted.items():
        assert said[name] == pytest.approx(expected, rel=0, abs=tolerance(expected)), name


def test_half_is_not_added_to_zero_cells() -> None:
    trap = oracle("H1_H2")["bowker_symmetry_DEFAULT_shift_zeros_TRAP"]["value"]
    # (5-6)**2/11 + (1-0)**2/1 + 0 = 12/11, not .2576, which 0.5 in every cell would give.
    assert said_bowker(MATRICES["H1_H2"]) == pytest.approx(12 / 11, abs=1e-12)
    assert abs(said_bowker(MATRICES["H1_H2"]) - trap["chi2"]) > 0.5


def said_bowker(matrix: list[list[int]]) -> float:
    return plain(symmetry.bowker(matrix))["chi2"]


@pytest.mark.parametrize("block", ["auto_H1", "H1_H2"])
def test_equal_marginals_do_not_drop_a_category_from_stuart_maxwell(block: str) -> None:
    wrong = oracle(block)["stuart_maxwell_irr_WRONG"]["value"]
    test = plain(symmetry.stuart_maxwell(MATRICES[block]))
    assert test["df"] == 2
    if isinstance(wrong, dict):
        assert abs(test["chi2"] - wrong["chi2"]) > 1
        assert abs(test["p"] - wrong["p"]) > 0.1
