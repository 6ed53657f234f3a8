"""What the commands of the site share."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class PagelessCommand(BaseCommand):
    """A command that shows no page: Django's checks, which load every page of the site, are left out."""

    requires_system_checks: list[str] = []
