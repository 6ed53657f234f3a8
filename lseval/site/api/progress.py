"""How far the work is: the whole study for those who see results, and one's own part for everybody."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.labeler_selectors import QueueCard, queues_of
from annotation.models import LabelVersion
from annotation.selectors import AuditProgress, PersonProgress, QueueProgress, audits_of
from lseval.models import Job, Study
from lseval.site.api.asked import Parameter
from lseval.site.api.rows import limit_of, member_of, next_page, page_of, results_of
from lseval.site.api.serializers import OwnLabelSerializer
from lseval.site.api.strict import StrictView


class DecidedSerializer(serializers.Serializer[Any]):
    labeled = serializers.IntegerField()
    skipped = serializers.IntegerField()
    total = serializers.IntegerField()


class JobCountSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    state = serializers.CharField()
    jobs = serializers.IntegerField()


class LabelerProgressSerializer(serializers.Serializer[Any]):
    labeler = serializers.CharField(source="username")
    labeled = serializers.IntegerField()
    skipped = serializers.IntegerField()
    flagged = serializers.IntegerField()
    late = serializers.IntegerField()
    last_at = serializers.DateTimeField(allow_null=True)


class QueueProgressSerializer(DecidedSerializer):
    role = serializers.CharField(source="queue.role")
    is_simulated = serializers.BooleanField(source="queue.is_simulated")
    open = serializers.IntegerField()
    leased = serializers.IntegerField(help_text="open items that somebody holds now")
    flagged = serializers.IntegerField()
    people = serializers.SerializerMethodField()

    @extend_schema_field(LabelerProgressSerializer(many=True))
    def get_people(self, queue: QueueProgress) -> list[dict[str, Any]]:
        """Everybody who has a place in the queue or had one and has labeled."""
        everybody: list[PersonProgress] = [*queue.people, *queue.left]
        return [dict(LabelerProgressSerializer(who).data) for who in everybody]


class AuditProgressSerializer(serializers.Serializer[Any]):
    audit = serializers.IntegerField(source="audit.pk")
    name = serializers.CharField(source="audit.name")
    status = serializers.CharField(source="audit.status")
    items = serializers.DictField(child=serializers.IntegerField(), help_text="drawn items by kind")
    queues = QueueProgressSerializer(many=True)


class StudyProgressSerializer(serializers.Serializer[Any]):
    jobs = JobCountSerializer(many=True)
    audits = AuditProgressSerializer(many=True)


class StageSerializer(DecidedSerializer):
    kind = serializers.CharField()
    labeled = serializers.IntegerField(source="done")


class OwnQueueSerializer(serializers.Serializer[Any]):
    """A queue that one sits in, as one's page of queues shows it."""

    audit = serializers.CharField(source="queue.audit.name")
    role = serializers.CharField(source="queue.role")
    own_labels = serializers.IntegerField(source="own_decisions")
    stages = StageSerializer(source="progress.stages", many=True)
    is_finished = serializers.BooleanField(source="progress.is_finished")


class Progress(StrictView):
    """How far the study is: its jobs by kind and state, and each queue of its audits with who labels there."""

    tag, operation = "progress", "progress"

    def answer(self) -> Any:
        return StudyProgressSerializer

    def get(self, request: Request, slug: str) -> Response:
        study = results_of(request, slug).study
        return Response(StudyProgressSerializer(progress_of(study)).data)


def progress_of(study: Study) -> dict[str, Any]:
    """What `StudyProgressSerializer` writes; its number of queries does not depend on the study's size."""
    jobs = Job.objects.filter(study=study).values("kind", "state").annotate(jobs=Count("id"))
    audits: list[AuditProgress] = audits_of(study)
    return {"jobs": list(jobs.order_by("kind", "state")), "audits": audits}


class OwnProgress(StrictView):
    """One's own queues in the study, and how far each is. For every member, annotators too."""

    tag, operation = "progress", "own_progress"

    def answer(self) -> Any:
        return OwnQueueSerializer(many=True)

    def get(self, request: Request, slug: str) -> Response:
        access = member_of(request, slug)
        cards: list[QueueCard] = queues_of(access.user, access.study)
        return Response(OwnQueueSerializer(cards, many=True).data)


class OwnLabels(StrictView):
    """What one has done on items of the study, in order. For every member, annotators too.

    A labeler is told of nothing here but their own words, so that it stays blind.
    """

    tag, operation = "progress", "own_labels"
    asked = (
        Parameter(
            "after", "only actions after the one of this number; `next` holds it", "number", most=10**9, default=0
        ),
        limit_of(),
    )

    def answer(self) -> Any:
        return page_of(OwnLabelSerializer)

    def get(self, request: Request, slug: str) -> Response:
        access = member_of(request, slug)
        given = self.given(request)
        after, limit = given["after"], given["limit"]
        own = LabelVersion.objects.filter(user=access.user, slot__queue__audit__study=access.study)
        rows = own.select_related("slot__queue__audit", "slot__item").order_by("pk")
        # Versions are only ever appended, so a count of one's own is as steady as an id and tells of nobody else.
        found = list(rows[after : after + limit + 1])
        for number, version in enumerate(found, after + 1):
            version.number = number
        more = next_page(request, after + limit) if len(found) > limit else None
        return Response({"next": more, "results": OwnLabelSerializer(found[:limit], many=True).data})
