"""Text from outside in cells of CSV, so that no spreadsheet takes it for a formula."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escaped_cell(text: str) -> str:
    """Text for a cell of CSV: a quote before what a spreadsheet would take for a formula.

    A text that begins with quotes and then such a sign gets one more, so that `plain_cell` can tell them apart.
    Numbers are no text: a writer gives them as they are.
    """
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA_SIGNS) else text


def plain_cell(cell: str) -> str:
    """The text that `escaped_cell` was given."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA_SIGNS) else cell


def escaped_row(values: Iterable[Any]) -> list[Any]:
    """A row of CSV with its texts as `escaped_cell` has them and everything else, numbers above all, as it is."""
    return [escaped_cell(value) if isinstance(value, str) else value for value in values]
