"""The codebook's pages for leads and researchers. Labelers read theirs on the guidelines page."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation import codebooks, examples
from annotation.codebook import CODEBOOK_VERSION
from annotation.codebook_meanings import undescribed_in
from annotation.codebook_text import first_text, to_fill_in
from annotation.lead_forms import CodebookForm
from annotation.models import Item
from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.errors import ConflictError, InputError
from lseval.models import Role
from lseval.query_parameters import takes
from lseval.rendering import render_markdown


@require_GET
def codebook(request: HttpRequest, slug: str, version: int | None = None) -> HttpResponse:
    """A version of the study's codebook, the newest by default, and the list of all."""
    access = require_access(request, slug, *RESULT_ROLES)
    published = codebooks.versions_of(access.study)
    newest = published[0].number if published else int(CODEBOOK_VERSION)
    number = version or newest
    text = (
        first_text() if number == int(CODEBOOK_VERSION) else codebooks.codebook_text(access.study.pk, str(number))
    )
    if not text:
        raise Http404("no such version")
    context = {
        "number": number,
        "html": render_markdown(text, highest_heading=2),
        "published": published,
        "first": CODEBOOK_VERSION,
        "audits": list(access.study.audits.order_by("-id")),
        "is_lead": access.is_lead,
    }
    return render(request, "annotation/codebook.html", context)


@takes("example")
@require_http_methods(["GET", "HEAD", "POST"])
def publish_codebook(request: HttpRequest, slug: str) -> HttpResponse:
    """Write the next version: see how it reads, then publish it. With `?example=ITEM` it begins with that item."""
    access = require_access(request, slug, Role.LEAD)
    if request.method != "POST":
        form = CodebookForm(
            study=access.study,
            initial={"text": _begun(request, access), "audits": CodebookForm.open_in(access.study)},
        )
        return _page(request, access, form)
    form = CodebookForm(request.POST, study=access.study)
    if not form.is_valid():
        return _page(request, access, form, status=400)
    given = form.cleaned_data
    if "publish" not in request.POST:
        html = render_markdown(given["text"], highest_heading=3)
        problem = to_fill_in(given["text"])
        return _page(request, access, form, html=html, problem=problem, undescribed=undescribed_in(given["text"]))
    try:
        made = codebooks.publish_codebook(
            access.study, given["text"], given["note"], access.user, list(given["audits"])
        )
    except InputError as error:
        return _page(request, access, form, problem=str(error), status=400)
    except ConflictError as error:
        return _page(request, access, form, problem=str(error), status=409)
    messages.success(request, f"Version {made.number} of the codebook is published.")
    return redirect("codebook", slug=slug)


def _begun(request: HttpRequest, access: StudyAccess) -> str:
    text = codebooks.newest_text(access.study)
    asked = request.GET.get("example", "")
    if not asked:
        return text
    if not asked.isascii() or not asked.isdigit() or len(asked) > 18:
        raise Http404("no such item")
    items = Item.objects.select_related("group", "round", "run__task")
    item = get_object_or_404(items, pk=int(asked), audit__study=access.study)
    return f"{text.rstrip()}\n\n{examples.example_of(item)}\n"


def _page(
    request: HttpRequest,
    access: StudyAccess,
    form: CodebookForm,
    *,
    problem: str = "",
    html: str = "",
    undescribed: Sequence[tuple[str, str]] = (),
    status: int = 200,
) -> HttpResponse:
    context = {"form": form, "problem": problem, "html": html, "undescribed": undescribed}
    return render(request, "annotation/publish_codebook.html", context, status=status)
