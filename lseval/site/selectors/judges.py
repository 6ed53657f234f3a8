"""Who judged: named with version wherever a verdict shows, and baselines marked as such."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from lseval.judging.embedded import STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME
from lseval.judging.embedded.accuracy import MeasuredAccuracy, measured_accuracy
from lseval.models import Judgement, Study, Verdict

BASELINES = (STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME)
"""The judges that come with the program and read words only."""


@dataclass(frozen=True, slots=True)
class AccuracyShown:
    """A judge's measured accuracy in words: cross-validated shares and kappas."""

    data: str
    source: str
    version: str
    rows: int
    two_way: str
    two_way_kappa: str
    three_way: str
    three_way_kappa: str

    @classmethod
    def of(cls, found: MeasuredAccuracy) -> AccuracyShown:
        """The figures rounded for a page."""
        figures = found.cross_validated
        return cls(
            found.data,
            found.source,
            found.version,
            found.rows,
            f"{figures['two_way_accuracy']:.1%}",
            f"{figures['two_way_kappa']:.2f}",
            f"{figures['three_way_accuracy']:.1%}",
            f"{figures['three_way_kappa']:.2f}",
        )


@dataclass(frozen=True, slots=True)
class JudgeName:
    """A judge, its version, and how many opinions it gave."""

    name: str
    version: str
    count: int = 0

    @property
    def is_baseline(self) -> bool:
        """Whether this is one of the judges that come with the program."""
        return self.name in BASELINES

    @property
    def measured(self) -> AccuracyShown | None:
        """How often it was found right, for the embedded judge of Stage 1; None for others."""
        return AccuracyShown.of(measured_accuracy()) if self.name == STAGE1_NAME else None

    @property
    def text(self) -> str:
        """Name, version and the word baseline where the judge is one."""
        words = f"{self.name}, version {self.version}"
        return f"{words} (a baseline)" if self.is_baseline and "baseline" not in self.name else words

    def as_dict(self) -> dict[str, object]:
        """JSON-able fields."""
        return {
            "name": self.name,
            "version": self.version,
            "is_baseline": self.is_baseline,
            "opinions": self.count,
        }


def stage1_judges(study: Study) -> list[JudgeName]:
    """The judges whose verdicts are in force, by name and version. Empty where Stage 1 has not run."""
    rows = (
        Verdict.objects.filter(group__run__study=study)
        .values_list("judge", "judge_version")
        .annotate(count=Count("id"))
        .order_by("judge", "judge_version")
    )
    return [JudgeName(*row) for row in rows]


def stage2_judges(study: Study) -> list[JudgeName]:
    """The judges whose judgements are stored, by name and version. Empty where Stage 2 has not run."""
    rows = (
        Judgement.objects.filter(round__run__study=study)
        .values_list("judge", "judge_version")
        .annotate(count=Count("id"))
        .order_by("judge", "judge_version")
    )
    return [JudgeName(*row) for row in rows]
