"""Studies whose stages have been through, with results set by hand, for the tests of the site's pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.test import Client

from annotation.labels import submit_label
from annotation.leases import claim_next
from annotation.models import Audit, LabelVersion, Queue, Slot
from annotation.request_keys import request_key
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from lseval.domain.trajectory import ToolCallRecord, TurnRecord
from lseval.models import FailureNode, Judgement, Link, Role, RoundConsensus, Run, SecondVerdict, Study, User
from tests.factories import PAGE_TEXT, give_verdict, make_run, make_study, make_user


@dataclass(frozen=True)
class World:
    """A study with a run on which both stages have been, one person in each role, and one of another study.

    An audit has been drawn; the annotator sits in H1's queue and holds `slot`.
    """

    study: Study
    run: Run
    lead: User
    researcher: User
    annotator: User
    outsider: User
    audit: Audit
    queue: Queue
    slot: Slot


def make_world(slug: str = "s1") -> World:
    """The world; the run has groups C and I, and its last round is a failure node linked to group 2."""
    study = make_study(slug)
    run = make_run(study)
    give_verdict(run, "C", "I")
    last = run.rounds.order_by("number").last()
    give_judgements(run, last.number, "error", "error", error_type="wrong_entity", groups=[2])
    audit = create_audit(study, Plan(), 1, "first", None)
    queue = queue_of(audit, "H1")
    annotator = make_user(f"{slug}-annotator", study, Role.ANNOTATOR)
    seat(queue, annotator)
    slot = claim_next(queue, annotator)
    assert slot is not None
    return World(
        study=study,
        run=run,
        lead=make_user(f"{slug}-lead", study, Role.LEAD),
        researcher=make_user(f"{slug}-researcher", study, Role.RESEARCHER),
        annotator=annotator,
        outsider=make_user(f"{slug}-outsider", make_study(f"{slug}-other"), Role.LEAD),
        audit=audit,
        queue=queue,
        slot=slot,
    )


def signed_in(user: User | None) -> Client:
    """A browser of the person; of nobody where None."""
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def reading_turns(count: int) -> tuple[TurnRecord, ...]:
    """So many turns, each of which reads a page of its own and says what it found."""
    return tuple(
        TurnRecord(
            f"The ferry of page {number} opened in {1900 + number}.",
            (ToolCallRecord("read_page", "read_page", {"url": f"https://f.example/{number}"}, PAGE_TEXT),),
        )
        for number in range(count)
    )


def give_judgements(
    run: Run, number: int, verdict_a: str, verdict_b: str, *, error_type: str = "", groups: list[int] | None = None
) -> None:
    """Store both judgements of a round and what they come to, links to the given groups included."""
    found = run.rounds.get(number=number)
    found.skip_reason = ""
    found.save()
    named = list(run.answer_groups.filter(number__in=groups or []))
    for role, verdict in (("A", verdict_a), ("B", verdict_b)):
        judgement = Judgement.objects.create(
            round=found,
            judge_role=role,
            verdict=verdict,
            error_type=error_type if verdict == "error" else "",
            explanation=f"Judge {role} looked at round {number}.",
            judge=f"judge {role} of a test",
            judge_version="1",
        )
        judgement.groups.set(named if verdict == "error" else [])
    verdicts = {verdict_a, verdict_b}
    agreed = next((word for word in ("unjudged", "skipped") if word in verdicts), None)
    if agreed is None:
        agreed = "error" if verdicts == {"error"} else "non_error"
    RoundConsensus.objects.create(
        round=found, verdict=agreed, is_split=agreed == "non_error" and "error" in verdicts
    )
    if agreed == "error":
        node = FailureNode.objects.create(
            run=run, round=found, error_type=error_type or "unassigned", is_type_agreed=bool(error_type)
        )
        Link.objects.bulk_create(Link(run=run, node=node, round=found, group=group) for group in named)


def give_label(world: World) -> LabelVersion:
    """A label of the annotator on the slot that they hold, made once."""
    found = LabelVersion.objects.filter(slot=world.slot).first()
    if found is not None:
        return found
    key = request_key("label", world.slot.pk, 0, world.annotator.pk)
    return submit_label(world.slot.pk, world.annotator, "C", request_key=key, base_version=0).version


def give_second_verdict(world: World) -> SecondVerdict:
    """A second judge's verdict on the run's first group, made once."""
    given = {"label": "I", "reason": "set by a test", "judge": "second", "judge_version": "1"}
    return SecondVerdict.objects.get_or_create(group=world.run.answer_groups.all()[0], defaults=given)[0]
