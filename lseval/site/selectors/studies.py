"""The list of studies that a person belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.db.models import Count, Q

from annotation.models import Slot, SlotStatus
from lseval.access import RESULT_ROLES, StudyAccess, studies_of
from lseval.models import AnswerGroup, Membership, Role, Run, Study, User
from lseval.site.quantities import Share

STUDIES_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """What a study holds. Shown to those only whose role sees results."""

    runs: int
    groups: int
    judged: Share
    labels: int
    simulated_labels: int


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study in the list; `counts` is None for an annotator, whom they would tell of other people's work."""

    study: Study
    role: str
    counts: StudyCounts | None


def study_rows(user: User, page: str = "1") -> PageOfRows[StudyRow]:
    """A page of the person's studies, newest first; its number of queries does not depend on how many there are."""
    listed: PageOfRows[Any] = Paginator(studies_of(user), STUDIES_PER_PAGE).get_page(page)
    studies = list(listed.object_list)
    roles = dict(Membership.objects.filter(user=user, study__in=studies).values_list("study_id", "role"))
    if user.is_superuser:
        roles = {study.pk: Role.LEAD.value for study in studies}
    counts = _counts([study.pk for study in studies if roles[study.pk] in RESULT_ROLES])
    listed.object_list = [StudyRow(study, roles[study.pk], counts.get(study.pk)) for study in studies]
    return listed


def study_row(access: StudyAccess) -> StudyRow:
    """One study as its row in the list is."""
    study = access.study
    counts = _counts([study.pk])[study.pk] if access.sees_results else None
    return StudyRow(study, access.role, counts)


def _counts(study_ids: Sequence[int]) -> dict[int, StudyCounts]:
    runs = dict(
        Run.objects.filter(study__in=study_ids).values_list("study_id").annotate(count=Count("id")).order_by()
    )
    groups = {
        study_id: (every, judged)
        for study_id, every, judged in AnswerGroup.objects.filter(run__study__in=study_ids)
        .values_list("run__study_id")
        .annotate(every=Count("id"), judged=Count("verdict"))
        .order_by()
    }
    labels = {
        study_id: (by_people, simulated)
        for study_id, by_people, simulated in Slot.objects.filter(
            queue__audit__study__in=study_ids, status=SlotStatus.LABELED
        )
        .values_list("queue__audit__study_id")
        .annotate(
            by_people=Count("id", filter=Q(queue__is_simulated=False)),
            simulated=Count("id", filter=Q(queue__is_simulated=True)),
        )
        .order_by()
    }
    found = {}
    for study_id in study_ids:
        every, judged = groups.get(study_id, (0, 0))
        by_people, simulated = labels.get(study_id, (0, 0))
        found[study_id] = StudyCounts(
            runs=runs.get(study_id, 0),
            groups=every,
            judged=Share(judged, every, "no run has an answer group"),
            labels=by_people,
            simulated_labels=simulated,
        )
    return found
