"""The demo study: simulated agents on a made-up web, both stages, an audit, simulated labels beside open queues."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from agreement.reporting import audit_report
from agreement.selectors import SIMULATED
from annotation.models import Audit, LabelerRole
from annotation.services import create_audit, queue_of, seat
from annotation.simulation import simulate_labels
from lseval.errors import SettingsError
from lseval.models import EvaluatedModel, Study, Task, User
from lseval.pipeline.evaluation import Steps, evaluate, stage_counts, unwatched
from lseval.pipeline.import_runs import counts_of
from lseval.pipeline.studies import find_or_create_study
from lseval.pipeline.study_files.schema import ModelSettings, StudySettings
from lseval.sandbox.providers import tasks_of
from lseval.sandbox.truth import record_truth
from lseval.site.demo.collecting import cells_to_collect, collect_demo
from lseval.site.demo.logins import Login, ensure_logins
from lseval.site.demo.sizes import DemoSize
from lseval.site.demo.true_labels import true_labels

AUDIT = "First audit"
WORLD_SEED = 946
_DRAW_SEED = 946
_LABEL_SEED = 2026
_ERROR_RATES = {LabelerRole.H1: 0.02, LabelerRole.H2: 0.05}
_PRICES = {"input_usd_per_mtok": "1.00", "cached_usd_per_mtok": "0.10", "output_usd_per_mtok": "6.00"}

Watch = Callable[[str, int], AbstractContextManager[Steps]]


@dataclass(frozen=True)
class Demo:
    """The demo as it stands: its study and audit, who can log in, and whether it was made just now."""

    study: Study
    audit: Audit
    logins: list[Login]
    is_new: bool


def build_demo(size: DemoSize, *, fresh: bool = False, watch: Watch = unwatched) -> Demo:
    """Make the demo study, or find it as it is with the labels that people gave; `fresh` makes it anew.

    Cut short, it goes on where it was when it is called again.

    Raises:
        SettingsError: the program runs as a deployment, where made-up users with passwords in a file have no place.
        DemoError: a run could not be made.
    """
    if not settings.IS_LOCAL:
        raise SettingsError(
            "the demo makes users whose passwords are written to a file, so it is for a local run only: "
            "unset DATABASE_URL and LSEVAL_PRODUCTION."
        )
    if fresh:
        remove_demo(size.slug)
    study = _study(size)
    waiting = cells_to_collect(study)
    if waiting:
        with watch("Collection: runs made", waiting) as steps:
            collect_demo(study, size.processes, steps)
    with watch("Truth: runs recorded", study.runs.filter(truth__isnull=True).count()) as steps:
        record_truth(study, steps.advance)
    evaluate(study, watch=watch)
    logins = ensure_logins(study, settings.ENVIRONMENT.var)
    audit = study.audits.filter(name=AUDIT).first()
    is_new = audit is None
    if audit is None:
        audit = _draw(study, size)
    return Demo(study, audit, logins, is_new)


def remove_demo(slug: str) -> None:
    """Delete a demo study with everything in it, and its simulated labelers."""
    with transaction.atomic():
        study = Study.objects.filter(slug=slug, is_demo=True).first()
        if study is None:
            return
        simulated = list(
            User.objects.filter(is_simulated=True, seats__audit__study=study).values_list("pk", flat=True)
        )
        study.delete()
        User.objects.filter(pk__in=simulated).delete()


@transaction.atomic
def _study(size: DemoSize) -> Study:
    """The study with its tasks and models; one that was there is left as it is."""
    study, is_new = find_or_create_study(size.slug, size.name, is_demo=True)
    if not is_new:
        return study
    study.description = size.description
    study.settings = StudySettings.model_validate(
        {
            "search": {"provider": "sandbox"},
            "fetch": {"provider": "sandbox"},
            "sandbox": {"seed": WORLD_SEED, "tasks": size.tasks},
            "audit": asdict(size.plan),
        }
    ).stored()
    study.save(update_fields=["description", "settings"])
    Task.objects.bulk_create(Task(study=study, **task) for task in tasks_of(WORLD_SEED, size.tasks))
    EvaluatedModel.objects.bulk_create(
        EvaluatedModel(
            study=study,
            name=profile.name,
            family=profile.family,
            settings=ModelSettings.model_validate(
                {"provider": "sandbox", "model": profile.name, "price": _PRICES}
            ).stored(),
        )
        for profile in size.models
    )
    return study


@transaction.atomic
def _draw(study: Study, size: DemoSize) -> Audit:
    audit = create_audit(study, size.plan, _DRAW_SEED, AUDIT, User.objects.get(username="lead"))
    truth = true_labels(study)
    for role in (LabelerRole.H1, LabelerRole.H2):
        seat(queue_of(audit, role), User.objects.get(username=role.lower()))
        simulate_labels(audit, role, truth, _LABEL_SEED, _ERROR_RATES[role])
    return audit


def summary(demo: Demo) -> dict[str, Any]:
    """The demo in numbers, all computed from its rows; `agreement` is that of the simulated labels."""
    report = audit_report(demo.audit, SIMULATED)
    counts, stages = counts_of(demo.study), stage_counts(demo.study)
    versions = [queue for queue in demo.audit.queues.all() if queue.is_simulated]
    open_items = {
        str(queue): queue.slots.filter(status="open").count()
        for queue in demo.audit.queues.filter(is_simulated=False)
    }
    return {
        "study": demo.study.slug,
        "is_new": demo.is_new,
        **counts,
        "verdicts": stages["verdicts"],
        "consensus": stages["rounds"],
        **stages["process"],
        "labels": sum(queue.slots.filter(status="labeled").count() for queue in versions),
        "labels_are": "simulated",
        "open_items": open_items,
        "agreement": {
            "observed": report["auto_h1"]["observed"],
            "kappa": report["auto_h1"]["kappa"],
            **report,
        },
    }
