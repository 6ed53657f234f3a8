"""The numbers of a study as JSON: how well people and machine agree, and the reports."""

from __future__ import annotations

from collections.abc import Callable
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
from lseval.site.selectors.report import report_of


def _report(study: Study) -> dict[str, Any]:
    """Counts, scores, markers, process, labeling and the newest audit's agreement."""
    return report_of(study).as_dict()


def _costs(study: Study) -> dict[str, Any]:
    """Calls, tokens and costs by phase, model, judge and kind."""
    return costs_of(study).as_dict()


def _leaderboard(study: Study) -> dict[str, Any]:
    """The models' mean scores with their intervals, by each score."""
    return leaderboard_section(study)


REPORTS: Final[dict[str, Callable[[Study], dict[str, Any]]]] = {
    "study": _report,
    "leaderboard": _leaderboard,
    "costs": _costs,
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
                {"name": name, "about": make.__doc__, "url": address(request, "api_report", slug, name)}
                for name, make in REPORTS.items()
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
        return Response(REPORTS[name](access.study))
