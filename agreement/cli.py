"""`python -m agreement FILE.csv`: a report on a file, with no database."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agreement.csvfile import GROUP_COLUMNS, CsvFile, group_rows, is_simulated, names, numbers, read_csv
from agreement.stats.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, Resampling
from agreement.stats.groups import RowError
from agreement.stats.render import render
from agreement.stats.report import groups_report, pairs_report
from lseval.errors import InputError, LsevalError

_DESCRIPTION = f"""Agreement on a CSV file.

Groups: a file with the columns {", ".join(GROUP_COLUMNS)};
labels are C, I or U, or empty.
Pairs: any two numeric columns, named with --x and --y, and the column of the task with --cluster."""


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    result = argparse.ArgumentParser(
        prog="python -m agreement", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("file", type=Path, metavar="FILE.csv")
    form = result.add_mutually_exclusive_group()
    for name in ("json", "markdown", "latex"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=f"print {name}")
    result.set_defaults(form="text")
    result.add_argument("--x", metavar="COLUMN", help="pairs: the first score; bias is x minus y")
    result.add_argument("--y", metavar="COLUMN", help="pairs: the second score")
    result.add_argument("--cluster", metavar="COLUMN", help="pairs: the column whose values are drawn together")
    result.add_argument("--rows", action="store_true", help="draw responses one by one instead of tasks")
    result.add_argument("--bca", action="store_true", help="add bias-corrected and accelerated intervals (JSON)")
    result.add_argument("--resamples", type=int, default=DEFAULT_RESAMPLES, metavar="N", help="default %(default)s")
    result.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N", help="default %(default)s")
    result.add_argument("--level", type=float, default=0.95, metavar="P", help="default %(default)s")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report and returns the exit code: 0, or 2 for input that cannot be used, said on stderr."""
    options = parser().parse_args(arguments)
    try:
        report = build(options)
        text = json.dumps(report, indent=2, allow_nan=False) + "\n" if options.form == "json" else None
        sys.stdout.write(text if text is not None else render(report, options.form))
        sys.stdout.flush()
    except LsevalError as problem:
        sys.stderr.write(f"agreement: {problem}\n")
        return 2
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep the interpreter from complaining as it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def build(options: argparse.Namespace) -> dict[str, Any]:
    """The report that the options ask for. Raises `InputError`."""
    how = Resampling(
        resamples=options.resamples,
        seed=options.seed,
        level=options.level,
        unit="row" if options.rows else "task",
    )
    asked_for = [name for name in ("x", "y", "cluster") if getattr(options, name)]
    file = read_csv(options.file)
    if asked_for:
        return _pairs(file, options, how)
    if not set(GROUP_COLUMNS) & set(file.header) - {"task_id", "response_id"}:
        raise InputError(
            "This is not a groups file; for pairs name two columns with --x and --y and the task's with --cluster. "
            f"Its columns are {', '.join(map(repr, file.header))}."
        )
    rows = group_rows(file)
    try:
        report = groups_report(rows, how, bca=options.bca)
    except RowError as problem:
        raise InputError(f"Line {file.lines[problem.row]}: {problem.problem}.") from problem
    return {"file": options.file.name, "is_simulated": is_simulated(file), **report}


def _pairs(file: CsvFile, options: argparse.Namespace, how: Resampling) -> dict[str, Any]:
    needed = ["x", "y"] if options.rows else ["x", "y", "cluster"]
    missing = [f"--{name}" for name in needed if not getattr(options, name)]
    if missing:
        raise InputError(f"For pairs give {' and '.join(missing)} too (no --cluster with --rows).")
    first, second = numbers(file, options.x), numbers(file, options.y)
    clusters: list[Any] = names(file, options.cluster) if options.cluster else list(range(len(first)))
    report = pairs_report(first, second, clusters, how, bca=options.bca)
    return {"file": options.file.name, "x": options.x, "y": options.y, "cluster": options.cluster, **report}
