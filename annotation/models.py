"""Audits: drawn items, queues of labelers, leases, and labels as versions that are only ever appended."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotation.adjudication_models import Between as Between
from annotation.adjudication_models import Disagreement as Disagreement
from annotation.administration_models import AuditAction as AuditAction
from annotation.administration_models import AuditEvent as AuditEvent
from annotation.administration_models import Extension as Extension
from annotation.codebook_models import CodebookVersion as CodebookVersion
from annotation.flag_models import Flag as Flag
from annotation.progress_models import SlotCount as SlotCount
from annotation.reveal_models import Reveal as Reveal
from lseval.models import AnswerGroup, Round, Run, Study, User


class AuditStatus(models.TextChoices):
    """Whether an audit's queues are served."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class Audit(models.Model):
    """A drawn sample of groups, links or rounds for people to label.

    `plan` is what was asked for, `frame` what it was drawn from (counts and a digest); with `seed` they draw the
    same sample again.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="audits")
    name = models.CharField(max_length=100)
    seed = models.BigIntegerField()
    plan = models.JSONField()
    frame = models.JSONField()
    status = models.CharField(max_length=10, choices=AuditStatus.choices, default=AuditStatus.OPEN)
    reveal_after_submission = models.BooleanField(default=False)
    codebook_version = models.CharField(max_length=40, default="1")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "name"], name="one_audit_per_study_and_name"),
            models.CheckConstraint(name="audit_status_is_known", condition=models.Q(status__in=AuditStatus.values)),
        ]

    def __str__(self) -> str:
        return self.name


class ItemKind(models.TextChoices):
    """What is labeled."""

    GROUP = "group", "answer group"
    LINK = "link", "round-group link"
    ROUND = "round", "round"


class Item(models.Model):
    """One thing to label. A link item is kept as its round and group, so that it outlives a new Stage 2.

    `snapshots` fixes what every labeler of a group is shown: a list of {url, page}, one per cited URL in order,
    where `page` is the id of its snapshot when the audit was drawn, or null where there was none.
    """

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="items")
    kind = models.CharField(max_length=5, choices=ItemKind.choices)
    run = models.ForeignKey(Run, models.CASCADE, related_name="items")
    group = models.ForeignKey(AnswerGroup, models.CASCADE, null=True, blank=True, related_name="items")
    round = models.ForeignKey(Round, models.CASCADE, null=True, blank=True, related_name="items")
    inclusion_probability = models.FloatField()
    draw = models.PositiveSmallIntegerField(default=1, help_text="the draw it came with; 2 and on are extensions")
    snapshots = models.JSONField(default=list, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["audit", "kind", "group", "round"],
                name="one_item_per_audit_and_target",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="item_target_fits_its_kind",
                condition=models.Q(kind="group", group__isnull=False, round__isnull=True)
                | models.Q(kind="link", group__isnull=False, round__isnull=False)
                | models.Q(kind="round", group__isnull=True, round__isnull=False),
            ),
            models.CheckConstraint(
                name="inclusion_probability_in_0_1",
                condition=models.Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
            ),
        ]


class LabelerRole(models.TextChoices):
    """The independent roles in an audit."""

    H1 = "H1"
    H2 = "H2"
    ADJUDICATOR = "adjudicator"


class Queue(models.Model):
    """A role's ordered items in an audit. Simulated labels have queues of their own and never mix with people's."""

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="queues")
    role = models.CharField(max_length=11, choices=LabelerRole.choices)
    is_simulated = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["audit", "role", "is_simulated"], name="one_queue_per_audit_and_role"),
            models.CheckConstraint(name="queue_role_is_known", condition=models.Q(role__in=LabelerRole.values)),
        ]

    def __str__(self) -> str:
        return f"{self.role} (simulated)" if self.is_simulated else self.role


class Seat(models.Model):
    """A person's place in a queue. One person holds one role in an audit at most.

    `run` is the response that they are working through: others of their role are given other ones first.
    """

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="seats")
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="seats")
    user = models.ForeignKey(User, models.CASCADE, related_name="seats")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["audit", "user"], name="one_role_per_audit_and_user")
        ]


class SlotStatus(models.TextChoices):
    """Where an item stands in a queue."""

    OPEN = "open"
    LABELED = "labeled"
    SKIPPED = "skipped"


class Slot(models.Model):
    """An item's place in a queue. `status` and `version` follow from its label versions, late ones left aside.

    `run` and `stage` are the item's: groups are stage 0, rounds 1, links 2. The database fills them in when a slot
    is added, so that finding the next open slot needs one index.
    """

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    status = models.CharField(max_length=8, choices=SlotStatus.choices, default=SlotStatus.OPEN)
    version = models.PositiveIntegerField(default=0, help_text="number of its label version in force; 0 for none")
    run = models.ForeignKey(Run, models.CASCADE, editable=False, related_name="+")
    stage = models.PositiveSmallIntegerField(editable=False)

    class Meta:
        ordering: ClassVar = ["queue_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["queue", "item"], name="one_slot_per_queue_and_item"),
            models.UniqueConstraint(fields=["queue", "position"], name="one_slot_per_queue_and_position"),
            models.CheckConstraint(name="slot_status_is_known", condition=models.Q(status__in=SlotStatus.values)),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["queue", "stage", "run", "position"],
                name="open_slots_by_run",
                condition=models.Q(status="open"),
            )
        ]


class Lease(models.Model):
    """A person's hold on a slot until `expires_at`, by the database's clock."""

    slot = models.OneToOneField(Slot, models.CASCADE, related_name="lease")
    user = models.ForeignKey(User, models.CASCADE, related_name="leases")
    leased_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()


class LabelAction(models.TextChoices):
    """What a version does."""

    LABEL = "label"
    SKIP = "skip"
    UNDO = "undo"


class LabelVersion(models.Model):
    """One thing a person did on an item. Versions are appended and never changed.

    `is_late` marks work that came in after somebody else had decided the item; it is kept and never in force. The
    newest of the others is in force; where that is an undo, the item is open again. `visible` records what the
    person had before them: see `annotation.evidence`.
    """

    slot = models.ForeignKey(Slot, models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    action = models.CharField(max_length=5, choices=LabelAction.choices)
    label = models.CharField(max_length=12, blank=True)
    error_type = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True)
    user = models.ForeignKey(User, models.PROTECT, related_name="label_versions", db_index=False)
    is_simulated = models.BooleanField(default=False)
    is_late = models.BooleanField(default=False)
    codebook_version = models.CharField(max_length=40)
    evidence_digest = models.CharField(max_length=64)
    visible = models.JSONField(default=dict, blank=True)
    seconds_on_task = models.FloatField(null=True, blank=True)
    request_key = models.UUIDField()
    source = models.CharField(max_length=200, blank=True, help_text="where an imported label comes from")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["slot_id", "number"]
        indexes: ClassVar = [models.Index(fields=["user", "-id"], name="versions_by_person")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slot", "number"], name="a_label_version_is_unique"),
            models.UniqueConstraint(fields=["user", "request_key"], name="one_version_per_request"),
            models.CheckConstraint(name="label_version_from_1", condition=models.Q(number__gte=1)),
            models.CheckConstraint(name="label_action_is_known", condition=models.Q(action__in=LabelAction.values)),
            models.CheckConstraint(
                name="label_comes_with_the_action_label",
                condition=(models.Q(action="label") & ~models.Q(label=""))
                | (~models.Q(action="label") & models.Q(label="")),
            ),
        ]
