"""The pages of the people who label. Whatever they show comes from `labeler_selectors`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import flags, labels, leases, presenting
from annotation import labeler_selectors as selectors
from annotation.errors import EvidenceChangedError, OfferedLabel, StaleLabelError
from annotation.evidence import ItemShown, item_shown
from annotation.forms import FlagForm, LabelForm, SkipForm, SlotForm, UndoForm
from annotation.guidelines import guidelines_shown
from annotation.models import AuditStatus, LabelAction, LabelerRole, LabelVersion, Seat, Slot, SlotStatus
from lseval.access import access_by_role, admit, note_denial
from lseval.domain.labels import RoundLabel
from lseval.errors import ConflictError, InputError
from lseval.models import Role, User
from lseval.plain_sql import Rows
from lseval.query_parameters import takes
from lseval.reading_along import Reading, reads_along, rows_read_along

HEARTBEAT_S = 60


def seat_or_404(request: HttpRequest, queue_id: int) -> Seat:
    """The seat of the person who asks; Http404 for whoever has none or is no longer a member.

    PermissionDenied for one who has become lead or researcher since, and so sees the verdicts.
    """
    refuse_anothers(request)
    user = request.user
    found = selectors.seated(user, queue_id, rows_read_along(request)) if isinstance(user, User) else None
    if found is None or found[0].queue.role == LabelerRole.ADJUDICATOR:
        raise Http404("no such queue")
    seat, role = found
    admit(request, access_by_role(seat.user, seat.audit.study, role), Role.ANNOTATOR)
    return seat


def refuse_anothers(request: HttpRequest) -> None:
    """PermissionDenied for what was sent from a page of somebody else's, who used this browser before.

    The browser keeps it until that person is back: nobody decides or undoes under another's name.
    """
    person = request.POST.get("person") if request.method == "POST" else None
    if person is not None and person != str(request.user.pk):
        note_denial(request, "sent from a page of somebody else's")
        raise PermissionDenied("The page that sent this belongs to somebody else, who was logged in here before.")


def _seat_and_slot(request: HttpRequest, queue_id: int) -> Reading:
    return selectors.seat_reading(queue_id, _slot_id(request.POST.get("slot", "")))


@reads_along(_seat_and_slot)
@takes("slot", "source")
@require_http_methods(["GET", "HEAD", "POST"])
def label(request: HttpRequest, queue_id: int) -> HttpResponse:
    """The next item, or with `?slot=` one that the person holds or decided lately; a POST stores a label."""
    seat = seat_or_404(request, queue_id)
    if request.method == "POST":
        return _submit(request, seat)
    if "slot" in request.GET:
        slot = _own_slot_or_404(seat, request.GET["slot"])
        if slot.status == "open":
            leases.keep(slot.pk, seat.user)
        return _item_page(request, seat, slot)
    found, read = leases.claim_and_read(seat.queue, seat.user, selectors.WHAT_IS_SERVED, present=seat.run_id)
    if found is None and seat.audit.status == AuditStatus.PAUSED:
        found = leases.held_by(seat)  # what one holds may be finished
    return _waiting(request, seat) if found is None else _item_page(request, seat, found, read=read)


@require_POST
def label_skip(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Set the item aside for a reason and go on."""
    seat = seat_or_404(request, queue_id)
    form = SkipForm(request.POST)
    slot = slot_of(seat, form)
    given = form.cleaned_data
    try:
        done = labels.skip(
            slot.pk,
            seat.user,
            given["reason"],
            request_key=given["request_key"],
            base_version=given["base_version"],
            seconds_on_task=given["seconds_on_task"],
        )
    except InputError as error:
        offered = OfferedLabel(LabelAction.SKIP, comment=given["reason"])
        return _refused_page(request, seat, slot, error, offered)
    except StaleLabelError as error:
        return _stale_page(request, seat, slot, error)
    return _go_on(request, seat, done, "Skipped.")


@require_POST
def label_undo(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Take back the last decision and show its item again."""
    seat = seat_or_404(request, queue_id)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise InputError("The undo came without its key. Reload the page and try again.")
    try:
        done = labels.undo_last(seat.queue, seat.user, request_key=form.cleaned_data["request_key"])
    except ConflictError as error:
        messages.error(request, str(error))
    else:
        if not done.is_repeat:
            messages.success(request, "Undone. The item is open again.")
    return to_page(request, reverse("label", args=[queue_id]))


@require_POST
def label_flag(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Flag an item with a note, or take the flag back, and stay at the item."""
    seat = seat_or_404(request, queue_id)
    form = FlagForm(request.POST)
    slot = slot_of(seat, form)
    given = form.cleaned_data
    if given["take_back"]:
        flags.take_flag_back(slot.pk, seat.user, request_key=given["request_key"])
        messages.success(request, "Your flag is taken back.")
    else:
        flags.raise_flag(slot.pk, seat.user, given["note"], request_key=given["request_key"])
        messages.success(request, "Flagged. The lead sees it; decide the item as well as you can, or skip it.")
    return to_page(request, f"{reverse('label', args=[queue_id])}?slot={slot.pk}")


@require_POST
def label_heartbeat(request: HttpRequest, queue_id: int) -> JsonResponse:
    """Keep an item: {held: true, expires_at}, or 409 with {held: false, message} where it is no longer theirs."""
    return heartbeat_reply(seat_or_404(request, queue_id), request.POST.get("slot", ""))


def heartbeat_reply(seat: Seat, slot_id: str) -> JsonResponse:
    """See `label_heartbeat`; Http404 for a slot of another queue."""
    slot = slot_in(seat, slot_id)
    user = seat.user
    try:
        expires_at = leases.heartbeat(slot.pk, user)
    except leases.NotHeldError as error:
        return JsonResponse({"held": False, "code": error.code, "message": str(error)}, status=409)
    return JsonResponse({"held": True, "expires_at": expires_at.isoformat()})


@require_GET
def label_ahead(request: HttpRequest, queue_id: int) -> HttpResponse:
    """The item that likely comes next, to look at while it is being given out; 204 where there is none.

    Nothing is leased and nobody's time begins. It comes without the keys by which it could be decided.
    """
    seat = seat_or_404(request, queue_id)
    slot_id = leases.peek_next(seat)
    if slot_id is None:
        return HttpResponse(status=204)
    slot = Slot.objects.get(pk=slot_id)
    shown = item_shown(slot)
    return render(
        request, "annotation/_ahead.html", {**_sources(seat, slot, shown, ""), **presenting.words_of(shown)}
    )


@require_GET
def label_page(request: HttpRequest, queue_id: int, slot_id: int, number: int) -> HttpResponse:
    """The cited pages of an item with one of them open: the part that htmx swaps, or the whole page without it."""
    seat = seat_or_404(request, queue_id)
    slot = _own_slot_or_404(seat, str(slot_id))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('label', args=[queue_id])}?slot={slot.pk}&source={number}")
    shown = item_shown(slot)
    if number not in {source.number for source in shown.sources}:
        raise Http404("no such cited page")
    return render(request, "annotation/_sources.html", _sources(seat, slot, shown, str(number)))


@require_GET
def guidelines(request: HttpRequest, queue_id: int) -> HttpResponse:
    """The codebook in force: what the labels mean, and the ten types with their borders and examples."""
    seat = seat_or_404(request, queue_id)
    context = {"seat": seat, "audit": seat.audit, **guidelines_shown(seat.audit)}
    return render(request, "annotation/guidelines.html", context)


@takes("slot")
@require_GET
def label_recent(request: HttpRequest, queue_id: int) -> HttpResponse:
    """One's last decisions: the list that htmx puts into the labeling page, or a page of its own without it.

    `?slot=` is the one that is open.
    """
    seat = seat_or_404(request, queue_id)
    context = {
        "seat": seat,
        "audit": seat.audit,
        "recent": [presenting.decision_shown(decision) for decision in selectors.recent_decisions(seat)],
        "current": request.GET.get("slot", ""),
    }
    part = request.htmx  # type: ignore[attr-defined]
    return render(request, "annotation/_recent_list.html" if part else "annotation/recent.html", context)


def _submit(request: HttpRequest, seat: Seat) -> HttpResponse:
    form = LabelForm(request.POST)
    slot = slot_of(seat, form, rows_read_along(request))
    given = form.cleaned_data
    # The list of types stands on the page whichever button is pressed.
    error_type = given["error_type"] if given["label"] == RoundLabel.ERROR else ""
    offered = OfferedLabel(LabelAction.LABEL, given["label"], error_type, given["comment"])
    try:
        done = labels.submit_label(
            slot.pk,
            seat.user,
            given["label"],
            error_type=error_type,
            comment=given["comment"],
            request_key=given["request_key"],
            base_version=given["base_version"],
            evidence_digest=given["evidence"] or None,
            seconds_on_task=given["seconds_on_task"],
        )
    except (InputError, EvidenceChangedError) as error:
        return _refused_page(request, seat, slot, error, offered)
    except StaleLabelError as error:
        return _stale_page(request, seat, slot, error)
    # A new decision on an item that was undone changes none that stands.
    return _go_on(request, seat, done, "" if slot.status == SlotStatus.OPEN else "Changed.")


def _go_on(request: HttpRequest, seat: Seat, done: labels.Submission, told: str) -> HttpResponse:
    if done.is_late:
        messages.warning(
            request,
            "Your time on that item had run out, and somebody else has decided it since. What you decided is kept "
            "beside theirs as a late version.",
        )
    elif told and not done.is_repeat:
        messages.success(request, told)
    return to_page(request, reverse("label", args=[seat.queue_id]))


def to_page(request: HttpRequest, url: str) -> HttpResponse:
    """On to another page: {next: url} for the page's script, which must know that all is stored; or a redirect."""
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"next": url})
    return redirect(url)


def slot_of(seat: Seat, form: SlotForm, along: Sequence[Rows] | None = None) -> Slot:
    """The slot that a form is about. Raises InputError for an unreadable form, Http404 for another queue's slot.

    `along` are the rows of `selectors.seat_reading`, where they have been read.
    """
    if not form.is_valid():
        names = ", ".join(sorted(form.errors))
        raise InputError(f"The request cannot be read ({names}). Reload the page and decide again.")
    return _slot_or_404(seat, form.cleaned_data["slot"], along)


def slot_in(seat: Seat, slot_id: str) -> Slot:
    """The slot of the seat's queue that an address names. Raises Http404 for any other."""
    number = _slot_id(slot_id)
    if number is None:
        raise Http404("no such item")
    return _slot_or_404(seat, number)


def _slot_id(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _slot_or_404(seat: Seat, slot_id: int, along: Sequence[Rows] | None = None) -> Slot:
    slot = selectors.slot_of_queue(seat.queue_id, slot_id, along)
    if slot is None:
        raise Http404("no such item")
    return slot


def _own_slot_or_404(seat: Seat, slot_id: str) -> Slot:
    slot = selectors.own_slot(seat, slot_in(seat, slot_id))
    if slot is None:
        raise Http404("not an item of yours")
    return slot


def _refused_page(
    request: HttpRequest, seat: Seat, slot: Slot, error: InputError | EvidenceChangedError, offered: OfferedLabel
) -> HttpResponse:
    """The item's page with what was sent and why it was refused; raises where the item is not with the person."""
    if selectors.own_slot(seat, slot) is None:
        raise error
    status = 400 if isinstance(error, InputError) else 409
    return _item_page(request, seat, slot, problem=str(error), offered=offered, status=status)


def _stale_page(request: HttpRequest, seat: Seat, slot: Slot, error: StaleLabelError) -> HttpResponse:
    slot.refresh_from_db()
    if selectors.own_slot(seat, slot) is None:
        raise ConflictError(str(error)) from error
    return _item_page(
        request, seat, slot, problem=str(error), offered=error.offered, in_force=error.in_force, status=409
    )


def _item_page(
    request: HttpRequest,
    seat: Seat,
    slot: Slot,
    *,
    read: Sequence[Rows] | None = None,
    problem: str = "",
    offered: OfferedLabel | None = None,
    in_force: Any = None,
    status: int = 200,
) -> HttpResponse:
    """The labeling page of a slot; after a refused request with what was offered and what is stored instead.

    `read` are the rows of `selectors.WHAT_IS_SERVED`, where they came with the slot.
    """
    shown, around = selectors.item_and_surroundings(seat, slot, read)
    stored = selectors.own_version(slot, seat.user_id)
    draft = presenting.draft_of(offered, stored)
    context = {
        **_frame(seat, around.progress, around.last),
        **_sources(seat, slot, shown, request.GET.get("source", "")),
        **presenting.item_fields(slot, shown, seat, draft),
        "pace": presenting.pace_shown(around.pace),
        "is_skip_offered": draft.action == LabelAction.SKIP,
        "is_earlier": stored is not None,
        "recent_query": f"?slot={slot.pk}" if stored else "",
        "stored": presenting.version_shown(stored, shown.kind) if stored else None,
        "shortcuts": presenting.shortcuts_of(shown.kind),
        "heartbeat_s": HEARTBEAT_S,
        "final": labels.why_final(slot, seat) if stored else "",
        "may_see_verdict": seat.audit.reveal_after_submission and stored is not None and bool(stored.label),
        "flag": presenting.flag_shown(around.flag, slot, seat.user_id),
        "problem": problem,
        "conflict": _conflict(shown.kind, in_force, offered) if in_force else None,
    }
    return render(request, "annotation/label.html", context, status=status)


def _conflict(kind: str, in_force: Any, offered: OfferedLabel | None) -> dict[str, Any]:
    return {
        "stored": presenting.version_shown(in_force, kind),
        "offered": presenting.offered_shown(offered, kind) if offered else None,
    }


def _sources(seat: Seat, slot: Slot, shown: ItemShown, asked: str) -> dict[str, Any]:
    page = f"{reverse('label', args=[seat.queue_id])}?slot={slot.pk}"
    return {
        "seat": seat,
        "slot": slot.pk,
        **presenting.sources_shown(
            shown, asked, page, lambda number: reverse("label_page", args=[seat.queue_id, slot.pk, number])
        ),
    }


def _frame(seat: Seat, progress: selectors.Progress, last: LabelVersion | None) -> dict[str, Any]:
    """What stands around every item: progress, and what an undo would undo."""
    return {
        "seat": seat,
        "audit": seat.audit,
        "progress": progress,
        "undo_key": presenting.request_key("undo", last.slot_id, last.number, seat.user_id) if last else None,
    }


def _waiting(request: HttpRequest, seat: Seat) -> HttpResponse:
    recent = [presenting.decision_shown(decision) for decision in selectors.recent_decisions(seat)]
    context = {
        **_frame(seat, selectors.progress_of(seat.queue), selectors.last_decision(seat)),
        "waiting": selectors.waiting_in(seat.queue),
        "recent": recent,
    }
    return render(request, "annotation/waiting.html", context)
