"""What the environment says, checked before anything starts.

Without `DATABASE_URL` and `LSEVAL_PRODUCTION` the program runs *locally*: embedded database, a secret made for
this checkout, loopback hosts only. Everything else is a deployment, which must say its secret and its hosts.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lseval.errors import SettingsError

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
MINIMUM_SECRET_LENGTH = 50
MINIMUM_SECRET_VARIETY = 5
_PLACEHOLDERS = ("change", "secret", "insecure", "default", "example", "password", "placeholder")


@dataclass(frozen=True)
class Environment:
    """The settings that depend on where the program runs."""

    is_local: bool
    debug: bool
    secret_key: str
    allowed_hosts: tuple[str, ...]
    csrf_trusted_origins: tuple[str, ...]
    database_url: str
    var: Path
    is_behind_proxy: bool = False


def read_environment(environ: Mapping[str, str], root: Path) -> Environment:
    """The checked environment; `root` is the checkout's folder.

    Raises SettingsError naming every variable that is missing or unsafe, and what to set instead.
    """
    var = Path(environ.get("LSEVAL_VAR") or root / "var")
    database_url = environ.get("DATABASE_URL", "")
    is_local = not database_url and not _flag(environ, "LSEVAL_PRODUCTION")
    debug = _flag(environ, "LSEVAL_DEBUG")
    hosts = _words(environ.get("LSEVAL_ALLOWED_HOSTS", ""))
    secret = environ.get("LSEVAL_SECRET_KEY", "")
    problems = _local_problems(hosts) if is_local else _deployment_problems(hosts, secret, debug)
    if secret:
        problems += _secret_problems(secret)
    if problems:
        where = "locally" if is_local else "as a deployment (DATABASE_URL or LSEVAL_PRODUCTION is set)"
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise SettingsError(f"refusing to start {where}:\n{listed}")
    return Environment(
        is_local=is_local,
        debug=debug,
        secret_key=secret or local_secret(var),
        allowed_hosts=hosts or LOOPBACK_HOSTS,
        csrf_trusted_origins=_words(environ.get("LSEVAL_CSRF_TRUSTED_ORIGINS", "")),
        database_url=database_url,
        var=var,
        is_behind_proxy=_flag(environ, "LSEVAL_BEHIND_PROXY"),
    )


def local_secret(var: Path) -> str:
    """The secret of this checkout: made once, readable by its owner only."""
    path = var / "secret_key"
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        var.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".secret_key.{os.getpid()}")
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        handle.write(secrets.token_urlsafe(60))
    try:
        os.link(made, path)  # fails where another process was first: theirs is used
    except FileExistsError:
        pass
    finally:
        made.unlink()
    return path.read_text().strip()


def _local_problems(hosts: tuple[str, ...]) -> list[str]:
    foreign = [host for host in hosts if host not in LOOPBACK_HOSTS]
    if not foreign:
        return []
    return [
        f"LSEVAL_ALLOWED_HOSTS names {', '.join(foreign)}, but a local run serves this machine only. "
        "To serve others set LSEVAL_PRODUCTION=1 and LSEVAL_SECRET_KEY."
    ]


def _deployment_problems(hosts: tuple[str, ...], secret: str, debug: bool) -> list[str]:
    problems = []
    if debug:
        problems.append("LSEVAL_DEBUG shows code and settings to strangers: unset it.")
    if not secret:
        problems.append(
            "LSEVAL_SECRET_KEY is not set: set it to a random text of 50 characters or more, for instance from "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe(60))'`."
        )
    if not hosts:
        problems.append("LSEVAL_ALLOWED_HOSTS is not set: name the hosts that are served, with commas between.")
    if any("*" in host or host.startswith(".") for host in hosts):
        problems.append("LSEVAL_ALLOWED_HOSTS is an open door: name each host instead of a wildcard.")
    return problems


def _secret_problems(secret: str) -> list[str]:
    lowered = secret.lower()
    if len(secret) < MINIMUM_SECRET_LENGTH or len(set(secret)) < MINIMUM_SECRET_VARIETY:
        return [
            f"LSEVAL_SECRET_KEY is too short or too plain: use {MINIMUM_SECRET_LENGTH} random characters or more."
        ]
    if any(word in lowered for word in _PLACEHOLDERS):
        return ["LSEVAL_SECRET_KEY looks like a placeholder from a guide: use a random text of your own."]
    return []


def _flag(environ: Mapping[str, str], name: str) -> bool:
    value = environ.get(name, "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise SettingsError(f"{name}={value!r} is neither yes nor no: use 1 or 0.")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
