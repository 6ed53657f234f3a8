"""What can be downloaded of an audit's agreement, and of the leaderboard."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from agreement import charts, figures, selectors
from agreement.csvfile import LABEL_SOURCE
from agreement.forms import PlannerForm
from agreement.numbers import NUMBER_COLUMNS, numbers
from agreement.presenting.scores import SCORE_NAMES
from agreement.sections import LEADERBOARD, SECTIONS, leaderboard_section
from agreement.shown import Shown, required_shown
from agreement.stats.groups import GroupRow
from agreement.study_selectors import study_runs
from agreement.tables import report_document
from agreement.whole_study import leaderboard_by
from lseval.access import RESULT_ROLES, require_access
from lseval.csv_cells import escaped_row
from lseval.query_parameters import takes

FILE_FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
"""The forms of a page's numbers, with their content types."""


@takes("audit", "labels", "share", "points")
@require_safe
def agreement_file(request: HttpRequest, slug: str, section: str, file_format: str) -> HttpResponse:
    """The numbers of one page, or of `all`, as JSON, CSV, Markdown or LaTeX."""
    if file_format not in FILE_FORMATS or section not in (*SECTIONS, LEADERBOARD):
        raise Http404("no such file")
    if section == LEADERBOARD:
        report = leaderboard_section(require_access(request, slug, *RESULT_ROLES).study)
        return _attached(
            _written(report, file_format), FILE_FORMATS[file_format], f"{slug}-{section}.{file_format}"
        )
    shown = required_shown(request, slug)
    report = SECTIONS[section](shown, PlannerForm(request.GET).wanted)
    name = _name(shown, "agreement" if section == "all" else section, file_format)
    return _attached(_written(report, file_format), FILE_FORMATS[file_format], name)


def _written(report: dict[str, Any], file_format: str) -> str:
    if file_format == "json":
        return json.dumps(report, indent=1, allow_nan=False)
    if file_format == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow(NUMBER_COLUMNS)
        writer.writerows(escaped_row(row[name] for name in NUMBER_COLUMNS) for row in numbers(report))
        return stream.getvalue()
    return report_document(report, "markdown" if file_format == "md" else "latex")


def _name(shown: Shown, what: str, file_format: str) -> str:
    """A file's name that says what it is about, and that its labels are simulated where they are."""
    about = [shown.slug, slugify(shown.audit.name), "simulated" if shown.is_simulated else "", what]
    return f"{'-'.join(part for part in about if part)}.{file_format}"


def _attached(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@takes("audit", "labels")
@require_safe
def agreement_groups(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows behind the report, as CSV that `python -m agreement` reads; each says whose labels it holds."""
    shown = required_shown(request, slug)
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow((*GroupRow._fields, LABEL_SOURCE))
    for row in selectors.group_rows(shown.audit, shown.source):
        writer.writerow(escaped_row((*row, shown.source)))
    return _attached(stream.getvalue(), FILE_FORMATS["csv"], _name(shown, "groups", "csv"))


@takes("audit", "labels")
@require_safe
def agreement_figure(request: HttpRequest, slug: str, figure: str, file_format: str) -> HttpResponse:
    """A figure of this audit as SVG, PNG or PDF: one of `figures.FIGURES`."""
    if figure not in figures.FIGURES or file_format not in charts.CONTENT_TYPES:
        raise Http404("no such figure")
    shown = required_shown(request, slug)
    return _figure_file(figures.FIGURES[figure](shown), file_format, _name(shown, f"figure-{figure}", file_format))


@require_safe
def agreement_leaderboard_figure(request: HttpRequest, slug: str, score: str, file_format: str) -> HttpResponse:
    """The models' mean scores with their intervals as SVG, PNG or PDF."""
    if score not in SCORE_NAMES or file_format not in charts.CONTENT_TYPES:
        raise Http404("no such figure")
    access = require_access(request, slug, *RESULT_ROLES)
    chart = figures.board_figure(score, leaderboard_by(score, study_runs(access.study)))
    return _figure_file(chart, file_format, f"{slug}-leaderboard-{score}.{file_format}")


def _figure_file(chart: charts.Chart, file_format: Any, name: str) -> HttpResponse:
    content_type: str = charts.CONTENT_TYPES[file_format]  # type: ignore[index]
    return _attached(charts.render(chart, file_format), content_type, name)
