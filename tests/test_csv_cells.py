"""I08: cells that a spreadsheet would run; raw elsewhere, and numbers kept."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.csv_cells import escaped_cell, escaped_row, plain_cell

ROOT = Path(__file__).resolve().parents[1]
WRITERS = {"annotation/transfers.py", "agreement/downloads.py"}
"""Modules that write CSV, so that the search below cannot come back empty."""


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_text_that_begins_like_a_formula_gets_a_quote(sign):
    assert escaped_cell(f"{sign}1+1") == f"'{sign}1+1"
    assert escaped_cell(f"1{sign}1") == f"1{sign}1"


def test_numbers_and_nothing_are_kept():
    row = [-1, 2.5, None, True, "-1", "a"]
    assert escaped_row(row) == [-1, 2.5, None, True, "'-1", "a"]
    assert escaped_row(row)[0] is row[0]


@given(st.text(st.sampled_from("'=+-@\ta"), max_size=6))
def test_escaped_text_comes_back(text):
    assert plain_cell(escaped_cell(text)) == text
    assert not escaped_cell(text).startswith(("=", "+", "-", "@", "\t"))


def test_every_writer_of_csv_is_known_and_escapes():
    found = set()
    for package in ("lseval", "annotation", "agreement"):
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            if names & {"csv.writer", "csv.DictWriter"}:
                found.add(path.relative_to(ROOT).as_posix())
                assert names & {"escaped_cell", "escaped_row"}, f"{path} writes CSV and escapes nothing"
    assert found >= WRITERS
