"""The pages of a study that join its stages. Each parses what is asked, makes one call, and shows the result."""

from __future__ import annotations

from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agreement.presenting import report_view
from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.models import Role, User
from lseval.query_parameters import takes
from lseval.site import styleguide as styleguide_page
from lseval.site import trajectory_page
from lseval.site.process_curve import curve_of
from lseval.site.process_tables import process_and_details
from lseval.site.report_text import markdown_of, methods_of, process_lines
from lseval.site.selectors.home import commands_for, study_home_of
from lseval.site.selectors.outcome import OutcomeFilters, outcome_of
from lseval.site.selectors.pages import page_of
from lseval.site.selectors.process import TYPE_NAMES
from lseval.site.selectors.report import markers_of, report_of
from lseval.site.selectors.round import observation_of, round_page_of
from lseval.site.selectors.run import run_of
from lseval.site.selectors.studies import study_rows


@takes("page")
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that the person belongs to."""
    assert isinstance(request.user, User)  # the login middleware lets nobody else through
    rows = study_rows(request.user, request.GET.get("page", "1"))
    return render(request, "site/studies.html", {"rows": rows, "commands": commands_for("my-study")})


@require_safe
def study_home(request: HttpRequest, slug: str) -> HttpResponse:
    """Each stage of a study at a glance; an annotator is sent to their queues."""
    access = require_access(request, slug)
    if access.role == Role.ANNOTATOR:
        return redirect("audit", slug)
    return render(request, "site/study_home.html", {"home": study_home_of(access.study)})


@takes("task", "model", "sort", "view", "page")
@require_safe
def outcome(request: HttpRequest, slug: str) -> HttpResponse:
    """Stage 1: scores by model, by task and model, and by run."""
    access = _results(request, slug)
    found = outcome_of(access.study, OutcomeFilters.of(request.GET))
    return render(request, "site/outcome.html", {"outcome": found, "commands": commands_for(slug)})


@takes("page")
@require_safe
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """One run with its rounds and a page of its answer groups."""
    shown = run_of(_results(request, slug).study, run_id, request.GET.get("page", "1"))
    crumbs = _crumbs(("Outcome", reverse("outcome", args=[slug])), (str(shown.run), ""))
    return render(request, "site/run.html", {"shown": shown, "breadcrumbs": crumbs, **trajectory_page.RUN_CONTEXT})


@takes("group")
@require_safe
def run_round(request: HttpRequest, slug: str, run_id: int, number: int) -> HttpResponse:
    """One round beside a group, with the words that both have marked."""
    shown = round_page_of(_results(request, slug).study, run_id, number, request.GET.get("group", ""))
    crumbs = _crumbs(
        ("Outcome", reverse("outcome", args=[slug])),
        (str(shown.run), f"{reverse('run', args=[slug, run_id])}#r{number}"),
        (f"Round {number}", ""),
    )
    context = {"shown": shown, "breadcrumbs": crumbs, "shortcuts": trajectory_page.ROUND_SHORTCUTS}
    return render(request, "site/round.html", context)


@takes("from")
@require_safe
def observation(request: HttpRequest, slug: str, run_id: int, call_id: int) -> HttpResponse:
    """One tool call with its observation, a part at a time; the part alone where htmx asks for it."""
    shown = observation_of(_results(request, slug).study, run_id, call_id, request.GET.get("from", ""))
    if request.headers.get("HX-Request") == "true":
        return render(request, "site/_observation_part.html", {"shown": shown, "slug": slug})
    back = reverse("run", args=[slug, run_id])
    crumbs = _crumbs(
        ("Outcome", reverse("outcome", args=[slug])),
        (str(shown.run), f"{back}#r{shown.round_number}"),
        (f"Round {shown.round_number}, {shown.call.name}", ""),
    )
    return render(request, "site/observation.html", {"shown": shown, "breadcrumbs": crumbs})


@takes("start", "end")
@csp_update({"frame-src": [SELF]})  # type: ignore[arg-type]  # its types know no view with arguments
@require_safe
def page(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    """A snapshot; `start` and `end` mark a quotation in it."""
    access = _results(request, slug)
    shown = page_of(access.study, page_id, request.GET.get("start", ""), request.GET.get("end", ""))
    crumbs = [("Outcome", reverse("outcome", args=[slug]))]
    if shown.page.run is not None:
        crumbs.append((str(shown.page.run), reverse("run", args=[slug, shown.page.run.pk])))
    return render(request, "site/page.html", {"shown": shown, "breadcrumbs": _crumbs(*crumbs, ("Snapshot", ""))})


@require_safe
def process(request: HttpRequest, slug: str) -> HttpResponse:
    """Stage 2: what became of the rounds, failure nodes, links and judges."""
    access = _results(request, slug)
    found, details = process_and_details(access.study)
    return render(
        request,
        "site/process.html",
        {
            "process": found,
            "details": details,
            "curve": curve_of(details.policies),
            "lines": process_lines(found),
            "markers": markers_of(access.study),
            "type_names": TYPE_NAMES,
            "commands": commands_for(slug),
        },
    )


@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """All numbers of a study on one page that prints."""
    access = _results(request, slug)
    found = report_of(access.study)
    return render(
        request,
        "site/report.html",
        {
            "report": found,
            "methods": methods_of(found),
            "lines": process_lines(found.process),
            "type_names": TYPE_NAMES,
            "agreement_summary": {**found.agreement, **report_view(found.agreement)} if found.agreement else None,
        },
    )


@require_safe
def report_json(request: HttpRequest, slug: str) -> HttpResponse:
    """All numbers of a study as a JSON file."""
    access = _results(request, slug)
    response = JsonResponse(
        report_of(access.study).as_dict(), json_dumps_params={"indent": 2, "ensure_ascii": False}
    )
    return _as_file(response, f"{access.study.slug}-report.json")


@require_safe
def report_md(request: HttpRequest, slug: str) -> HttpResponse:
    """The report as a Markdown file."""
    access = _results(request, slug)
    response = HttpResponse(markdown_of(report_of(access.study)), content_type="text/markdown; charset=utf-8")
    return _as_file(response, f"{access.study.slug}-report.md")


@login_not_required
@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """The components with sample values, on this machine only."""
    if not settings.IS_LOCAL:
        raise Http404("the style guide is not served in a deployment")
    return styleguide_page.styleguide(request)


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """`ok` where the database answers, 503 where it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


def _results(request: HttpRequest, slug: str) -> StudyAccess:
    """The study for a person whose role sees verdicts; see `require_access` for everybody else."""
    return require_access(request, slug, *RESULT_ROLES)


def _crumbs(*steps: tuple[str, str]) -> list[dict[str, str]]:
    """The way to the page, as the breadcrumbs fragment takes it."""
    return [{"label": label, "url": url} for label, url in steps]


def _as_file(response: HttpResponse, name: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
