"""Stage 1: what a run is scored by, what it supplied, what it cites, and the verdicts."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models

from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.models.trajectory import Run

VERDICT_LABELS = [*GroupLabel, UNJUDGED]


class Rubric(models.Model):
    """Required count, hard constraints, grouping rule and required fields that a run is scored by.

    `prompt_digest` is the SHA-256 of the prompt where a model read the question, else empty.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="rubric")
    required_count = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    constraints = models.JSONField(default=list)
    grouping_rule = models.TextField(blank=True)
    required_fields = models.JSONField(default=list)
    origin = models.CharField(max_length=300, help_text="given with the task, or the name of what derived it")
    prompt_digest = models.CharField(max_length=64, blank=True, default="", db_default="")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="required_count_from_1", condition=models.Q(required_count__gte=1))
        ]


class AnswerGroup(models.Model):
    """One supplied answer unit of the final response; `start` and `end` are character offsets there."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="answer_groups")
    number = models.PositiveIntegerField()
    title = models.TextField(blank=True)
    text = models.TextField()
    fields = models.JSONField(default=dict, blank=True)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["run_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_answer_group_per_run_and_number"),
            models.CheckConstraint(
                name="answer_group_has_an_extent", condition=models.Q(end__gt=models.F("start"))
            ),
        ]

    def __str__(self) -> str:
        return f"G{self.number}"


class Citation(models.Model):
    """A source that a response cites. Without a group it is listed for the response but not tied to a group.

    A dangling one is a marker that points at no listed source, and has no URL.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="citations")
    group = models.ForeignKey(AnswerGroup, models.CASCADE, null=True, blank=True, related_name="citations")
    url = models.TextField(blank=True)
    canonical_key = models.TextField(blank=True)
    marker = models.TextField(blank=True)
    is_inline = models.BooleanField()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "group", "canonical_key"],
                name="one_citation_per_group_and_page",
                condition=~models.Q(url=""),
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="citation_has_url_or_marker", condition=~models.Q(url="") | ~models.Q(marker="")
            ),
        ]

    @property
    def is_dangling(self) -> bool:
        return not self.url


class Opinion(models.Model):
    """What a judge of Stage 1 says of a group, and the words on the pages that it rests on.

    `claims` is a list of {claim, status, note, quotation}, where a quotation is {page, text, start, end} and
    `page` the snapshot's id. `pages` lists {id, digest} of every snapshot the judge was given. `code` names the
    reason of an unjudged group, `flags` how the opinion was come by (repaired, page_cut, quotation_dropped,
    unquoted). `repeat` counts how often a person had it judged once more.
    """

    label = models.CharField(max_length=8, choices=[(value, value) for value in VERDICT_LABELS])
    reason = models.TextField()
    code = models.CharField(max_length=30, blank=True, default="")
    claims = models.JSONField(default=list)
    flags = models.JSONField(default=list, blank=True)
    pages = models.JSONField(default=list)
    judge = models.CharField(max_length=200)
    judge_version = models.CharField(max_length=100)
    repeat = models.PositiveIntegerField(default=0)
    judged_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class Verdict(Opinion):
    """Stage 1's label of a group, by the judge that counts."""

    group = models.OneToOneField(AnswerGroup, models.CASCADE, related_name="verdict")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="verdict_label_is_known", condition=models.Q(label__in=VERDICT_LABELS)),
            models.CheckConstraint(name="verdict_has_a_reason", condition=~models.Q(reason="")),
        ]


class SecondVerdict(Opinion):
    """A second judge's label of a group, for the agreement between judges; no score and no link rests on it."""

    group = models.OneToOneField(AnswerGroup, models.CASCADE, related_name="second_verdict")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="second_verdict_label_is_known", condition=models.Q(label__in=VERDICT_LABELS)
            ),
            models.CheckConstraint(name="second_verdict_has_a_reason", condition=~models.Q(reason="")),
        ]
