"""`manage.py postgres start|stop|status`: the embedded database server."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from lseval.database.server import EmbeddedServer
from lseval.site.management.base import PagelessCommand


class Command(PagelessCommand):
    help = "Start or stop the embedded PostgreSQL. It is started by itself whenever a command needs it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["start", "stop", "status"])

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.DATABASES["default"].get("EMBEDDED_DIR")
        if folder is None:
            raise CommandError("DATABASE_URL is set, so there is no embedded server to look after.")
        server = EmbeddedServer(settings.ENVIRONMENT.var)
        if options["action"] == "stop":
            self.stdout.write("stopped" if server.stop() else "was not running")
        elif options["action"] == "status":
            address = server.running()
            self.stdout.write(f"running, socket in {address.socket_dir}" if address else "not running")
        else:
            self.stdout.write(f"running, socket in {server.ensure_running().socket_dir}")
