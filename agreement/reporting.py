"""The agreement report of an audit: what the page shows, the command prints, and the downloads hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agreement import selectors
from agreement.selectors import PEOPLE, SIMULATED, LinkRow, RoundRow
from agreement.stats.bootstrap import Resampling
from agreement.stats.proportions import cluster_interval, proportion_interval
from agreement.stats.report import groups_report
from agreement.stats.undefined import plain, ratio
from annotation.models import Audit
from lseval.domain.labels import LinkLabel, RoundLabel
from lseval.errors import InputError
from lseval.models import Study

ROUND_LABELS = [label.value for label in RoundLabel]


def audit_report(audit: Audit, source: str, how: Resampling | None = None) -> dict[str, Any]:
    """Everything that an audit's labels say of the automatic ones, as JSON-able data.

    `auto_h1` and `h1_h2` as in `agreement.stats.report.groups_report`; `links` is the correspondence precision of
    the labeled links, `rounds` the cross-tabulation of labeled rounds. `is_simulated` says that no person gave the
    labels.
    """
    return {
        "study": audit.study.slug,
        "audit": audit.name,
        "labels": source,
        "is_simulated": source == SIMULATED,
        "judges": selectors.automatic_judges(audit),
        **groups_report(selectors.group_rows(audit, source), how),
        "links": link_precision(selectors.link_rows(audit, source)),
        "rounds": round_table(selectors.round_rows(audit, source)),
    }


def link_precision(rows: Sequence[LinkRow]) -> dict[str, Any]:
    """The share of decided links that correspond, k of n, with intervals; links where H1 cannot tell are left out.

    `interval` is Wilson's, which takes links as independent; `cluster_interval` lets the links of a task be alike.
    """
    outcomes = Counter(row.label for row in rows)
    k, n = outcomes[LinkLabel.CORRESPONDS], outcomes[LinkLabel.CORRESPONDS] + outcomes[LinkLabel.DOES_NOT]
    trials = Counter(row.task_id for row in rows if row.label != LinkLabel.CANNOT_TELL)
    successes = Counter(row.task_id for row in rows if row.label == LinkLabel.CORRESPONDS)
    tasks = list(trials)
    return plain(
        {
            "k": k,
            "n": n,
            "cannot_tell": outcomes[LinkLabel.CANNOT_TELL],
            "tasks": len(tasks),
            "precision": ratio(k, n, "no link has been decided"),
            "interval": proportion_interval(k, n),
            "cluster_interval": cluster_interval(
                [successes[task] for task in tasks], [trials[task] for task in tasks]
            ),
        }
    )


def round_table(rows: Sequence[RoundRow]) -> dict[str, Any]:
    """Labeled rounds, the automatic consensus in the columns and H1 in the rows, as in the paper's Table A10.

    Recall and precision are of error; each is undefined where its denominator is zero. Rounds that wait for the
    judges are counted apart.
    """
    counts = Counter((row.label, row.automatic) for row in rows)
    matrix = [[counts[label, automatic] for automatic in ROUND_LABELS] for label in ROUND_LABELS]
    both, by_person, by_judges = matrix[0][0], sum(matrix[0]), sum(row[0] for row in matrix)
    return plain(
        {
            "categories": ROUND_LABELS,
            "matrix": matrix,
            "n": sum(map(sum, matrix)),
            "waiting": len(rows) - sum(map(sum, matrix)),
            "recall": ratio(both, by_person, "H1 called no round an error"),
            "precision": ratio(both, by_judges, "the judges called no labeled round an error"),
        }
    )


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
    found = selectors.audits_with_labels(study)
    if not found:
        raise InputError(f"study {study.slug} has no audit yet: `manage.py draw_audit {study.slug}` draws one.")
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
