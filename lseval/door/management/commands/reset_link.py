"""`manage.py reset_link USERNAME`: a one-time link to a new password, where no mail can bring it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from lseval.door.resets import reset_path


class Command(BaseCommand):
    help = "Print a link by which a person chooses a new password, once, within 24 hours. Hand it to them only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--base-url", default="", help="the site's address, such as https://eval.example")

    def handle(self, *args: Any, **options: Any) -> None:
        default = "http://localhost:8000" if settings.IS_LOCAL else f"https://{settings.ALLOWED_HOSTS[0]}"
        base = (options["base_url"] or default).rstrip("/")
        self.stdout.write(base + reset_path(options["username"]))
