"""How often the embedded Stage 1 judge agrees with people, on claims that people have labelled.

The rows are those of WiCE (Kamoi et al., 2023, "WiCE: Real-World Entailment for Claims in Wikipedia"): a claim, the
cited page as sentences, and one of three labels. `SUPPORT_THRESHOLD` and the weights of `partly` were chosen on its
dev part, so figures on that part flatter the judge a little; `fitting` cross-validates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from lseval.domain.evidence import EvidencePage
from lseval.domain.labels import GroupLabel
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.claims import claims_of_group
from lseval.judging.embedded.partly import is_partly_borne_out
from lseval.judging.embedded.passages import page_index
from lseval.judging.embedded.stage1 import verify_group

SUPPORTED: Final = "supported"
PARTIALLY: Final = "partially_supported"
NOT: Final = "not_supported"
DEGREES: Final = (SUPPORTED, PARTIALLY, NOT)


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of pairs (people's degree, the judge's degree), each one of `DEGREES`.

    The judge's C stands for supported; its I for partially supported where a claim is partly borne out, else for
    not supported. The two-way figures set supported against the rest. A share of no row is None.
    """

    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """The counts of pairs."""
        return cls(Counter(pairs))

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    @property
    def three_way_accuracy(self) -> float | None:
        return _share(sum(self.counts.get((degree, degree), 0) for degree in DEGREES), self.rows)

    @property
    def three_way_kappa(self) -> float | None:
        """Cohen's kappa over the three degrees: None for no row, or where chance alone gives full agreement."""
        return _kappa(self.counts)

    @property
    def two_way_kappa(self) -> float | None:
        """Cohen's kappa of supported against the rest, undefined as `three_way_kappa`."""
        counts = Counter[tuple[str, str]]()
        for (people, judge), count in self.counts.items():
            counts[str(people == SUPPORTED), str(judge == SUPPORTED)] += count
        return _kappa(counts)

    @property
    def two_way_accuracy(self) -> float | None:
        return _share(self._found() + self._refused(), self.rows)

    @property
    def two_way_balanced_accuracy(self) -> float | None:
        """The mean of the shares right among the supported and among the others; None where either is missing."""
        supported = sum(count for (people, _), count in self.counts.items() if people == SUPPORTED)
        found, refused = _share(self._found(), supported), _share(self._refused(), self.rows - supported)
        return None if found is None or refused is None else (found + refused) / 2

    @property
    def two_way_macro_f1(self) -> float | None:
        """The unweighted mean over supported and the rest of 2 TP / (2 TP + FP + FN)."""
        if not self.rows:
            return None
        wrong = self.rows - self._found() - self._refused()
        sides = (self._found(), self._refused())
        return sum(_share(2 * right, 2 * right + wrong) or 0.0 for right in sides) / 2

    @property
    def macro_f1(self) -> float | None:
        """The unweighted mean over the three degrees of `f1`."""
        return sum(map(self.f1, DEGREES)) / len(DEGREES) if self.rows else None

    def f1(self, degree: str) -> float:
        """2 TP / (2 TP + FP + FN) of a degree, 0 for one never met."""
        told = sum(count * pair.count(degree) for pair, count in self.counts.items())
        return _share(2 * self.counts.get((degree, degree), 0), told) or 0.0

    def _found(self) -> int:
        return self.counts.get((SUPPORTED, SUPPORTED), 0)

    def _refused(self) -> int:
        return sum(count for pair, count in self.counts.items() if SUPPORTED not in pair)


def measure(rows: Iterable[Mapping[str, Any]]) -> Measured:
    """The judge's degrees beside people's, over rows with `claim`, `evidence` (a list of sentences) and `label`."""
    return Measured.of((str(row["label"]), degree(row["claim"], "\n".join(row["evidence"]))) for row in rows)


def degree(claim: str, page: str) -> str:
    """How far the judge finds a claim borne out by a page: one of `DEGREES`. A page without text bears out none."""
    verdict = verify_group("", RubricRecord(1), "", claim, {}, [EvidencePage("page", "", page)])
    if verdict.label == GroupLabel.CORRECT:
        return SUPPORTED
    pieces = claims_of_group("", claim, {})
    return PARTIALLY if any(is_partly_borne_out(piece, page_index(page)) for piece in pieces) else NOT


def read_wice(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of the dev part: `claim`, `evidence` (a list of sentences), `label` and `meta`."""
    with (folder / "claim.dev.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _kappa(counts: Mapping[tuple[str, str], int]) -> float | None:
    rows = sum(counts.values())
    if not rows:
        return None
    people, judge = Counter[str](), Counter[str]()
    for (theirs, own), count in counts.items():
        people[theirs] += count
        judge[own] += count
    agreed = sum(count for (theirs, own), count in counts.items() if theirs == own) / rows
    chance = sum(people[degree] * judge[degree] for degree in people) / rows**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
