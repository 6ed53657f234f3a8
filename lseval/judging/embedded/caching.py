"""Keeping what was worked out from a text, up to a number of characters in all."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

from cachetools import LRUCache, cached

Kept = TypeVar("Kept")

MOST_KEPT_CHARS = 8_000_000
"""A run of 130 rounds with 60,000 characters each fits; what is made of a character takes some 20 bytes."""


def kept_by_text(size: Callable[[Any], int]) -> Callable[[Callable[[str], Kept]], Callable[[str], Kept]]:
    """A decorator that keeps results, least used out first, while their sizes come to `MOST_KEPT_CHARS` at most.

    A count of texts would not do: a page may have a hundred characters or a million. Safe among threads.
    """
    kept: LRUCache[str, Any] = LRUCache(MOST_KEPT_CHARS, getsizeof=size)
    return cached(kept, lock=RLock(), info=True)
