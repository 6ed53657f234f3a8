"""Who can log in to the demo: generated once, kept beside the database, printed whenever the demo is served."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from lseval.errors import InputError
from lseval.models import Role, Study, User
from lseval.pipeline.studies import give_role

_FILE = "demo-logins.json"
_PEOPLE = (
    ("lead", Role.LEAD, "sees everything, draws audits"),
    ("researcher", Role.RESEARCHER, "sees scores and agreement"),
    ("h1", Role.ANNOTATOR, "labels as H1, sees no verdicts"),
    ("h2", Role.ANNOTATOR, "labels as H2, sees no verdicts"),
)


@dataclass(frozen=True)
class Login:
    """A user of the demo and their generated password."""

    username: str
    password: str
    purpose: str


def read_logins(var: Path) -> list[Login]:
    """The demo's logins; empty where there is no demo."""
    try:
        return [Login(**login) for login in json.loads((var / _FILE).read_text())]
    except FileNotFoundError:
        return []


def ensure_logins(study: Study, var: Path) -> list[Login]:
    """Users of the demo with their roles. A password that still holds is kept, any other is made anew.

    Raises:
        InputError: a user of one of these names is there already and is none of the demo's.
    """
    known = {login.username: login for login in read_logins(var)}
    logins = []
    for username, role, purpose in _PEOPLE:
        user, is_new = User.objects.get_or_create(username=username)
        login = known.get(username)
        holds = login is not None and user.check_password(login.password)
        if not is_new and not holds and not user.memberships.filter(study=study).exists():
            raise InputError(f"there is a user {username!r} who is none of the demo's: rename or remove that user.")
        if login is None or not holds:
            login = Login(username, secrets.token_urlsafe(9), purpose)
            user.set_password(login.password)
            user.save(update_fields=["password"])
        give_role(study, user, role)
        logins.append(login)
    _write(var / _FILE, logins)
    return logins


def _write(path: Path, logins: list[Login]) -> None:
    text = json.dumps([asdict(login) for login in logins], indent=1)
    temporary = path.with_suffix(".new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        handle.write(text)
    temporary.replace(path)
