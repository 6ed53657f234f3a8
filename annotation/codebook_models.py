"""The versions of a study's codebook that leads have published."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from lseval.models import Study, User


class CodebookVersion(models.Model):
    """A version of a study's codebook: the guidelines as labelers read them, in Markdown.

    Versions are appended and never changed. `number` counts from 2: version 1 is the program's own, see
    `annotation.codebook`.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="codebook_versions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    note = models.CharField(max_length=300, help_text="what changed, in a line")
    published_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    published_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["study_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "number"], name="one_codebook_per_study_and_number"),
            models.CheckConstraint(name="published_codebook_from_2", condition=models.Q(number__gte=2)),
            models.CheckConstraint(name="codebook_has_text", condition=~models.Q(text="")),
        ]

    def __str__(self) -> str:
        return f"codebook {self.number} of {self.study}"
