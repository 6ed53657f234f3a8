"""The rows as JSON. What each field means stands at the model's."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from annotation.models import Audit, LabelVersion
from lseval.models import (
    AnswerGroup,
    Citation,
    EvaluatedModel,
    FailureNode,
    Judgement,
    Link,
    Round,
    Rubric,
    Run,
    SecondVerdict,
    Task,
    ToolCall,
    Turn,
    Verdict,
)


class _Row(serializers.ModelSerializer[Any]):
    """Only read: the API changes nothing."""


class TaskSerializer(_Row):
    class Meta:
        model = Task
        fields: ClassVar = ["id", "key", "question", "topic", "language", "gold_answer", "rubric"]


class EvaluatedModelSerializer(_Row):
    """Without its settings, which say how its provider is reached."""

    class Meta:
        model = EvaluatedModel
        fields: ClassVar = ["id", "name", "family"]


class RubricSerializer(_Row):
    class Meta:
        model = Rubric
        fields: ClassVar = [
            "required_count", "constraints", "grouping_rule", "required_fields", "origin", "prompt_digest",
        ]  # fmt: skip


class RunSerializer(_Row):
    task_key = serializers.CharField(source="task.key")
    model_name = serializers.CharField(source="model.name")
    rubric = RubricSerializer(allow_null=True, default=None)

    class Meta:
        model = Run
        fields: ClassVar = [
            "id", "task", "task_key", "model", "model_name", "final_answer", "rubric", "grouping_method",
            "grouping_origin", "grouping_digest", "source_format", "source_name", "source_digest", "started_at",
            "imported_at", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "is_valid_final",
            "is_premature", "is_final_only", "metadata",
        ]  # fmt: skip


class ToolCallSerializer(_Row):
    class Meta:
        model = ToolCall
        fields: ClassVar = ["id", "number", "name", "original_name", "arguments", "observation", "is_error"]


class TurnSerializer(_Row):
    tool_calls = ToolCallSerializer(many=True)

    class Meta:
        model = Turn
        fields: ClassVar = ["id", "number", "agent", "text", "reasoning", "source_step", "tool_calls"]


class RoundSerializer(_Row):
    verdict = serializers.CharField(source="consensus.verdict", allow_null=True, default=None)
    is_split = serializers.BooleanField(source="consensus.is_split", allow_null=True, default=None)
    turns = TurnSerializer(many=True)

    class Meta:
        model = Round
        fields: ClassVar = ["id", "run", "number", "skip_reason", "verdict", "is_split", "turns"]


class CitationSerializer(_Row):
    class Meta:
        model = Citation
        fields: ClassVar = ["id", "url", "marker", "is_inline"]


class GroupSerializer(_Row):
    citations = CitationSerializer(many=True)

    class Meta:
        model = AnswerGroup
        fields: ClassVar = ["id", "run", "number", "title", "text", "start", "end", "citations"]

    def get_fields(self) -> dict[str, Any]:
        # A serializer has `fields` of its own, so that a field of this name cannot be declared.
        return {**super().get_fields(), "fields": serializers.JSONField()}


_OPINION = [
    "id", "group", "group_number", "run", "label", "reason", "code", "claims", "flags", "pages", "judge",
    "judge_version", "repeat", "judged_at",
]  # fmt: skip


class VerdictSerializer(_Row):
    group_number = serializers.IntegerField(source="group.number")
    run = serializers.IntegerField(source="group.run_id")

    class Meta:
        model = Verdict
        fields: ClassVar = _OPINION


class SecondVerdictSerializer(_Row):
    group_number = serializers.IntegerField(source="group.number")
    run = serializers.IntegerField(source="group.run_id")

    class Meta:
        model = SecondVerdict
        fields: ClassVar = _OPINION


class JudgementSerializer(_Row):
    round_number = serializers.IntegerField(source="round.number")
    run = serializers.IntegerField(source="round.run_id")

    class Meta:
        model = Judgement
        fields: ClassVar = [
            "id", "run", "round", "round_number", "judge_role", "verdict", "error_type", "groups", "explanation",
            "code", "flags", "judge", "judge_version", "judged_at",
        ]  # fmt: skip


class NodeSerializer(_Row):
    round_number = serializers.IntegerField(source="round.number")

    class Meta:
        model = FailureNode
        fields: ClassVar = ["id", "run", "round", "round_number", "error_type", "is_type_agreed"]


class LinkSerializer(_Row):
    round_number = serializers.IntegerField(source="round.number")
    group_number = serializers.IntegerField(source="group.number")

    class Meta:
        model = Link
        fields: ClassVar = ["id", "run", "node", "round", "round_number", "group", "group_number"]


class AuditSerializer(_Row):
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)

    class Meta:
        model = Audit
        fields: ClassVar = [
            "id", "name", "seed", "plan", "frame", "status", "reveal_after_submission", "codebook_version",
            "created_by", "created_at",
        ]  # fmt: skip


class LabelSerializer(_Row):
    """A version of a label: what somebody did on an item."""

    audit = serializers.IntegerField(source="slot.queue.audit_id")
    item = serializers.IntegerField(source="slot.item_id")
    kind = serializers.CharField(source="slot.item.kind")
    run = serializers.IntegerField(source="slot.item.run_id")
    group = serializers.IntegerField(source="slot.item.group_id", allow_null=True)
    round = serializers.IntegerField(source="slot.item.round_id", allow_null=True)
    role = serializers.CharField(source="slot.queue.role")
    labeler = serializers.CharField(source="user.username")
    version = serializers.IntegerField(source="number")
    is_in_force = serializers.SerializerMethodField()

    class Meta:
        model = LabelVersion
        fields: ClassVar = [
            "id", "audit", "item", "kind", "run", "group", "round", "role", "is_simulated", "labeler", "version",
            "action", "label", "error_type", "comment", "is_in_force", "is_late", "codebook_version",
            "evidence_digest", "seconds_on_task", "source", "created_at",
        ]  # fmt: skip

    def get_is_in_force(self, version: LabelVersion) -> bool:
        return version.number == version.slot.version and not version.is_late


class OwnLabelSerializer(serializers.Serializer[Any]):
    """What a labeler did, in their own words: nothing in it depends on what a machine or anybody else has said.

    `number` counts their own actions in the study. A row's id, a slot's version or lateness would tell of others.
    """

    number = serializers.IntegerField()
    audit = serializers.CharField(source="slot.queue.audit.name")
    slot = serializers.IntegerField(source="slot_id", help_text="as in the address of the item's page")
    kind = serializers.CharField(source="slot.item.kind")
    role = serializers.CharField(source="slot.queue.role")
    action = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    error_type = serializers.CharField()
    comment = serializers.CharField()
    seconds_on_task = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
