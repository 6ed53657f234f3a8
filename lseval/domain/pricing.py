"""What provider calls cost, exactly: decimals all the way, and never 0 for what has no price."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from lseval.domain.chat import Usage

TOKENS_PER_PRICE: Final = 1_000_000
PRICE_PLACES: Final = 6
"""Decimal places that a price may have, so that a token's cost fits the ledger's twelve exactly."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `cached_usd_per_mtok` None means that cached input costs like any other."""

    input_usd_per_mtok: Decimal
    output_usd_per_mtok: Decimal
    cached_usd_per_mtok: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars of one call; `upper_usd` counts cached input at the full price (Table A11's upper scenario)."""

    usd: Decimal
    upper_usd: Decimal


@dataclass(frozen=True, slots=True)
class Budget:
    """Where a study stops: US dollars and calls over all its attempts; None for no bound."""

    usd: Decimal | None = None
    calls: int | None = None


def cost_of(usage: Usage, price: Price | None) -> Cost | None:
    """What a call cost, not rounded; None (unpriced) without a price or without both token counts.

    Where the provider does not state cached tokens, none were cached. More cached than input tokens cannot be, and
    count as all of the input. Reasoning is part of the output and is not counted again.
    """
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached_tokens = min(usage.cached_tokens or 0, usage.input_tokens)
    cached_price = price.input_usd_per_mtok if price.cached_usd_per_mtok is None else price.cached_usd_per_mtok
    output = usage.output_tokens * price.output_usd_per_mtok
    fresh = (usage.input_tokens - cached_tokens) * price.input_usd_per_mtok
    return Cost(
        usd=(fresh + cached_tokens * cached_price + output) / TOKENS_PER_PRICE,
        upper_usd=(usage.input_tokens * price.input_usd_per_mtok + output) / TOKENS_PER_PRICE,
    )
