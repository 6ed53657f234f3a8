"""The agreement pages. Each parses what is asked, makes one call, and shows the result."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agreement import charts, listing, selectors
from agreement.charts import ScorePair, ScorePanel
from agreement.files import leaderboard_files, page_files
from agreement.forms import PlannerForm
from agreement.people_report import people_of
from agreement.presenting import computed, leaderboard, people, process, scores, study
from agreement.presenting.intervals import coefficient_axis, interval_view
from agreement.presenting.main import main_page
from agreement.reporting import labels_report, process_parts, study_parts
from agreement.selectors import differs
from agreement.shown import Shown, plain_tabs, required_shown, shown_of
from agreement.stats.groups import group_table
from agreement.study_selectors import study_runs
from agreement.whole_study import leaderboard_by
from lseval.access import StudyAccess
from lseval.errors import InputError
from lseval.query_parameters import takes

PAGE_SIZE = 50
SOME = 8
"""How many disagreements the main page shows; the others are on a page of their own."""


@takes("audit", "labels")
@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Labels and scores: matrices, coefficients, Tables 3 and A9, Figure 5, disagreements."""
    shown = shown_of(request, slug)
    if isinstance(shown, StudyAccess):
        return _nothing_drawn(request, shown, "agreement")
    rows = selectors.group_rows(shown.audit, shown.source)
    report = labels_report(shown.audit, shown.source, rows)
    differing = [row for row in rows if differs(row)]
    context = shown.context(
        "agreement",
        report=report,
        **main_page(report, lambda key, first, second: _cell_url(shown, key, first, second)),
        disagreements=listing.listed_groups(differing[:SOME]),
        disagreement_count=len(differing),
        disagreements_url=shown.url("agreement_items", list=listing.DIFFER),
        panel=computed.labels_panel(report),
        downloads=page_files(shown, "labels"),
    )
    if report["auto_h1"]["score_pairs"]["responses"]:
        context |= _figure(request, shown, charts.score_panels(group_table(rows)))
    return render(request, "agreement/agreement.html", context)


def _figure(request: HttpRequest, shown: Shown, panels: list[ScorePanel]) -> dict[str, Any]:
    """Figure 5 in the page, with a list of its dots for whoever cannot use it."""
    origin = request.build_absolute_uri("/").rstrip("/")

    def address(panel: ScorePanel, pair: ScorePair) -> str:
        return dot_url(shown, panel, pair)

    chart = charts.score_scatter(panels, "Automatic", shown.second, lambda *dot: origin + address(*dot))
    dots = [
        {"text": charts.pair_text(panel, pair), "url": address(panel, pair)}
        for panel in panels
        for pair in panel.pairs
    ]
    name = "Figure 5: Answer Score and Answer Precision, automatic against H1; each dot opens its responses"
    return {"figure": charts.inline_svg(chart, name, origin), "dots": dots}


def dot_url(shown: Shown, panel: ScorePanel, pair: ScorePair) -> str:
    """Where a dot leads: to its run, or to the list of its responses where it stands for several."""
    if len(pair.responses) == 1:
        return reverse("run", args=[shown.slug, int(pair.responses[0])])
    return shown.url("agreement_responses", score=panel.score, x=repr(pair.x), y=repr(pair.y))


def _cell_url(shown: Shown, key: str, first: str, second: str) -> str:
    return shown.url("agreement_items", list=key, first=first, second=second)


@takes("audit", "labels", "list", "first", "second", "label", "by_type", "by_model", "by_judge_setting", "page")
@require_safe
def agreement_items(request: HttpRequest, slug: str) -> HttpResponse:
    """The items that a cell of a matrix, or a row of a table, counts."""
    shown = required_shown(request, slug)
    found = listing.listing_of(shown.audit, shown.source, request.GET)
    page = Paginator(found.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    rows: list[Any] = list(page.object_list)
    back = "agreement" if found.kind == "group" else "agreement_process"
    context = shown.context(
        back,
        listing=found,
        page_obj=page,
        rows=listing.listed_groups(rows) if found.kind == "group" else rows,
        names={**process.ROUND_NAMES, **process.LINK_NAMES},
        types=process.TYPE_NAMES,
        breadcrumbs=_crumbs(shown, back, found.title),
    )
    return render(request, "agreement/items.html", context)


@takes("audit", "labels", "score", "x", "y", "page")
@require_safe
def agreement_responses(request: HttpRequest, slug: str) -> HttpResponse:
    """The responses behind a dot of the score figure."""
    shown = required_shown(request, slug)
    title, found = listing.responses_of_dot(shown.audit, shown.source, request.GET)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = shown.context("agreement", title=title, page_obj=page, breadcrumbs=_crumbs(shown, "agreement", title))
    return render(request, "agreement/responses.html", context)


@takes("audit", "labels")
@require_safe
def agreement_people(request: HttpRequest, slug: str) -> HttpResponse:
    """The people behind the labels: who agrees with whom, how each labels, and whether that changes."""
    shown = shown_of(request, slug)
    if isinstance(shown, StudyAccess):
        return _nothing_drawn(request, shown, "agreement_people")
    found = people_of(shown.audit, shown.source)
    context = shown.context(
        "agreement_people",
        people=found,
        alpha=interval_view(found["alpha"], coefficient_axis([found["alpha"]])),
        square=people.rater_square(found),
        pairs=people.pair_table(found),
        profiles=people.profile_rows(found),
        work=people.work_rows(found),
        drift=people.drift_rows(found),
        panel=computed.people_panel(found),
        downloads=page_files(shown, "people"),
    )
    return render(request, "agreement/people.html", context)


@takes("audit", "labels")
@require_safe
def agreement_process(request: HttpRequest, slug: str) -> HttpResponse:
    """Link precision with its breakdowns, and the three-way table of rounds."""
    shown = shown_of(request, slug)
    if isinstance(shown, StudyAccess):
        return _nothing_drawn(request, shown, "agreement_process")
    parts = process_parts(shown.audit, shown.source)
    links, rounds = parts["links"], parts["rounds"]

    def list_url(name: str, value: str) -> str:
        return shown.url("agreement_items", list=listing.LINKS, **{name: value})

    context = shown.context(
        "agreement_process",
        overall=process.link_row(links["overall"]),
        link_lists=[
            {"label": title, "url": list_url("label", label)} for label, title in process.LINK_NAMES.items()
        ],
        link_tables=process.link_tables(links, list_url),
        rounds=rounds,
        round_matrix=process.round_heatmap(rounds, lambda *cell: _cell_url(shown, listing.ROUNDS, *cell)),
        round_columns=["Recall", "Precision"],
        round_rows=process.round_rows(rounds),
        panel=computed.process_panel(links, rounds),
        downloads=page_files(shown, "process"),
    )
    return render(request, "agreement/process.html", context)


@takes("audit", "labels", "share", "points")
@require_safe
def agreement_study(request: HttpRequest, slug: str) -> HttpResponse:
    """What the audited part says of the whole study, and how many more labels a narrower interval takes."""
    shown = shown_of(request, slug)
    if isinstance(shown, StudyAccess):
        return _nothing_drawn(request, shown, "agreement_study")
    rows = selectors.group_rows(shown.audit, shown.source)
    form = PlannerForm(request.GET)
    parts = study_parts(shown.audit, shown.source, rows, study_runs(shown.access.study), form.wanted)
    whole, planner = parts["whole_study"], parts["planner"]
    context = shown.context(
        "agreement_study",
        whole=whole,
        headline=study.headline(whole),
        agreement_table=study.agreement_table(whole),
        designs=study.DESIGN_NAMES.values(),
        matrix=study.study_matrix(whole),
        human_scores=study.human_score_rows(whole),
        models=study.model_tables(whole),
        estimands=study.estimands(),
        form=form,
        plans=study.plan_rows(planner["plans"]),
        panel=computed.study_panel(whole),
        downloads=page_files(shown, "study", **planner["wanted"]),
    )
    return render(request, "agreement/study.html", context)


@takes("audit", "labels", "score")
@require_safe
def agreement_leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """The models by their automatic scores on all tasks: ranks with intervals, and paired differences.

    They are the same for every audit; the audit that is asked for is the one to which the tabs lead back.
    """
    found = shown_of(request, slug)
    access = found if isinstance(found, StudyAccess) else found.access
    score = request.GET.get("score", "as")
    if score not in scores.SCORE_NAMES:
        raise InputError(f"{score!r} is no score: there is {', '.join(scores.SCORE_NAMES)}.")
    board = leaderboard_by(score, study_runs(access.study))
    scale = 100.0 if score == "ap" else 1.0
    page = "agreement_leaderboard"
    if isinstance(found, StudyAccess):
        address, tabs = f"{reverse(page, args=[slug])}?", plain_tabs(access, page)
    else:
        address, tabs = f"{found.url(page)}&", found.tabs(page)
    context = {
        "access": access,
        "page_tabs": tabs,
        "score": scores.LONG_SCORE_NAMES[score],
        "unit": "per cent" if score == "ap" else "points",
        "score_tabs": [
            {"label": title, "url": f"{address}score={name}", "is_current": name == score}
            for name, title in scores.LONG_SCORE_NAMES.items()
        ],
        "board": board,
        "models": leaderboard.model_table(board, scale),
        "square": leaderboard.difference_square(board, scale),
        "pairs": leaderboard.pair_rows(board, scale),
        "panel": computed.leaderboard_panel(board),
        "downloads": leaderboard_files(slug, score),
    }
    return render(request, "agreement/leaderboard.html", context)


def _nothing_drawn(request: HttpRequest, access: StudyAccess, page: str) -> HttpResponse:
    return render(request, "agreement/empty.html", {"access": access, "page_tabs": plain_tabs(access, page)})


def _crumbs(shown: Shown, back: str, title: str) -> list[dict[str, str]]:
    names = {"agreement": "Agreement", "agreement_process": "Links and rounds"}
    return [{"label": names[back], "url": shown.url(back)}, {"label": title, "url": ""}]
