"""`manage.py add_member STUDY USERNAME ROLE`: a person's role in a study."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from lseval.door.members import set_role
from lseval.models import Role, User
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand


def check_username(username: str) -> None:
    """Raise CommandError for a name that Django's own form would not take."""
    try:
        User(username=username).clean_fields(exclude=["password"])
    except ValidationError as error:
        raise CommandError(f"{username!r} cannot be a user name: {'; '.join(error.messages)}") from error


class Command(PagelessCommand):
    help = "Make a person a lead, researcher or annotator of a study; --create makes their login first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("username")
        parser.add_argument("role", choices=Role.values)
        parser.add_argument(
            "--create", action="store_true", help="make the login with a generated password, printed once"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        user = User.objects.filter(username=options["username"]).first()
        if user is None and not options["create"]:
            raise CommandError(f"nobody is called {options['username']!r}; add --create to make the login.")
        if user is None:
            password = secrets.token_urlsafe(12)
            check_username(options["username"])
            user = User.objects.create_user(options["username"], password=password)
            self.stdout.write(f"login {user.username}, password {password}")
        else:
            self.stdout.write(f"{user.username} has a login already, whose password stays as it is")
        set_role(study, user, options["role"])
        self.stdout.write(f"{user.username} is {options['role']} of {study.slug}")
