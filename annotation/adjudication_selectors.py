"""What adjudicators and leads read of disagreements. Labelers' pages never use this file."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation.models import (
    Audit,
    Between,
    Disagreement,
    Item,
    ItemKind,
    LabelAction,
    LabelerRole,
    LabelVersion,
    Queue,
    Seat,
    Slot,
    SlotStatus,
)
from lseval.domain.labels import GroupLabel, LinkLabel, RoundLabel
from lseval.models import Link, Membership, Role, Study, User

RATERS = (LabelerRole.H1, LabelerRole.H2)


@dataclass(frozen=True, slots=True)
class Side:
    """One of two labels that differ. `version` is the id of the label version, None for the automatic verdict."""

    label: str
    error_type: str = ""
    comment: str = ""
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """The two labels of an item in the order in which an adjudicator sees them; it tells nothing of whose is whose.

    `key` changes when either label does.
    """

    between: Between
    sides: tuple[Side, Side]

    @property
    def names(self) -> tuple[str, str]:
        if self.between == Between.PEOPLE:
            return "One labeler", "Another labeler"
        return "One label", "Another label"

    @property
    def key(self) -> str:
        return " ".join(str(side.version or f"automatic-{side.label}") for side in self.sides)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decided disagreement: whose labels were which, and what the adjudicator says."""

    slot: Slot
    between: Between
    labels: Mapping[str, str]
    decision: LabelVersion


@dataclass(frozen=True, slots=True)
class AdjudicationProgress:
    """The adjudicators' queue in numbers; `queue` is None where it has not been built yet.

    `settled` counts the items on which the labelers have come to agree; they are not `open`.
    """

    queue: Queue | None
    open: int
    settled: int
    decided: int
    skipped: int
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A disagreement that an adjudicator has skipped; the reason is the version's comment."""

    slot: Slot
    skip: LabelVersion


def present_disagreements(audit: Audit, *, with_automatic: bool) -> dict[int, Between]:
    """Item id to whose labels differ on it now, in the order of items.

    H1 and H2 differ where their labels in force do, or the types of an error that both see. With `with_automatic`
    come the items on which they do not differ but H1 and the automatic verdict do. An item that was skipped, or
    has no verdict, is in no disagreement.
    """
    labels = _in_force(audit)
    found: dict[int, Between] = {}
    items = audit.items.filter(pk__in=labels).select_related("group__verdict", "round__consensus").order_by("id")
    linked = _linked([audit]) if with_automatic else set()
    for item in items:
        first, second = (labels[item.pk].get(role) for role in RATERS)
        if first and second and (first.label, first.error_type) != (second.label, second.error_type):
            found[item.pk] = Between.PEOPLE
        elif with_automatic and first:
            automatic = _automatic_label(item, linked)
            if automatic and automatic != first.label:
                found[item.pk] = Between.AUTOMATIC
    return found


def new_disagreements(audit: Audit) -> dict[int, Between]:
    """The items on which H1 and H2 differ as in `present_disagreements`, and which are not queued for it yet.

    One that is queued because H1 and the automatic verdict differ stays what it is. One query.
    """
    in_force = LabelVersion.objects.filter(
        slot__queue__audit=audit,
        slot__queue__is_simulated=False,
        number=F("slot__version"),
        action=LabelAction.LABEL,
    )
    first = in_force.filter(slot__queue__role=LabelerRole.H1, slot__item=OuterRef("slot__item")).order_by()
    queued = Disagreement.objects.filter(
        Q(is_settled=False) | ~Q(slot__status=SlotStatus.OPEN),
        slot__item=OuterRef("slot__item"),
        slot__queue__role=LabelerRole.ADJUDICATOR,
        slot__queue__is_simulated=False,
    )
    differing = (
        in_force.filter(~Exists(queued), slot__queue__role=LabelerRole.H2)
        .annotate(
            first_label=Subquery(first.values("label")[:1]), first_type=Subquery(first.values("error_type")[:1])
        )
        .exclude(first_label=None)
        .exclude(label=F("first_label"), error_type=F("first_type"))
    )
    found = differing.order_by("slot__item_id").values_list("slot__item_id", flat=True)
    return dict.fromkeys(found, Between.PEOPLE)


def pair_of(slot: Slot) -> Pair | None:
    """The labels that differ on a slot of the adjudicators' queue; None where they do not differ any more."""
    item = Item.objects.select_related("audit", "group__verdict", "round__consensus").get(pk=slot.item_id)
    between = Between(slot.disagreement.between)
    labels = _in_force(item.audit, [item.pk])[item.pk]
    sides = _differing(item, between, labels, _linked([item.audit]) if between == Between.AUTOMATIC else ())
    if not sides:
        return None
    # Seeded, so that a reload does not change places, and whoever adjudicates sees the same.
    if random.Random(f"{item.audit.seed} pair {item.pk}").random() < 0.5:  # noqa: S311 - no secret
        sides.reverse()
    return Pair(between, (sides[0], sides[1]))


def _differing(
    item: Item, between: Between, labels: Mapping[str, LabelVersion], linked: Collection[tuple[int, int]]
) -> list[Side]:
    """The two labels of an item that differ, by their labels in force; empty where they do not."""
    sides = [_side(labels[role]) for role in RATERS if role in labels]
    if between == Between.AUTOMATIC:
        # Words beside one label only would tell which of them is a person's.
        sides = [Side(side.label, version=side.version) for side in sides[:1]]
        automatic = _automatic_label(item, linked)
        sides += [Side(automatic)] if automatic else []
    if len(sides) < 2 or (sides[0].label, sides[0].error_type) == (sides[1].label, sides[1].error_type):
        return []
    return sides


def settled_slots(queues: Collection[Queue]) -> dict[int, int]:
    """Slot id to queue id: the undecided disagreements in the adjudicators' queues on which labels agree by now.

    Nobody is given these, whether a rebuilding has marked them or not. Three queries at most, none without such
    a queue.
    """
    of_adjudicators = [
        queue for queue in queues if queue.role == LabelerRole.ADJUDICATOR and not queue.is_simulated
    ]
    if not of_adjudicators:
        return {}
    undecided = Slot.objects.filter(
        queue__in=of_adjudicators, status=SlotStatus.OPEN, disagreement__isnull=False
    ).order_by()
    slots = list(undecided.select_related("disagreement", "item__group__verdict", "item__round__consensus"))
    labels = _by_item(_labels_in_force().filter(slot__item__in=undecided.values("item_id")))
    automatic = [slot.queue_id for slot in slots if slot.disagreement.between == Between.AUTOMATIC]
    audits = [queue.audit_id for queue in of_adjudicators if queue.pk in automatic]
    linked = _linked(audits) if audits else set()
    return {
        slot.pk: slot.queue_id
        for slot in slots
        if slot.disagreement.is_settled
        or not _differing(slot.item, Between(slot.disagreement.between), labels.get(slot.item_id, {}), linked)
    }


def rulings_of(audit: Audit) -> list[Ruling]:
    """The disagreements that adjudicators have decided, newest first. Five queries, however many there are."""
    decisions = list(
        LabelVersion.objects.filter(
            slot__queue__audit=audit,
            slot__queue__role=LabelerRole.ADJUDICATOR,
            slot__queue__is_simulated=False,
            number=F("slot__version"),
            action=LabelAction.LABEL,
        )
        .select_related(
            "user",
            "slot__disagreement",
            "slot__item__run__task",
            "slot__item__group__verdict",
            "slot__item__round__consensus",
        )
        .order_by("-id")
    )
    labels = _in_force(audit, [decision.slot.item_id for decision in decisions])
    linked = _linked([audit]) if decisions else set()
    rulings = []
    for decision in decisions:
        item, between = decision.slot.item, Between(decision.slot.disagreement.between)
        shown = {str(role): version.label for role, version in labels[item.pk].items()}
        if between == Between.AUTOMATIC:
            shown["automatic"] = _automatic_label(item, linked)
        rulings.append(Ruling(decision.slot, between, shown, decision))
    return rulings


def skips_of(audit: Audit) -> list[SetAside]:
    """The disagreements that adjudicators have skipped, newest first. One query."""
    skips = (
        LabelVersion.objects.filter(
            slot__queue__audit=audit,
            slot__queue__role=LabelerRole.ADJUDICATOR,
            slot__queue__is_simulated=False,
            number=F("slot__version"),
            action=LabelAction.SKIP,
        )
        .select_related("user", "slot__item__run__task", "slot__item__group", "slot__item__round")
        .order_by("-id")
    )
    return [SetAside(version.slot, version) for version in skips]


def adjudication_progress(audit: Audit) -> AdjudicationProgress:
    """How far the adjudicators' queue is, and who sits in it."""
    queue = adjudicator_queue(audit)
    if queue is None:
        return AdjudicationProgress(None, 0, 0, 0, 0, ())
    slots = Slot.objects.filter(queue=queue, disagreement__isnull=False)
    settled = len(settled_slots([queue]))
    counts = Counter(slots.values_list("status", flat=True))
    people = queue.seats.order_by("user__username").values_list("user__username", flat=True)
    return AdjudicationProgress(
        queue,
        open=counts[SlotStatus.OPEN] - settled,
        settled=settled,
        decided=counts[SlotStatus.LABELED],
        skipped=counts[SlotStatus.SKIPPED],
        people=tuple(people),
    )


def adjudicator_queue(audit: Audit) -> Queue | None:
    """The people's queue of adjudicators, where it has been built."""
    return audit.queues.filter(role=LabelerRole.ADJUDICATOR, is_simulated=False).first()


def people_to_adjudicate(audit: Audit) -> list[User]:
    """The study's leads and annotators who have no place in the audit yet, by name."""
    seated = Seat.objects.filter(audit=audit).values("user_id")
    memberships = (
        Membership.objects.filter(
            study_id=audit.study_id, role__in=(Role.LEAD, Role.ANNOTATOR), user__is_simulated=False
        )
        .exclude(user_id__in=seated)
        .select_related("user")
        .order_by("user__username")
    )
    return [membership.user for membership in memberships]


def sits_over_the_same_items(user: User, audit: Audit, roles: Collection[str]) -> bool:
    """Whether the person has one of the roles in another audit of the study, over an item that this one holds too.

    An adjudicator sees what others label it, so they could not label it blind.
    """
    own = Item.objects.filter(
        audit__in=Seat.objects.filter(user=user, queue__role__in=roles, audit__study_id=audit.study_id).values(
            "audit_id"
        )
    ).exclude(audit=audit)
    here = audit.items.all()
    return (
        own.filter(group_id__in=here.exclude(group=None).values("group_id")).exists()
        or own.filter(round_id__in=here.exclude(round=None).values("round_id")).exists()
    )


def own_adjudicator_queues(user: User, study: Study) -> list[Queue]:
    """The adjudicators' queues in which the person sits, newest audit first."""
    queues = Queue.objects.filter(audit__study=study, seats__user=user, role=LabelerRole.ADJUDICATOR)
    return list(queues.select_related("audit").order_by("-audit_id"))


def _in_force(audit: Audit, items: Collection[int] | None = None) -> dict[int, dict[str, LabelVersion]]:
    """Item id to role to the label in force that a person gave."""
    versions = _labels_in_force().filter(slot__queue__audit=audit)
    return _by_item(versions if items is None else versions.filter(slot__item_id__in=items))


def _labels_in_force() -> QuerySet[LabelVersion]:
    """Those of people who label."""
    return LabelVersion.objects.filter(
        slot__queue__role__in=RATERS,
        slot__queue__is_simulated=False,
        number=F("slot__version"),
        action=LabelAction.LABEL,
    ).select_related("slot__queue")


def _by_item(versions: QuerySet[LabelVersion]) -> dict[int, dict[str, LabelVersion]]:
    found: dict[int, dict[str, LabelVersion]] = defaultdict(dict)
    for version in versions:
        found[version.slot.item_id][version.slot.queue.role] = version
    return found


def _side(version: LabelVersion) -> Side:
    return Side(version.label, version.error_type, version.comment, version.pk)


def _linked(audits: Collection[Audit | int]) -> set[tuple[int, int]]:
    links = Link.objects.filter(run__items__audit__in=audits, run__items__kind=ItemKind.LINK).distinct()
    return set(links.values_list("round_id", "group_id"))


def _automatic_label(item: Item, linked: Collection[tuple[int, int]]) -> str:
    """What the machine says of the item in people's words; empty where it says nothing they could."""
    if item.kind == ItemKind.GROUP:
        verdict = getattr(item.group, "verdict", None)
        return verdict.label if verdict and verdict.label in list(GroupLabel) else ""
    if item.kind == ItemKind.ROUND:
        consensus = getattr(item.round, "consensus", None)
        return consensus.verdict if consensus and consensus.verdict in list(RoundLabel) else ""
    return LinkLabel.CORRESPONDS if (item.round_id, item.group_id) in linked else ""
