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


class Call(models.Model):
    """One attempt at a request to an outside provider, written before anything uses the reply.

    Keyed by (study, phase, digest of the request, repeat): at most one reply each. An error is recorded, as an
    attempt of its own, and never served from the cache. `request` holds the parameters, and of a chat the digests
    of its messages (`StoredMessage`). `cost_usd` is None where the study states no price: *unpriced*, never 0.
    `task` and `model` say which run the call was made for, where it was made for one.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="calls", db_index=False)
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
    request = models.JSONField()
    reply = models.JSONField(null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    cached_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    reasoning_tokens = models.BigIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=20, decimal_places=12, null=True, blank=True)
    upper_cost_usd = models.DecimalField(
        max_digits=20, decimal_places=12, null=True, blank=True, help_text="with no discount for cached tokens"
    )
    latency_s = models.FloatField(null=True, blank=True)
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
