from __future__ import annotations

from decimal import Decimal

import pytest

from lseval.domain.chat import Usage
from lseval.domain.pricing import Cost, Price, cost_of

PRICE = Price(Decimal("1.25"), Decimal("10"), Decimal("0.125"))


def test_cost_is_exact_and_the_upper_one_gives_no_discount() -> None:
    # 600 fresh at 1.25, 400 cached at 0.125, 50 output at 10, per million: 750 + 50 + 500 = 1,300 millionths;
    # without the discount 1,000 at 1.25: 1,250 + 500 = 1,750 millionths.
    assert cost_of(Usage(1_000, 400, 50, 30), PRICE) == Cost(Decimal("0.0013"), Decimal("0.00175"))


def test_a_token_at_the_finest_price_fits_the_ledger() -> None:
    cost = cost_of(Usage(1, 0, 0), Price(Decimal("0.000001"), Decimal(0)))
    assert cost is not None
    assert cost.usd == Decimal("0.000000000001")


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_without_both_counts_a_call_is_unpriced_and_never_free(usage: Usage) -> None:
    assert cost_of(usage, PRICE) is None


def test_without_a_price_a_call_is_unpriced() -> None:
    assert cost_of(Usage(10, 0, 10), None) is None


def test_unstated_cached_tokens_were_not_cached() -> None:
    cost = cost_of(Usage(1_000, None, 0), PRICE)
    assert cost is not None
    assert cost.usd == cost.upper_usd == Decimal("0.00125")


def test_without_a_cached_price_cached_tokens_cost_like_any() -> None:
    cost = cost_of(Usage(1_000, 400, 0), Price(Decimal(2), Decimal(8)))
    assert cost is not None
    assert cost.usd == cost.upper_usd == Decimal("0.002")


def test_more_cached_than_input_tokens_count_as_all_of_them() -> None:
    cost = cost_of(Usage(100, 900, 0), PRICE)
    assert cost is not None
    assert cost.usd == Decimal("0.0000125")
