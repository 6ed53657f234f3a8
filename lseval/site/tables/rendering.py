"""A table as CSV, JSON, LaTeX and Markdown. The page's form is `templates/site/tables/_table.html`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from agreement.stats.documents import latex_text
from lseval.csv_cells import escaped_row
from lseval.site.tables.cells import Cell
from lseval.site.tables.table import Column, Table

_MARKDOWN_SIGNS: Final = re.compile(r"([\\`*_\[\]<>#~&|])")
_EXTRAS: Final = ("low", "high", "count", "of")


def as_csv(table: Table) -> str:
    """One line a row and unrounded numbers; intervals and counts in columns of their own. Undefined is empty.

    Where the labels are simulated, a last column says so in every row.
    """
    extras = [_extras(table, place) for place in range(len(table.columns))]
    header = [
        name
        for column, more in zip(table.columns, extras, strict=True)
        for name in (column.key, *(f"{column.key}_{extra}" for extra in more))
    ]
    mark = ["simulated"] if table.is_simulated else []
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(escaped_row([*header, *(["labels"] if mark else [])]))
    for row in table.rows:
        cells = [
            value
            for cell, more in zip(row, extras, strict=True)
            for value in (cell.value, *(getattr(cell, extra) for extra in more))
        ]
        writer.writerow(escaped_row(["" if value is None else value for value in [*cells, *mark]]))
    return stream.getvalue()


def _extras(table: Table, place: int) -> list[str]:
    return [extra for extra in _EXTRAS if any(getattr(row[place], extra) is not None for row in table.rows)]


def as_json(table: Table) -> str:
    """The table as one JSON object."""
    return json.dumps(table.as_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_latex(table: Table) -> str:
    """A `table` with booktabs rules and a label; needs `\\usepackage{booktabs}` and nothing else."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(_caption(table))}}}",
        rf"\label{{tab:{table.key}}}",
        rf"\begin{{tabular}}{{{''.join('l' if column.align == 'left' else 'r' for column in table.columns)}}}",
        r"\toprule",
        *_latex_groups(table),
        " & ".join(latex_text(_head(column)) for column in table.columns) + r" \\",
        r"\midrule",
        *(_latex_row(row) for row in table.body),
    ]
    if table.totals:
        lines += [r"\midrule", *(_latex_row(row) for row in table.foot)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {latex_text(note)}" for note in _all_notes(table)]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex_groups(table: Table) -> Iterator[str]:
    if not table.groups:
        return
    cells, rules, place = [], [], 1
    for words, width in table.groups:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(words)}}}" if words else " & ".join([""] * width))
        if words:
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    yield " & ".join(cells) + r" \\"
    yield "".join(rules)


def _latex_row(row: Sequence[Cell]) -> str:
    line = " & ".join(map(_latex_cell, row))
    # After the \\ of the row before, a bracket or a star would be taken for its argument.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _latex_cell(cell: Cell) -> str:
    """The text, with the interval in small below it."""
    words = latex_text(" ".join(cell.text.split()))
    if not cell.interval_text:
        return words
    return rf"\shortstack[r]{{{words}\\{{\scriptsize {latex_text(cell.interval_text)}}}}}"


def as_markdown(table: Table) -> str:
    """A pipe table with the caption above and the notes below. No sign in it can become markup."""
    heads = [f"{column.group}: {_head(column)}" if column.group else _head(column) for column in table.columns]
    rules = ["---" if column.align == "left" else "---:" for column in table.columns]
    lines = [f"**{table.title}.** {escape(table.caption)}" if table.title else f"**{escape(table.caption)}**", ""]
    lines += [_pipe([escape(head) for head in heads]), _pipe(rules)]
    lines += [_pipe([escape(cell.full_text) for cell in row]) for row in table.rows]
    notes = _all_notes(table)
    return "\n".join([*lines, *([""] if notes else []), *(f"- {escape(note)}" for note in notes)]) + "\n"


def escape(words: str) -> str:
    """Text for Markdown, on one line."""
    return _MARKDOWN_SIGNS.sub(r"\\\1", " ".join(words.split()))


def _pipe(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: Column) -> str:
    return f"{column.title} ({column.unit})" if column.unit else column.title


def _caption(table: Table) -> str:
    return f"SIMULATED LABELS. {table.caption}" if table.is_simulated else table.caption


def _all_notes(table: Table) -> list[str]:
    simulated = ["The labels are simulated: no person gave them."] if table.is_simulated else []
    missing = [f"Undefined: {reason}." for reason in table.undefined]
    return [*simulated, *table.notes, *missing]


FORMATS: Final[dict[str, tuple[str, Callable[[Table], str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "tex": ("application/x-tex; charset=utf-8", as_latex),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}
"""The ending of a file, with its content type and what writes it."""
