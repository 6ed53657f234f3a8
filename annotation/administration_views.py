"""What leads do to an audit that is under way, and what of it is looked at live or taken home."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import administration, lead_presenting, selectors
from annotation.lead_forms import ExtensionForm, ReassignForm
from annotation.models import Audit, Slot
from annotation.sampling import Plan
from annotation.transfers import CONTENT_TYPES, label_lines
from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.errors import ConflictError, InputError
from lseval.models import Role, User

_CHANGES = {
    "pause": (administration.pause_audit, "{} is paused: nobody is given a new item."),
    "resume": (administration.resume_audit, "{} goes on."),
    "close": (administration.close_audit, "{} is closed. Nothing in it can be changed any more."),
}


@require_GET
def audit_progress(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """The numbers of one audit as they are now: the part of the audit page that renews itself."""
    access = require_access(request, slug, *RESULT_ROLES)
    _audit_or_404(access, audit_id)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("audit", slug=slug)
    (found,) = lead_presenting.audits_shown(access.study, audit_id)
    return render(request, "annotation/_audit_live.html", {"found": found, "is_lead": access.is_lead})


@require_POST
def change_audit(request: HttpRequest, slug: str, audit_id: int, change: str) -> HttpResponse:
    """Pause, resume or close an audit; closing needs its box ticked, since it cannot be undone."""
    if change not in _CHANGES:
        raise Http404("no such change")
    access = require_access(request, slug, Role.LEAD)
    found = _audit_or_404(access, audit_id)
    if change == "close" and request.POST.get("confirm") != "yes":
        messages.error(request, "Nothing was closed: tick the box that says you mean it.")
        return redirect("audit", slug=slug)
    do, told = _CHANGES[change]
    return _done(request, slug, lambda: do(found, access.user), told.format(found.name))


@require_POST
def release_lease(request: HttpRequest, slug: str, audit_id: int, slot_id: int) -> HttpResponse:
    """Give an item that somebody holds back to its queue."""
    access = require_access(request, slug, Role.LEAD)
    found = _audit_or_404(access, audit_id)
    slot = get_object_or_404(Slot.objects.select_related("queue__audit"), pk=slot_id, queue__audit=found)
    return _done(
        request, slug, lambda: administration.release_lease(slot, access.user), "The item is back in its queue."
    )


@require_POST
def reassign_seat(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """End a person's place, and give it to somebody else if one is named."""
    access = require_access(request, slug, Role.LEAD)
    found = _audit_or_404(access, audit_id)
    form = ReassignForm(
        request.POST,
        leaving=list(User.objects.filter(seats__audit=found, is_simulated=False)),
        people=selectors.people_to_seat(access.study),
    )
    if not form.is_valid():
        messages.error(request, "Choose somebody who has a place here, and who takes it over, if anybody does.")
        return redirect("audit", slug=slug)
    leaving, to = form.cleaned_data["leaving"], form.cleaned_data["to"]
    told = f"{leaving.username} has no place in {found.name} any more; what they labeled stays."
    told += f" {to.username} goes on." if to else ""
    return _done(request, slug, lambda: administration.reassign(found, leaving, access.user, to=to), told)


@require_http_methods(["GET", "HEAD", "POST"])
def extend_audit(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """Ask for a further draw, look at it, confirm it."""
    access = require_access(request, slug, Role.LEAD)
    found = _audit_or_404(access, audit_id)
    if request.method != "POST":
        return _extension_page(request, found, ExtensionForm(initial=ExtensionForm.of(Plan.from_json(found.plan))))
    form = ExtensionForm(request.POST)
    if not form.is_valid():
        return _extension_page(request, found, form, status=400)
    if "confirm" not in request.POST:
        return _extension_preview(request, found, form)
    try:
        made = administration.extend_audit(found, access.user, form.plan(), expected_digest=request.POST["confirm"])
    except InputError as error:
        return _extension_page(request, found, form, problem=str(error), status=400)
    except ConflictError as error:
        return _extension_preview(request, found, form, problem=str(error), status=409)
    messages.success(request, f"{found.name} has been extended by draw {made.number}.")
    return redirect("audit", slug=slug)


@require_GET
def export_labels(request: HttpRequest, slug: str, audit_id: int, file_format: str) -> StreamingHttpResponse:
    """Every version of every label of an audit, as CSV or JSONL."""
    if file_format not in CONTENT_TYPES:
        raise Http404("no such format")
    access = require_access(request, slug, *RESULT_ROLES)
    found = _audit_or_404(access, audit_id)
    lines = label_lines(access.study, found, file_format)
    response = StreamingHttpResponse(lines, content_type=CONTENT_TYPES[file_format])
    response["Content-Disposition"] = f'attachment; filename="{slug}-audit-{found.pk}-labels.{file_format}"'
    return response


def _audit_or_404(access: StudyAccess, audit_id: int) -> Audit:
    return get_object_or_404(access.study.audits.select_related("study"), pk=audit_id)


def _done(request: HttpRequest, slug: str, do: Any, told: str) -> HttpResponse:
    try:
        do()
    except (InputError, ConflictError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, told)
    return redirect("audit", slug=slug)


def _extension_preview(
    request: HttpRequest, found: Audit, form: ExtensionForm, *, problem: str = "", status: int = 200
) -> HttpResponse:
    try:
        drawing = administration.preview_extension(found, form.plan())
    except InputError as error:
        return _extension_page(request, found, form, problem=str(error), status=400)
    context = lead_presenting.drawing_shown(drawing)
    return _extension_page(request, found, form, problem=problem, status=status, **context)


def _extension_page(
    request: HttpRequest, found: Audit, form: ExtensionForm, *, problem: str = "", status: int = 200, **context: Any
) -> HttpResponse:
    return render(
        request,
        "annotation/draw.html",
        {"form": form, "problem": problem, "extended": found, **context},
        status=status,
    )
