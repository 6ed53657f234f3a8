"""Localization in words and tables: what the command prints."""

from __future__ import annotations

from typing import Any

from agreement.stats.documents import Outside, Table
from agreement.stats.undefined import Estimate, Undefined, plain
from lseval.domain.localization import WITHIN
from lseval.site.localization.selectors import WAYS, Localization
from lseval.site.quantities import counted


def tables_of(slug: str, found: Localization) -> list[Table]:
    """Where the round named lies, then how good the flags are as a set, each way a row."""
    near = Table(
        f"Localization of {slug}: how near the round named is to a reference step",
        ["Named by", "Runs with one", "Exact step", *(f"Within {most}" for most in WITHIN[1:])],
        [
            [words, str(found.ways[way]["named"])]
            + [_share(found.ways[way]["within"][most], with_interval=not most) for most in WITHIN]
            for way, words in WAYS.items()
        ],
    )
    flags = Table(
        f"Localization of {slug}: the rounds flagged",
        ["Flagged by", "Rounds", "Precision", "Recall", "Rank of the first right one"],
        [
            [
                words,
                f"{found.ways[way]['flagged']:g}",
                _share(found.ways[way]["precision"]),
                _share(found.ways[way]["recall"]),
                _rank(found.ways[way]),
            ]
            for way, words in WAYS.items()
        ],
        notes_of(found),
    )
    return [near, flags]


def notes_of(found: Localization) -> list[str]:
    """What the shares are of, and what they leave out."""
    judges = " and ".join(judge.text for judge in found.judges) or "no judge has been here yet"
    notes = [
        f"{counted(found.runs, 'run')} of {counted(found.tasks, 'task')} with "
        f"{counted(found.references, 'reference step')} among {counted(found.rounds, 'round')}; "
        f"{counted(found.without_reference, 'run')} without a reference left out, {found.without_rounds:,} with "
        "one and no trajectory.",
        "A run's named round is the earliest one flagged; a run with none counts as missed. "
        f"Judges: {Outside(judges)}.",
        f"{found.pre_skipped:,} of the reference steps stand only in rounds that are set aside before judging, "
        f"where no judge can flag them, and {found.outside:,} in no round.",
        "95% intervals: percentiles of 10,000 resamples of the tasks. Distances are in steps.",
    ]
    if found.waiting:
        notes.append(f"{counted(found.waiting, 'run')} still wait for the judges; run manage.py evaluate.")
    if found.best_shift:
        notes.append(
            f"The agents named fit {found.agents[found.best_shift]:,} steps moved by {found.best_shift:+d} and "
            f"{found.agents[0]:,} as they stand: the source may count its steps from elsewhere (--steps-from)."
        )
    return notes


def as_dict(slug: str, found: Localization) -> dict[str, Any]:
    """JSON-able numbers."""
    return {
        "study": slug,
        "runs": found.runs,
        "tasks": found.tasks,
        "without_reference": found.without_reference,
        "without_rounds": found.without_rounds,
        "rounds": found.rounds,
        "references": found.references,
        "outside": found.outside,
        "pre_skipped": found.pre_skipped,
        "waiting": found.waiting,
        "agents": {"named": found.named_agents, **{f"{shift:+d}": count for shift, count in found.agents.items()}},
        "judges": [judge.as_dict() for judge in found.judges],
        "ways": {way: plain(found.ways[way]) for way in WAYS},
    }


def _share(share: Estimate, *, with_interval: bool = True) -> str:
    if isinstance(share.point, Undefined):
        return "–"
    text = f"{100 * share.point:.1f}%"
    if not with_interval or isinstance(share.interval, Undefined):
        return text
    low, high = share.interval
    return f"{text} [{100 * low:.1f}, {100 * high:.1f}]"


def _rank(way: dict[str, Any]) -> str:
    value = _number(way["first_right"])
    return value if value == "–" else f"{value} ({counted(way['ranked'], 'run')})"


def _number(found: Estimate) -> str:
    return "–" if isinstance(found.point, Undefined) else f"{found.point:.2f}"
