"""Tables of text, and the forms they are printed in: plain text, Markdown and LaTeX.

Every table of a report, of whichever page, is one `Table`, and each form is written in one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field


class Outside(str):
    """A name that somebody outside chose: in Markdown none of its signs means anything."""

    __slots__ = ()


@dataclass(slots=True)
class Table:
    """A table of text cells; `notes` go below it."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{GREEK SMALL LETTER LAMDA}": r"$\lambda$",
    "\N{GREEK SMALL LETTER CHI}": r"$\chi$",
    "\N{SUPERSCRIPT TWO}": r"$^2$",
}


def as_text(table: Table) -> str:
    """Columns padded with spaces, for a terminal."""
    grid = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in grid) for column in range(len(table.header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, "", *lines, *_after(table.notes, "  {}")])


def as_markdown(table: Table) -> str:
    """A pipe table with the title as a heading and the notes as a list."""
    lines = [_pipe(row) for row in (table.header, ["---"] * len(table.header), *table.rows)]
    return "\n".join([f"### {table.title}", "", *lines, *_after(map_all(table.notes, _markdown_cell), "- {}")])


def as_latex(table: Table) -> str:
    """A `table` with booktabs rules; needs `\\usepackage{booktabs}` and nothing else."""
    columns = "l" + "r" * (len(table.header) - 1)
    body = [" & ".join(map_all(row, latex_text)) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map_all(table.header, latex_text)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {latex_text(note)}" for note in table.notes),
            r"\end{table}",
        ]
    )


def map_all(cells: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """`change` applied to each cell."""
    return [change(cell) for cell in cells]


def latex_text(text: str) -> str:
    """The text with LaTeX's special characters escaped, and the signs that our own words hold as commands."""
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown_cell(text: str) -> str:
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", text).replace("\n", " ")


def _pipe(cells: Sequence[str]) -> str:
    escaped = [_outside(cell) if isinstance(cell, Outside) else cell.replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(escaped) + " |"


def _outside(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#~&|])", r"\\\1", " ".join(text.split()))


def _after(notes: Sequence[str], form: str) -> list[str]:
    return ["", *(form.format(note) for note in notes)] if notes else []


FORMATS: dict[str, Callable[[Table], str]] = {"text": as_text, "markdown": as_markdown, "latex": as_latex}


def document(tables: Iterable[Table], form: str) -> str:
    """The tables one after the other in `text`, `markdown` or `latex`, ending in a newline."""
    return "\n\n".join(FORMATS[form](table) for table in tables) + "\n"
