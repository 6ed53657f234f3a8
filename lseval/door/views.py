"""Logging in and out, passwords, and one's own account."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from lseval.door.forms import ChangePasswordForm, EmailForm, LoginForm, MailResetForm, NewPasswordForm, TokenForm
from lseval.door.models import ApiToken
from lseval.door.resets import after_reset
from lseval.door.tokens import create_token, revoke_token, tokens_of
from lseval.errors import ConflictError, InputError
from lseval.models import User


class Login(LoginView):
    """Name and password; afterwards `next`, as long as it is on this site."""

    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(mail_is_configured=settings.MAIL_IS_CONFIGURED, **kwargs)


class Logout(LogoutView):
    """Ends the session, and has the browser forget the pages that it has kept."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().dispatch(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


class ChangePassword(PasswordChangeView):
    """A new password for whoever knows the present one. All other sessions of the person end."""

    form_class = ChangePasswordForm
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        messages.success(self.request, "Your password is changed. You are signed out everywhere else.")
        return response


class ForgottenPassword(PasswordResetView):
    """Mails a link to a new password; where no mail is configured, says whom to ask."""

    form_class = MailResetForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(mail_is_configured=settings.MAIL_IS_CONFIGURED, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.MAIL_IS_CONFIGURED:
            raise Http404("no mail is configured")
        return super().post(request, *args, **kwargs)


@login_not_required
@require_safe
def reset_sent(request: HttpRequest) -> HttpResponse:
    """The same whether or not anybody has the address."""
    return render(request, "registration/password_reset_done.html")


class NewPassword(PasswordResetConfirmView):
    """A new password for whoever holds a one-time link. All sessions and tokens of the person end."""

    form_class = NewPasswordForm
    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> User | None:
        user: User | None = super().get_user(uidb64)
        return user if user is not None and user.is_active and not user.is_simulated else None

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        after_reset(form.user)
        messages.success(self.request, "The new password holds. Sign in with it.")
        return response


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """One's own account."""
    return _account_page(request)


@sensitive_post_parameters("old_password")
@require_POST
def change_email(request: HttpRequest) -> HttpResponse:
    """Where links to a new password go."""
    user = _person(request)
    form = EmailForm(request.POST, user=user, request=request)
    if not form.is_valid():
        return _account_page(request, email_form=form, status=400)
    user.email = form.cleaned_data["email"]
    user.save(update_fields=["email"])
    messages.success(request, "Your mail address is changed.")
    return redirect("account")


@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """A new token, shown in this answer and never again."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _account_page(request, token_form=form, status=400)
    try:
        made, text = create_token(_person(request), form.cleaned_data["name"], form.cleaned_data["lifetime_days"])
    except (InputError, ConflictError) as error:
        form.add_error("name", str(error))
        return _account_page(request, token_form=form, status=400)
    return _account_page(request, new_token=made, new_token_text=text)


@require_POST
def token_revoke(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """End one of one's own tokens."""
    try:
        name = revoke_token(_person(request), token_id)
    except ApiToken.DoesNotExist:
        raise Http404("no such token") from None
    messages.success(request, f"The token {name} works no more.")
    return redirect("account")


def _account_page(request: HttpRequest, status: int = 200, **context: Any) -> HttpResponse:
    user = _person(request)
    shown = {
        "tokens": tokens_of(user),
        "token_form": TokenForm(),
        "email_form": EmailForm(initial={"email": user.email}, user=user, request=request),
        **context,
    }
    return render(request, "door/account.html", shown, status=status)


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # the login middleware lets nobody else through
    return request.user
