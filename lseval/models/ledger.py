"""The ledger of provider calls: the cache, the replay, the audit trail and the bill."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from lseval.models.study import EvaluatedModel, Study, Task


class Phase(models.TextChoices):
    """What a call was made for: the rows of Table A11, rubric and grouping being part of Stage 1."""

    COLLECTION = "collection", "collection"
    STAGE_1 = "stage1", "Stage 1"
    STAGE_2 = "stage2", "Stage 2"


class CallKind(models.TextChoices):
    """Who was asked."""

    CHAT = "chat", "language model"
    SEARCH = "search", "search engine"
    FETCH = "fetch", "web page"


class StoredMessage(models.Model):
    """One message of a chat, kept once a study and referred to by its digest (SHA-256 of `body`'s canonical JSON).

    So what a run stores grows with its rounds, and not with their square.
    """

    pk = models.CompositePrimaryKey("study_id", "digest")
    study = models.ForeignKey(Study, models.CASCADE, related_name="stored_messages", db_index=False)
    digest = models.CharField(max_length=64)
    body = models.JSONField()


class CallFacts(models.Model):
    """What is told of one attempt at a request to an outside provider, beside what was asked and replied.

    `cost_usd` is None where the study states no price: *unpriced*, never 0. `task` and `model` say which run the
    call was made for, where it was made for one.
    """

    phase = models.CharField(max_length=20, choices=Phase.choices)
    kind = models.CharField(max_length=10, choices=CallKind.choices, default=CallKind.CHAT)
    task = models.ForeignKey(Task, models.CASCADE, null=True, related_name="+", db_index=False)
    model = models.ForeignKey(EvaluatedModel, models.CASCADE, null=True, related_name="+", db_index=False)
    role = models.CharField(
        max_length=60, blank=True, db_default="", help_text="who asked, and about what: stage1:G3, stage2_a:R12"
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of the canonical request")
    repeat = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=1)
    provider = models.CharField(max_length=200, help_text="the endpoint asked, without its key")
    asked_model = models.CharField(max_length=200, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    cached_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    reasoning_tokens = models.BigIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=20, decimal_places=12, null=True, blank=True)
    upper_cost_usd = models.DecimalField(
        max_digits=20, decimal_places=12, null=True, blank=True, help_text="with no discount for cached tokens"
    )
    latency_s = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True


class Call(CallFacts):
    """One attempt at a request to an outside provider, written before anything uses the reply.

    Keyed by (study, phase, digest of the request, repeat): at most one reply each. An error is recorded, as an
    attempt of its own, and never served from the cache. `request` holds the parameters, and of a chat the digests
    of its messages (`StoredMessage`).
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="calls", db_index=False)
    request = models.JSONField()
    reply = models.JSONField(null=True, blank=True)
    error_message = models.TextField(blank=True)
    called_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["study", "task", "model"], name="calls_of_a_run")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "phase", "digest", "repeat"],
                name="one_reply_per_request_and_repeat",
                condition=models.Q(error_code=""),
            ),
            models.UniqueConstraint(
                fields=["study", "phase", "digest", "repeat", "attempt"], name="one_call_per_attempt"
            ),
            models.CheckConstraint(
                name="call_has_reply_or_error",
                condition=models.Q(reply__isnull=False, error_code="") | ~models.Q(error_code=""),
            ),
        ]


class MovedCall(CallFacts):
    """A call that was made where the study was before it was moved here: its facts, without request and reply.

    They stand in a table of their own, which no look-up of a reply reads, so that none can be taken for a reply.
    Ids of another database are part of a search's digest, and attempts are counted anew in each ledger, so that a
    call is known by its task, its model and its time as well.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="moved_calls", db_index=False)
    called_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "phase", "digest", "repeat", "attempt", "task", "model", "called_at"],
                name="one_moved_call_per_attempt",
                nulls_distinct=False,
            ),
        ]


class AnyCall(CallFacts):
    """The facts of every call of a study, of its ledger and of the moved ones: what costs are summed over.

    A view (migration 0007). A migration that alters a column of `Call` drops it first and makes it again.
    """

    study = models.ForeignKey(Study, models.DO_NOTHING, related_name="+")
    task = models.ForeignKey(Task, models.DO_NOTHING, null=True, related_name="+")
    model = models.ForeignKey(EvaluatedModel, models.DO_NOTHING, null=True, related_name="+")
    called_at = models.DateTimeField()
    is_moved = models.BooleanField()

    class Meta:
        managed = False
        db_table = "lseval_anycall"
