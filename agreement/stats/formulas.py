"""The formula and references behind each number of a report, for the panels that say how it was computed."""

from __future__ import annotations

from dataclasses import dataclass

from agreement.stats.references import REFERENCES


@dataclass(frozen=True, slots=True)
class Formula:
    """A statistic's name, how it is computed, when it has no value, and where it is from.

    `cited` are keys of `references.REFERENCES`; none for a count or a plain mean.
    """

    name: str
    formula: str
    undefined: str
    cited: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The sources in short."""
        return "; ".join(self.cited)


_NEVER = "no item"
_ONE_LABEL = "both used one label only, and the same"
_CONSTANT = "fewer than two pairs, or a constant score"

FORMULAS: dict[str, Formula] = {
    "observed": Formula("Observed agreement", "p_o = items with equal labels / items", _NEVER),
    "kappa": Formula(
        "Cohen's kappa",
        "(p_o - p_e) / (1 - p_e), p_e = sum over labels of first's share times second's share",
        _ONE_LABEL,
        ("Cohen (1960)", "Fleiss, Cohen & Everitt (1969)"),
    ),
    "pi": Formula(
        "Scott's pi",
        "(p_o - p_e) / (1 - p_e), p_e = sum over labels of the squared mean of the two shares",
        _ONE_LABEL,
        ("Scott (1955)",),
    ),
    "alpha": Formula(
        "Krippendorff's alpha, nominal",
        "1 - (N - 1) sum over items of disagreeing pairs / (m - 1), over sum of n_c (N - n_c); m labels an item, "
        "n_c labels c among N on items with m >= 2",
        "no item with two labels, or all labels the same",
        ("Krippendorff (2004)",),
    ),
    "ac1": Formula(
        "Gwet's AC1",
        "(p_o - p_e) / (1 - p_e), p_e = sum of pi_k (1 - pi_k) / (q - 1), pi_k the mean of the two shares",
        "no item, or one declared label",
        ("Gwet (2008)",),
    ),
    "brennan_prediger": Formula(
        "Brennan-Prediger (PABAK for q labels)",
        "(p_o - 1/q) / (1 - 1/q), q declared labels",
        "no item, or one declared label",
        ("Brennan & Prediger (1981)",),
    ),
    "pabak": Formula("PABAK, two-label form", "2 p_o - 1", _NEVER, ("Byrt, Bishop & Carlin (1993)",)),
    "macro_f1": Formula(
        "Macro F1", "mean over used labels of 2 n_kk / (row k + column k)", _NEVER, ("Sokolova & Lapalme (2009)",)
    ),
    "balanced_accuracy": Formula(
        "Balanced accuracy",
        "mean over the second's labels of n_kk / column k",
        _NEVER,
        ("Brodersen et al. (2010)",),
    ),
    "mcc": Formula(
        "Matthews' correlation",
        "(n trace - sum row k column k) / root of (n^2 - sum row^2)(n^2 - sum column^2)",
        "one of the two used one label only",
        ("Gorodkin (2004)",),
    ),
    "bowker": Formula(
        "Bowker's test of symmetry",
        "sum over label pairs of (n_ij - n_ji)^2 / (n_ij + n_ji), nothing added to zeros, q (q - 1) / 2 df",
        "no disagreement",
        ("Bowker (1948)",),
    ),
    "stuart_maxwell": Formula(
        "Stuart-Maxwell test of marginal homogeneity",
        "d' S+ d, d the differences of marginals and S their covariance, rank of S df",
        "no disagreement",
        ("Stuart (1955)", "Maxwell (1970)"),
    ),
    "bhapkar": Formula(
        "Bhapkar's test of marginal homogeneity",
        "X / (1 - X / n), X the Stuart-Maxwell statistic",
        "no disagreement, or all of it one way",
        ("Bhapkar (1966)",),
    ),
    "pearson": Formula("Pearson correlation", "covariance / product of standard deviations", _CONSTANT),
    "spearman": Formula("Spearman correlation", "Pearson correlation of midranks", _CONSTANT, ("Spearman (1904)",)),
    "kendall_b": Formula(
        "Kendall tau-b",
        "(concordant - discordant pairs) / root of (pairs untied in first)(pairs untied in second)",
        _CONSTANT,
        ("Kendall (1945)",),
    ),
    "mae": Formula("Mean absolute error", "mean of |first - second|", "no pair"),
    "bias": Formula("Bias", "mean of first - second", "no pair"),
    "rmse": Formula("Root mean squared error", "root of the mean of (first - second)^2", "no pair"),
    "icc_2_1": Formula(
        "ICC(2,1), absolute agreement",
        "(MSR - MSE) / (MSR + MSE + 2 (MSC - MSE) / n)",
        "fewer than two pairs, or every score the same",
        ("Shrout & Fleiss (1979)",),
    ),
    "limit_low": Formula(
        "Lower 95% limit of agreement",
        "bias - 1.96 standard deviation of the differences",
        "fewer than two pairs",
        ("Bland & Altman (1986)",),
    ),
    "limit_high": Formula(
        "Upper 95% limit of agreement",
        "bias + 1.96 standard deviation of the differences",
        "fewer than two pairs",
        ("Bland & Altman (1986)",),
    ),
    "interval": Formula(
        "Task-cluster percentile interval",
        "linear quantiles of the statistic over resamples of whole tasks, one draw for all statistics",
        "one task, or no resample with a value",
        ("Davison & Hinkley (1997)", "Field & Welsh (2007)"),
    ),
    "bca": Formula(
        "BCa interval",
        "quantiles moved by the bias of the resamples and by the acceleration of the delete-one-task jackknife",
        "all resamples on one side, or a jackknife that does not vary or has no value",
        ("Efron (1987)",),
    ),
    "wilson": Formula(
        "Wilson interval", "score interval of a share of independent items", "no item", ("Wilson (1927)",)
    ),
    "cluster_robust": Formula(
        "Cluster-robust interval of a share",
        "Wilson at p (1 - p) / (between-task variance) items, Student's quantile on tasks - 1",
        "one task",
        ("Korn & Graubard (1998)", "Dean & Pagano (2015)"),
    ),
    "linear_kappa": Formula(
        "Weighted kappa, linear",
        "1 - sum d p / sum d (row share)(column share), d the distance of the labels in the declared order",
        "no disagreement expected",
        ("Cohen (1968)",),
    ),
    "quadratic_kappa": Formula(
        "Weighted kappa, quadratic", "as the linear one, d squared", "no disagreement expected", ("Cohen (1968)",)
    ),
    "precision": Formula("Precision of a label", "n_kk / row k", "the first never gives the label"),
    "recall": Formula("Recall of a label", "n_kk / column k", "the second never gives the label"),
    "f1": Formula("F1 of a label", "2 n_kk / (row k + column k)", "neither gives the label"),
    "weighted_f1": Formula("Weighted F1", "mean of F1 weighted by the second's counts", _NEVER),
    "analytic": Formula(
        "Analytic interval of a coefficient",
        "point ± quantile (z, or Student's on n - 1) times the root of (sum p g^2 - (sum p g)^2) / n, g the "
        "coefficient's derivative by the cells' shares",
        "standard error 0",
        ("Fleiss, Cohen & Everitt (1969)", "Gwet (2008)"),
    ),
    "clopper_pearson": Formula(
        "Clopper-Pearson interval", "quantiles of the beta distribution", "no item", ("Clopper & Pearson (1934)",)
    ),
    "ceiling": Formula(
        "Difference to the human ceiling",
        "coefficient of automatic - H1 less that of H1 - H2 on the same items, paired in each resample of tasks",
        "either side is",
        ("Davison & Hinkley (1997)",),
    ),
    "as": Formula("Answer Score", "100 min(C, k) / k, k the required count", "an unlabeled or unjudged group"),
    "ap": Formula("Answer Precision", "C / N, 0 for N = 0", "an unlabeled or unjudged group"),
    "upper": Formula("Upper Score", "100 min(C + U, k) / k", "an unlabeled or unjudged group"),
    "ugr": Formula("Unverifiable group rate", "sum of U / sum of N over the runs", "no group supplied"),
    "jackknife": Formula(
        "Delete-one-task jackknife interval",
        "point ± Student's quantile on m - 1 times the root of (m - 1)/m sum (statistic without task t - mean)^2, "
        "m tasks",
        "one task, or no value without some one task",
        ("Tukey (1958)",),
    ),
    "trend": Formula(
        "Trend",
        "tau-b of agreement (1 or 0) with the place in the person's order, or with the seconds on task; jackknife "
        "interval",
        _CONSTANT,
        ("Kendall (1945)",),
    ),
    "link_precision": Formula(
        "Correspondence precision",
        "k / n, k links that correspond of the n that H1 decided; the bounds take those undecided for all and none",
        "no link decided",
    ),
    "round_recall": Formula(
        "Recall of a round label", "of the rounds that people give it, the share with the automatic one", "0 / 0"
    ),
    "round_precision": Formula(
        "Precision of a round label", "of the rounds with the automatic one, the share that people give it", "0 / 0"
    ),
    "design_weighted": Formula(
        "Design-weighted",
        "sum w y / sum w, w = 1 / inclusion probability; agreement from the matrix of summed weights",
        "no audited item",
        ("Sarndal, Swensson & Wretman (1992)",),
    ),
    "post_stratified": Formula(
        "Post-stratified",
        "weights scaled so that each automatic label has its count in the study",
        "no audited item",
        ("Holt & Smith (1979)",),
    ),
    "naive": Formula("Naive", "mean of all automatic scores; Student's interval over the runs", "no run"),
    "human": Formula("Audited runs only", "mean of the audited human scores; Student's interval", "no audited run"),
    "ppi": Formula(
        "PPI",
        "mean(y) + mean(f of the other runs) - mean(f of the audited), y human and f automatic scores; variance "
        "var(y - f)/n + var(f)/N; Student's quantile on n - 1",
        "no audited run",
        ("Angelopoulos et al. (2023)",),
    ),
    "ppi_tuned": Formula(
        "PPI++, tuned",
        "PPI with the automatic scores times the lambda in [0, 1] of least variance, "
        "cov(y, f)/n / (var(f) (1/n + 1/N))",
        "no audited run",
        ("Angelopoulos, Duchi & Zrnic (2023)",),
    ),
    "rogan_gladen": Formula(
        "Rogan-Gladen",
        "(q + specificity - 1) / (sensitivity + specificity - 1), q the automatic share of the label; jackknife "
        "over tasks",
        "a rate that the audit cannot show, or no better than chance",
        ("Rogan & Gladen (1978)",),
    ),
    "planner": Formula(
        "Plan",
        "the fewest tasks whose interval is as narrow: of shares the cluster-robust one, of anything else by the "
        "root of the number of tasks",
        "no interval now, or more than a million tasks",
        ("Korn & Graubard (1998)",),
    ),
    "student": Formula(
        "Student's interval of a mean, or of a mean of task differences",
        "mean ± Student's quantile on m - 1 times standard deviation / root of m, m tasks",
        "one task, or tasks that do not differ",
        ("Student (1908)",),
    ),
    "paired_test": Formula(
        "p",
        "two-sided Student's test of the task differences; 2 / 2^m where they are all the same number",
        "fewer than two common tasks",
        ("Student (1908)",),
    ),
    "holm": Formula(
        "p, Holm", "the i-th smallest of g p-values times g - i + 1, at least the one before", "", ("Holm (1979)",)
    ),
    "rank_interval": Formula(
        "Rank interval",
        "from 1 plus the models that are better by p, Holm, to the number of models less those that are worse",
        "no scored run",
        ("Mogstad et al. (2024)",),
    ),
}

_SHARES = ("wilson", "cluster_robust")
PAGES: dict[str, tuple[str, ...]] = {
    "labels": (
        "observed", "kappa", "pi", "alpha", "ac1", "brennan_prediger", "pabak", "linear_kappa", "quadratic_kappa",
        "precision", "recall", "f1", "macro_f1", "weighted_f1", "balanced_accuracy", "mcc", "bowker",
        "stuart_maxwell", "bhapkar", "as", "ap", "upper", "pearson", "spearman", "kendall_b", "mae", "bias", "rmse",
        "icc_2_1", "limit_low", "limit_high", "interval", "analytic", *_SHARES, "clopper_pearson", "ceiling",
    ),
    "people": ("observed", "kappa", "alpha", "ac1", "interval", *_SHARES, "trend", "kendall_b", "jackknife"),
    "process": ("link_precision", "round_recall", "round_precision", *_SHARES),
    "study": (
        "naive", "human", "ppi", "ppi_tuned", "rogan_gladen", "as", "ap", "upper", "ugr", "observed", "kappa",
        "design_weighted", "post_stratified", "jackknife", "cluster_robust", "planner",
    ),
    "leaderboard": ("as", "ap", "upper", "student", "paired_test", "holm", "rank_interval", "interval"),
}  # fmt: skip
"""The formulas behind each page's numbers, in the order in which the page shows them."""


def cited_by(page: str) -> list[str]:
    """The sources of a page's formulas in full, in alphabetical order."""
    return [REFERENCES[key] for key in sorted({key for name in PAGES[page] for key in FORMULAS[name].cited})]
