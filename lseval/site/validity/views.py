"""The page that shows how right the pipeline is."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from lseval.access import RESULT_ROLES, require_access
from lseval.site.validity.presenting import page_of
from lseval.site.validity.selectors import has_truth, validity_of

_WHY = (
    "Validity can be measured only where the truth is known: on simulated runs, after `manage.py validity` or "
    "`manage.py demo` has recorded what was planted in them."
)


@require_safe
def validity(request: HttpRequest, slug: str) -> HttpResponse:
    """Verdicts, failure nodes and links against what was planted, for leads and researchers."""
    study = require_access(request, slug, *RESULT_ROLES).study
    found = page_of(validity_of(study)) if has_truth(study) else None
    return render(request, "site/validity.html", {"found": found, "why": _WHY})
