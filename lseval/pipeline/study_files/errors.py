"""What is wrong with a study file, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lseval.errors import InputError

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in which file, on which line (None where the file has none), in which field."""

    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class StudyFileError(InputError):
    """The file cannot be used; nothing was changed. `problems` lists every place that is wrong."""

    code = "bad_study_file"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            lines.append(f"... and {len(self.problems) - _SHOWN} more")
        super().__init__("\n".join(lines))
