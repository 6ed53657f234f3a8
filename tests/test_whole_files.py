"""I11: a file is there whole or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lseval.whole_files import NotWrittenError, write_whole

LIMITED = """
import resource, signal, sys
from pathlib import Path
from lseval.whole_files import NotWrittenError, write_whole

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    write_whole(Path(sys.argv[1]), ("x" * 999 + "\\n" for _ in range(1000)))
except NotWrittenError as error:
    print(error.code, error)
"""


def test_file_that_does_not_fit_leaves_what_was_there_and_nothing_else(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("before")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith("not_written")
    assert str(path) in done.stdout
    assert "could not be written: File too large" in done.stdout
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("runs.jsonl", "before")]


def test_full_disk_is_told_as_such(tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWrittenError, match=r"No space left on device\. What was there before is still there"):
        write_whole(tmp_path / "a", ["x"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()])
def test_pieces_that_fail_leave_nothing_behind(tmp_path, error):
    def pieces():
        yield "x"
        raise error

    with pytest.raises(type(error)):
        write_whole(tmp_path / "a", pieces())
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotWrittenError, match="No such file or directory"):
        write_whole(tmp_path / "none" / "a", ["x"])


def test_file_is_as_readable_as_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert write_whole(tmp_path / "a", ["x", "é\n"]) == 2
    assert (tmp_path / "a").read_text(encoding="utf-8") == "xé\n"
    assert (tmp_path / "a").stat().st_mode == plain.stat().st_mode
