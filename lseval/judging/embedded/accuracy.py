"""How often the embedded Stage 1 judge was found right, as `measured.json` keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy:
    """A judge's agreement with people on one set: shares from 0 to 1, kappa from -1 to 1.

    `cross_validated` has the same figures where what is fitted never saw the claims that it is measured on.
    """

    judge: str
    version: str
    data: str
    source: str
    rows: int
    figures: dict[str, float]
    cross_validated: dict[str, float]
    origin: dict[str, Any]


@cache
def measured_accuracy() -> MeasuredAccuracy:
    """The packaged figures, written by `lseval.judging.embedded.fitting`."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    origin = kept["origin"]
    return MeasuredAccuracy(
        kept["judge"],
        kept["version"],
        origin["data"],
        origin["source"],
        kept["rows"],
        kept["figures"],
        kept["cross_validated"],
        origin,
    )
