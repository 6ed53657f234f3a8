"""The pages of adjudication: the lead's, with what has been decided; the adjudicator's, with one disagreement."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import adjudication, adjudication_presenting, labeler_selectors, labels, presenting
from annotation import adjudication_selectors as selectors
from annotation.adjudication_selectors import Pair
from annotation.errors import EvidenceChangedError, OfferedLabel, PairChangedError, StaleLabelError
from annotation.evidence import ItemShown, item_shown
from annotation.forms import AdjudicatorForm, RebuildForm, RulingForm, SkipForm, UndoForm
from annotation.labeler_views import HEARTBEAT_S, heartbeat_reply, refuse_anothers, slot_in, slot_of, to_page
from annotation.models import AuditStatus, Between, LabelAction, LabelerRole, Seat, Slot, SlotStatus
from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.domain.labels import RoundLabel
from lseval.errors import ConflictError, InputError
from lseval.models import Role, User
from lseval.query_parameters import takes


@require_GET
def adjudication_page(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """What has been decided in an audit, and for a lead the forms that queue disagreements and give places."""
    access = require_access(request, slug, *RESULT_ROLES)
    audit = get_object_or_404(access.study.audits, pk=audit_id)
    progress = selectors.adjudication_progress(audit)
    sits_there = progress.queue is not None and progress.queue.seats.filter(user=access.user).exists()
    can_change = access.is_lead and audit.status != AuditStatus.CLOSED
    context = {
        "audit": audit,
        "progress": progress,
        "sits_there": sits_there,
        "can_change": can_change,
        "people": selectors.people_to_adjudicate(audit) if can_change and progress.queue else [],
        "unqueued": len(selectors.new_disagreements(audit)) if audit.status != AuditStatus.CLOSED else 0,
        "skips": [adjudication_presenting.skip_shown(skip) for skip in selectors.skips_of(audit)],
        "rulings": [adjudication_presenting.ruling_shown(ruling) for ruling in selectors.rulings_of(audit)],
    }
    return render(request, "annotation/adjudication.html", context)


@require_POST
def rebuild_adjudication(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """Bring the adjudicators' queue in line with the disagreements that there are now."""
    access = require_access(request, slug, Role.LEAD)
    audit = get_object_or_404(access.study.audits, pk=audit_id)
    form = RebuildForm(request.POST)
    if not form.is_valid():
        raise InputError("The request cannot be read. Reload the page and try again.")
    done = adjudication.rebuild_queue(audit, access.user, with_automatic=form.cleaned_data["with_automatic"])
    messages.success(request, f"{done.added} added, {done.removed} taken out, {done.open} to decide.")
    return redirect("adjudication", slug=slug, audit_id=audit_id)


@require_POST
def seat_adjudicator(request: HttpRequest, slug: str, audit_id: int) -> HttpResponse:
    """Give a lead or an annotator a place in the adjudicators' queue."""
    access = require_access(request, slug, Role.LEAD)
    audit = get_object_or_404(access.study.audits, pk=audit_id)
    form = AdjudicatorForm(request.POST, people=selectors.people_to_adjudicate(audit))
    if not form.is_valid():
        messages.error(request, "Choose a lead, or an annotator who has no other place in this audit.")
        return redirect("adjudication", slug=slug, audit_id=audit_id)
    person = form.cleaned_data["user"]
    try:
        adjudication.seat_adjudicator(audit, person, access.user)
    except (InputError, ConflictError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{person.username} adjudicates {audit.name}.")
    return redirect("adjudication", slug=slug, audit_id=audit_id)


@takes("slot", "source")
@require_http_methods(["GET", "HEAD", "POST"])
def adjudicate(request: HttpRequest, queue_id: int) -> HttpResponse:
    """The next disagreement, or with `?slot=` one that the person holds or decided lately; a POST decides it."""
    access, seat = _seat_or_404(request, queue_id)
    if request.method == "POST":
        return _decide(request, access, seat)
    if "slot" in request.GET:
        slot = _own_slot_or_404(access, seat, request.GET["slot"])
    else:
        found = adjudication.claim_disagreement(seat.queue, seat.user, sees_automatic=access.sees_results)
        if found is None:
            return _waiting(request, access, seat)
        slot = found
    return _item_page(request, access, seat, slot)


@require_POST
def adjudicate_skip(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Set a disagreement aside for a reason and go on; as `label_skip`."""
    access, seat = _seat_or_404(request, queue_id)
    form = SkipForm(request.POST)
    slot = slot_of(seat, form)
    _refuse_automatic(access, slot)
    given = form.cleaned_data
    try:
        labels.skip(
            slot.pk,
            seat.user,
            given["reason"],
            request_key=given["request_key"],
            base_version=given["base_version"],
            seconds_on_task=given["seconds_on_task"],
        )
    except InputError as error:
        offered = OfferedLabel(LabelAction.SKIP, comment=given["reason"])
        return _item_page(request, access, seat, slot, problem=str(error), offered=offered, status=400)
    except StaleLabelError as error:
        return _as_it_is_now(request, access, seat, slot, error, error.offered)
    return to_page(request, reverse("adjudicate", args=[queue_id]))


@require_POST
def adjudicate_undo(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Take back the adjudicator's last decision."""
    _, seat = _seat_or_404(request, queue_id)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise InputError("The undo came without its key. Reload the page and try again.")
    try:
        labels.undo_last(seat.queue, seat.user, request_key=form.cleaned_data["request_key"])
    except ConflictError as error:
        messages.error(request, str(error))
    return to_page(request, reverse("adjudicate", args=[queue_id]))


@require_POST
def adjudicate_heartbeat(request: HttpRequest, queue_id: int) -> JsonResponse:
    """Keep a disagreement; as `label_heartbeat`."""
    _, seat = _seat_or_404(request, queue_id)
    return heartbeat_reply(seat, request.POST.get("slot", ""))


@require_GET
def adjudicate_page(request: HttpRequest, queue_id: int, slot_id: int, number: int) -> HttpResponse:
    """The cited pages of a disagreement with one of them open; as `label_page`."""
    access, seat = _seat_or_404(request, queue_id)
    slot = _own_slot_or_404(access, seat, str(slot_id))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('adjudicate', args=[queue_id])}?slot={slot.pk}&source={number}")
    shown = item_shown(slot)
    if number not in {source.number for source in shown.sources}:
        raise Http404("no such cited page")
    return render(request, "annotation/_sources.html", _sources(seat, slot, shown, str(number)))


def _seat_or_404(request: HttpRequest, queue_id: int) -> tuple[StudyAccess, Seat]:
    """The seat in an adjudicators' queue, and how its owner may see the study; Http404 for whoever has none."""
    refuse_anothers(request)
    user = request.user
    seat = labeler_selectors.seat_of(user, queue_id) if isinstance(user, User) else None
    if seat is None or seat.queue.role != LabelerRole.ADJUDICATOR:
        raise Http404("no such queue")
    return require_access(request, seat.audit.study.slug, Role.LEAD, Role.ANNOTATOR), seat


def _own_slot_or_404(access: StudyAccess, seat: Seat, slot_id: str) -> Slot:
    slot = labeler_selectors.own_slot(seat, slot_in(seat, slot_id))
    if slot is None:
        raise Http404("not an item of yours")
    _refuse_automatic(access, slot)
    return slot


def _refuse_automatic(access: StudyAccess, slot: Slot) -> None:
    """Http404 where the item shows the automatic verdict to who may not see it."""
    if slot.disagreement.between == Between.AUTOMATIC and not access.sees_results:
        raise Http404("not an item of yours")


def _decide(request: HttpRequest, access: StudyAccess, seat: Seat) -> HttpResponse:
    form = RulingForm(request.POST)
    slot = slot_of(seat, form)
    _refuse_automatic(access, slot)
    given = form.cleaned_data
    error_type = given["error_type"] if given["label"] == RoundLabel.ERROR else ""
    offered = OfferedLabel(LabelAction.LABEL, given["label"], error_type, given["comment"])
    try:
        adjudication.decide(
            slot.pk,
            seat.user,
            given["label"],
            given["comment"],
            error_type=error_type,
            request_key=given["request_key"],
            base_version=given["base_version"],
            pair_key=given["pair"],
            evidence_digest=given["evidence"] or None,
            seconds_on_task=given["seconds_on_task"],
        )
    except InputError as error:
        return _item_page(request, access, seat, slot, problem=str(error), offered=offered, status=400)
    except (EvidenceChangedError, PairChangedError, StaleLabelError) as error:
        return _as_it_is_now(request, access, seat, slot, error, offered)
    return to_page(request, reverse("adjudicate", args=[seat.queue_id]))


def _as_it_is_now(
    request: HttpRequest, access: StudyAccess, seat: Seat, slot: Slot, error: ConflictError, offered: OfferedLabel
) -> HttpResponse:
    """The item's page after a refusal, filled in with what was sent; raises where it is no longer theirs."""
    slot.refresh_from_db()
    if labeler_selectors.own_slot(seat, slot) is None:
        raise error
    return _item_page(request, access, seat, slot, problem=str(error), offered=offered, status=409)


def _item_page(
    request: HttpRequest,
    access: StudyAccess,
    seat: Seat,
    slot: Slot,
    *,
    problem: str = "",
    offered: OfferedLabel | None = None,
    status: int = 200,
) -> HttpResponse:
    pair = selectors.pair_of(slot)
    if pair is None:
        messages.info(request, "The labels of that item agree by now, so there is nothing to decide.")
        return redirect("audit", slug=access.study.slug)
    shown = item_shown(slot)
    stored = labeler_selectors.own_version(slot, seat.user_id)
    draft = presenting.draft_of(offered, stored)
    context = {
        **_frame(seat),
        **_sources(seat, slot, shown, request.GET.get("source", "")),
        **presenting.item_fields(slot, shown, seat, draft),
        "is_earlier": stored is not None,
        "is_skip_offered": draft.action == LabelAction.SKIP,
        "pair_key": pair.key,
        "sides": _sides(pair, shown.kind),
        "is_between_people": pair.between == Between.PEOPLE,
        "shortcuts": adjudication_presenting.shortcuts_of(shown.kind),
        "heartbeat_s": HEARTBEAT_S,
        "problem": problem,
    }
    return render(request, "annotation/adjudicate.html", context, status=status)


def _sides(pair: Pair, kind: str) -> list[dict[str, Any]]:
    return [
        {"name": name, **adjudication_presenting.side_shown(side, kind)}
        for name, side in zip(pair.names, pair.sides, strict=True)
    ]


def _sources(seat: Seat, slot: Slot, shown: ItemShown, asked: str) -> dict[str, Any]:
    address = reverse("adjudicate", args=[seat.queue_id])
    return {
        "seat": seat,
        "slot": slot.pk,
        **presenting.sources_shown(
            shown, asked, f"{address}?slot={slot.pk}", lambda number: _part(seat, slot, number)
        ),
    }


def _part(seat: Seat, slot: Slot, number: int) -> str:
    return reverse("adjudicate_page", args=[seat.queue_id, slot.pk, number])


def _frame(seat: Seat) -> dict[str, Any]:
    last = labeler_selectors.last_decision(seat)
    progress = selectors.adjudication_progress(seat.audit)
    return {
        "seat": seat,
        "audit": seat.audit,
        "progress": progress,
        "decided": progress.decided + progress.skipped,
        "total": progress.decided + progress.skipped + progress.open,
        "recent": [presenting.decision_shown(found) for found in labeler_selectors.recent_decisions(seat)],
        "undo_key": presenting.request_key("undo", last.slot_id, last.number, seat.user_id) if last else None,
    }


def _waiting(request: HttpRequest, access: StudyAccess, seat: Seat) -> HttpResponse:
    still_open = seat.queue.slots.filter(status=SlotStatus.OPEN, disagreement__is_settled=False).exists()
    reason = seat.audit.status if seat.audit.status != AuditStatus.OPEN else "others" if still_open else "finished"
    return render(request, "annotation/adjudicate_waiting.html", {**_frame(seat), "reason": reason})
