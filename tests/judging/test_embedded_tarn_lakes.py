"""The embedded Stage 1 judge on the Tarn Lakes groups: as right as `docs/judging.md` says."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.judging import LOOKED_AT, lake_cases
from lseval.judging.embedded.stage1 import verify_group


@pytest.fixture(scope="module")
def counts() -> Counter[tuple[bool, str, str]]:
    return Counter(
        (case.task in LOOKED_AT, case.truth, str(verify_group(*case.arguments).label)) for case in lake_cases()
    )


@pytest.mark.parametrize(("is_looked_at", "least"), [(False, 32), (True, 40)])
def test_as_many_groups_are_right_as_is_stated(
    counts: Counter[tuple[bool, str, str]], is_looked_at: bool, least: int
) -> None:
    part = {key[1:]: count for key, count in counts.items() if key[0] is is_looked_at}
    assert sum(part.values()) == 41
    assert sum(count for (truth, label), count in part.items() if truth == label) >= least


def test_group_is_unverifiable_exactly_where_no_page_can_be_read(
    counts: Counter[tuple[bool, str, str]],
) -> None:
    assert all((truth == "U") == (label == "U") for _, truth, label in counts)
