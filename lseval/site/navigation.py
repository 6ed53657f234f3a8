"""One way round a study."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from lseval.access import StudyAccess

_TABS = (
    ("study_home", "Home"),
    ("collection", "Collection"),
    ("outcome", "Outcome"),
    ("process", "Process"),
    ("audit", "Audit"),
    ("agreement", "Agreement"),
    ("report", "Report"),
)
_LEAD_TABS = (*_TABS, ("members", "Members"))
_SANDBOX_TAB = ("validity", "Validity")
_LABELER_TABS = (("audit", "Your queues"),)
_UNDER = {
    "import_runs": "study_home",
    "costs": "collection",
    "evaluation": "outcome",
    "run_group": "outcome",
    "run": "outcome",
    "observation": "outcome",
    "page": "outcome",
    "label": "audit",
    "label_recent": "audit",
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
    "tables": "report",
    "compare": "report",
    "agreement_people": "agreement",
    "agreement_process": "agreement",
    "agreement_study": "agreement",
    "agreement_leaderboard": "agreement",
    "agreement_items": "agreement",
    "agreement_responses": "agreement",
}


@dataclass(frozen=True, slots=True)
class Tab:
    """One of a study's pages."""

    label: str
    url: str
    is_current: bool


def study_tabs(access: StudyAccess, url_name: str | None) -> tuple[Tab, ...]:
    """The tabs that the person's role opens."""
    current = _UNDER.get(url_name or "", url_name)
    tabs: tuple[tuple[str, str], ...]
    tabs = _LEAD_TABS if access.is_lead else _TABS if access.sees_results else _LABELER_TABS
    if access.sees_results and access.study.settings.get("sandbox"):
        place = tabs.index(("report", "Report"))
        tabs = (*tabs[:place], _SANDBOX_TAB, *tabs[place:])
    return tuple(Tab(label, reverse(name, args=[access.study.slug]), name == current) for name, label in tabs)
