"""Who can log in with a password."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend


class PeopleBackend(ModelBackend):
    """Django's, for people only: a simulated labeler never logs in, whatever password it was given."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and not getattr(user, "is_simulated", False)
