"""A study's people: what leads see and change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from lseval.access import StudyAccess, require_access, studies_of
from lseval.door import invitations
from lseval.door import members as services
from lseval.door.forms import InviteForm, RoleForm
from lseval.door.selectors import changes_of, invitation_rows, member_rows
from lseval.errors import ConflictError, InputError
from lseval.models import Role


@require_safe
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """The members with their roles, the invitations, and what was changed lately."""
    return _page(request, require_access(request, slug, Role.LEAD))


@require_POST
def member_role(request: HttpRequest, slug: str, member_id: int) -> HttpResponse:
    """Give a member another role."""
    access = require_access(request, slug, Role.LEAD)
    form = RoleForm(request.POST)
    role = form.cleaned_data["role"] if form.is_valid() else ""

    def change() -> str:
        changed = services.change_role(access.study, member_id, role, access.user)
        return f"{changed.user.username} is {changed.role} now."

    return _attempt(request, access, change)


@require_POST
def member_remove(request: HttpRequest, slug: str, member_id: int) -> HttpResponse:
    """End a membership."""
    access = require_access(request, slug, Role.LEAD)

    def remove() -> str:
        removed = services.remove_member(access.study, member_id, access.user)
        told = f"{removed.user.username} is no member any more."
        if removed.places:
            told += f" Their place as {', '.join(removed.places)} has ended; what they labeled stays."
        return told

    return _attempt(request, access, remove)


@require_POST
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """A new invitation, whose link is shown in this answer and never again."""
    access = require_access(request, slug, Role.LEAD)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, access, invite_form=form, status=400)
    try:
        made, token = invitations.invite(
            access.study, form.cleaned_data["role"], access.user, form.cleaned_data["note"]
        )
    except (InputError, ConflictError) as error:
        form.add_error(None, str(error))
        return _page(request, access, invite_form=form, status=409)
    link = request.build_absolute_uri(reverse("invitation_link", args=[token]))
    return _page(request, access, new_invitation=made, new_link=link)


@require_POST
def invitation_revoke(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """End an open invitation."""
    access = require_access(request, slug, Role.LEAD)

    def revoke() -> str:
        invitations.revoke(access.study, invitation_id)
        return "The invitation is revoked: its link opens nothing any more."

    return _attempt(request, access, revoke)


def _attempt(request: HttpRequest, access: StudyAccess, change: Callable[[], str]) -> HttpResponse:
    """Make the change, say so or why not, and go back to a page that the person may still see."""
    try:
        messages.success(request, change())
    except ObjectDoesNotExist:
        raise Http404("no such row of the study") from None
    except (InputError, ConflictError) as error:
        messages.error(request, str(error))
    if not studies_of(access.user).filter(pk=access.study.pk).exists():
        return redirect("studies")
    own = access.study.memberships.filter(user=access.user).first()
    is_lead = access.user.is_superuser or (own is not None and own.role == Role.LEAD)
    return redirect("members" if is_lead else "study_home", access.study.slug)


def _page(request: HttpRequest, access: StudyAccess, *, status: int = 200, **context: Any) -> HttpResponse:
    shown = {
        "members": member_rows(access.study, access.user),
        "invitations": invitation_rows(access.study),
        "changes": changes_of(access.study),
        "invite_form": InviteForm(),
        **context,
    }
    return render(request, "door/members.html", shown, status=status)
