"""I06: archives made to do harm. Nothing is written anywhere, and what is read is counted while it is read."""

import json
import os
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lseval.formats import archives, read_runs
from tests.formats.samples_chats import inspect_row, inspect_sample
from tests.formats.test_inspect import archive_file


def hostile(tmp_path, name, content=b"x", *, mode=0):
    path = archive_file(tmp_path, [inspect_sample()])
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(entry, content)
    return path


def only_error(path, **options):
    (result,) = read_runs(path, **options)
    return result.error, result.message


@pytest.mark.parametrize(
    "name", ["../evil.json", "samples/../../evil_epoch_1.json", "/etc/evil", "C:/evil", "\\evil"]
)
def test_path_that_leads_out_is_refused_and_nothing_is_written(tmp_path, name):
    path = hostile(tmp_path, name)
    before = sorted(tmp_path.parent.rglob("*"))
    code, message = only_error(path)
    assert code == "unsafe_archive"
    assert "leads out" in message
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_symbolic_link_is_refused(tmp_path):
    path = hostile(tmp_path, "samples/x_epoch_1.json", b"/etc/passwd", mode=stat.S_IFLNK | 0o777)
    assert only_error(path)[0] == "unsafe_archive"


def test_entry_that_unpacks_to_a_thousand_times_its_size_is_stopped(tmp_path, monkeypatch):
    path = archive_file(tmp_path, [inspect_sample()])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/bomb_epoch_1.json", b" " * (40 * 2**20))
    read = []
    monkeypatch.setattr(archives, "_CHUNK", 2**18)
    original = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: read.append(got := original(self, n)) or got)
    good, bad = read_runs(path)
    assert good.record is not None
    assert (bad.error, "200 times its size" in bad.message) == ("unsafe_archive", True)
    assert sum(map(len, read)) < 12 * 2**20


def test_entry_over_the_limit_is_stopped_though_its_size_is_given_as_small(tmp_path):
    path = archive_file(tmp_path, [inspect_sample()])
    noise = os.urandom(300_000).hex()
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/large_epoch_1.json", json.dumps({"id": noise}))
    good, bad = read_runs(path, max_document_bytes=200_000)
    assert (good.error, bad.error) == ("", "file_too_large")


def test_million_entries_are_refused_before_they_are_listed(tmp_path):
    path = tmp_path / "many.eval"
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 6, 0, 0, 0, 1, *[0] * 4, 0, 0) + b"a"
    count = 1_000_000
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        for _ in range(count // 10_000):
            file.write(entry * 10_000)
        size = len(entry) * count
        # As many as it is, it has to be said in the 64-bit record; the short one says only that it is.
        file.write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, 4))
        file.write(struct.pack("<4sLQL", b"PK\x06\x07", 0, 4 + size, 1))
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    code, message = only_error(path)
    assert code == "unsafe_archive"
    assert "1,000,000 entries" in message


def test_encrypted_archive_is_refused_with_what_to_do(tmp_path):
    path = archive_file(tmp_path, [inspect_sample()])
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 1)
    path.write_bytes(data)
    code, message = only_error(path)
    assert code == "unreadable_archive"
    assert "encrypted" in message


def test_unknown_method_names_the_way_round_it(tmp_path):
    path = archive_file(tmp_path, [inspect_sample()])
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    data[at + 10 : at + 12] = struct.pack("<H", 93)
    path.write_bytes(data)
    code, message = only_error(path)
    assert code == "unreadable_archive"
    assert "inspect log convert" in message


@pytest.mark.parametrize("cut", [1, 30, 300])
def test_archive_that_breaks_off_is_reported(tmp_path, cut):
    path = archive_file(tmp_path, [inspect_sample()])
    path.write_bytes(path.read_bytes()[:-cut])
    code, message = only_error(path)
    assert code == "unreadable_archive"
    assert "log.eval" in message


def test_damaged_sample_is_reported_and_the_others_are_read(tmp_path):
    path = archive_file(tmp_path, [inspect_sample(), inspect_sample(id="s2")])
    data = bytearray(path.read_bytes())
    at = data.find(b"samples/s1_epoch_1.json") + 60
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(data)
    assert [result.error for result in read_runs(path)] == ["unreadable_archive", ""]


def test_archive_of_something_else_is_no_run(tmp_path):
    path = tmp_path / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert only_error(path)[0] == "unknown_format"


MEASURE = """
import sys
from pathlib import Path
from lseval.formats import read_runs

runs = sum(result.record is not None for result in read_runs(Path(sys.argv[1])))
peak = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(runs, peak // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_i04_archive_of_a_hundred_megabytes_is_read_a_sample_at_a_time(tmp_path):
    path = tmp_path / "large.eval"
    noise = os.urandom(4 * 2**20).hex()  # 8 MiB that pack to half
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(
            "header.json", json.dumps({key: inspect_row()[key] for key in ("version", "status", "eval")})
        )
        for number in range(12):
            sample = inspect_sample(id=number)
            sample["messages"][3]["content"] = "\U0001f600" + noise
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample, ensure_ascii=False))
    assert path.stat().st_size > 96 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    runs, peak_mib = map(int, done.stdout.split())
    assert runs == 12
    assert peak_mib < 300
