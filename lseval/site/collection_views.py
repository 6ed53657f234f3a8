"""The pages on collecting a study's runs, and on what its calls cost."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.errors import LsevalError
from lseval.models import Phase, Role, Study
from lseval.pipeline import starting
from lseval.pipeline.costs import costs_of, spent_in
from lseval.site.money import CostLine, dollars, hours
from lseval.site.quantities import counted
from lseval.site.selectors.collection import collection_of, command_of_worker


@require_safe
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the study's runs are, with what starts, pauses and retries them for a lead."""
    access = require_access(request, slug, *RESULT_ROLES)
    return render(request, "site/collection.html", _shown(access))


@require_safe
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that moves, for the page to ask again; a browser that comes here gets the page."""
    access = require_access(request, slug, *RESULT_ROLES)
    if not request.headers.get("HX-Request"):
        return redirect("collection", slug)
    return render(request, "site/_collection_live.html", {**_shown(access), "study": access.study})


@require_POST
def act(request: HttpRequest, slug: str) -> HttpResponse:
    """Start, pause, resume or retry. Nothing here waits for a run: jobs are queued, and workers take them."""
    access = require_access(request, slug, Role.LEAD)
    step = _STEPS.get(request.POST.get("action", ""))
    if step is None:
        messages.error(request, "Choose one of the buttons on this page.")
        return redirect("collection", slug)
    try:
        messages.success(request, step(access.study, request))
    except LsevalError as error:
        messages.error(request, str(error))
    return redirect("collection", slug)


@require_safe
def costs(request: HttpRequest, slug: str) -> HttpResponse:
    """Table A11: tokens, dollars and time by phase, by model and by judge."""
    access = require_access(request, slug, *RESULT_ROLES)
    found = costs_of(access.study)
    return render(
        request,
        "site/costs.html",
        {
            "has_calls": bool(found.total.spent.calls),
            "unpriced": found.total.spent.unpriced,
            "tables": [
                ("by-phase", "By phase", [CostLine.of(row) for row in found.phases], CostLine.of(found.total)),
                ("by-model", "Collection by model", [CostLine.of(row) for row in found.models], None),
                ("by-judge", "Judges by model", [CostLine.of(row) for row in found.judges], None),
            ],
            "total": CostLine.of(found.total),
        },
    )


def _shown(access: StudyAccess) -> dict[str, object]:
    found = collection_of(access.study, is_detailed=True)
    spent = spent_in(access.study, Phase.COLLECTION)
    return {
        "found": found,
        "spent": spent,
        "cost": dollars(spent.cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
        "left": hours(found.left_s),
        "is_lead": access.is_lead,
        "worker": command_of_worker(),
    }


def _start(study: Study, request: HttpRequest) -> str:
    queued = starting.start_collection(study)
    return f"{counted(queued, 'run')} queued." if queued else "Every run is there already."


def _pause(study: Study, request: HttpRequest) -> str:
    starting.pause(study)
    return "Paused: no new run is started, and those in the making go on to their end."


def _resume(study: Study, request: HttpRequest) -> str:
    starting.resume(study)
    return "Resumed."


def _retry(study: Study, request: HttpRequest) -> str:
    model = request.POST.get("model", "")
    count = starting.retry(study, int(model) if model.isdecimal() and len(model) < 19 else None)
    return f"{counted(count, 'run')} queued again."


_STEPS: dict[str, Callable[[Study, HttpRequest], str]] = {
    "start": _start,
    "pause": _pause,
    "resume": _resume,
    "retry": _retry,
}
