"""The pages on the judges' work: how far it is, one group with all its evidence, and having it judged again."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.errors import LsevalError
from lseval.models import AnswerGroup, Role, Study
from lseval.pipeline import starting
from lseval.pipeline.evaluating import judge_group_again, retry_evaluation, start_evaluation
from lseval.site.quantities import counted
from lseval.site.selectors.collection import command_of_worker
from lseval.site.selectors.evaluation import evaluation_of
from lseval.site.selectors.group import group_page_of


@require_safe
def evaluation(request: HttpRequest, slug: str) -> HttpResponse:
    """How far both stages are, with what starts and retries them for a lead."""
    access = require_access(request, slug, *RESULT_ROLES)
    return render(request, "site/evaluation.html", _shown(access))


@require_safe
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that moves, for the page to ask again; a browser that comes here gets the page."""
    access = require_access(request, slug, *RESULT_ROLES)
    if not request.headers.get("HX-Request"):
        return redirect("evaluation", slug)
    return render(request, "site/_evaluation_live.html", {**_shown(access), "study": access.study})


@require_POST
def act(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue what waits for the judges, or retry what failed; nothing here waits for a judge."""
    access = require_access(request, slug, Role.LEAD)
    step = _STEPS.get(request.POST.get("action", ""))
    if step is None:
        messages.error(request, "Choose one of the buttons on this page.")
        return redirect("evaluation", slug)
    try:
        messages.success(request, step(access.study))
    except LsevalError as error:
        messages.error(request, str(error))
    return redirect("evaluation", slug)


@require_safe
def group(request: HttpRequest, slug: str, run_id: int, number: int) -> HttpResponse:
    """One answer group: the response, each claim, the cited pages, and what the judges were sent and said."""
    access = require_access(request, slug, *RESULT_ROLES)
    shown = group_page_of(access.study, run_id, number)
    crumbs = [
        {"label": "Outcome", "url": reverse("outcome", args=[slug])},
        {"label": str(shown.run), "url": f"{reverse('run', args=[slug, run_id])}#g{number}"},
        {"label": f"Group {number}", "url": ""},
    ]
    return render(request, "site/group.html", {"shown": shown, "breadcrumbs": crumbs})


@require_POST
def judge_again(request: HttpRequest, slug: str, run_id: int, number: int) -> HttpResponse:
    """Have one group judged once more."""
    access = require_access(request, slug, *RESULT_ROLES)
    found = AnswerGroup.objects.filter(run__study=access.study, run_id=run_id, number=number)
    asked = found.select_related("run__study").first()
    if asked is None:
        raise Http404("no such group")
    try:
        is_done = judge_group_again(asked)
    except LsevalError as error:
        messages.error(request, str(error))
    else:
        done = "Judged again. If the verdict has changed, Stage 2 of the run waits to be done anew."
        messages.success(request, done if is_done else "Queued: a worker asks the judge once more.")
    return redirect("run_group", slug, run_id, number)


def _shown(access: StudyAccess) -> dict[str, object]:
    return {
        "found": evaluation_of(access.study),
        "is_lead": access.is_lead,
        "worker": command_of_worker(),
        "command": f"python manage.py evaluate {access.study.slug}",
    }


def _start(study: Study) -> str:
    queued = start_evaluation(study)
    if not queued.verify and not queued.audit:
        return "Nothing waits for the judges that is not queued already."
    return f"Queued: {counted(queued.verify, 'run')} for Stage 1, {counted(queued.audit, 'run')} for Stage 2."


def _retry(study: Study) -> str:
    return f"{counted(retry_evaluation(study), 'job')} queued again."


def _resume(study: Study) -> str:
    starting.resume(study)
    return "Resumed."


_STEPS: dict[str, Callable[[Study], str]] = {"start": _start, "retry": _retry, "resume": _resume}
