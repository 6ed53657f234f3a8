"""A snapshot's layout: its own markup with nothing left that runs, loads, or leads anywhere."""

from __future__ import annotations

from typing import Final

from csp.constants import NONE, SELF
from csp.decorators import csp
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from lseval.access import RESULT_ROLES, require_access
from lseval.models import PageContent
from lseval.providers.extract import default_extractor

MOST_BYTES: Final = 2 << 20
"""Bytes of a page whose layout is shown; of a larger one there is the text."""

_WAIT_S: Final = 2.0


@csp(  # type: ignore[arg-type]  # its types know no view with arguments
    {
        "default-src": [NONE],
        "base-uri": [NONE],
        "form-action": [NONE],
        "frame-ancestors": [SELF],
        "sandbox": True,
    }
)
@xframe_options_sameorigin
@require_safe
def page_layout(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    """The snapshot's layout as a document of its own, for a frame without any rights."""
    access = require_access(request, slug, *RESULT_ROLES)
    found = PageContent.objects.filter(page_id=page_id, page__study=access.study).select_related("page").first()
    if found is None:
        raise Http404("no such page, or none whose bytes are kept")
    body = bytes(found.body)
    markup = ""
    if len(body) <= MOST_BYTES:
        markup = default_extractor().sanitised(body, found.page.content_type, _WAIT_S)
    # Made of nothing but the elements that lseval.providers.extract.sanitising lets through.
    return render(request, "site/layout.html", {"page": found.page, "markup": mark_safe(markup)})  # noqa: S308
