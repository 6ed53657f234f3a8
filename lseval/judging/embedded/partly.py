"""Whether a claim that is not borne out is borne out in part: two features and fitted weights.

The weights are in `partly.json`, written by `lseval.judging.embedded.fitting`, with their origin.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from lseval.judging.embedded.claims import Claim, is_number_form
from lseval.judging.embedded.passages import PageIndex
from lseval.judging.embedded.text import token_forms

FILE: Final = Path(__file__).with_name("partly.json")

_PASSAGES: Final = 3
_REACH: Final = 3


@dataclass(frozen=True, slots=True)
class Features:
    """How near the best passages come to a claim, both from 0 to 1.

    `coverage` is the share of its words' rarity that they hold. `closeness` is the share of its neighbouring word
    pairs that stand there, in either order, within three words of each other.
    """

    coverage: float
    closeness: float


@dataclass(frozen=True, slots=True)
class Weights:
    """A claim is partly borne out where the weighted sum of its features is above `threshold`."""

    coverage: float
    closeness: float
    threshold: float

    def score(self, features: Features) -> float:
        return self.coverage * features.coverage + self.closeness * features.closeness

    def is_partly(self, features: Features) -> bool:
        return self.score(features) > self.threshold


def features_of(claim: Claim, index: PageIndex) -> Features:
    """The features of a claim on a page; both 0 where no passage holds any of its words."""
    best = index.best(claim.forms, most=_PASSAGES)
    sought = token_forms(claim.value)
    words = sorted({form for form in sought if not is_number_form(form)})
    wanted = list(pairwise(sought))
    there = token_forms("\n".join(index.words(passage) for passage in index.around(best)))
    pairs = {frozenset(pair) for gap in range(1, _REACH + 1) for pair in zip(there, there[gap:], strict=False)}
    closeness = sum(frozenset(pair) in pairs for pair in wanted) / len(wanted) if wanted else 0.0
    return Features(index.coverage(words, best), closeness)


def is_partly_borne_out(claim: Claim, index: PageIndex) -> bool:
    """Whether the page bears out some of the claim, for a claim that it does not bear out whole."""
    return weights().is_partly(features_of(claim, index))


@cache
def weights() -> Weights:
    """The packaged weights."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))["weights"]
    return Weights(kept["coverage"], kept["closeness"], kept["threshold"])
