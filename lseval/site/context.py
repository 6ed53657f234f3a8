"""What every template is given."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from lseval.site.navigation import study_tabs


def study_navigation(request: HttpRequest) -> dict[str, Any]:
    """The tabs of the study that the request is about, for those whose role opens them."""
    access = getattr(request, "study_access", None)
    if access is None:
        return {}
    match = request.resolver_match
    return {
        "study": access.study,
        "role": access.role,
        "study_tabs": study_tabs(access, match.url_name if match else ""),
    }
