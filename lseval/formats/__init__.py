"""Reading the runs of other tools, and reading and writing our own.

`read_runs` gives a file's rows as `RunRecord`s, `iter_sources` the files of a folder, `write_run` a run as a
line of our own format, which `docs/run-format.md` describes. Nothing here knows of Django or the database.
"""

from __future__ import annotations

from lseval.formats.errors import ReadError
from lseval.formats.lseval_writer import write_run
from lseval.formats.reading import RowResult, read_runs
from lseval.formats.registry import FORMATS, Format
from lseval.formats.sniffing import detect_format
from lseval.formats.sources import SkippedFile, Sources, iter_sources

__all__ = [
    "FORMATS",
    "Format",
    "ReadError",
    "RowResult",
    "SkippedFile",
    "Sources",
    "detect_format",
    "iter_sources",
    "read_runs",
    "write_run",
]
