"""The audit page, as each role may see it, and what leads do there."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import labeler_selectors, lead_presenting, selectors, services
from annotation.forms import DrawForm, SeatForm
from lseval.access import StudyAccess, require_access
from lseval.errors import ConflictError, InputError
from lseval.models import Role


@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """The study's audits for leads and researchers; for an annotator, their own queues and nothing else."""
    access = require_access(request, slug)
    if not access.sees_results:
        own_queues = labeler_selectors.queues_of(access.user, access.study)
        return render(request, "annotation/queues.html", {"own_queues": own_queues})
    people = selectors.people_to_seat(access.study) if access.is_lead else []
    context = {
        "audits": lead_presenting.audits_shown(access.study, people=people),
        "roles": services.LABELER_ROLES,
        "is_lead": access.is_lead,
    }
    return render(request, "annotation/audit.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def draw_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a draw, look at it, confirm it."""
    access = require_access(request, slug, Role.LEAD)
    if request.method != "POST":
        names = set(access.study.audits.values_list("name", flat=True))
        return _draw_page(request, DrawForm(initial=DrawForm.proposal(names, services.planned(access.study))))
    form = DrawForm(request.POST)
    if not form.is_valid():
        return _draw_page(request, form, status=400)
    if "confirm" in request.POST:
        return _confirm_draw(request, access, form)
    return _preview(request, access, form)


@require_POST
def seat_labeler(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """Give a member a place in a queue of the audit."""
    access = require_access(request, slug, Role.LEAD)
    found = get_object_or_404(access.study.audits, pk=audit_id)
    form = SeatForm(request.POST, people=selectors.people_to_seat(access.study))
    if not form.is_valid():
        messages.error(request, "Choose a member of the study and a role.")
        return redirect("audit", slug=slug)
    person, role = form.cleaned_data["user"], form.cleaned_data["role"]
    try:
        services.seat(services.queue_of(found, role), person, access.user)
    except (InputError, ConflictError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{person.username} labels as {role} in {found.name}.")
    return redirect("audit", slug=slug)


def _confirm_draw(request: HttpRequest, access: StudyAccess, form: DrawForm) -> HttpResponse:
    given = form.cleaned_data
    try:
        made = services.create_audit(
            access.study,
            form.plan(),
            given["seed"],
            given["name"],
            access.user,
            expected_digest=request.POST["confirm"],
            reveal_after_submission=given["reveal_after_submission"],
        )
    except InputError as error:
        return _draw_page(request, form, problem=str(error), status=400)
    except ConflictError as error:
        return _preview(request, access, form, problem=str(error), status=409)
    messages.success(request, f"{made.name} is drawn. Give people a place in its queues.")
    return redirect("audit", slug=access.study.slug)


def _preview(
    request: HttpRequest, access: StudyAccess, form: DrawForm, *, problem: str = "", status: int = 200
) -> HttpResponse:
    given = form.cleaned_data
    try:
        drawing = services.preview_draw(access.study, form.plan(), given["seed"])
    except InputError as error:
        return _draw_page(request, form, problem=str(error), status=400)
    if not problem and access.study.audits.filter(name=given["name"]).exists():
        problem, status = f"There is an audit named {given['name']} already. Choose another name.", 409
    context = lead_presenting.drawing_shown(drawing)
    return _draw_page(request, form, problem=problem, status=status, **context)


def _draw_page(
    request: HttpRequest, form: DrawForm, *, problem: str = "", status: int = 200, **context: Any
) -> HttpResponse:
    return render(request, "annotation/draw.html", {"form": form, "problem": problem, **context}, status=status)
