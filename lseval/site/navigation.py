"""One way round a study."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from lseval.access import StudyAccess

_TABS = (
    ("study_home", "Home"),
    ("outcome", "Outcome"),
    ("process", "Process"),
    ("audit", "Audit"),
    ("agreement", "Agreement"),
    ("report", "Report"),
)
_LEAD_TABS = (*_TABS, ("members", "Members"))
_LABELER_TABS = (("audit", "Your queues"),)
_UNDER = {
    "run": "outcome",
    "observation": "outcome",
    "page": "outcome",
    "label": "audit",
    "guidelines": "audit",
    "adjudication": "audit",
    "adjudicate": "audit",
    "revealed_verdict": "audit",
    "draw_audit": "audit",
    "extend_audit": "audit",
    "codebook": "audit",
    "codebook_version": "audit",
    "publish_codebook": "audit",
    "invite": "members",
    "agreement_people": "agreement",
    "agreement_process": "agreement",
    "agreement_study": "agreement",
    "agreement_leaderboard": "agreement",
    "agreement_items": "agreement",
    "agreement_responses": "agreement",
}


def study_tabs(access: StudyAccess, url_name: str | None) -> list[dict[str, Any]]:
    """The tabs that the person's role opens: {label, url, is_current}."""
    current = _UNDER.get(url_name or "", url_name)
    tabs = _LEAD_TABS if access.is_lead else _TABS if access.sees_results else _LABELER_TABS
    return [
        {"label": label, "url": reverse(name, args=[access.study.slug]), "is_current": name == current}
        for name, label in tabs
    ]
