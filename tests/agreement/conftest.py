"""An audit with labels of known value."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from annotation.models import Audit, Item, LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit
from annotation.simulation import simulate_labels
from lseval.models import Study
from tests.factories import give_verdict, make_run, make_study


@dataclass(frozen=True)
class Audited:
    """Three tasks, one run each with two groups; automatic CC, CI, UI; what H1 and H2 say is in `h1` and `h2`."""

    study: Study
    audit: Audit


AUTOMATIC = {"t1": "CC", "t2": "CI", "t3": "UI"}
H1 = {"t1": "CI", "t2": "CI", "t3": "UC"}
H2 = {"t1": "CI", "t2": "CC", "t3": "UC"}


def labels_from(said: dict[str, str]):
    """A labeler who says these labels on the groups of each task."""

    def label(item: Item) -> str | None:
        return said[item.run.task.key][item.group.number - 1] if item.kind == "group" else None

    return label


@pytest.fixture
def audited(db: None) -> Audited:
    """The audit, with simulated labels of both roles and no error."""
    study = make_study()
    for task, labels in AUTOMATIC.items():
        give_verdict(make_run(study, task), *labels)
    plan = Plan(tasks=3, responses_per_task=1, h2_tasks=3, link_trajectories=0, round_trajectories=0)
    audit = create_audit(study, plan, 1, "A", None)
    simulate_labels(audit, LabelerRole.H1, labels_from(H1), 1, 0)
    simulate_labels(audit, LabelerRole.H2, labels_from(H2), 1, 0)
    return Audited(study, audit)
