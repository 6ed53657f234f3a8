"""Who judged: named with version wherever a verdict shows, and baselines marked as such."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from lseval.judging.embedded import STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME
from lseval.models import Judgement, Study, Verdict

BASELINES = (STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME)
"""The judges that come with the program and read words only."""


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
