"""The page of a study's tables and figures, and their files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agreement import charts
from lseval.access import RESULT_ROLES, require_access
from lseval.errors import InputError
from lseval.query_parameters import takes
from lseval.site.figures.catalog import FIGURES
from lseval.site.tables.catalog import PARTS, TABLES
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.rendering import FORMATS
from lseval.site.tables.table import Table

FIRST_PART = next(iter(PARTS))


@dataclass(frozen=True, slots=True)
class ShownAsset:
    """A table, or a figure with its numbers, on the page; `files` are (word, address)."""

    key: str
    title: str
    table: Table
    files: list[tuple[str, str]]
    image: str = ""


@takes("part")
@require_safe
def tables(request: HttpRequest, slug: str) -> HttpResponse:
    """One part of the study's tables and figures, with the files of each."""
    access = require_access(request, slug, *RESULT_ROLES)
    part = request.GET.get("part", FIRST_PART)
    if part not in PARTS:
        raise InputError(f"part must be one of {', '.join(PARTS)}.")
    facts = StudyFacts(access.study)
    address = reverse("tables", args=[slug])
    found = [
        ShownAsset(f"table-{key}", "", spec.build(facts), _files("table_file", slug, key, FORMATS))
        for key, spec in TABLES.items()
        if spec.part == part and spec.on_page
    ]
    drawn = [
        ShownAsset(
            spec.file_name,
            spec.title,
            spec.data(facts),
            _files("figure_file", slug, key, (*charts.CONTENT_TYPES, *FORMATS)),
            reverse("figure_file", args=[slug, key, "svg"]),
        )
        for key, spec in FIGURES.items()
        if spec.part == part
    ]
    return render(
        request,
        "site/tables/tables.html",
        {
            "part": PARTS[part],
            "command": f"python manage.py report {slug} --out var/{slug}-report",
            "tables": found,
            "figures": drawn,
            "is_simulated": any(shown.table.is_simulated for shown in (*found, *drawn)),
            "tabs": [
                {"label": title, "url": f"{address}?part={key}", "is_current": key == part}
                for key, title in PARTS.items()
            ],
        },
    )


def _files(name: str, slug: str, key: str, endings: Iterable[str]) -> list[tuple[str, str]]:
    return [(ending.upper(), reverse(name, args=[slug, key, ending])) for ending in endings]


@require_safe
def table_file(request: HttpRequest, slug: str, key: str, ending: str) -> HttpResponse:
    """A table as CSV, JSON, LaTeX or Markdown."""
    access = require_access(request, slug, *RESULT_ROLES)
    spec = TABLES.get(key)
    if spec is None or ending not in FORMATS:
        raise Http404("no such table")
    content_type, write = FORMATS[ending]
    return _attached(write(spec.build(StudyFacts(access.study))), content_type, f"{slug}-table-{key}.{ending}")


@require_safe
def figure_file(request: HttpRequest, slug: str, key: str, ending: str) -> HttpResponse:
    """A figure as SVG, PDF or PNG, or the numbers it is drawn from."""
    access = require_access(request, slug, *RESULT_ROLES)
    spec = FIGURES.get(key)
    if spec is None or ending not in (*charts.CONTENT_TYPES, *FORMATS):
        raise Http404("no such figure")
    name = f"{slug}-{spec.file_name}.{ending}"
    data = spec.data(StudyFacts(access.study))
    if ending in FORMATS:
        content_type, write = FORMATS[ending]
        return _attached(write(data), content_type, name)
    form: charts.Format = ending  # type: ignore[assignment]  # one of CONTENT_TYPES, as was looked at above
    return _attached(charts.render(spec.draw(data), form), charts.CONTENT_TYPES[form], name)


def _attached(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
