"""The addresses of the files that each agreement page offers."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from agreement import charts
from agreement.sections import LEADERBOARD
from agreement.shown import Shown

_NUMBERS = {"json": "JSON", "csv": "CSV"}
_TABLES = {"md": "Markdown", "tex": "LaTeX"}
_FORMS = _NUMBERS | _TABLES
_FIGURES = {
    "labels": {"scores": "Figure 5", "intervals": "Intervals"},
    "people": {"people": "Figure, pairs"},
    "process": {"links": "Figure, link precision"},
    "study": {"models": "Figure, models"},
}
"""The figures of each page that is about an audit."""


def page_files(shown: Shown, page: str, **query: Any) -> list[dict[str, Any]]:
    """What a page about an audit offers: its own numbers, tables and figures, and those of all pages together."""

    def numbers(section: str, forms: dict[str, str], **more: Any) -> list[tuple[str, str]]:
        return [(title, shown.url("agreement_file", section, form, **more)) for form, title in forms.items()]

    found = [("Numbers of this page", numbers(page, _NUMBERS, **query))]
    found.append(("Tables of this page", numbers(page, _TABLES, **query)))
    found += [
        (title, [(form.upper(), shown.url("agreement_figure", name, form)) for form in charts.CONTENT_TYPES])
        for name, title in _FIGURES[page].items()
    ]
    found.append(("All agreement pages", numbers("all", _FORMS)))
    found.append(("Labels of groups", [("CSV", shown.url("agreement_groups"))]))
    return _listed(found)


def leaderboard_files(slug: str, score: str) -> list[dict[str, Any]]:
    """What the leaderboard offers: numbers and tables by every score, and the figure by the one shown."""
    address = "agreement_file"
    found = [
        (title, [(label, reverse(address, args=[slug, LEADERBOARD, form])) for form, label in forms.items()])
        for title, forms in (("Numbers, by each score", _NUMBERS), ("Tables, by each score", _TABLES))
    ]
    figure = "agreement_leaderboard_figure"
    forms = [(form.upper(), reverse(figure, args=[slug, score, form])) for form in charts.CONTENT_TYPES]
    return _listed([*found, ("Figure", forms)])


def _listed(found: list[tuple[str, list[tuple[str, str]]]]) -> list[dict[str, Any]]:
    return [{"title": title, "files": [{"label": a, "url": b} for a, b in files]} for title, files in found]
