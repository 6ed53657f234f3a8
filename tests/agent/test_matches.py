"""What find_in_page finds: the same by the quick way for ASCII as by a pattern."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lseval.agent.pages import OpenedPage
from lseval.agent.tools import _matches
from lseval.domain.web import FetchedPage

_PIECES = st.text(alphabet="aAbB. \u212a\u00df\u0130k", max_size=12)


@given(text=_PIECES, pattern=st.text(alphabet="aAbB.k\u0130", min_size=1, max_size=3))
@example(text="aaaa", pattern="AA")
@example(text="a.b a-b", pattern="a.b")
@example(text="\u212aelvin", pattern="k")
def test_matches_are_those_of_a_literal_pattern_in_any_case(text: str, pattern: str) -> None:
    opened = OpenedPage("p1", "key", FetchedPage("https://ferries.example/1", "ok", text=text))
    expected = [m.span() for m in re.finditer(re.escape(pattern), opened.text, re.IGNORECASE)]
    assert _matches(pattern, opened) == expected
