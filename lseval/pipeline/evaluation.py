"""Both stages on a study, in order, and what they have come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from lseval.models import FailureNode, Link, Round, Study
from lseval.pipeline import stage1, stage2

STAGES = ("1", "2")


class Steps(Protocol):
    """Whoever watches the work go forward."""

    def advance(self) -> None:
        """One more run is done."""


class _Unwatched:
    def advance(self) -> None:
        pass


def unwatched(label: str, total: int) -> AbstractContextManager[Steps]:
    """Nobody watches."""
    return nullcontext(_Unwatched())


def evaluate(
    study: Study,
    stages: tuple[str, ...] = STAGES,
    *,
    again: bool = False,
    watch: Callable[[str, int], AbstractContextManager[Steps]] = unwatched,
) -> dict[str, dict[str, int]]:
    """Run the stages on what waits for them (on everything with `again`); returns `stage_counts`.

    A run that gets new verdicts is audited anew as well, since its links depend on them. What is done stays done
    when the work is cut short, and the next call continues.
    """
    if "1" in stages:
        waiting = stage1.runs_to_verify(study, again=again)
        with watch("Stage 1: runs verified", len(waiting)) as steps:
            stage1.verify_runs(waiting, steps.advance)
    if "2" in stages:
        waiting = stage2.runs_to_audit(study, again=again)
        with watch("Stage 2: runs audited", len(waiting)) as steps:
            stage2.audit_runs(waiting, steps.advance)
    return stage_counts(study)


def stage_counts(study: Study) -> dict[str, dict[str, int]]:
    """What the stages have come to so far: verdicts by label, rounds by consensus, failure nodes and links."""
    rounds = Round.objects.filter(run__study=study)
    reached = Counter(
        verdict or "waiting"
        for verdict in rounds.filter(skip_reason="").values_list("consensus__verdict", flat=True)
    )
    pre_skipped = rounds.exclude(skip_reason="").count()
    return {
        "verdicts": stage1.verdict_counts(study),
        "rounds": {"all": pre_skipped + reached.total(), "pre_skipped": pre_skipped, **reached},
        "process": {
            "failure_nodes": FailureNode.objects.filter(run__study=study).count(),
            "links": Link.objects.filter(run__study=study).count(),
        },
    }
