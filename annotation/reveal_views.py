"""The page on which a labeler may see the automatic verdict on an item that they have labeled."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import presenting, reveals
from annotation.codebook import label_word
from annotation.labeler_selectors import own_version
from annotation.labeler_views import seat_or_404, slot_in
from annotation.models import LabelAction, LabelVersion, Seat, Slot
from lseval.domain.labels import GroupLabel


@require_http_methods(["GET", "HEAD", "POST"])
def revealed_verdict(request: HttpRequest, queue_id: int, slot_id: int) -> HttpResponse:
    """Ask whether the person wants to see it, since their label is final then; after a POST, show it.

    Http404 where the audit reveals nothing, and for an item that the person has not labeled.
    """
    seat = seat_or_404(request, queue_id)
    slot = slot_in(seat, str(slot_id))
    version = _own_label_or_404(seat, slot)
    if request.method == "POST":
        reveals.reveal(seat, slot)
        return redirect("revealed_verdict", queue_id=queue_id, slot_id=slot_id)
    kind = slot.item.kind
    context = {"seat": seat, "slot": slot.pk, "own": presenting.version_shown(version, kind)}
    if reveals.is_revealed(slot, seat.user_id):
        context["verdict"] = _shown(reveals.revealed(seat, slot), kind)
    return render(request, "annotation/revealed.html", context)


def _own_label_or_404(seat: Seat, slot: Slot) -> LabelVersion:
    version = own_version(slot, seat.user_id) if seat.audit.reveal_after_submission else None
    if version is None or version.action != LabelAction.LABEL:
        raise Http404("nothing to see here")
    return version


def _shown(verdict: reveals.Revealed, kind: str) -> dict[str, Any]:
    return {
        "letter": verdict.label if verdict.label in list(GroupLabel) else "",
        "word": label_word(kind, verdict.label) if verdict.label else "It says nothing of this item",
        "error_type": presenting.type_name(verdict.error_type),
        "comment": verdict.reason,
    }
