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


def note_denial(request: HttpRequest, why: str) -> None:
    """Keep the reason of a refusal for the log; the person who is refused is not told it."""
    request.denial = why  # type: ignore[attr-defined]


def require_access(request: HttpRequest, slug: str, *roles: str) -> StudyAccess:
    """The study as the person who asks may see it, remembered on the request.

    Raises Http404 for a study that they do not belong to (which does not tell whether it exists), and
    PermissionDenied where their role is none of `roles` (any role if none is named).
    """
    user = request.user
    if not isinstance(user, User):
        raise Http404("no such study")
    return admit(request, _access_of(user, slug), *roles)


def admit(request: HttpRequest, access: StudyAccess | None, *roles: str) -> StudyAccess:
    """As `require_access`, for a study that has been looked up already; None where the person may not see it."""
    if access is None:
        note_denial(request, "no member of the study, or there is no such study")
        raise Http404("no such study")
    role = access.role
    request.study_access = access  # type: ignore[attr-defined]
    if roles and role not in roles:
        note_denial(request, f"{role} of {access.study.slug}, but this is for {' or '.join(roles)}")
        raise PermissionDenied(f"This page is for {' and '.join(f'{name}s' for name in roles)} of the study.")
    return access


def access_by_role(user: User, study: Study, role: str | None) -> StudyAccess | None:
    """How a person sees a study in which they have the role, None for none; a superuser is a lead everywhere."""
    if user.is_superuser:
        return StudyAccess(study, user, Role.LEAD)
    return StudyAccess(study, user, role) if role else None


def _access_of(user: User, slug: str) -> StudyAccess | None:
    if user.is_superuser:
        study = Study.objects.filter(slug=slug).first()
        return StudyAccess(study, user, Role.LEAD) if study else None
    membership = Membership.objects.select_related("study").filter(study__slug=slug, user=user).first()
    return StudyAccess(membership.study, user, membership.role) if membership else None
