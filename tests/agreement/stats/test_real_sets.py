"""Real data against scipy and the krippendorff package."""

from __future__ import annotations

import io
import json
import tarfile
from collections import defaultdict

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from agreement.stats.bootstrap import Resampling
from agreement.stats.people import Labelling, people_report
from agreement.stats.raters import alpha_estimate, label_counts, nominal_alpha
from agreement.stats.scores import pair_statistics
from tests.shared import shared_path

METRICS = [
    "Rouge 1",
    "Rouge 2",
    "Rouge L",
    "Bleu",
    "Meteor",
    "BertScore P",
    "BertScore R",
    "BertScore F1",
    "BertScore P Art",
    "BertScore R Art",
    "BertScore F1 Art",
    "FactCC",
    "FEQA",
    "Dep Entail",
    "QAGS",
]


def frank_rows() -> list[tuple[dict[str, float], float, str]]:
    """(metrics, human factuality, article) of each summary that both files have."""
    folder = shared_path("data/frank")
    human = {
        (row["hash"], row["model_name"]): row["Factuality"]
        for row in json.loads((folder / "human_annotations.json").read_text())
    }
    outputs = json.loads((folder / "baseline_factuality_metrics_outputs.json").read_text())
    return [
        (row, human[row["hash"], row["model_name"]], row["hash"])
        for row in outputs
        if (row["hash"], row["model_name"]) in human
    ]


def test_frank_has_the_pairs_stated() -> None:
    assert len(frank_rows()) == 2246


@pytest.mark.parametrize("metric", METRICS)
def test_frank_correlations_are_those_of_scipy(metric: str) -> None:
    rows = frank_rows()
    x = np.array([np.nan if row[0][metric] is None else float(row[0][metric]) for row in rows])
    y = np.array([float(row[1]) for row in rows])
    said = pair_statistics(x, y, [row[2] for row in rows], Resampling(20))
    # Two of the fifteen lack a value on some summaries; those pairs are left out.
    there = ~np.isnan(x)
    assert there.all() == (metric not in ("FEQA", "Dep Entail"))
    x, y = x[there], y[there]
    assert said["pearson"].n == len(x)
    assert said["pearson"].point == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert said["spearman"].point == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert said["kendall_b"].point == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert said["mae"].point == pytest.approx(np.abs(x - y).mean(), abs=1e-12)
    assert said["bias"].point == pytest.approx((x - y).mean(), abs=1e-12)


def mqm_labels() -> dict[tuple[str, str], dict[str, str]]:
    """Per segment, each rater's kind of the worst error found there (the first of the worst), or No-error."""
    archive = shared_path("data/mqm_3raters") / "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"
    rank = {"No-error": 0, "HOTW-test": 0, "Minor": 1, "Major": 2}
    worst: dict[tuple[str, str], dict[str, tuple[int, str]]] = defaultdict(dict)
    with tarfile.open(archive) as tar:
        stream = tar.extractfile(tar.getmembers()[0])
        assert stream is not None
        # The file is tab-separated without quoting, so csv would misread the quotation marks.
        lines = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        header = next(lines).rstrip("\n").split("\t")
        for line in lines:
            row = dict(zip(header, line.rstrip("\n").split("\t"), strict=False))
            found = (rank[row["severity"]], row["category"].split("/")[0])
            segment = worst[row["system"], row["globalSegId"]]
            if row["rater"] not in segment or found[0] > segment[row["rater"]][0]:
                segment[row["rater"]] = found
    return {key: {rater: kind for rater, (_, kind) in found.items()} for key, found in worst.items()}


def test_mqm_alpha_is_that_of_the_krippendorff_package() -> None:
    labels = mqm_labels()
    raters = sorted({rater for found in labels.values() for rater in found})
    assert len(labels) == 1040
    assert all(len(found) == 3 for found in labels.values())
    # Ten raters, three per segment: seven of ten labels are missing.
    assert len(raters) == 10
    units = [[found.get(rater) for rater in raters] for found in labels.values()]
    expected = krippendorff.alpha(value_counts=label_counts(units), level_of_measurement="nominal")
    assert nominal_alpha(units) == pytest.approx(expected, abs=1e-12)
    found = alpha_estimate(units, [segment for _, segment in labels], Resampling(500))
    assert found.n == 1040
    assert found.interval[0] < expected < found.interval[1]


def test_mqm_pairwise_kappas_are_those_of_scikit_learn() -> None:
    labels = mqm_labels()
    categories = sorted({kind for found in labels.values() for kind in found.values()})
    labellings = [
        Labelling(item=f"{system}/{segment}", task=segment, rater=rater, role="h1", label=kind)
        for (system, segment), found in labels.items()
        for rater, kind in found.items()
    ]
    report = people_report(labellings, categories, Resampling(50))
    checked = 0
    for pair in report["pairs"]:
        common = [found for found in labels.values() if {pair["first"], pair["second"]} <= set(found)]
        assert pair["n"] == len(common)
        if common:
            first, second = ([found[pair[side]] for found in common] for side in ("first", "second"))
            assert pair["kappa"]["point"] == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
            checked += 1
    assert checked >= 10
