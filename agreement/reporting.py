"""The agreement report of an audit: what the pages show, the command prints, and the downloads hold."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from agreement import selectors
from agreement.people_report import people_of
from agreement.selectors import PEOPLE, SIMULATED
from agreement.stats.bootstrap import Resampling
from agreement.stats.groups import GroupRow
from agreement.stats.links import CANNOT_TELL, links_report
from agreement.stats.people import ceiling
from agreement.stats.process import ROUND_LABELS, process_report
from agreement.stats.report import groups_report
from agreement.stats.scores import LABELS
from agreement.study_selectors import StudyRun, study_runs
from agreement.whole_study import Wanted, leaderboards, plans, whole_study_report
from annotation.models import Audit, ItemKind
from lseval.errors import InputError
from lseval.models import Study

CEILING_COEFFICIENTS = ("observed", "kappa", "ac1")
"""What sets the machine beside the human ceiling."""


def audit_report(
    audit: Audit, source: str, how: Resampling | None = None, rows: list[GroupRow] | None = None
) -> dict[str, Any]:
    """Everything that an audit's labels say of the automatic ones, as JSON-able data.

    `labels_report` and `process_parts` together. `rows` are the audit's groups where the caller has them.
    """
    groups = selectors.group_rows(audit, source) if rows is None else rows
    return {**labels_report(audit, source, groups, how), **process_parts(audit, source)}


def head(audit: Audit, source: str) -> dict[str, Any]:
    """What a report is about. `is_simulated` says that no person gave the labels."""
    return {
        "study": audit.study.slug,
        "audit": audit.name,
        "labels": source,
        "is_simulated": source == SIMULATED,
        "judges": selectors.automatic_judges(audit),
    }


def process_parts(audit: Audit, source: str) -> dict[str, Any]:
    """`links` as in `stats.links.links_report` and `rounds` as in `stats.process.process_report`, JSON-able.

    Each also has how many the audit `drew`, and `left_out` with reasons and counts. Three queries.
    """
    drawn = selectors.drawn_counts(audit)
    links = selectors.link_rows(audit, source)
    rounds = selectors.labeled_rounds(audit, source)
    settled = [entry for entry in rounds if entry.automatic in ROUND_LABELS]
    undecided = sum(link.label == CANNOT_TELL for link in links)
    drawn_links, drawn_rounds = drawn.get(ItemKind.LINK, 0), drawn.get(ItemKind.ROUND, 0)
    no_label = "without a label of H1"
    return {
        "links": {
            **links_report(links),
            "drew": drawn_links,
            "left_out": _counted({no_label: drawn_links - len(links), "H1 cannot tell": undecided}),
        },
        "rounds": {
            **process_report(settled),
            "drew": drawn_rounds,
            "left_out": _counted(
                {no_label: drawn_rounds - len(rounds), "the judges have not settled it": len(rounds) - len(settled)}
            ),
        },
    }


def _counted(reasons: dict[str, int]) -> list[dict[str, Any]]:
    return [{"reason": reason, "count": count} for reason, count in reasons.items() if count]


def labels_report(audit: Audit, source: str, rows: list[GroupRow], how: Resampling | None = None) -> dict[str, Any]:
    """What the labels of the audit's answer groups (`rows`) say, as JSON-able data. One query.

    `head`, `auto_h1` and `h1_h2` as in `agreement.stats.report.groups_report`, `ceiling` by coefficient as in
    `stats.people.ceiling`.
    """
    return {**head(audit, source), **deepcopy(_what_labels_say(tuple(rows), how))}


@lru_cache(maxsize=8)
def _what_labels_say(rows: tuple[GroupRow, ...], how: Resampling | None) -> dict[str, Any]:
    """What follows from the rows alone. Kept, since it takes five draws of 10,000 resamples for each page."""
    return {**groups_report(rows, how), "ceiling": ceiling_report(list(rows), how)}


def ceiling_report(rows: list[GroupRow], how: Resampling | None = None) -> dict[str, Any]:
    """Automatic-H1 beside H1-H2 on the groups that have all three labels, by coefficient."""
    whole = [row for row in rows if row.auto in LABELS and row.h1 in LABELS and row.h2 in LABELS]
    triples = [(str(row.auto), str(row.h1), str(row.h2)) for row in whole]
    tasks = [row.task_id for row in whole]
    return {name: ceiling(triples, tasks, LABELS, how, name) for name in CEILING_COEFFICIENTS}


def full_report(audit: Audit, source: str, how: Resampling | None = None) -> dict[str, Any]:
    """The audit's report with `people`, `whole_study`, `planner` and `leaderboard`: every number of every page."""
    rows = selectors.group_rows(audit, source)
    runs = study_runs(audit.study)
    report = audit_report(audit, source, how, rows)
    return {
        **report,
        "people": people_of(audit, source),
        **study_parts(audit, source, rows, runs, Wanted(), report["auto_h1"]),
        "leaderboard": leaderboards(runs, how),
    }


def study_parts(
    audit: Audit,
    source: str,
    rows: list[GroupRow],
    runs: list[StudyRun],
    wanted: Wanted,
    first: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`whole_study` as in `whole_study.whole_study_report`, and `planner`: the plans and what they are for."""
    whole = whole_study_report(audit, rows, runs)
    links = selectors.link_rows(audit, source)
    planner = {"wanted": asdict(wanted), "plans": plans(rows, links, whole, wanted, first)}
    return {"whole_study": whole, "planner": planner}


def study_report(study: Study) -> dict[str, Any] | None:
    """The report of the study's newest audit, on people's labels if it has any; None where nothing is labeled."""
    if not any(sum(counts.values()) for _, counts in selectors.audits_with_labels(study)):
        return None
    return audit_report(*choose_audit(study))


def choose_audit(study: Study, name: str = "", source: str = "") -> tuple[Audit, str]:
    """The audit and the labels to report on: those named, else the newest audit, and people's labels if it has any.

    Raises:
        InputError: the study has no audit, none of that name, or the source of labels is unknown.
    """
    return choose_from(selectors.audits_with_labels(study), study, name, source)


def choose_from(
    found: list[tuple[Audit, dict[str, int]]], study: Study, name: str = "", source: str = ""
) -> tuple[Audit, str]:
    """`choose_audit` from what `selectors.audits_with_labels` found."""
    if not found:
        raise no_audit_yet(study)
    if name:
        found = [entry for entry in found if entry[0].name == name]
        if not found:
            raise InputError(f"study {study.slug} has no audit named {name!r}.")
    if source and source not in selectors.LABEL_SOURCES:
        raise InputError(f"{source!r} is no source of labels: use {' or '.join(selectors.LABEL_SOURCES)}.")
    audit, counts = found[0]
    if not source:
        source = SIMULATED if counts[SIMULATED] and not counts[PEOPLE] else PEOPLE
    return audit, source


def no_audit_yet(study: Study) -> InputError:
    """The error of asking for a report on a study without an audit."""
    return InputError(f"study {study.slug} has no audit yet: `manage.py draw_audit {study.slug}` draws one.")
