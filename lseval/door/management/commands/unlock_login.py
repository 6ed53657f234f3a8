"""`manage.py unlock_login USERNAME`: forget the failed log-ins that shut the door."""

from __future__ import annotations

from typing import Any

from axes.utils import reset
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Let a person, or everybody at an address, try to log in again at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default="")
        parser.add_argument("--address", default="", help="an IP address; of IPv6 its /64 network, as in the log")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["username"] and not options["address"]:
            raise CommandError("say whom to let in: a username, or --address and an IP address.")
        count = reset(ip=options["address"] or None, username=options["username"] or None)
        self.stdout.write(f"{count} record(s) of failed log-ins forgotten")
