"""Stage 2 of a study in words and tables: what `manage.py process` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agreement.stats.documents import Outside, Table
from lseval.models import Study
from lseval.site.selectors.accounting import Accounting
from lseval.site.selectors.dual_agreement import DualAgreement
from lseval.site.selectors.process import Process, process_of
from lseval.site.selectors.process_details import PolicyRow, ProcessDetails, process_details_of


def process_and_details(study: Study) -> tuple[Process, ProcessDetails]:
    """Stage 2 of a study in counts, and what the process page shows beyond them."""
    process = process_of(study)
    return process, process_details_of(study, process.pairs, process.link_policy)


def process_as_dict(slug: str, process: Process, details: ProcessDetails) -> dict[str, Any]:
    """JSON-able numbers."""
    return {"study": slug, **process.as_dict(), **details.as_dict()}


def process_tables(slug: str, process: Process, details: ProcessDetails) -> list[Table]:
    """The identities of Figure A3 and Table 2, the two judges beside each other, and both link policies."""
    judges = "; ".join(judge.text for judge in process.judges) or "nobody yet"
    return [
        _accounting(slug, process.accounting, [f"Judged by {Outside(judges)}."]),
        _diagnostics(slug, process),
        _judges(slug, details.dual),
        _policies(slug, details.policies),
    ]


def _accounting(slug: str, found: Accounting, notes: list[str]) -> Table:
    rows = [
        _sum("All rounds", found.rounds, ("set aside", found.pre_skipped), ("dual-judged", found.dual_judged),
             ("waiting", found.waiting)),
        _sum("Dual-judged", found.dual_judged, ("evaluable", found.evaluable),
             ("skipped after judging", found.post_skipped), ("unjudged", found.unjudged)),
        _sum("Evaluable", found.evaluable, ("error", found.error), ("no error", found.non_error)),
        _sum("Final skips", found.final_skipped, ("set aside", found.pre_skipped),
             ("skipped after judging", found.post_skipped)),
    ]  # fmt: skip
    split = f"{found.split:,} of the rounds without error are split: one judge says error, the other does not."
    return Table(
        f"Accounting of rounds of {slug} (Figure A3)", ["What", "Rounds", "Is the sum of"], rows, [*notes, split]
    )


def _diagnostics(slug: str, found: Process) -> Table:
    rows = [
        _sum("Failure nodes", found.nodes, ("linked", found.linked_nodes), ("unlinked", found.unlinked_nodes)),
        _sum("Failure nodes", found.nodes, ("typed", found.typed), ("unassigned", found.unassigned)),
        _sum("Incorrect groups", found.incorrect_groups, ("linked", found.linked_groups),
             ("unlinked", found.unlinked_incorrect_groups)),
        _sum("Runs", found.runs, ("with a link", found.runs_with_link),
             ("without", found.runs - found.runs_with_link)),
    ]  # fmt: skip
    early = ", ".join(f"{share.text} by round {number}" for number, share in found.earliest)
    notes = [
        f"Failure nodes are the {found.accounting.error:,} rounds with an error consensus. {found.links:,} links.",
        f"Earliest association, of the runs with a link: {early}.",
    ]
    return Table(f"Failure nodes and links of {slug} (Table 2)", ["What", "Number", "Is the sum of"], rows, notes)


def _judges(slug: str, found: DualAgreement) -> Table:
    rows = [
        [name, measure.text, measure.bounds or "–", f"{measure.n:,}", of] for name, measure, of in found.measures
    ]
    notes = [
        f"95% intervals: percentiles of {found.how.resamples:,} resamples of the tasks, seed {found.how.seed}. "
        "The overlap is the share of those that both name."
    ]
    reasons = {measure.reason or measure.no_interval for _, measure, _ in found.measures} - {""}
    return Table(
        f"The two judges of {slug} beside each other",
        ["Measure", "Value", "95% interval", "Number", "Of"],
        rows,
        [*notes, *(f"– {reason}." for reason in sorted(reasons))],
    )


def _policies(slug: str, found: Sequence[PolicyRow]) -> Table:
    rows = [
        [
            row.policy + (" (in force)" if row.is_in_force else ""),
            f"{row.links:,}",
            f"{row.linked_nodes:,} of {row.nodes:,}",
            f"{row.linked_groups:,}",
            f"{row.runs_with_link:,}",
            *(share.text for _, share in row.early),
        ]
        for row in found
    ]
    early = [f"By round {number}" for number, _ in found[0].early]
    header = ["Policy", "Links", "Linked nodes", "Linked groups", "Runs with a link", *early]
    return Table(f"The two link policies of {slug}", header, rows)


def _sum(name: str, total: int, *parts: tuple[str, int]) -> list[str]:
    """A row of an identity; parts of nothing are left out after the first two."""
    shown = [*parts[:2], *(part for part in parts[2:] if part[1])]
    return [name, f"{total:,}", " + ".join(f"{count:,} {words}" for words, count in shown)]
