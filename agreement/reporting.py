"""The agreement report of an audit: what the page shows, the command prints, and the downloads hold."""

from __future__ import annotations

from typing import Any

from agreement import selectors
from agreement.selectors import PEOPLE, SIMULATED
from agreement.stats.bootstrap import Resampling
from agreement.stats.links import links_report
from agreement.stats.process import process_report
from agreement.stats.report import groups_report
from annotation.models import Audit
from lseval.errors import InputError
from lseval.models import Study


def audit_report(audit: Audit, source: str, how: Resampling | None = None) -> dict[str, Any]:
    """Everything that an audit's labels say of the automatic ones, as JSON-able data.

    `auto_h1` and `h1_h2` as in `agreement.stats.report.groups_report`, `links` as in `stats.links.links_report`,
    and `rounds` as in `stats.process.process_report`. `is_simulated` says that no person gave the labels.
    """
    return {
        "study": audit.study.slug,
        "audit": audit.name,
        "labels": source,
        "is_simulated": source == SIMULATED,
        "judges": selectors.automatic_judges(audit),
        **groups_report(selectors.group_rows(audit, source), how),
        "links": links_report(selectors.link_rows(audit, source)),
        "rounds": process_report(selectors.round_rows(audit, source)),
    }


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
