"""The embedded PostgreSQL, started for real in folders of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from lseval.database.server import DATABASE, SUPERUSER, Address, EmbeddedServer, EmbeddedServerError


def ask(address: Address, query: str) -> object:
    with psycopg.connect(
        host=str(address.socket_dir), port=address.port, user=SUPERUSER, dbname=DATABASE, autocommit=True
    ) as connection:
        cursor = connection.execute(query)  # type: ignore[arg-type]
        return cursor.fetchone() if cursor.description else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    made = EmbeddedServer(tmp_path_factory.mktemp("embedded"))
    yield made
    made.stop()


def test_data_survive_a_restart(server: EmbeddedServer) -> None:
    address = server.ensure_running()
    ask(address, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert server.stop()
    assert server.running() is None
    assert ask(server.ensure_running(), "SELECT answer FROM kept") == (42,)


def test_a_running_server_is_found_without_starting_anything(server: EmbeddedServer) -> None:
    address = server.ensure_running()
    started = ask(address, "SELECT pg_postmaster_start_time()")
    assert server.ensure_running() == address
    assert ask(address, "SELECT pg_postmaster_start_time()") == started


def test_a_process_id_left_by_a_crash_is_recognised(server: EmbeddedServer) -> None:
    server.ensure_running()
    pid_file = server.data / "postmaster.pid"
    left = pid_file.read_text()
    lock_file = server.data / ".s.PGSQL.5432.lock"
    lock = lock_file.read_text()
    server.stop()
    # As after a power cut and reboot: the files say ready, and their process id now belongs to somebody else.
    other = subprocess.Popen(["sleep", "60"])
    pid_file.write_text("\n".join([str(other.pid), *left.splitlines()[1:]]) + "\n")
    lock_file.write_text("\n".join([str(other.pid), *lock.splitlines()[1:]]) + "\n")
    try:
        assert server.running() is None
        assert ask(server.ensure_running(), "SELECT 1") == (1,)
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("text", ["", "not a number\n" * 8, "1\n2\n3\nxx\n5\n6\n7\nready\n"])
def test_a_damaged_process_id_file_is_no_running_server(tmp_path: Path, text: str) -> None:
    server = EmbeddedServer(tmp_path)
    server.data.mkdir()
    (server.data / "postmaster.pid").write_text(text)
    assert server.running() is None


def test_stopping_twice_is_no_error(server: EmbeddedServer) -> None:
    server.ensure_running()
    assert server.stop()
    assert not server.stop()


def test_the_socket_is_private_and_nothing_listens_on_the_network(server: EmbeddedServer) -> None:
    address = server.ensure_running()
    assert ask(address, "SHOW listen_addresses") == ("",)
    assert address.socket_path.stat().st_mode & 0o077 == 0


def test_several_commands_at_once_share_one_server_in_a_deep_folder(tmp_path: Path) -> None:
    deep = tmp_path / Path(*["a folder with a long name and spaces"] * 4)
    assert len(str(deep)) > 140
    program = (
        "import sys; from pathlib import Path; from lseval.database.server import EmbeddedServer; "
        "print(EmbeddedServer(Path(sys.argv[1])).ensure_running().socket_dir)"
    )

    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, str(deep)], capture_output=True, text=True, timeout=120
        )

    try:
        with ThreadPoolExecutor(3) as pool:
            done = [future.result() for future in [pool.submit(start) for _ in range(3)]]
        assert [run.returncode for run in done] == [0, 0, 0], [run.stderr for run in done]
        assert len({run.stdout for run in done}) == 1
        assert ask(EmbeddedServer(deep).ensure_running(), "SELECT 1") == (1,)
    finally:
        EmbeddedServer(deep).stop()


def test_a_first_start_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "var")
    half = server.folder / "postgres.unfinished"
    half.mkdir(parents=True)
    (half / "half").write_text("initdb got no further")
    try:
        assert ask(server.ensure_running(), "SELECT 1") == (1,)
    finally:
        server.stop()


def test_a_folder_that_is_no_data_folder_is_left_alone(tmp_path: Path) -> None:
    notes = tmp_path / "var" / "postgres" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    with pytest.raises(EmbeddedServerError, match="no PostgreSQL data"):
        EmbeddedServer(tmp_path / "var").ensure_running()
    assert notes.read_text() == "mine"


def test_a_var_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddedServerError, match="LSEVAL_VAR"):
        EmbeddedServer(tmp_path / "file").ensure_running()


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "var")
    server.ensure_running()
    server.stop()
    with (server.data / "postgresql.conf").open("a") as configuration:
        configuration.write("\nmax_connections = nonsense\n")
    with pytest.raises(EmbeddedServerError, match="max_connections"):
        server.ensure_running()
