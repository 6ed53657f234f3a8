"""Labels of an audit joined with the automatic ones, as rows that the statistics take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from agreement.stats.groups import GroupRow
from agreement.stats.links import AuditedLink
from agreement.stats.process import ROUND_LABELS, AuditedRound
from annotation.models import Audit, Item, ItemKind, LabelAction, LabelerRole, LabelVersion
from lseval.domain.labels import UNJUDGED
from lseval.models import AnswerGroup, Run, Study, Verdict
from lseval.pipeline.stage2 import DEFAULT_LINK_POLICY

PEOPLE, SIMULATED = "people", "simulated"
LABEL_SOURCES = (PEOPLE, SIMULATED)
RATERS = (LabelerRole.H1, LabelerRole.H2)


@dataclass(frozen=True, slots=True)
class LocatedLink(AuditedLink):
    """A labeled link and where a reader finds it."""

    run_id: int = 0
    round_number: int = 0
    group_number: int = 0


@dataclass(frozen=True, slots=True)
class LocatedRound(AuditedRound):
    """A labeled round and where a reader finds it."""

    run_id: int = 0
    number: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """What a reader of a list is told of a group beside its labels."""

    model: str
    title: str


def audits_with_labels(study: Study) -> list[tuple[Audit, dict[str, int]]]:
    """The study's audits, newest first, each with how many labels in force it has by source."""
    found = {audit.pk: (audit, dict.fromkeys(LABEL_SOURCES, 0)) for audit in study.audits.order_by("-id")}
    counted = (
        labels_in_force(Q(slot__queue__audit__study=study))
        .values_list("slot__queue__audit_id", "is_simulated")
        .annotate(count=Count("id"))
        .order_by()
    )
    for audit_id, is_simulated, count in counted:
        found[audit_id][1][SIMULATED if is_simulated else PEOPLE] = count
    return list(found.values())


def labels_in_force(where: Q) -> QuerySet[LabelVersion]:
    """The version in force of each slot where that is a label; skips, undone labels and late work are none."""
    return LabelVersion.objects.filter(where, number=F("slot__version"), action=LabelAction.LABEL)


def _group_labels(audit: Audit, source: str) -> dict[int, dict[str, str]]:
    """Item id to the label of each rater, of people or of simulated labelers, never of both."""
    labels: dict[int, dict[str, str]] = defaultdict(dict)
    found = labels_in_force(
        Q(
            slot__queue__audit=audit,
            slot__queue__role__in=RATERS,
            slot__queue__is_simulated=source == SIMULATED,
            slot__item__kind=ItemKind.GROUP,
        )
    )
    for item_id, role, label in found.values_list("slot__item_id", "slot__queue__role", "label"):
        labels[item_id][role] = label
    return labels


def group_rows(audit: Audit, source: str) -> list[GroupRow]:
    """One row per answer group of the audit, by task and response; an empty label where there is none.

    Two queries.
    """
    labels = _group_labels(audit, source)
    items = Item.objects.filter(audit=audit, kind=ItemKind.GROUP).order_by(
        "run__task_id", "run_id", "group__number"
    )
    rows = items.values_list(
        "id", "run__task__key", "run_id", "group__number", "run__rubric__required_count", "group__verdict__label"
    )
    return [
        GroupRow(
            task_key,
            str(run_id),
            f"G{number}",
            required,
            auto or UNJUDGED,
            labels[item_id].get(LabelerRole.H1, ""),
            labels[item_id].get(LabelerRole.H2, ""),
        )
        for item_id, task_key, run_id, number, required, auto in rows
    ]


def _h1_labels(audit: Audit, source: str, kind: str) -> QuerySet[LabelVersion]:
    """The labels in force that H1 gave to the audit's links or rounds, in the order of items."""
    return labels_in_force(
        Q(
            slot__queue__audit=audit,
            slot__queue__role=LabelerRole.H1,
            slot__queue__is_simulated=source == SIMULATED,
            slot__item__kind=kind,
        )
    ).order_by("slot__item_id")


def link_rows(audit: Audit, source: str) -> list[LocatedLink]:
    """The links that H1 labeled, in the order of items, with what precision is broken down by. One query."""
    rows: Any = _h1_labels(audit, source, ItemKind.LINK).values_list(
        "slot__item__run__task__key",
        "label",
        "slot__item__round__failure_node__error_type",
        "slot__item__run__model__name",
        "slot__item__run_id",
        "slot__item__round__number",
        "slot__item__group__number",
    )
    policy = audit.study.settings.get("link_policy", DEFAULT_LINK_POLICY)
    return [
        LocatedLink(task_key, label, error_type or "", model, policy, *place)
        for task_key, label, error_type, model, *place in rows
    ]


def drawn_counts(audit: Audit) -> dict[str, int]:
    """How many items of each kind the audit drew."""
    return dict(audit.items.order_by().values_list("kind").annotate(count=Count("id")))


def round_rows(audit: Audit, source: str) -> list[LocatedRound]:
    """The rounds that H1 labeled and the judges settled; one set aside before judging is skipped. One query."""
    return [entry for entry in labeled_rounds(audit, source) if entry.automatic in ROUND_LABELS]


def labeled_rounds(audit: Audit, source: str) -> list[LocatedRound]:
    """The rounds that H1 labeled, `automatic` empty where the judges have not settled one. One query."""
    rows: Any = _h1_labels(audit, source, ItemKind.ROUND).values_list(
        "slot__item__run__task__key",
        "label",
        "slot__item__round__skip_reason",
        "slot__item__round__consensus__verdict",
        "slot__item__run_id",
        "slot__item__round__number",
        "slot__item__run__model__name",
    )
    return [
        LocatedRound(task_key, human, "skipped" if skip_reason else verdict or "", *place)
        for task_key, human, skip_reason, verdict, *place in rows
    ]


def differs(row: GroupRow) -> bool:
    """Whether the automatic label and H1, or H1 and H2, differ on a group that both labeled."""
    return bool(row.h1) and ((row.auto not in ("", UNJUDGED, row.h1)) or (bool(row.h2) and row.h1 != row.h2))


def group_places(rows: Iterable[GroupRow]) -> dict[tuple[str, str], GroupPlace]:
    """Model and title of the rows' groups, by (response_id, group_id). One query."""
    wanted = {(row.response_id, row.group_id) for row in rows}
    found = AnswerGroup.objects.filter(run_id__in={int(response) for response, _ in wanted})
    places = found.values_list("run_id", "number", "run__model__name", "title")
    return {
        (str(run_id), f"G{number}"): GroupPlace(model, title)
        for run_id, number, model, title in places
        if (str(run_id), f"G{number}") in wanted
    }


def models_of_runs(run_ids: Iterable[int]) -> dict[int, str]:
    """The name of each run's model."""
    return dict(Run.objects.filter(pk__in=list(run_ids)).values_list("pk", "model__name"))


def automatic_judges(audit: Audit) -> list[str]:
    """The judges, with their versions, whose verdicts the audit's groups carry."""
    verdicts = Verdict.objects.filter(group__items__audit=audit)
    return [f"{name} {version}" for name, version in verdicts.values_list("judge", "judge_version").distinct()]
