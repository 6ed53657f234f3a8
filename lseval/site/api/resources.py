"""What a study holds, kind by kind: each list says what it may be filtered by."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Audit, AuditStatus, ItemKind, LabelAction, LabelerRole, LabelVersion
from lseval.domain.labels import SkipReason
from lseval.models import (
    AnswerGroup,
    EvaluatedModel,
    FailureNode,
    Judgement,
    Link,
    Round,
    Run,
    SecondVerdict,
    Study,
    Task,
    Verdict,
)
from lseval.models.outcome import VERDICT_LABELS
from lseval.models.process import JUDGE_ROLES, VERDICTS
from lseval.site.api import serializers as shapes
from lseval.site.api.asked import choice, number, text, truth
from lseval.site.api.rows import Rows, limit_of

_RUN = number("run", "run_id", "only of the run of this id")


class Tasks(Rows):
    """The tasks, with the rubric given with them."""

    tag, operation = "collection", "tasks"
    row_serializer = shapes.TaskSerializer
    filters = (text("key", "key", "only the task of this key"), text("topic", "topic", "only tasks of this topic"))

    def rows(self, study: Study) -> QuerySet[Task]:
        return Task.objects.filter(study=study)


class Models(Rows):
    """The evaluated models."""

    tag, operation = "collection", "models"
    row_serializer = shapes.EvaluatedModelSerializer
    filters = (
        text("name", "name", "only the model of this name"),
        text("family", "family", "only models of this family"),
    )

    def rows(self, study: Study) -> QuerySet[EvaluatedModel]:
        return EvaluatedModel.objects.filter(study=study)


class Runs(Rows):
    """The runs, with their final answer and rubric."""

    tag, operation = "collection", "runs"
    row_serializer = shapes.RunSerializer
    filters = (
        number("task", "task_id", "only on the task of this id"),
        number("model", "model_id", "only of the model of this id"),
        text("task_key", "task__key", "only on the task of this key"),
        text("model_name", "model__name", "only of the model of this name"),
        truth("is_valid_final", "is_valid_final", "only with, or without, a valid final answer"),
        truth("is_premature", "is_premature", "only those that answered before, or after, reading a page"),
        truth("is_final_only", "is_final_only", "only with, or without, final-only synthesis"),
    )

    def rows(self, study: Study) -> QuerySet[Run]:
        return Run.objects.filter(study=study).select_related("task", "model", "rubric")


class Rounds(Rows):
    """The rounds, each with its turns, their tool calls and observations, and what Stage 2 makes of it.

    `verdict` and `is_split` are null where Stage 2 has not been.
    """

    tag, operation = "collection", "rounds"
    row_serializer = shapes.RoundSerializer
    limit = limit_of(20, 100)
    filters = (
        _RUN,
        number("number", "number", "only the rounds of this number"),
        choice("skip_reason", "skip_reason", "only those set aside by this rule", list(SkipReason)),
        choice("verdict", "consensus__verdict", "only with this verdict of Stage 2", VERDICTS),
    )

    def rows(self, study: Study) -> QuerySet[Round]:
        found = Round.objects.filter(run__study=study)
        return found.select_related("consensus").prefetch_related("turns__tool_calls")


class Groups(Rows):
    """The answer groups, with what they cite."""

    tag, operation = "outcome", "groups"
    row_serializer = shapes.GroupSerializer
    filters = (_RUN, choice("label", "verdict__label", "only with this verdict of Stage 1", VERDICT_LABELS))

    def rows(self, study: Study) -> QuerySet[AnswerGroup]:
        return AnswerGroup.objects.filter(run__study=study).prefetch_related("citations")


_OPINION_FILTERS = (
    number("run", "group__run_id", "only of the run of this id"),
    number("group", "group_id", "only of the answer group of this id"),
    choice("label", "label", "only with this label", VERDICT_LABELS),
    text("judge", "judge", "only by the judge of this name"),
)


class Verdicts(Rows):
    """The verdicts of Stage 1: C, I, U or unjudged, with their claims and quotations."""

    tag, operation = "outcome", "verdicts"
    row_serializer = shapes.VerdictSerializer
    filters = _OPINION_FILTERS

    def rows(self, study: Study) -> QuerySet[Verdict]:
        return Verdict.objects.filter(group__run__study=study).select_related("group")


class SecondVerdicts(Rows):
    """The verdicts of a second judge of Stage 1, where the study has one; no score rests on them."""

    tag, operation = "outcome", "second_verdicts"
    row_serializer = shapes.SecondVerdictSerializer
    filters = _OPINION_FILTERS

    def rows(self, study: Study) -> QuerySet[SecondVerdict]:
        return SecondVerdict.objects.filter(group__run__study=study).select_related("group")


class Judgements(Rows):
    """The judgements of Stage 2: two opinions of a round."""

    tag, operation = "process", "judgements"
    row_serializer = shapes.JudgementSerializer
    filters = (
        number("run", "round__run_id", "only of the run of this id"),
        number("round", "round_id", "only of the round of this id"),
        choice("judge_role", "judge_role", "only by judge A or B", JUDGE_ROLES),
        choice("verdict", "verdict", "only with this verdict", VERDICTS),
    )

    def rows(self, study: Study) -> QuerySet[Judgement]:
        found = Judgement.objects.filter(round__run__study=study)
        return found.select_related("round").prefetch_related("groups")


class Nodes(Rows):
    """The failure nodes: rounds that both judges call an error."""

    tag, operation = "process", "nodes"
    row_serializer = shapes.NodeSerializer
    filters = (
        _RUN,
        text("error_type", "error_type", "only of this error type"),
        truth("is_type_agreed", "is_type_agreed", "only where both judges name, or do not name, the same type"),
    )

    def rows(self, study: Study) -> QuerySet[FailureNode]:
        return FailureNode.objects.filter(run__study=study).select_related("round")


class Links(Rows):
    """The links: distinct (run, round, incorrect group)."""

    tag, operation = "process", "links"
    row_serializer = shapes.LinkSerializer
    filters = (
        _RUN,
        number("node", "node_id", "only of the failure node of this id"),
        number("group", "group_id", "only of the answer group of this id"),
    )

    def rows(self, study: Study) -> QuerySet[Link]:
        return Link.objects.filter(run__study=study).select_related("round", "group")


class Audits(Rows):
    """The audits, with the plan, the frame and the seed that draw the same sample again."""

    tag, operation = "audit", "audits"
    row_serializer = shapes.AuditSerializer
    filters = (
        text("name", "name", "only the audit of this name"),
        choice("status", "status", "only with this status", AuditStatus.values),
    )

    def rows(self, study: Study) -> QuerySet[Audit]:
        return Audit.objects.filter(study=study).select_related("created_by")


class Labels(Rows):
    """The label versions, people's and simulated ones: everything that was done on an item, in order.

    `is_in_force` marks the version that counts now.
    """

    tag, operation = "audit", "labels"
    row_serializer = shapes.LabelSerializer
    filters = (
        number("audit", "slot__queue__audit_id", "only of the audit of this id"),
        number("item", "slot__item_id", "only of the item of this id"),
        choice("kind", "slot__item__kind", "only of items of this kind", ItemKind.values),
        choice("role", "slot__queue__role", "only by this role", LabelerRole.values),
        choice("action", "action", "only versions that do this", LabelAction.values),
        text("labeler", "user__username", "only by the person of this name"),
        truth("is_simulated", "is_simulated", "only simulated labels, or only people's"),
    )

    def rows(self, study: Study) -> QuerySet[LabelVersion]:
        found = LabelVersion.objects.filter(slot__queue__audit__study=study)
        return found.select_related("slot__queue", "slot__item", "user").defer("visible")


LISTS: dict[str, tuple[type[Rows], str]] = {
    "tasks": (Tasks, "task"),
    "models": (Models, "evaluated model"),
    "runs": (Runs, "run"),
    "rounds": (Rounds, "round"),
    "groups": (Groups, "answer group"),
    "verdicts": (Verdicts, "verdict"),
    "second-verdicts": (SecondVerdicts, "verdict of the second judge"),
    "judgements": (Judgements, "judgement"),
    "nodes": (Nodes, "failure node"),
    "links": (Links, "link"),
    "audits": (Audits, "audit"),
    "labels": (Labels, "label version"),
}
"""Every list by the last part of its address, and what one of its rows is."""
