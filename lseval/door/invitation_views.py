"""What an invited person sees."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from lseval.access import note_denial
from lseval.door import invitations
from lseval.door.forms import JoinForm
from lseval.door.models import Invitation
from lseval.errors import ConflictError, InputError
from lseval.models import User

_TOKEN = "invitation_token"  # noqa: S105 - where the session keeps it
_BACKEND = "lseval.door.backends.PeopleBackend"


@login_not_required
@require_safe
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Take the token out of the address, where histories and logs would keep it, and go on."""
    try:
        invitations.open_invitation(token)
    except invitations.InvitationEndedError as error:
        return _ended(request, error)
    request.session[_TOKEN] = token
    return redirect("invitation")


@login_not_required
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest) -> HttpResponse:
    """Who invites to what; accepted with a new login, or with the one that is signed in."""
    token = request.session.get(_TOKEN, "")
    try:
        found = invitations.open_invitation(token)
        if isinstance(request.user, User):
            return _for_user(request, found, token, request.user)
        return _for_stranger(request, found, token)
    except invitations.InvitationEndedError as error:
        request.session.pop(_TOKEN, None)
        return _ended(request, error)


def _for_user(request: HttpRequest, found: Invitation, token: str, user: User) -> HttpResponse:
    if request.method != "POST":
        return _page(request, found)
    try:
        invitations.accept(token, user)
    except invitations.InvitationEndedError:
        raise
    except (InputError, ConflictError) as error:
        return _page(request, found, problem=str(error), status=409)
    return _welcome(request, found)


def _for_stranger(request: HttpRequest, found: Invitation, token: str) -> HttpResponse:
    form = JoinForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _page(request, found, form=form)
    if not form.is_valid():
        return _page(request, found, form=form, status=400)
    given = form.cleaned_data
    try:
        user = invitations.join(token, given["username"], given["password1"], given["email"])
    except invitations.InvitationEndedError:
        raise
    except (InputError, ConflictError) as error:
        form.add_error("username", str(error))
        return _page(request, found, form=form, status=409)
    login(request, user, backend=_BACKEND)
    return _welcome(request, found)


def _welcome(request: HttpRequest, found: Invitation) -> HttpResponse:
    request.session.pop(_TOKEN, None)
    messages.success(request, f"You are {found.role} of {found.study.name}.")
    return redirect("study_home", found.study.slug)


def _page(request: HttpRequest, found: Invitation, *, status: int = 200, **context: object) -> HttpResponse:
    return render(request, "door/invitation.html", {"invitation": found, **context}, status=status)


def _ended(request: HttpRequest, error: invitations.InvitationEndedError) -> HttpResponse:
    note_denial(request, "invitation used, revoked, expired or unknown")
    return render(request, "problem.html", {"message": str(error), "code": error.code}, status=404)
