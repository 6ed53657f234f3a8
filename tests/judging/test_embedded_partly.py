"""What is borne out in part, and the fitted weights with what they are worth."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lseval.judging.embedded import VERSION, accuracy, fitting, partly
from lseval.judging.embedded.claims import claims_of_group
from lseval.judging.embedded.measuring import NOT, PARTIALLY, SUPPORTED, Measured, degree, measure, read_wice
from lseval.judging.embedded.partly import Features, Weights, features_of, is_partly_borne_out
from lseval.judging.embedded.passages import page_index
from tests.shared import shared_path

PAGE = "The harbour museum shows nets. The museum keeps a steam trawler from Grimsby.\nIt rains in autumn."


def features(claim: str) -> Features:
    (found,) = claims_of_group("", claim, {})
    return features_of(found, page_index(PAGE))


def test_features_are_whole_for_a_sentence_of_the_page_and_nothing_for_another_matter() -> None:
    assert features("The museum keeps a steam trawler from Grimsby.") == Features(1.0, 1.0)
    assert features("Parliament debated pension reform yesterday.") == Features(0.0, 0.0)


def test_closeness_counts_neighbouring_words_that_stand_together() -> None:
    # Pairs of the claim: museum-keep, keep-red, red-tractor, tractor-from... "from" is left out: tractor-Grimsby.
    # Only museum-keep stands within three words on the page.
    found = features("The museum keeps red tractors from Grimsby.")
    assert found.closeness == pytest.approx(1 / 4)
    assert 0 < found.coverage < 1


def test_a_claim_half_told_is_borne_out_in_part() -> None:
    half = (
        "The museum keeps a steam trawler from Grimsby and it lends paintings to schools in Lincolnshire villages."
    )
    assert degree(half, PAGE) == PARTIALLY
    assert degree("Parliament debated pension reform yesterday in Westminster Hall.", PAGE) == NOT
    assert degree("The museum keeps a steam trawler from Grimsby.", PAGE) == SUPPORTED
    (claim,) = claims_of_group("", half, {})
    assert is_partly_borne_out(claim, page_index(PAGE))


def test_weights_are_a_line_between_features() -> None:
    weights = Weights(2.0, 1.0, 1.5)
    assert weights.is_partly(Features(0.5, 0.6))
    assert not weights.is_partly(Features(0.5, 0.5))  # 2 x 0.5 + 0.5 is the threshold, not above it


def _row(label: str, coverage: float, article: str, support: float = 0.0) -> fitting.Row:
    return fitting.Row(label, article, ((support, 1),), False, Features(coverage, coverage))


def test_fitting_separates_what_can_be_separated() -> None:
    rng = np.random.default_rng(1)
    rows = [_row(PARTIALLY, 0.6 + 0.3 * rng.random(), f"a{n}") for n in range(30)]
    rows += [_row(NOT, 0.3 * rng.random(), f"b{n}") for n in range(30)]
    weights = fitting.fit_partly(rows)
    assert weights.coverage > 0
    assert all(weights.is_partly(row.features) == (row.label == PARTIALLY) for row in rows)


def test_claims_of_one_article_are_never_on_both_sides() -> None:
    rows = [_row(NOT, 0.1, f"a{n % 25}") for n in range(100)]
    held_out: list[fitting.Row] = []
    for known, out in fitting.folds(rows, 7):
        assert len(known) + len(out) == 100
        assert not {row.article for row in known} & {row.article for row in out}
        held_out += out
    assert len(held_out) == 100


def test_a_support_threshold_is_chosen_where_it_parts_the_rows() -> None:
    rows = [_row(SUPPORTED, 0.5, f"a{n}", 0.62) for n in range(5)] + [
        _row(NOT, 0.5, f"b{n}", 0.56) for n in range(5)
    ]
    assert fitting.choose_support_threshold(rows) == 0.6


def test_packaged_figures_are_of_the_judge_in_use_and_say_where_they_are_from() -> None:
    found = accuracy.measured_accuracy()
    assert found.version == VERSION
    assert {"data", "source", "licence", "script", "seed"} <= set(found.origin)
    assert json.loads(partly.FILE.read_text())["origin"] == found.origin


def test_packaged_figures_come_out_again() -> None:
    """The rule of the script is the judge's own, and the packaged files are what the script gives today."""
    folder = shared_path("data/wice")
    rows = fitting.rows_of(folder)
    results = fitting.results_of(rows)
    found = accuracy.measured_accuracy()
    assert (results["rows"], results["figures"]) == (found.rows, found.figures)
    assert results["cross_validated"] == pytest.approx(found.cross_validated, abs=0.01)
    assert results["weights"] == pytest.approx(json.loads(partly.FILE.read_text())["weights"], abs=0.01)
    assert fitting.figures_of(measure(read_wice(folder))) == found.figures
    # Better than the thresholds of version 2 gave on the same rows (61.6%, 0.37), and not by seeing the answers.
    assert found.cross_validated["three_way_accuracy"] > 0.66
    assert found.cross_validated["three_way_kappa"] > 0.43


def test_two_way_macro_f1_worked_by_hand() -> None:
    # Found 3, refused 4, wrong 3: (2*3/(6+3) + 2*4/(8+3)) / 2.
    measured = Measured({(SUPPORTED, SUPPORTED): 3, (SUPPORTED, NOT): 1, (NOT, SUPPORTED): 2, (NOT, NOT): 4})
    assert measured.two_way_macro_f1 == pytest.approx((6 / 9 + 8 / 11) / 2)
    # People 4 of 10 supported, the judge 5: chance (20 + 30) / 100, kappa (0.7 - 0.5) / 0.5.
    assert measured.two_way_kappa == pytest.approx(0.4)
    assert Measured({}).two_way_macro_f1 is None
