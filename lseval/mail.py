"""Where mail goes, from `LSEVAL_EMAIL_URL`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from lseval.errors import SettingsError

_BACKENDS = "django.core.mail.backends"


@dataclass(frozen=True)
class Mail:
    """Where mail goes; `is_configured` where that is anywhere."""

    is_configured: bool = False
    backend: str = f"{_BACKENDS}.dummy.EmailBackend"
    sender: str = "lseval@localhost"
    folder: str | None = None
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    is_tls_from_start: bool = False
    is_starttls: bool = False


def read_mail(environ: Mapping[str, str], *, is_local: bool) -> Mail:
    """What `LSEVAL_EMAIL_URL` asks for, such as `smtp://user:password@host:587`, sent from `LSEVAL_EMAIL_FROM`.

    `smtps://` speaks TLS from the start, `smtp://` begins it with STARTTLS unless it ends with `?tls=0`. On this
    machine `console:` prints mail and `file:///folder` keeps it. Without an address no mail is sent.

    Raises SettingsError, which does not repeat the address: it may hold a password.
    """
    url, sender = environ.get("LSEVAL_EMAIL_URL", ""), environ.get("LSEVAL_EMAIL_FROM", "")
    if not url:
        return Mail()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _unusable("it cannot be read") from None
    if parts.scheme in ("console", "file") and not is_local:
        raise _unusable("a deployment sends mail by smtp:// or smtps://")
    if not sender and not is_local:
        raise SettingsError("LSEVAL_EMAIL_FROM is not set: name the address that mail comes from.")
    sender = sender or Mail.sender
    if parts.scheme == "console":
        return Mail(True, f"{_BACKENDS}.console.EmailBackend", sender)
    if parts.scheme == "file" and parts.path:
        return Mail(True, f"{_BACKENDS}.filebased.EmailBackend", sender, folder=parts.path)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise _unusable("use smtp://host, smtps://host, console: or file:///folder")
    is_tls_from_start = parts.scheme == "smtps"
    return Mail(
        True,
        f"{_BACKENDS}.smtp.EmailBackend",
        sender,
        host=parts.hostname,
        port=port or (465 if is_tls_from_start else 587),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls_from_start=is_tls_from_start,
        is_starttls=not is_tls_from_start and _asks_for_tls(parts.query),
    )


def _asks_for_tls(query: str) -> bool:
    if query not in ("", "tls=0", "tls=1"):
        raise _unusable("after the question mark only tls=0 or tls=1 is known")
    return query != "tls=0"


def _unusable(why: str) -> SettingsError:
    return SettingsError(f"LSEVAL_EMAIL_URL cannot be used: {why}.")
