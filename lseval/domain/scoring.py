"""Answer Score, Answer Precision, Upper Score and the Unverifiable Group Rate, exactly.

Definitions (LongSearchEval, Tables 1 and A1): a run with required count k and N supplied groups, of which C, I
and U by label, has AS = 100 min(C, k) / k, AP = C / N, Upper = 100 min(C + U, k) / k. AS, AP and Upper are
macro-averaged over a model's runs; the Unverifiable Group Rate pools groups. The cap at k is this project's choice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.errors import InputError


@dataclass(frozen=True, slots=True)
class RunScore:
    """One scored run: its counts by label, and the scores that follow from them as exact fractions."""

    required_count: int
    correct: int
    incorrect: int
    unverifiable: int

    @property
    def supplied(self) -> int:
        """How many groups the response supplied."""
        return self.correct + self.incorrect + self.unverifiable

    @property
    def answer_score(self) -> Fraction:
        """AS, from 0 to 100. Correct groups beyond the required count add nothing."""
        return Fraction(100 * min(self.correct, self.required_count), self.required_count)

    @property
    def answer_precision(self) -> Fraction:
        """AP, a share from 0 to 1. Unverifiable groups count as supplied; 0 where no group was supplied."""
        return Fraction(self.correct, self.supplied) if self.supplied else Fraction(0)

    @property
    def upper_score(self) -> Fraction:
        """Upper, from 0 to 100: AS if every unverifiable group were correct. Never below `answer_score`."""
        hoped = self.correct + self.unverifiable
        return Fraction(100 * min(hoped, self.required_count), self.required_count)


def score_run(required_count: int, labels: Iterable[str]) -> RunScore | None:
    """The score of a run from its groups' labels, or None where the run cannot be scored.

    A run with any `unjudged` group is unscored: the missing label is not taken for a wrong one. A run without a
    group is scored, and its three scores are 0.

    Raises:
        InputError: the required count is not a whole number of at least 1, or a label is none of C, I, U, unjudged.
    """
    if isinstance(required_count, bool) or not isinstance(required_count, int) or required_count < 1:
        raise InputError(f"The required count must be a whole number of at least 1, not {required_count!r}.")
    counts = Counter(str(label) for label in labels)
    unknown = counts.keys() - {UNJUDGED, *GroupLabel}
    if unknown:
        raise InputError(f"Unknown group label {min(unknown)[:40]!r}: use C, I, U or {UNJUDGED}.")
    if counts[UNJUDGED]:
        return None
    return RunScore(
        required_count=required_count,
        correct=counts[GroupLabel.CORRECT],
        incorrect=counts[GroupLabel.INCORRECT],
        unverifiable=counts[GroupLabel.UNVERIFIABLE],
    )


def unverifiable_group_rate(runs: Iterable[RunScore]) -> Fraction | None:
    """UGR, a share from 0 to 1: unverifiable groups over supplied groups, both summed over the runs.

    None, which stands for undefined, where the runs supplied no group at all.
    """
    unverifiable = supplied = 0
    for run in runs:
        unverifiable += run.unverifiable
        supplied += run.supplied
    return Fraction(unverifiable, supplied) if supplied else None


@dataclass(frozen=True, slots=True)
class Mean:
    """A macro-average over runs: exact value, standard error and number of runs.

    `value` is None where there is no run, `standard_error` (sample standard deviation over the root of n) where
    there are fewer than two; `undefined_reason` then says so.
    """

    value: Fraction | None
    standard_error: float | None
    runs: int
    undefined_reason: str = ""


def mean_of(values: Sequence[Fraction]) -> Mean:
    """The mean of exact scores with its standard error; see `Mean` for fewer than two values."""
    count = len(values)
    if count == 0:
        return Mean(None, None, 0, "no scored run")
    # Over one denominator the sums are of whole numbers: as exact, and several times faster than of fractions.
    below = math.lcm(*(value.denominator for value in values))
    above = [value.numerator * (below // value.denominator) for value in values]
    total = sum(above)
    mean = Fraction(total, below * count)
    if count == 1:
        return Mean(mean, None, 1, "a standard error needs two scored runs")
    spread = count * sum(number * number for number in above) - total * total
    variance = Fraction(spread, count * (count - 1) * below * below)
    return Mean(mean, math.sqrt(variance / count), count)


@dataclass(frozen=True, slots=True)
class ModelScore:
    """A model's scores over its tasks.

    The means run over scored runs only, empty responses included; `empty_runs` counts those among the scored.
    `unscored_runs` counts the runs left out because a group of theirs is unjudged.
    """

    answer_score: Mean
    answer_precision: Mean
    upper_score: Mean
    unverifiable_group_rate: Fraction | None
    scored_runs: int
    unscored_runs: int
    empty_runs: int


def score_model(runs: Iterable[RunScore | None]) -> ModelScore:
    """A model's macro-averaged scores; a None among the runs is one that `score_run` could not score."""
    every = tuple(runs)
    scored = tuple(run for run in every if run is not None)
    return ModelScore(
        answer_score=mean_of([run.answer_score for run in scored]),
        answer_precision=mean_of([run.answer_precision for run in scored]),
        upper_score=mean_of([run.upper_score for run in scored]),
        unverifiable_group_rate=unverifiable_group_rate(scored),
        scored_runs=len(scored),
        unscored_runs=len(every) - len(scored),
        empty_runs=sum(1 for run in scored if run.supplied == 0),
    )
