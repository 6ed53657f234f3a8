"""The agreement page and what can be downloaded from it."""

from __future__ import annotations

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from agreement import charts, presenting, selectors
from agreement.reporting import audit_report, choose_audit
from agreement.selectors import LABEL_SOURCES, PEOPLE, SIMULATED
from agreement.stats.groups import GroupRow, group_table
from annotation.models import Audit
from lseval.access import RESULT_ROLES, StudyAccess, require_access

_SOURCE_TITLES = {PEOPLE: "People's labels", SIMULATED: "Simulated labels"}


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Matrices, coefficients, scores, links and disagreements of one audit, by one source of labels."""
    access = require_access(request, slug, *RESULT_ROLES)
    audits = selectors.audits_with_labels(access.study)
    if not audits:
        return render(request, "agreement/empty.html", {"access": access})
    audit, source = choose_audit(access.study, request.GET.get("audit", ""), request.GET.get("labels", ""))
    report = audit_report(audit, source)
    context = {
        "access": access,
        "audit": audit,
        "report": report,
        "is_simulated": source == SIMULATED,
        "audit_tabs": [
            {"label": other.name, "url": _address("agreement", access, other, source), "is_current": other == audit}
            for other, _ in audits
        ],
        "source_tabs": _source_tabs(access, audits, audit, source),
        **presenting.report_view(report),
        "disagreements": selectors.disagreements(audit, source),
        "downloads": _downloads(access, audit, source),
        "figure_url": _address("agreement_scores", access, audit, source, "svg"),
    }
    return render(request, "agreement/agreement.html", context)


@require_safe
def agreement_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The whole report as JSON."""
    audit, source = _chosen(request, slug)
    return JsonResponse(audit_report(audit, source), json_dumps_params={"indent": 1})


@require_safe
def agreement_groups(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows behind the report, as CSV that `python -m agreement` reads."""
    audit, source = _chosen(request, slug)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-groups.csv"'
    writer = csv.writer(response)
    writer.writerow(GroupRow._fields)
    for row in selectors.group_rows(audit, source):
        # A task's key comes from outside: a sign before it keeps a spreadsheet from taking it for a formula.
        key = f"'{row.task_id}" if row.task_id[:1] in "=+-@\t\r" else row.task_id
        writer.writerow(row._replace(task_id=key))
    return response


@require_safe
def agreement_scores(request: HttpRequest, slug: str, file_format: str) -> HttpResponse:
    """The paper's Figure 5 for this audit, as SVG, PNG or PDF."""
    if file_format not in charts.CONTENT_TYPES:
        raise Http404("no such format")
    audit, source = _chosen(request, slug)
    panels = charts.score_panels(group_table(selectors.group_rows(audit, source)))
    figure = charts.score_scatter(panels, "Automatic", "H1 (simulated)" if source == SIMULATED else "H1")
    return HttpResponse(charts.render(figure, file_format), content_type=charts.CONTENT_TYPES[file_format])


def _chosen(request: HttpRequest, slug: str) -> tuple[Audit, str]:
    access = require_access(request, slug, *RESULT_ROLES)
    return choose_audit(access.study, request.GET.get("audit", ""), request.GET.get("labels", ""))


def _address(name: str, access: StudyAccess, audit: Audit, source: str, *arguments: str) -> str:
    query = urlencode({"audit": audit.name, "labels": source})
    return f"{reverse(name, args=[access.study.slug, *arguments])}?{query}"


def _source_tabs(
    access: StudyAccess, audits: list[tuple[Audit, dict[str, int]]], audit: Audit, source: str
) -> list[dict[str, Any]]:
    counts = dict(audits)[audit]
    return [
        {
            "label": _SOURCE_TITLES[name],
            "count": counts[name],
            "url": _address("agreement", access, audit, name),
            "is_current": name == source,
        }
        for name in LABEL_SOURCES
        if counts[name] or name != SIMULATED
    ]


def _downloads(access: StudyAccess, audit: Audit, source: str) -> list[dict[str, str]]:
    found = [
        {"label": "Report (JSON)", "url": _address("agreement_json", access, audit, source)},
        {"label": "Labels (CSV)", "url": _address("agreement_groups", access, audit, source)},
    ]
    return found + [
        {"label": f"Figure ({name.upper()})", "url": _address("agreement_scores", access, audit, source, name)}
        for name in charts.CONTENT_TYPES
    ]
