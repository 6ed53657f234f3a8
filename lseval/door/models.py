"""Invitations, what became of people's roles, API tokens, and when a reset was last mailed."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from knox.models import AbstractAuthToken, get_digest_token
from knox.settings import CONSTANTS

from lseval.models import Role, Study, User


class Invitation(models.Model):
    """A link by which one person joins a study in a role, once.

    The link's token is not kept, only its SHA-256 as hexadecimal text: whoever reads the database cannot join.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=100, blank=True, help_text="whom it is for; for the leads only")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="invitation_role_is_known", condition=models.Q(role__in=Role.values)),
            models.CheckConstraint(
                name="invitation_ends_once",
                condition=models.Q(accepted_at__isnull=True) | models.Q(revoked_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.study}"


class RoleChange(models.Model):
    """A role that a person got or lost in a study. Rows are only ever appended; an empty role is no membership."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="role_changes")
    user = models.ForeignKey(User, models.CASCADE, related_name="role_changes")
    old_role = models.CharField(max_length=10, choices=Role.choices, blank=True)
    new_role = models.CharField(max_length=10, choices=Role.choices, blank=True)
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="changed_roles_are_known",
                condition=models.Q(old_role__in=["", *Role.values], new_role__in=["", *Role.values]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.study}: {self.old_role or 'nobody'} to {self.new_role or 'nobody'}"


class ApiTokens(models.Manager["ApiToken"]):
    """Makes tokens; in place of knox's manager, which returns a pair from `create`."""

    def issue(self, user: User, name: str, lifetime: timedelta) -> tuple[ApiToken, str]:
        """A stored token and its text, which is not stored."""
        digest, text = get_digest_token()
        made = self.create(
            user=user,
            name=name,
            digest=digest,
            token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH],
            expiry=timezone.now() + lifetime,
        )
        return made, text


class ApiToken(AbstractAuthToken):
    """A token by which a program acts as its owner: knox's row, kept as a SHA-512 digest, with a name."""

    objects: ClassVar[ApiTokens] = ApiTokens()

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=60)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="to the hour")

    class Meta:
        ordering: ClassVar = ["-created"]

    def __str__(self) -> str:
        return self.name


class ResetMail(models.Model):
    """When a person was last mailed a link to a new password."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="+")
    sent_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reset mailed to {self.user}"
