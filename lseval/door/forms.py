"""What people type at the door, parsed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
    UserCreationForm,
    UsernameField,
)
from django.core.validators import MaxLengthValidator
from django.db import connection
from django.http import HttpRequest

from lseval.door.resets import may_mail_reset
from lseval.door.tokens import LIFETIMES_DAYS, LONGEST_NAME
from lseval.models import Role, User

log = logging.getLogger(__name__)
LONGEST_USERNAME = 150
LONGEST_PASSWORD = 1000
PASSWORD_HELP = "8 characters or more; not a common password, not digits alone."  # noqa: S105


class LoginForm(AuthenticationForm):
    """Django's, which has the browser alone keep names and passwords to their length."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, longest in (("username", LONGEST_USERNAME), ("password", LONGEST_PASSWORD)):
            self.fields[name].validators.append(MaxLengthValidator(longest))


class CheckedPassword:
    """Checks the present password as a log-in does, so that guesses at it are counted and throttled too."""

    request: HttpRequest
    user: User

    def clean_old_password(self) -> str:
        given: str = self.cleaned_data["old_password"]  # type: ignore[attr-defined]
        if authenticate(self.request, username=self.user.get_username(), password=given) != self.user:
            raise forms.ValidationError("That is not your present password.", code="password_incorrect")
        return given


class ChangePasswordForm(CheckedPassword, PasswordChangeForm):
    """The present password, and a new one twice."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.fields["old_password"].label = "Present password"
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].label = "The new password again"
        self.fields["new_password2"].help_text = ""


class NewPasswordForm(SetPasswordForm):
    """A new password twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].label = "The new password again"
        self.fields["new_password2"].help_text = ""


class EmailForm(CheckedPassword, forms.Form):
    """Where links to a new password are mailed, with the present password."""

    email = forms.EmailField(
        label="Mail address",
        required=False,
        help_text="Where a link to a new password goes, if you ask for one.",
    )
    old_password = forms.CharField(
        label="Present password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.request = user, request


class JoinForm(UserCreationForm):
    """The name and password that an invited person chooses. Nothing else is read: no role, no rights."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = "Letters, digits and @ . + - _"
        self.fields["email"].label = "Mail address"
        self.fields["email"].help_text = "To be sent a link if you forget the password."
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password2"].label = "The password again"
        self.fields["password2"].help_text = ""


class InviteForm(forms.Form):
    """Whom to invite in which role."""

    role = forms.ChoiceField(choices=[(role.value, role.value) for role in reversed(Role)])
    note = forms.CharField(label="For whom", required=False, max_length=100)


class RoleForm(forms.Form):
    """A role."""

    role = forms.ChoiceField(choices=Role.choices)


class TokenForm(forms.Form):
    """The name of a token, and how long it lasts."""

    name = forms.CharField(max_length=LONGEST_NAME, label="What it is for")
    lifetime_days = forms.TypedChoiceField(
        label="Lasts", choices=[(days, f"{days} days") for days in LIFETIMES_DAYS], coerce=int, initial=90
    )


class MailResetForm(PasswordResetForm):
    """Mails a link to a new password, once in a while, out of the request's time.

    The answer and its time are the same whether or not anybody has the address.
    """

    def get_users(self, email: str) -> Iterator[User]:
        for user in super().get_users(email):
            if not user.is_simulated and may_mail_reset(user):
                yield user

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        threading.Thread(target=self._send, args=args, kwargs=kwargs, daemon=True).start()

    def _send(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().send_mail(*args, **kwargs)
        except OSError:
            log.exception("a link to a new password could not be mailed")
        finally:
            connection.close()
