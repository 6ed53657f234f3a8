"""What can be downloaded of an audit's agreement, and of the leaderboard."""

from __future__ import annotations

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from agreement import charts, figures, selectors
from agreement.presenting.scores import SCORE_NAMES
from agreement.reporting import full_report
from agreement.shown import required_shown
from agreement.stats.groups import GroupRow
from agreement.study_selectors import study_runs
from agreement.tables import NUMBER_COLUMNS, numbers, report_document
from agreement.whole_study import leaderboard_by
from lseval.access import RESULT_ROLES, require_access

_DOCUMENTS = {"md": ("markdown", "text/markdown"), "tex": ("latex", "application/x-tex")}


@require_safe
def agreement_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Every number of every agreement page as JSON."""
    shown = required_shown(request, slug)
    return JsonResponse(full_report(shown.audit, shown.source), json_dumps_params={"indent": 1})


@require_safe
def agreement_numbers(request: HttpRequest, slug: str) -> HttpResponse:
    """Every estimate as a line of CSV, with its interval and how it was made."""
    shown = required_shown(request, slug)
    response = _csv_file(f"{slug}-agreement.csv")
    writer = csv.DictWriter(response, NUMBER_COLUMNS)
    writer.writeheader()
    for row in numbers(full_report(shown.audit, shown.source)):
        writer.writerow({**row, "path": safe_cell(row["path"])})
    return response


@require_safe
def agreement_groups(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows behind the report, as CSV that `python -m agreement` reads."""
    shown = required_shown(request, slug)
    response = _csv_file(f"{slug}-groups.csv")
    writer = csv.writer(response)
    writer.writerow(GroupRow._fields)
    for row in selectors.group_rows(shown.audit, shown.source):
        writer.writerow(row._replace(task_id=safe_cell(row.task_id)))
    return response


@require_safe
def agreement_tables(request: HttpRequest, slug: str, file_format: str) -> HttpResponse:
    """The tables as a Markdown or LaTeX document."""
    if file_format not in _DOCUMENTS:
        raise Http404("no such format")
    shown = required_shown(request, slug)
    form, content_type = _DOCUMENTS[file_format]
    text = report_document(full_report(shown.audit, shown.source), form)
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-agreement.{file_format}"'
    return response


@require_safe
def agreement_figure(request: HttpRequest, slug: str, figure: str, file_format: str) -> HttpResponse:
    """A figure of this audit as SVG, PNG or PDF: `scores` (the paper's Figure 5), `intervals` or `models`."""
    if figure not in figures.FIGURES or file_format not in charts.CONTENT_TYPES:
        raise Http404("no such figure")
    shown = required_shown(request, slug)
    return _figure_file(figures.FIGURES[figure](shown), file_format)


@require_safe
def agreement_leaderboard_figure(request: HttpRequest, slug: str, score: str, file_format: str) -> HttpResponse:
    """The models' mean scores with their intervals as SVG, PNG or PDF."""
    if score not in SCORE_NAMES or file_format not in charts.CONTENT_TYPES:
        raise Http404("no such figure")
    access = require_access(request, slug, *RESULT_ROLES)
    return _figure_file(figures.board_figure(score, leaderboard_by(score, study_runs(access.study))), file_format)


def safe_cell(text: str) -> str:
    """Text from outside for a cell: a sign before it keeps a spreadsheet from taking it for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _csv_file(name: str) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _figure_file(chart: charts.Chart, file_format: Any) -> HttpResponse:
    content_type: str = charts.CONTENT_TYPES[file_format]  # type: ignore[index]
    return HttpResponse(charts.render(chart, file_format), content_type=content_type)
