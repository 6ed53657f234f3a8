"""The template fragments give what the design system's reference says, each rendered alone."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import RequestFactory, override_settings
from django.utils import translation

from lseval.site.styleguide import styleguide_context

VOID = {"meta", "link", "input", "br", "hr", "img"}


class _Balance(HTMLParser):
    """Raises where a start tag and an end tag do not meet."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise ValueError(f"</{tag}> at {self.getpos()} closes nothing")


def component(name: str, **context: object) -> str:
    return render_to_string(f"components/_{name}.html", context)


def _words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.parametrize(
    ("label", "letter", "word"),
    [("C", "C", "Correct"), ("I", "I", "Incorrect"), ("U", "U", "Unverifiable"), ("unjudged", "–", "Unjudged")],
)
def test_chip_says_its_label_by_letter_and_word(label: str, letter: str, word: str):
    assert _words(component("label_chip", label=label)) == f"{letter} {word}"
    assert f'data-label="{label}"' in component("label_chip", label=label)


def test_chips_have_four_different_shapes():
    shapes = [re.search(r'class="glyph-shape"([^/]*)/', component("label_chip", label=x)) for x in "CIU-"]
    assert len({shape[1] for shape in shapes if shape}) == 4


def test_compact_chip_keeps_its_word_for_screen_readers():
    assert '<span class="chip-word visually-hidden">Incorrect</span>' in component(
        "label_chip", label="I", compact=True
    )


@pytest.mark.parametrize("label", ["", None])
def test_missing_label_shows_as_unjudged_and_never_as_incorrect(label: str | None):
    html = component("label_chip", label=label)
    assert 'data-label="unjudged"' in html
    assert "Incorrect" not in html


def test_text_in_components_is_escaped():
    hostile = "<script>x</script>"
    for html in (
        component("label_chip", label=hostile, reason=hostile),
        component("tag", text=hostile),
        component("stat", term=hostile, value=hostile, note=hostile),
        component("messages", messages=[Message(constants.INFO, hostile)]),
        component("empty", title=hostile, text=hostile),
    ):
        assert "<script>" not in html
        assert "&lt;script&gt;" in html


def test_undefined_statistic_is_named_with_its_reason_and_draws_nothing():
    stat = component("stat", term="tau-b", value=0, undefined_reason="every score is the same")
    assert _words(stat) == "tau-b undefined every score is the same"
    interval = component("interval", interval={"undefined_reason": "every score is the same"})
    assert _words(interval) == "undefined every score is the same"
    assert "<svg" not in interval


def test_interval_is_drawn_at_the_given_places_and_read_aloud():
    html = component(
        "interval",
        interval={
            "label": "alpha",
            "point": "0.81",
            "low": "0.75",
            "high": "0.86",
            "point_at": 81.0,
            "low_at": 75.0,
            "high_at": 86.5,
            "reference_at": 0,
        },
    )
    assert 'aria-label="alpha 0.81, interval 0.75 to 0.86"' in html
    assert 'class="interval-line" x1="75.0%" x2="86.5%"' in html
    assert 'class="interval-point" cx="81.0%"' in html
    # A reference at 0 is a place like any other, not an absent one.
    assert 'class="interval-reference" x1="0%"' in html


def test_interval_without_bounds_shows_the_point_alone():
    html = component("interval", interval={"point": "1", "point_at": 100})
    assert "interval-point" in html
    assert "interval-line" not in html
    assert _words(html) == "1"


@override_settings(USE_I18N=True, LANGUAGE_CODE="de")
def test_geometry_keeps_its_decimal_point_in_every_locale():
    with translation.override("de"):
        places = {"point_at": 12.5, "low_at": 1.5, "high_at": 20.5}
        html = component("interval", interval={"point": "0,5", "low": "0", "high": "1", **places})
        meter = component("meter", label="Budget", value=0.25, text="25 %")
    assert 'cx="12.5%"' in html
    assert 'value="0.25"' in meter


def test_progress_without_a_value_is_indeterminate():
    assert "<progress max" in component("meter", label="Reading", text="working", value=None, is_progress=True)
    assert '<progress value="0" max="5">' in component(
        "meter", label="Labeled", text="0 of 5", value=0, max=5, is_progress=True
    )


def test_confusion_matrix_gives_counts_heat_and_diagonal():
    html = component(
        "confusion_matrix",
        matrix={
            "row_title": "Person",
            "column_title": "Stage 1",
            "columns": [{"label": "C"}, {"text": "other"}],
            "rows": [
                {
                    "label": "C",
                    "cells": [
                        {"count": 0, "heat": 0, "is_diagonal": True},
                        {"count": 7, "heat": 9, "share": "100.0%"},
                    ],
                    "total": 7,
                }
            ],
            "column_totals": [0, 7],
            "total": 7,
        },
    )
    assert '<td class="heat heat-0 diagonal"><span class="num">0</span></td>' in html
    assert '<td class="heat heat-9"><span class="num">7</span><span class="share num">100.0%</span></td>' in html
    assert html.count('scope="row"') == 2
    assert 'colspan="2" scope="colgroup">Stage 1' in html


def test_tabs_and_breadcrumbs_mark_the_current_page():
    tabs = component(
        "tabs",
        tabs=[
            {"label": "Home", "url": "/h", "is_current": False},
            {"label": "Audit", "url": "/a", "is_current": True, "count": 0},
        ],
    )
    assert tabs.count('aria-current="page"') == 1
    assert '<a href="/a" aria-current="page">Audit <span class="tab-count num">0</span></a>' in tabs
    crumbs = component("breadcrumbs", breadcrumbs=[{"label": "Studies", "url": "/s"}, {"label": "Here", "url": ""}])
    assert '<a href="/s">Studies</a>' in crumbs
    assert '<span aria-current="page">Here</span>' in crumbs


def test_pagination_keeps_the_filters_of_the_address():
    request = RequestFactory().get("/runs/", {"label": "I", "page": "2"})
    page = Paginator(range(30), 10).page(2)
    html = render_to_string("components/_pagination.html", {"page_obj": page}, request=request)
    assert 'rel="prev" href="?label=I&amp;page=1"' in html
    assert 'rel="next" href="?label=I&amp;page=3"' in html
    assert "Page 2 of 3, rows 11–20 of 30" in _words(html)


def test_pagination_of_a_single_page_is_empty():
    assert component("pagination", page_obj=Paginator(range(3), 10).page(1)).strip() == ""


def test_error_message_is_an_alert_and_others_are_not():
    html = component("messages", messages=[Message(constants.ERROR, "no"), Message(constants.SUCCESS, "yes")])
    assert re.findall(r'data-tone="(\w+)" data-dismissible role="(\w+)"', html) == [
        ("error", "alert"),
        ("success", "status"),
    ]


def test_decision_bar_preselects_nothing_unless_told():
    options = [{"value": "C", "label": "C", "key": "c"}, {"value": "x", "text": "Cannot tell"}]
    html = component("decision_bar", question="Is it?", options=options)
    assert " checked" not in html
    assert 'value="C" required data-shortcut="c"' in html
    assert "Cannot tell" in html


@pytest.mark.parametrize("code", ["400", "403", "403_csrf", "404", "500"])
def test_error_pages_render_without_request_or_context(code: str):
    html = render_to_string(f"{code}.html")
    _Balance().feed(html)
    assert html.count("<h1>") == 1
    assert 'href="/"' in html


def test_style_guide_is_well_formed_and_has_no_doubled_id():
    html = render_to_string("styleguide.html", styleguide_context(), request=RequestFactory().get("/styleguide/"))
    parser = _Balance()
    parser.feed(html)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
