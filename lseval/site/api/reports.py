"""The numbers of a study as JSON: how well people and machine agree, and the reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.http import Http404
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agreement.reporting import choose_from
from agreement.sections import SECTIONS, leaderboard_section
from agreement.selectors import LABEL_SOURCES, audits_with_labels
from agreement.shown import Shown
from agreement.whole_study import Wanted
from lseval.models import Study
from lseval.pipeline.costs import costs_of
from lseval.site.api.asked import Parameter
from lseval.site.api.rows import address, results_of
from lseval.site.api.strict import StrictView
from lseval.site.figures.catalog import FIGURES
from lseval.site.selectors.process_details import judges_report
from lseval.site.selectors.report import report_of
from lseval.site.tables.catalog import TABLES
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.rendering import as_json
from lseval.site.tables.table import Table


@dataclass(frozen=True, slots=True)
class Report:
    """A report: what it is about, and what makes it of a study."""

    about: str
    make: Callable[[Study], dict[str, Any]]


def _table(build: Callable[[StudyFacts], Table]) -> Callable[[Study], dict[str, Any]]:
    def make(study: Study) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(as_json(build(StudyFacts(study))))
        return found

    return make


REPORTS: Final[dict[str, Report]] = {
    "study": Report(
        "Counts, scores, markers, process, labeling and the newest audit's agreement.",
        lambda study: report_of(study).as_dict(),
    ),
    "judges": Report(
        "How far the two judges of Stage 2 agree, both link policies, and types with and without links.",
        judges_report,
    ),
    "leaderboard": Report(
        "The models' mean scores with their intervals, by each score.", lambda study: leaderboard_section(study)
    ),
    "costs": Report(
        "Calls, tokens and costs by phase, model, judge and kind.", lambda study: costs_of(study).as_dict()
    ),
    **{
        f"table-{key}": Report(f"The table {key.upper()} of the page of tables.", _table(spec.build))
        for key, spec in TABLES.items()
    },
    **{
        spec.file_name: Report(f"The numbers that {spec.title} is drawn from.", _table(spec.data))
        for spec in FIGURES.values()
    },
}
"""Every report by name."""


class Agreement(StrictView):
    """How well people and machine agree in an audit, as its agreement pages show it.

    A statistic that does not exist for the data is `{"undefined": reason}`; see docs/statistics.md. 400 where the
    study has no audit yet.
    """

    tag, operation = "reports", "agreement"
    asked = (
        Parameter("audit", "the audit of this name; the newest if none is given"),
        Parameter("labels", "whose labels; people's if there are any", "choice", choices=LABEL_SOURCES),
        Parameter("section", "which of the pages", "choice", choices=tuple(SECTIONS), default="labels"),
    )

    def get(self, request: Request, slug: str) -> Response:
        access = results_of(request, slug)
        given = self.given(request)
        audits = audits_with_labels(access.study)
        audit, source = choose_from(audits, access.study, given.get("audit", ""), given.get("labels", ""))
        return Response(SECTIONS[given["section"]](Shown(access, audits, audit, source), Wanted()))


class Reports(StrictView):
    """The reports that there are, and where each is."""

    tag, operation = "reports", "reports"

    def answer(self) -> Any:
        fields: dict[str, serializers.Field[Any, Any, Any, Any]] = {
            "name": serializers.CharField(),
            "about": serializers.CharField(),
            "url": serializers.URLField(),
        }
        return inline_serializer("ReportName", fields, many=True)

    def get(self, request: Request, slug: str) -> Response:
        results_of(request, slug)
        return Response(
            [
                {"name": name, "about": report.about, "url": address(request, "api_report", slug, name)}
                for name, report in REPORTS.items()
            ]
        )


class OneReport(StrictView):
    """A report of the study as it stands now."""

    tag, operation = "reports", "report"
    path_choices = {"name": tuple(REPORTS)}

    def get(self, request: Request, slug: str, name: str) -> Response:
        access = results_of(request, slug)
        if name not in REPORTS:
            raise Http404("no such report")
        return Response(REPORTS[name].make(access.study))
