"""`manage.py serve`: the pages, through gunicorn."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from lseval.models import User
from lseval.pipeline.dispatch import has_broker
from lseval.site.demo.logins import read_logins


def is_free(port: int) -> bool:
    """Whether nobody listens on that port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Command(BaseCommand):
    help = (
        "Serve the pages on this machine until Ctrl-C, with a worker beside them that does jobs. For a deployment "
        "run gunicorn and workers yourself: docs/deploy.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--no-work", dest="work", action="store_false", help="start no worker for the jobs")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.IS_LOCAL:
            raise CommandError("this serves a local run only. Start gunicorn with lseval.wsgi: see docs/deploy.md.")
        if not is_free(options["port"]):
            raise CommandError(f"port {options['port']} is taken by another program: try `make serve PORT=8001`.")
        self.stdout.write(f"\n  http://localhost:{options['port']}/\n")
        logins = read_logins(settings.ENVIRONMENT.var)
        for login in logins:
            self.stdout.write(f"  {login.username:<12} {login.password:<20} {login.purpose}")
        if not logins and not User.objects.filter(is_active=True).exists():
            self.stdout.write("  Nobody can log in yet: `make demo` makes a study with users, and")
            self.stdout.write("  `.venv/bin/python manage.py createsuperuser` makes a user who sees every study.")
        self.stdout.write("\n  Ctrl-C ends the pages, and `make stop` the database after that.\n\n")
        self.stdout.flush()
        connection.close()  # the workers open their own
        if not has_broker() and options["work"]:
            # It ends with this process, which gunicorn takes over.
            subprocess.Popen(  # noqa: S603
                [sys.executable, str(settings.BASE_DIR / "manage.py"), "work", "--with-parent"],
                stdin=subprocess.DEVNULL,
            )
        os.execv(  # noqa: S606
            sys.executable,
            [
                sys.executable, "-m", "gunicorn", "lseval.wsgi:application",
                "--bind", f"127.0.0.1:{options['port']}",
                "--workers", str(options["workers"]), "--threads", "4",
                "--log-level", "warning", "--no-control-socket", "--chdir", str(Path(settings.BASE_DIR)),
            ],
        )  # fmt: skip
