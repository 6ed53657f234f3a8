"""The page that shows every component with sample values, for whoever builds or reviews a page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from lseval.site.navigation import Tab

_LABELS = ("C", "I", "U")
_TOKENS = """
    paper sunken raised ink ink-soft rule rule-strong edge accent accent-strong accent-soft focus
    correct incorrect unverifiable unjudged caution mark
"""


class SampleForm(forms.Form):
    """A form with a field that is right, one that is wrong and one that may stay empty."""

    name = forms.CharField(help_text="Shown in lists and in the report.")
    required_count = forms.IntegerField(label="Required count", min_value=1)
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False)


@login_not_required
def styleguide(request: HttpRequest) -> HttpResponse:
    """The style guide. Needs no database; for local mode only."""
    return render(request, "styleguide.html", styleguide_context())


def styleguide_context() -> dict[str, Any]:
    """Sample values for every component, made up and tied to no study."""
    return {
        "study": {"name": "Sample study"},
        "study_tabs": tuple(
            Tab(label, f"#{label.lower()}", label == "Outcome")
            for label in ("Home", "Outcome", "Process", "Audit", "Agreement", "Report")
        ),
        "breadcrumbs": [
            {"label": "Studies", "url": "#studies"},
            {"label": "Sample study", "url": "#study"},
            {"label": "Style guide", "url": ""},
        ],
        "sample_tabs": [
            {"label": "To label", "url": "#open", "is_current": True, "count": 46},
            {"label": "Submitted", "url": "#submitted", "is_current": False, "count": 14},
            {"label": "Guidelines", "url": "#guidelines", "is_current": False},
        ],
        "sample_messages": [
            Message(constants.SUCCESS, "Label saved. 46 items are left in your queue."),
            Message(constants.INFO, "The run was queued; this page shows it when it starts."),
            Message(constants.WARNING, "3 runs have an unjudged group and no score."),
            Message(constants.ERROR, "The file was not imported: line 12 names no task. Correct it and try again."),
        ],
        "sample_form": SampleForm({"name": "Pilot audit", "required_count": "0"}),
        "sample_page": Paginator(range(946), 50).page(3),
        "models": _model_rows(),
        "estimates": _estimates(),
        "scaled_interval": _interval(0.809, 0.747, 0.863, 0.6) | {"axis_min": "0", "axis_max": "1"},
        "matrix": sample_matrix(),
        "tokens": _TOKENS.split(),
        "heat_steps": range(10),
        "rounds": _rounds(),
        "decision_options": [
            {"value": value, "label": value, "key": value.lower(), "is_current": value == "C"} for value in _LABELS
        ],
        "shortcuts": [
            {"key": "C", "does": "Correct"},
            {"key": "I", "does": "Incorrect"},
            {"key": "U", "does": "Unverifiable"},
            {"key": "Enter", "does": "Save and go to the next item"},
            {"key": "N", "does": "Write a note"},
            {"key": "/", "does": "Find in the cited page"},
            {"key": "?", "does": "Show this list"},
        ],
    }


def _interval(point: float, low: float, high: float, reference: float | None = None) -> dict[str, Any]:
    """An estimate on an axis from 0 to 1, as `_interval.html` takes it."""
    return {
        "point": f"{point:.3f}",
        "low": f"{low:.3f}",
        "high": f"{high:.3f}",
        "point_at": 100 * point,
        "low_at": 100 * low,
        "high_at": 100 * high,
        "reference_at": None if reference is None else 100 * reference,
    }


def _model_rows() -> list[dict[str, Any]]:
    rows = (
        ("Model A", 68.8, 68.3, 75.4, (412, 151, 40, 0), (0.688, 0.622, 0.751)),
        ("Model B", 54.2, 56.0, 58.9, (337, 248, 22, 4), (0.542, 0.468, 0.613)),
        ("Model C", 38.5, 38.8, 50.2, (201, 254, 118, 0), (0.385, 0.317, 0.457)),
        ("Model D", 7.4, 8.1, 9.0, (31, 318, 12, 21), (0.074, 0.041, 0.119)),
    )
    return [
        {
            "name": name,
            "answer_score": f"{score:.1f}",
            "answer_precision": f"{precision:.1f}",
            "upper": f"{upper:.1f}",
            "is_best": name == "Model A",
            "parts": _parts(counts),
            "interval": _interval(*interval),
        }
        for name, score, precision, upper, counts, interval in rows
    ]


def _parts(counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """The parts of a label bar, left to right; a label that no group has is left out."""
    parts: list[dict[str, Any]] = []
    start = 0.0
    for label, count in zip((*_LABELS, "unjudged"), counts, strict=True):
        if count:
            width = 100 * count / sum(counts)
            parts.append({"label": label, "count": count, "start": start, "width": width})
            start += width
    return parts


def _estimates() -> list[dict[str, Any]]:
    return [
        {"term": "Cohen's kappa", "pairs": 378, "interval": _interval(0.812, 0.751, 0.866, 0.6)},
        {"term": "Krippendorff's alpha", "pairs": 378, "interval": _interval(0.809, 0.747, 0.863, 0.6)},
        {"term": "Gwet's AC1", "pairs": 378, "interval": _interval(0.874, 0.829, 0.913, 0.6)},
        {
            "term": "Kendall's tau-b, all scores tied",
            "pairs": 12,
            "interval": {"undefined_reason": "every score is the same"},
        },
    ]


def sample_matrix() -> dict[str, Any]:
    """A confusion matrix of 378 pairs as `_confusion_matrix.html` takes it."""
    counts = ((201, 9, 4), (12, 118, 5), (6, 8, 15))
    total = sum(map(sum, counts))
    return {
        "title": "Person against Stage 1.",
        "note": "Cells give pairs and the share of their row.",
        "row_title": "Person",
        "column_title": "Stage 1",
        "columns": [{"label": label} for label in _LABELS],
        "rows": [
            {
                "label": _LABELS[index],
                "cells": [
                    {
                        "count": count,
                        "share": f"{count / sum(row):.1%}",
                        "heat": min(9, 10 * count // sum(row)),
                        "is_diagonal": column == index,
                    }
                    for column, count in enumerate(row)
                ],
                "total": sum(row),
            }
            for index, row in enumerate(counts)
        ],
        "column_totals": [sum(column) for column in zip(*counts, strict=True)],
        "total": total,
    }


def _rounds() -> list[dict[str, Any]]:
    names = {
        "failure": "failure node",
        "split": "split",
        "non_error": "no error",
        "skipped": "skipped",
        "unjudged": "not judged",
    }
    states = """
        skipped non_error non_error failure skipped split non_error skipped skipped failure
        non_error skipped non_error non_error skipped skipped non_error unjudged
    """
    return [
        {"number": number, "state": state, "state_label": names[state], "url": f"#round-{number}"}
        for number, state in enumerate(states.split(), start=1)
    ]
