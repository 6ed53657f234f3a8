"""I04: a file far larger than memory allows is read a row at a time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats.samples import lseval_row

LINE_BYTES = 10 * 2**20
ROWS = 8
LIMIT_MIB = 300

READ_AND_MEASURE = """
import sys
from pathlib import Path
from lseval.formats import read_runs

runs = errors = 0
for result in read_runs(Path(sys.argv[1])):
    runs += result.record is not None
    errors += bool(result.error)
status = Path("/proc/self/status").read_text()
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
print(runs, errors, peak // 1024)
"""


def read_in_a_process_of_its_own(path):
    command = [sys.executable, "-c", READ_AND_MEASURE, str(path)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=120)
    return tuple(int(number) for number in done.stdout.split())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_i04_lines_of_ten_megabytes_are_read_within_300_mib(tmp_path):
    path = tmp_path / "runs.jsonl"
    row = lseval_row()
    # One wide character makes Python hold the whole line in four bytes a character: the worst case.
    row["messages"][1]["content"] = "\U0001f600" + "x" * (LINE_BYTES - 1000)
    line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
    with path.open("wb") as stream:
        for _ in range(ROWS):
            stream.write(line)
        stream.write(b'{"too": "' + b"y" * (70 * 2**20) + b'"}\n')
        stream.write(line)
    runs, errors, peak_mib = read_in_a_process_of_its_own(path)
    assert (runs, errors) == (ROWS + 1, 1)
    assert path.stat().st_size > 160 * 10**6
    assert peak_mib < LIMIT_MIB
