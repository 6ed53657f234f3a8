"""The page that sets a study beside another, or its two judges beside each other."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from lseval.access import RESULT_ROLES, StudyAccess, note_denial, require_access
from lseval.models import Study, User
from lseval.query_parameters import page_number, takes
from lseval.site.comparison.selectors import (
    SHOWN_CHANGES,
    Comparison,
    compare_judges,
    compare_studies,
    has_second_judge,
    label_matrix,
)
from lseval.site.tables import cells

SECOND_JUDGE = "judge:second"
"""What `with` says for the study's own second judge; no study's short name has a colon."""
_COEFFICIENTS = {"observed": "Observed agreement", "kappa": "Cohen's kappa", "ac1": "Gwet's AC1"}
_LISTED_STUDIES = 200


@takes("with", "page")
@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Which verdicts differ between this study and `with`; without it, what there is to choose from."""
    access = require_access(request, slug, *RESULT_ROLES)
    wanted = request.GET.get("with", "")
    has_second = has_second_judge(access.study)
    context: dict[str, object] = {
        "wanted": wanted,
        "second_judge": SECOND_JUDGE if has_second else "",
        "choices": _comparable(access)[:_LISTED_STUDIES],
    }
    if wanted:
        found = _found(request, access, wanted, has_second)
        page = Paginator(found.changes, SHOWN_CHANGES).get_page(page_number(request.GET))
        context |= {
            "found": found,
            "matrix": label_matrix(found),
            "coefficients": [
                (title, cells.estimate(found.block["nominal"][key], 3)) for key, title in _COEFFICIENTS.items()
            ],
            "changes": page,
            "other_slug": slug if wanted == SECOND_JUDGE else wanted,
        }
    return render(request, "site/compare.html", context)


def _found(request: HttpRequest, access: StudyAccess, wanted: str, has_second: bool) -> Comparison:
    if wanted == SECOND_JUDGE and has_second:
        return compare_judges(access.study)
    other = _comparable(access).filter(slug=wanted).first()
    if other is None:
        note_denial(request, f"compare {access.study.slug} with what the person may not see, or is not there")
        raise Http404("no such study to compare with")
    return compare_studies(access.study, other)


def _comparable(access: StudyAccess) -> QuerySet[Study]:
    """The other studies whose results the person may see."""
    return _seen_by(access.user).exclude(pk=access.study.pk).order_by("name", "slug")


def _seen_by(user: User) -> QuerySet[Study]:
    if user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user, memberships__role__in=RESULT_ROLES)
