"""A PostgreSQL backend whose server is started when the first connection asks for it.

Used where no `DATABASE_URL` is given. Importing the settings starts nothing, so `check`, linters and
`--help` stay quick; a command that finds the server running connects at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.postgresql import base

from lseval.database.server import EmbeddedServer


class DatabaseWrapper(base.DatabaseWrapper):
    """As Django's own, with host and port taken from the running embedded server."""

    def get_connection_params(self) -> dict[str, Any]:
        server = EmbeddedServer(Path(self.settings_dict["EMBEDDED_DIR"]))
        address = server.ensure_running()
        self.settings_dict.update(HOST=str(address.socket_dir), PORT=str(address.port))
        return super().get_connection_params()
