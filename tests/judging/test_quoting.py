"""Finding quotations in the page."""

from __future__ import annotations

import pytest

from lseval.judging.quoting import find_quotation

PAGE = "The dam’s crest is 84\u00a0metres high.\nIt was “finished” in 1964–65.  It cost $3.50 (about)."


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("crest is 84 metres high", "crest is 84\u00a0metres high"),
        ('"The dam\'s crest"', "The dam’s crest"),
        ('high. It was "finished" in 1964-65.', "high.\nIt was “finished” in 1964–65."),
        ("the DAM's crest…", "The dam’s crest"),
        ("It cost $3.50 (about).", "It cost $3.50 (about)."),
    ],
)
def test_spacing_marks_dashes_and_capitals_may_differ(quotation, found):
    start, end = find_quotation(PAGE, quotation)
    assert PAGE[start:end] == found


@pytest.mark.parametrize("quotation", ["crest is 85 m", "metres 84", "", " “” ", "84.metres", "x" * 3000, ".*"])
def test_other_words_are_not_found(quotation):
    assert find_quotation(PAGE, quotation) is None
