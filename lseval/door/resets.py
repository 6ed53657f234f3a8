"""One-time links to a new password, mailed or printed."""

from __future__ import annotations

from datetime import timedelta

from axes.utils import reset as reset_failures
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from lseval.door.models import ResetMail
from lseval.door.tokens import revoke_all_tokens
from lseval.errors import InputError
from lseval.models import User

MAILED_EVERY = timedelta(minutes=5)


def reset_path(username: str) -> str:
    """The path of a link by which the person chooses a new password, once, within 24 hours.

    A log-in or a new password ends it. Raises InputError for nobody, a disabled login or a simulated labeler.
    """
    user = User.objects.filter(username=username).first()
    if user is None:
        raise InputError(f"nobody is called {username!r}.")
    if not user.is_active:
        raise InputError(f"{username} is disabled, so a new password would not let them in.")
    if user.is_simulated:
        raise InputError(f"{username} is a simulated labeler and never logs in.")
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])


def may_mail_reset(user: User) -> bool:
    """Whether a link may be mailed to the person now, which it then counts as: one in five minutes at most."""
    now = timezone.now()
    row, is_first = ResetMail.objects.get_or_create(user=user, defaults={"sent_at": now})
    if is_first:
        return True
    return bool(ResetMail.objects.filter(pk=row.pk, sent_at__lte=now - MAILED_EVERY).update(sent_at=now))


def after_reset(user: User) -> None:
    """What a reset does beside the password: tokens end, since they may be in wrong hands, and the throttle opens.

    Sessions end by themselves: they hold a digest of the password.
    """
    revoke_all_tokens(user)
    reset_failures(username=user.get_username())
