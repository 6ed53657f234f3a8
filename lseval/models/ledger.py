"""The ledger of provider calls: the cache, the replay, the audit trail and the bill."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from lseval.models.study import Study


class Call(models.Model):
    """One request to an outside provider. An error is recorded and never served from the cache."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="calls")
    phase = models.CharField(max_length=20)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the canonical request")
    repeat = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=1)
    provider = models.CharField(max_length=200)
    request = models.JSONField()
    reply = models.JSONField(null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    cached_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    reasoning_tokens = models.BigIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=9, null=True, blank=True)
    latency_s = models.FloatField(null=True, blank=True)
    called_at = models.DateTimeField(auto_now_add=True)

    class Meta:
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
