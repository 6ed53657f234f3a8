"""The turns of a planned run, and the errors planted in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call to come. `url` is the page that a reading tool is called on; the identifier is known by then."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One assistant turn."""

    text: str
    calls: tuple[PlannedCall, ...]


@dataclass(frozen=True, slots=True)
class PlannedError:
    """An error as it will be injected.

    It enters with turn `turn` (from 1), whose observation or words first hold the wrong content, and is stated in
    turn `stated_turn`. `units` are the places (from 1) of the answer units that it makes wrong; none where it is
    mended later in the run.
    """

    turn: int
    stated_turn: int
    error_type: str
    units: tuple[int, ...]
