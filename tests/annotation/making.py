"""Small audits for the tests of this folder."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from annotation import labels, leases, services
from annotation.labels import Submission
from annotation.models import Audit, Lease, Queue, Slot
from annotation.sampling import Plan
from lseval.models import AnswerGroup, FailureNode, Link, Role, Run, Study, User
from tests.factories import give_verdict, make_run, make_study, make_user

GROUPS_ONLY = Plan(link_trajectories=0, round_trajectories=0)


@dataclass(frozen=True)
class Made:
    """A study with an audit: three tasks, two models, two groups and two rounds a run; two seated people."""

    study: Study
    audit: Audit
    h1: Queue
    h2: Queue
    first: User
    second: User
    lead: User


def make_audit(plan: Plan = GROUPS_ONLY, *, slug: str = "s1", tasks: int = 3, seed: int = 1) -> Made:
    """See `Made`. People are named after the study: first-s1, second-s1, lead-s1."""
    study = make_study(slug)
    for task in range(1, tasks + 1):
        for model in ("m1", "n1"):
            make_run(study, f"t{task}", model)
    audit = services.create_audit(study, plan, seed, "A", None)
    queues = {queue.role: queue for queue in audit.queues.select_related("audit__study")}
    first, second = (make_user(f"{name}-{slug}", study) for name in ("first", "second"))
    services.seat(queues["H1"], first)
    services.seat(queues["H2"], second)
    lead = make_user(f"lead-{slug}", study, Role.LEAD)
    return Made(study, audit, queues["H1"], queues["H2"], first, second, lead)


def add_link(run: Run) -> Link:
    """A failure node on the run's second round, linked to its first group, which is called incorrect."""
    give_verdict(run, *["I"] * run.answer_groups.count())
    found = run.rounds.get(number=2)
    node = FailureNode.objects.create(run=run, round=found, error_type="wrong_entity")
    group = AnswerGroup.objects.get(run=run, number=1)
    return Link.objects.create(run=run, node=node, round=found, group=group)


def submit(slot: Slot, user: User, label: str = "C", **changes: Any) -> Submission:
    """Store a label with a key of its own on the slot as it stands in `slot`."""
    given: dict[str, Any] = {"request_key": uuid.uuid4(), "base_version": slot.version, **changes}
    return labels.submit_label(slot.pk, user, label, **given)


def next_slot(queue: Queue, user: User) -> Slot:
    """The next slot; fails the test where there is none."""
    slot = leases.claim_next(queue, user)
    assert slot is not None
    return slot


def give(slot: Slot, user: User) -> Slot:
    """Put the slot before the person, whoever had it, as a fresh lease would."""
    leases.hold(slot.pk, user)
    return slot


def expire(slot: Slot) -> None:
    """Move the end of the slot's lease into the past."""
    from datetime import timedelta

    from django.db.models.functions import Now

    Lease.objects.filter(slot=slot).update(expires_at=Now() - timedelta(seconds=1))
