"""Making studies and giving people roles in them."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from lseval.errors import InputError
from lseval.models import Membership, Role, Study, User


def find_study(slug: str) -> Study:
    """The study of that short name.

    Raises:
        InputError: there is none; the message lists those that there are.
    """
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.values_list("slug", flat=True)[:10]) or "none yet"
        raise InputError(f"there is no study {slug!r}; there is: {known}. `manage.py import_runs` makes one.")
    return study


def find_or_create_study(slug: str, name: str = "", *, is_demo: bool = False) -> tuple[Study, bool]:
    """The study of that short name, and whether it was made now."""
    study = Study(slug=slug, name=name or slug.replace("-", " ").capitalize(), is_demo=is_demo)
    try:
        study.clean_fields()
    except ValidationError as error:
        raise InputError(f"{slug!r} cannot be a study's short name: {'; '.join(error.messages)}") from error
    return Study.objects.get_or_create(slug=slug, defaults={"name": study.name, "is_demo": is_demo})


@transaction.atomic
def give_role(study: Study, user: User, role: str) -> Membership:
    """Make a person a member in one role, in place of the one they had.

    Raises:
        InputError: the role is unknown, or the user is a simulated labeler.
    """
    if role not in Role.values:
        raise InputError(f"{role!r} is no role: use {', '.join(Role.values)}.")
    if user.is_simulated:
        raise InputError(f"{user.username} is a simulated labeler and can hold no role.")
    membership, _ = Membership.objects.update_or_create(study=study, user=user, defaults={"role": role})
    return membership
