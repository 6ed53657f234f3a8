"""The audit and the labels that a page is about, and the addresses that keep to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from agreement import selectors
from agreement.reporting import choose_from, no_audit_yet
from agreement.selectors import LABEL_SOURCES, PEOPLE, SIMULATED
from annotation.models import Audit
from lseval.access import RESULT_ROLES, StudyAccess, require_access

SOURCE_TITLES = {PEOPLE: "People's labels", SIMULATED: "Simulated labels"}
PAGES = {
    "agreement": "Labels and scores",
    "agreement_people": "People",
    "agreement_process": "Links and rounds",
    "agreement_study": "Whole study",
    "agreement_leaderboard": "Leaderboard",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page is asked for: the study as the person may see it, and one of its audits by one source of labels.

    `audits` are all of the study's, newest first, with their counts of labels by source.
    """

    access: StudyAccess
    audits: list[tuple[Audit, dict[str, int]]]
    audit: Audit
    source: str

    @property
    def slug(self) -> str:
        return self.access.study.slug

    @property
    def is_simulated(self) -> bool:
        return self.source == SIMULATED

    @property
    def second(self) -> str:
        """H1 as figures name it."""
        return "H1 (simulated)" if self.is_simulated else "H1"

    def url(self, name: str, *arguments: Any, **query: Any) -> str:
        """The address of a page about the same audit and labels."""
        asked = urlencode({"audit": self.audit.name, "labels": self.source, **query})
        return f"{reverse(name, args=[self.slug, *arguments])}?{asked}"

    def tabs(self, current: str) -> list[dict[str, Any]]:
        """The agreement pages."""
        return [
            {"label": title, "url": self.url(name), "is_current": name == current} for name, title in PAGES.items()
        ]

    def choices(self, page: str) -> dict[str, list[dict[str, Any]]]:
        """The same page for the study's other audits, and by the other source of labels."""
        counts = dict(self.audits)[self.audit]
        return {
            "audits": [
                {
                    "label": audit.name,
                    "url": self.url(page, audit=audit.name, labels=""),
                    "is_current": audit == self.audit,
                }
                for audit, _ in self.audits
            ],
            "sources": [
                {
                    "label": SOURCE_TITLES[name],
                    "count": counts[name],
                    "url": self.url(page, labels=name),
                    "is_current": name == self.source,
                }
                for name in LABEL_SOURCES
                if counts[name] or name == PEOPLE
            ],
        }

    def context(self, page: str, **more: Any) -> dict[str, Any]:
        """What every page's template takes, and `more`."""
        return {
            "access": self.access,
            "shown": self,
            "audit": self.audit,
            "is_simulated": self.is_simulated,
            "page_tabs": self.tabs(page),
            "choices": self.choices(page),
            **more,
        }


def shown_of(request: HttpRequest, slug: str) -> Shown | StudyAccess:
    """What the request is for; only the access where the study has no audit yet.

    Raises Http404 and PermissionDenied as `require_access` does for results, and `InputError` for an audit or a
    source of labels that is not there.
    """
    access = require_access(request, slug, *RESULT_ROLES)
    audits = selectors.audits_with_labels(access.study)
    if not audits:
        if request.GET.get("audit"):
            raise no_audit_yet(access.study)
        return access
    chosen = choose_from(audits, access.study, request.GET.get("audit", ""), request.GET.get("labels", ""))
    return Shown(access, audits, *chosen)


def required_shown(request: HttpRequest, slug: str) -> Shown:
    """`shown_of` for a file, which needs an audit: raises `InputError` where there is none."""
    found = shown_of(request, slug)
    if isinstance(found, StudyAccess):
        raise no_audit_yet(found.study)
    return found


def plain_tabs(access: StudyAccess, current: str) -> list[dict[str, Any]]:
    """The agreement pages of a study, whatever its newest audit is."""
    return [
        {"label": title, "url": reverse(name, args=[access.study.slug]), "is_current": name == current}
        for name, title in PAGES.items()
    ]
