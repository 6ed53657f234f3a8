"""Who may see which study, in which role."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from lseval.models import Membership, Role, Study, User

RESULT_ROLES = (Role.LEAD, Role.RESEARCHER)
"""The roles that see verdicts, judgements and everybody's labels. A labeler must not: see "Blinding"."""


@dataclass(frozen=True)
class StudyAccess:
    """A study as a person may see it."""

    study: Study
    user: User
    role: str

    @property
    def sees_results(self) -> bool:
        return self.role in RESULT_ROLES

    @property
    def is_lead(self) -> bool:
        return self.role == Role.LEAD


def studies_of(user: User) -> QuerySet[Study]:
    """The studies that a person belongs to; all of them for a superuser."""
    if user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user)


def require_access(request: HttpRequest, slug: str, *roles: str) -> StudyAccess:
    """The study as the person who asks may see it, remembered on the request.

    Raises Http404 for a study that they do not belong to (which does not tell whether it exists), and
    PermissionDenied where their role is none of `roles` (any role if none is named).
    """
    user = request.user
    if not isinstance(user, User):
        raise Http404("no such study")
    study = studies_of(user).filter(slug=slug).first()
    if study is None:
        raise Http404("no such study")
    if user.is_superuser:
        role: str = Role.LEAD
    else:
        role = Membership.objects.values_list("role", flat=True).get(study=study, user=user)
    access = StudyAccess(study, user, role)
    request.study_access = access  # type: ignore[attr-defined]
    if roles and role not in roles:
        raise PermissionDenied(f"This page is for {' and '.join(f'{name}s' for name in roles)} of the study.")
    return access
