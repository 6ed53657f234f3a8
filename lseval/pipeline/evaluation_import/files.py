"""The files of an evaluation: which is of what, and where the rows of each run stand in them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from lseval.csv_cells import plain_cell
from lseval.errors import InputError
from lseval.formats.errors import ReadError
from lseval.formats.evaluation_rows import CALLS, PAGES, ROW_TYPES, SECOND_VERDICTS, VERDICTS, kind_of, read_row
from lseval.formats.row_files import RawRow, RowFile
from lseval.pipeline.evaluation_import.reports import EvaluationReport

DIGESTS: Final = "SHA256SUMS"
_SUFFIXES: Final = (".jsonl", ".csv")
AUDITS, LABELS, MEMBERS = "audits", "labels", "members"
_OTHERS: Final = {
    "runs": "`manage.py import_runs` reads runs.jsonl",
    AUDITS: "`manage.py import_evaluation` reads audits",
    LABELS: "`manage.py import_evaluation` and `import_labels` read labels",
    MEMBERS: "`manage.py import_evaluation` reads members",
}

_TELLING_OTHERS: Final = {
    "runs": frozenset({"final_answer", "task"}),
    AUDITS: frozenset({"row", "audit"}),
    LABELS: frozenset({"item_id", "kind", "action"}),
    MEMBERS: frozenset({"username", "role"}),
}

RunName = tuple[str, str]
"""A run's task key and model."""


class PlacedRow(NamedTuple):
    """A row, and where it stands as people are told: file and line."""

    place: str
    row: Any


@dataclass(slots=True)
class EvaluationFile:
    """A file of rows of one kind; `runs` has the places of each run's rows once it has been indexed."""

    what: str
    rows: RowFile
    runs: dict[RunName, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))

    def place(self, line: int) -> str:
        """Where a row stands, for people."""
        return f"{self.rows.path.name}:{line}"

    def index(self, report: EvaluationReport, advance: Callable[[int], None]) -> None:
        """Find the rows of each run. A row that cannot be read, or names no run, is refused."""
        done = 0
        for raw in self.rows.rows():
            name = tuple(self._name_part(raw.values.get(part)) for part in ("task_key", "model"))
            if raw.problem:
                report.refuse(self.what, self.place(raw.line), raw.problem)
            elif not all(isinstance(part, str) and part for part in name):
                report.refuse(
                    self.what, self.place(raw.line), "the row names no run: task_key and model are needed"
                )
            else:
                self.runs[name].append((raw.line, raw.offset, raw.end))  # type: ignore[index]
            advance(raw.end - done)
            done = raw.end

    def _name_part(self, value: Any) -> Any:
        return plain_cell(value) if self.rows.is_csv and isinstance(value, str) else value

    def rows_of(self, name: RunName, report: EvaluationReport) -> list[PlacedRow]:
        """The rows of a run that can be used; the others are refused."""
        return [found for raw in self.rows.at(self.runs.get(name, ())) if (found := self.read(raw, report))]

    def read(self, raw: RawRow, report: EvaluationReport) -> PlacedRow | None:
        """The row as its model; None where it was refused."""
        try:
            return PlacedRow(self.place(raw.line), read_row(self.what, raw, is_csv=self.rows.is_csv))
        except ReadError as error:
            report.refuse(self.what, self.place(raw.line), str(error))
            return None


def open_files(paths: Sequence[Path], also: Collection[str] = ()) -> dict[str, EvaluationFile]:
    """The files by what they are of, in the order in which they are needed; of a folder, those that are exports.

    What a file is of is told from its names of values, or where it has no row from its own name. Files of audits,
    labels and members are passed over, unless `also` names them.

    Raises:
        InputError: a file is missing, unreadable or of nothing that is known, two are of the same, a file is not
            what `SHA256SUMS` beside it says, or there is none.
    """
    found: dict[str, EvaluationFile] = {}
    kinds = (*ROW_TYPES, *also)
    for path in _listed(paths, also):
        opened = _opened(path, also)
        if opened.what in found:
            raise InputError(
                f"{found[opened.what].rows.path} and {path} are both of {opened.what}. Give one of them."
            )
        found[opened.what] = opened
    if not found:
        raise InputError(f"There is no file of {', '.join(kinds)} in {', '.join(map(str, paths))}.")
    return {what: found[what] for what in kinds if what in found}


def _listed(paths: Sequence[Path], also: Collection[str]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = [
            each
            for each in sorted(path.iterdir())
            if each.suffix.lower() in _SUFFIXES and _named(each) not in _OTHERS.keys() - set(also)
        ]
        _check_digests(path, inside, (*ROW_TYPES, *also))
        yield from inside


def _check_digests(folder: Path, files: Sequence[Path], kinds: Collection[str]) -> None:
    """Compare files with the folder's list of digests, if there is one, so that one cut short or lost is seen."""
    try:
        lines = (folder / DIGESTS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / DIGESTS} cannot be read: {error}.") from error
    told = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    lost = sorted(name for name in told.keys() - {path.name for path in files} if _named(Path(name)) in kinds)
    if lost:
        raise InputError(
            f"{folder} lacks {', '.join(lost)}, which {DIGESTS} lists. Copy the whole folder, or remove {DIGESTS} "
            "if you left the file out on purpose."
        )
    for path in files:
        if path.name not in told:
            continue
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != told[path.name]:
            raise InputError(
                f"{path} is not the file that {DIGESTS} lists: it was cut short or changed. Export it again, or "
                f"give the files without {DIGESTS} if you changed it on purpose."
            )


def _opened(path: Path, also: Collection[str]) -> EvaluationFile:
    file = RowFile(path)
    first = next((raw.values for raw in file.rows() if not raw.problem), None)
    names = file.names or tuple(first or ())
    what = kind_of(first or dict.fromkeys(names))
    if (named := _named(path)) and (first is None or {what, named} == {VERDICTS, SECOND_VERDICTS}):
        what = named
    other = next((name for name, told in _TELLING_OTHERS.items() if told <= set(names)), what)
    if other is not None and other in also:
        return EvaluationFile(other, file)
    if other in _OTHERS:
        raise InputError(f"{path}: {_OTHERS[other]}.")
    if what is None:
        empty = "" if first else " It holds no row that can be read, and its name does not tell."
        known = ", ".join((*ROW_TYPES, *also))
        raise InputError(f"{path} is none of {known} as `manage.py export` writes them.{empty}")
    needed = [name for name, told in ROW_TYPES[what].model_fields.items() if told.is_required()]
    if names and (lacking := [name for name in needed if name not in names]):
        raise InputError(
            f"{path} is of {what} and lacks {', '.join(lacking)}. An earlier version may have written it: export "
            "it again."
        )
    return EvaluationFile(what, file)


def _named(path: Path) -> str | None:
    """What a file is of by its name, such as `verdicts.jsonl` or `my-study-verdicts.jsonl`."""
    return next(
        (what for what in (*ROW_TYPES, *_OTHERS) if path.stem == what or path.stem.endswith(f"-{what}")), None
    )


def of_runs(files: Mapping[str, EvaluationFile]) -> dict[str, EvaluationFile]:
    """Those files whose rows are each about a run and come together by it."""
    return {what: file for what, file in files.items() if what not in (PAGES, CALLS)}
