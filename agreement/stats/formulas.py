"""The formula and reference behind each number of a report, for the panel that says how it was computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """A statistic's name, how it is computed, when it has no value, and where it is from."""

    name: str
    formula: str
    undefined: str
    reference: str


_NEVER = "no item"
_ONE_LABEL = "both used one label only, and the same"
_CONSTANT = "fewer than two pairs, or a constant score"

FORMULAS: dict[str, Formula] = {
    "observed": Formula("Observed agreement", "p_o = items with equal labels / items", _NEVER, ""),
    "kappa": Formula(
        "Cohen's kappa",
        "(p_o - p_e) / (1 - p_e), p_e = sum over labels of first's share times second's share",
        _ONE_LABEL,
        "Cohen (1960); standard error Fleiss, Cohen & Everitt (1969)",
    ),
    "pi": Formula(
        "Scott's pi",
        "(p_o - p_e) / (1 - p_e), p_e = sum over labels of the squared mean of the two shares",
        _ONE_LABEL,
        "Scott (1955)",
    ),
    "alpha": Formula(
        "Krippendorff's alpha, nominal",
        "1 - (N - 1) sum over items of disagreeing pairs / (m - 1), over sum of n_c (N - n_c); m labels an item, "
        "n_c labels c among N on items with m >= 2",
        "no item with two labels, or all labels the same",
        "Krippendorff (2004)",
    ),
    "ac1": Formula(
        "Gwet's AC1",
        "(p_o - p_e) / (1 - p_e), p_e = sum of pi_k (1 - pi_k) / (q - 1), pi_k the mean of the two shares",
        "no item, or one declared label",
        "Gwet (2008)",
    ),
    "brennan_prediger": Formula(
        "Brennan-Prediger (PABAK for q labels)",
        "(p_o - 1/q) / (1 - 1/q), q declared labels",
        "no item, or one declared label",
        "Brennan & Prediger (1981)",
    ),
    "pabak": Formula("PABAK, two-label form", "2 p_o - 1", _NEVER, "Byrt, Bishop & Carlin (1993)"),
    "macro_f1": Formula(
        "Macro F1", "mean over used labels of 2 n_kk / (row k + column k)", _NEVER, "Sokolova & Lapalme (2009)"
    ),
    "balanced_accuracy": Formula(
        "Balanced accuracy", "mean over the second's labels of n_kk / column k", _NEVER, "Brodersen et al. (2010)"
    ),
    "mcc": Formula(
        "Matthews' correlation",
        "(n trace - sum row k column k) / root of (n^2 - sum row^2)(n^2 - sum column^2)",
        "one of the two used one label only",
        "Gorodkin (2004)",
    ),
    "bowker": Formula(
        "Bowker's test of symmetry",
        "sum over label pairs of (n_ij - n_ji)^2 / (n_ij + n_ji), nothing added to zeros, q (q - 1) / 2 df",
        "no disagreement",
        "Bowker (1948)",
    ),
    "stuart_maxwell": Formula(
        "Stuart-Maxwell test of marginal homogeneity",
        "d' S+ d, d the differences of marginals and S their covariance, rank of S df",
        "no disagreement",
        "Stuart (1955); Maxwell (1970)",
    ),
    "bhapkar": Formula(
        "Bhapkar's test of marginal homogeneity",
        "X / (1 - X / n), X the Stuart-Maxwell statistic",
        "no disagreement, or all of it one way",
        "Bhapkar (1966)",
    ),
    "pearson": Formula("Pearson correlation", "covariance / product of standard deviations", _CONSTANT, ""),
    "spearman": Formula("Spearman correlation", "Pearson correlation of midranks", _CONSTANT, "Spearman (1904)"),
    "kendall_b": Formula(
        "Kendall tau-b",
        "(concordant - discordant pairs) / root of (pairs untied in first)(pairs untied in second)",
        _CONSTANT,
        "Kendall (1945)",
    ),
    "mae": Formula("Mean absolute error", "mean of |first - second|", "no pair", ""),
    "bias": Formula("Bias", "mean of first - second", "no pair", ""),
    "rmse": Formula("Root mean squared error", "root of the mean of (first - second)^2", "no pair", ""),
    "icc_2_1": Formula(
        "ICC(2,1), absolute agreement",
        "(MSR - MSE) / (MSR + MSE + 2 (MSC - MSE) / n)",
        "fewer than two pairs, or every score the same",
        "Shrout & Fleiss (1979)",
    ),
    "limit_low": Formula(
        "Lower 95% limit of agreement",
        "bias - 1.96 standard deviation of the differences",
        "fewer than two pairs",
        "Bland & Altman (1986)",
    ),
    "limit_high": Formula(
        "Upper 95% limit of agreement",
        "bias + 1.96 standard deviation of the differences",
        "fewer than two pairs",
        "Bland & Altman (1986)",
    ),
    "interval": Formula(
        "Task-cluster percentile interval",
        "linear quantiles of the statistic over resamples of whole tasks, one draw for all statistics",
        "one task, or no resample with a value",
        "Davison & Hinkley (1997); Field & Welsh (2007)",
    ),
    "bca": Formula(
        "BCa interval",
        "quantiles moved by the bias of the resamples and by the acceleration of the delete-one-task jackknife",
        "all resamples on one side, or a jackknife that does not vary or has no value",
        "Efron (1987)",
    ),
    "wilson": Formula(
        "Wilson interval", "score interval of a share of independent items", "no item", "Wilson (1927)"
    ),
    "cluster_robust": Formula(
        "Cluster-robust interval of a share",
        "Wilson at p (1 - p) / (between-task variance) items, Student's quantile on tasks - 1",
        "one task",
        "Korn & Graubard (1998); Dean & Pagano (2015)",
    ),
}
