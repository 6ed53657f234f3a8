"""A run as it happened: attempts, turns, tool calls, normalized rounds, and the pages that were read."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from lseval.domain.labels import PageOutcome, SkipReason
from lseval.models.study import EvaluatedModel, Study, Task


def _choices(values: type[PageOutcome] | type[SkipReason]) -> list[tuple[str, str]]:
    return [(value.value, value.value.replace("_", " ")) for value in values]


class Run(models.Model):
    """The one retained trajectory of a model on a task.

    `source_digest` is the digest of the imported record, by which a second import knows the run again. The
    markers are those of the paper's Figure A6; whether a run was resumed follows from its attempts.
    `grouping_origin` names the model and the prompt that took the response apart, and `grouping_digest` is the
    SHA-256 of that prompt; both are empty where rules did.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    task = models.ForeignKey(Task, models.CASCADE, related_name="runs")
    model = models.ForeignKey(EvaluatedModel, models.CASCADE, related_name="runs")
    final_answer = models.TextField(blank=True)
    grouping_method = models.CharField(max_length=20, blank=True)
    grouping_origin = models.CharField(max_length=300, blank=True, default="", db_default="")
    grouping_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    source_format = models.CharField(max_length=40)
    source_name = models.CharField(max_length=500, blank=True)
    source_digest = models.CharField(max_length=64)
    started_at = models.DateTimeField(null=True, blank=True)
    imported_at = models.DateTimeField(auto_now_add=True)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    cached_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    reasoning_tokens = models.BigIntegerField(null=True, blank=True)
    is_valid_final = models.BooleanField(help_text="at least one answer group with at least one URL")
    is_premature = models.BooleanField(
        null=True, help_text="answered before any page text was read; unknown without a trajectory"
    )
    is_final_only = models.BooleanField(help_text="the answer was asked for without tools after the budget")
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["task_id", "model_id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "model", "task"], name="one_run_per_study_model_and_task")
        ]

    def __str__(self) -> str:
        return f"{self.model} on {self.task}"


class Attempt(models.Model):
    """One try at a run. Retries and resumes are further attempts and never add a sample."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_run_and_number"),
            models.CheckConstraint(name="attempt_number_from_1", condition=models.Q(number__gte=1)),
        ]


class Round(models.Model):
    """A normalized round: an assistant turn with its tool calls, numbered from 1 within its run.

    `skip_reason` is the deterministic rule that keeps it from the judges; empty for a round that goes to them.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    skip_reason = models.CharField(max_length=20, blank=True, choices=_choices(SkipReason))

    class Meta:
        ordering: ClassVar = ["run_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_round_per_run_and_number"),
            models.CheckConstraint(name="round_number_from_1", condition=models.Q(number__gte=1)),
            models.CheckConstraint(
                name="skip_reason_is_known", condition=models.Q(skip_reason__in=["", *SkipReason])
            ),
        ]

    def __str__(self) -> str:
        return f"R{self.number}"


class Turn(models.Model):
    """One assistant turn as the source has it. A turn that repeats a failed call shares its round."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="turns")
    round = models.ForeignKey(Round, models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    agent = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)
    reasoning = models.TextField(blank=True, help_text="kept as recorded; no judge sees it")
    source_step = models.IntegerField(null=True, blank=True, help_text="0-based index in the source's messages")

    class Meta:
        ordering: ClassVar = ["run_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_turn_per_run_and_number")
        ]


class PageSource(models.TextChoices):
    """How the program came by a page."""

    RECORDED = "recorded", "recorded in the trajectory"
    FETCHED = "fetched", "fetched by this program"
    SAVED = "saved", "from a folder of saved pages"


class Page(models.Model):
    """A snapshot of a URL. A recorded one belongs to the run that read it, a fetched one to the study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="pages")
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="pages")
    source = models.CharField(max_length=10, choices=PageSource.choices)
    url = models.TextField(help_text="as it was asked for")
    canonical_key = models.TextField()
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    text_digest = models.CharField(max_length=64, help_text="SHA-256 of the text in UTF-8")
    outcome = models.CharField(max_length=20, choices=_choices(PageOutcome))
    detail = models.TextField(blank=True, help_text="the outcome in a few words")
    final_url = models.TextField(blank=True, help_text="where the redirects ended")
    status = models.PositiveIntegerField(null=True, blank=True)
    hops = models.JSONField(default=list, blank=True)
    headers = models.JSONField(default=dict, blank=True)
    content_type = models.TextField(blank=True, help_text="what the server called it")
    sniffed_type = models.CharField(max_length=100, blank=True, help_text="what its bytes are")
    content_digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the bytes")
    decoder = models.CharField(max_length=40, blank=True)
    decoder_source = models.CharField(max_length=20, blank=True, help_text="bom, header, meta or guess")
    flags = models.JSONField(default=list, blank=True)
    retrieved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "run", "source", "canonical_key"],
                name="one_page_per_run_source_and_key",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="recorded_page_has_its_run",
                condition=models.Q(source="recorded", run__isnull=False)
                | (~models.Q(source="recorded") & models.Q(run__isnull=True)),
            ),
            models.CheckConstraint(name="page_outcome_is_known", condition=models.Q(outcome__in=list(PageOutcome))),
        ]

    def __str__(self) -> str:
        return self.title or self.url


class PageContent(models.Model):
    """The bytes of a fetched page, kept apart so that no list of pages drags them along."""

    page = models.OneToOneField(Page, models.CASCADE, primary_key=True, related_name="content")
    body = models.BinaryField()


class ToolCall(models.Model):
    """One call of a tool with its observation; `name` is the protocol's where the source's tool corresponds."""

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="tool_calls")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    original_name = models.CharField(max_length=200, blank=True)
    arguments = models.JSONField(default=dict)
    observation = models.TextField(null=True, blank=True)  # noqa: DJ001 - no result differs from an empty one
    is_error = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["turn_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["turn", "number"], name="one_tool_call_per_turn_and_number")
        ]


class ReferenceLabel(models.Model):
    """A person's opinion imported with a run: the step named as decisive. `round` is where that step ended up."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="reference_labels")
    round = models.ForeignKey(Round, models.CASCADE, null=True, blank=True, related_name="reference_labels")
    step = models.IntegerField(help_text="0-based index in the source's messages")
    agent = models.CharField(max_length=200, blank=True)
    error_type = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    source = models.CharField(max_length=200, blank=True)
