"""Where rounds ended up: Figure A3's accounting, whose identities hold by how it is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lseval.site.quantities import Share, bar_parts


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where the rounds of a study, or of one model, ended up.

    `unjudged` rounds had a judge without an opinion, `waiting` ones have not been judged yet. Both are 0 in a
    study that Stage 2 has been through without a failure, as the paper's is.
    """

    pre_skipped: int = 0
    error: int = 0
    non_error: int = 0
    split: int = 0
    post_skipped: int = 0
    unjudged: int = 0
    waiting: int = 0

    @property
    def rounds(self) -> int:
        """All rounds."""
        return self.pre_skipped + self.dual_judged + self.waiting

    @property
    def dual_judged(self) -> int:
        """Rounds that went to both judges."""
        return self.evaluable + self.post_skipped + self.unjudged

    @property
    def evaluable(self) -> int:
        """Rounds with an error or non-error consensus; a split one counts as non-error."""
        return self.error + self.non_error

    @property
    def final_skipped(self) -> int:
        """Rounds set aside before or after judging."""
        return self.pre_skipped + self.post_skipped

    def share(self, count: int) -> Share:
        """A count's share of all rounds."""
        return Share(count, self.rounds, "there are no rounds")

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The pieces of the accounting bar, in order."""
        return bar_parts(
            {
                "pre_skipped": self.pre_skipped,
                "evaluable": self.evaluable,
                "post_skipped": self.post_skipped,
                "unjudged": self.unjudged,
                "waiting": self.waiting,
            }
        )

    @property
    def lines(self) -> list[tuple[str, str, Share]]:
        """The pieces as (code, words, share of all rounds), those of nothing left out after the first three."""
        every = [
            ("pre_skipped", "Set aside before judging", self.share(self.pre_skipped)),
            ("evaluable", "Evaluable: both judges say error or no error", self.share(self.evaluable)),
            ("post_skipped", "Skipped after judging: a judge set it aside", self.share(self.post_skipped)),
            ("unjudged", "Unjudged: a judge gave no opinion", self.share(self.unjudged)),
            ("waiting", "Waiting for the judges", self.share(self.waiting)),
        ]
        return every[:3] + [line for line in every[3:] if line[2].count]

    def as_dict(self) -> dict[str, int]:
        """JSON-able counts."""
        return {
            "rounds": self.rounds,
            "pre_skipped": self.pre_skipped,
            "dual_judged": self.dual_judged,
            "evaluable": self.evaluable,
            "error": self.error,
            "non_error": self.non_error,
            "split": self.split,
            "post_judging_skipped": self.post_skipped,
            "unjudged": self.unjudged,
            "waiting": self.waiting,
            "final_skipped": self.final_skipped,
        }
