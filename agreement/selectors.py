"""Labels of an audit joined with the automatic ones, as rows that the statistics take."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, F, Q, QuerySet

from agreement.stats.groups import GroupRow
from agreement.stats.links import AuditedLink
from agreement.stats.process import ROUND_LABELS, AuditedRound
from annotation.models import Audit, Item, ItemKind, LabelAction, LabelerRole, LabelVersion
from lseval.domain.labels import UNJUDGED
from lseval.models import Study, Verdict
from lseval.pipeline.stage2 import DEFAULT_LINK_POLICY

PEOPLE, SIMULATED = "people", "simulated"
LABEL_SOURCES = (PEOPLE, SIMULATED)
RATERS = (LabelerRole.H1, LabelerRole.H2)


@dataclass(frozen=True)
class Disagreement:
    """A group on which two sources differ, with what a reader needs to open it."""

    run_id: int
    group_number: int
    task_key: str
    model_name: str
    title: str
    auto: str
    h1: str
    h2: str


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


def _labels_by_item(audit: Audit, source: str, kind: str) -> dict[int, dict[str, str]]:
    """Item id to the label of each rater, of people or of simulated labelers, never of both."""
    labels: dict[int, dict[str, str]] = defaultdict(dict)
    found = labels_in_force(
        Q(
            slot__queue__audit=audit,
            slot__queue__role__in=RATERS,
            slot__queue__is_simulated=source == SIMULATED,
            slot__item__kind=kind,
        )
    )
    for item_id, role, label in found.values_list("slot__item_id", "slot__queue__role", "label"):
        labels[item_id][role] = label
    return labels


def group_rows(audit: Audit, source: str) -> list[GroupRow]:
    """One row per answer group of the audit, by task and response; an empty label where there is none."""
    labels = _labels_by_item(audit, source, ItemKind.GROUP)
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


def link_rows(audit: Audit, source: str) -> list[AuditedLink]:
    """The links that H1 labeled, in the order of items, with what precision is broken down by."""
    labels = _labels_by_item(audit, source, ItemKind.LINK)
    items = Item.objects.filter(audit=audit, kind=ItemKind.LINK, id__in=list(labels)).order_by("id")
    rows = items.values_list("id", "run__task__key", "round__failure_node__error_type", "run__model__name")
    policy = audit.study.settings.get("link_policy", DEFAULT_LINK_POLICY)
    return [
        AuditedLink(task_key, labels[item_id][LabelerRole.H1], error_type or "", model, policy)
        for item_id, task_key, error_type, model in rows
        if LabelerRole.H1 in labels[item_id]
    ]


def round_rows(audit: Audit, source: str) -> list[AuditedRound]:
    """The rounds that H1 labeled and the judges have settled; one set aside before judging is skipped."""
    labels = _labels_by_item(audit, source, ItemKind.ROUND)
    items = Item.objects.filter(audit=audit, kind=ItemKind.ROUND, id__in=list(labels)).order_by("id")
    rows = items.values_list("id", "run__task__key", "round__skip_reason", "round__consensus__verdict")
    found = []
    for item_id, task_key, skip_reason, verdict in rows:
        automatic = "skipped" if skip_reason else verdict
        if LabelerRole.H1 in labels[item_id] and automatic in ROUND_LABELS:
            found.append(AuditedRound(task_key, labels[item_id][LabelerRole.H1], automatic))
    return found


def disagreements(audit: Audit, source: str) -> list[Disagreement]:
    """The groups on which the automatic label and H1, or H1 and H2, differ."""
    labels = _labels_by_item(audit, source, ItemKind.GROUP)
    items = (
        Item.objects.filter(audit=audit, kind=ItemKind.GROUP, id__in=list(labels))
        .order_by("run__task_id", "run_id", "group__number")
        .values_list(
            "id",
            "run_id",
            "group__number",
            "run__task__key",
            "run__model__name",
            "group__title",
            "group__verdict__label",
        )
    )
    found = []
    for item_id, run_id, number, task_key, model, title, auto in items:
        h1, h2 = (labels[item_id].get(role, "") for role in RATERS)
        differs = (auto and h1 and auto != h1) or (h1 and h2 and h1 != h2)
        if differs:
            found.append(Disagreement(run_id, number, task_key, model, title, auto or UNJUDGED, h1, h2))
    return found


def automatic_judges(audit: Audit) -> list[str]:
    """The judges, with their versions, whose verdicts the audit's groups carry."""
    verdicts = Verdict.objects.filter(group__items__audit=audit)
    return [f"{name} {version}" for name, version in verdicts.values_list("judge", "judge_version").distinct()]
