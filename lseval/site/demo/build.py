"""The demo study: trajectories written for it, both stages, an audit, simulated labels beside open queues."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from agreement.reporting import audit_report
from agreement.selectors import SIMULATED
from annotation.models import Audit, Item, ItemKind, LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from annotation.simulation import simulate_labels
from lseval.domain.labels import LinkLabel
from lseval.errors import SettingsError
from lseval.formats import read_runs
from lseval.models import Study, User
from lseval.pipeline.evaluation import Steps, evaluate, stage_counts, unwatched
from lseval.pipeline.import_runs import counts_of, import_run
from lseval.pipeline.studies import find_or_create_study
from lseval.site.demo.logins import Login, ensure_logins

SLUG = "demo"
AUDIT = "First audit"
DATA = Path(__file__).resolve().parent.parent / "demo_data"
_PLAN = Plan(tasks=6, responses_per_task=4, h2_tasks=3, link_trajectories=12, round_trajectories=0)
_SEED = 946
_LABEL_SEED = 2026
_ERROR_RATES = {LabelerRole.H1: 0.02, LabelerRole.H2: 0.05}

Watch = Callable[[str, int], AbstractContextManager[Steps]]


@dataclass(frozen=True)
class Demo:
    """The demo as it stands: its study and audit, who can log in, and whether it was made just now."""

    study: Study
    audit: Audit
    logins: list[Login]
    is_new: bool


def build_demo(*, fresh: bool = False, watch: Watch = unwatched) -> Demo:
    """Make the demo study, or find it as it is with the labels that people gave; `fresh` makes it anew.

    Raises:
        SettingsError: the program runs as a deployment, where made-up users with passwords in a file have no place.
    """
    if not settings.IS_LOCAL:
        raise SettingsError(
            "the demo makes users whose passwords are written to a file, so it is for a local run only: "
            "unset DATABASE_URL and LSEVAL_PRODUCTION."
        )
    if fresh:
        remove_demo()
    study, _ = find_or_create_study(SLUG, "Demo: the Tarn Lakes and beyond", is_demo=True)
    _import(study, watch)
    evaluate(study, watch=watch)
    logins = ensure_logins(study, settings.ENVIRONMENT.var)
    audit = study.audits.filter(name=AUDIT).first()
    is_new = audit is None
    if audit is None:
        audit = _draw(study)
    return Demo(study, audit, logins, is_new)


def remove_demo() -> None:
    """Delete the demo study with everything in it, and its simulated labelers."""
    with transaction.atomic():
        study = Study.objects.filter(slug=SLUG, is_demo=True).first()
        if study is None:
            return
        simulated = list(
            User.objects.filter(is_simulated=True, seats__audit__study=study).values_list("pk", flat=True)
        )
        study.delete()
        User.objects.filter(pk__in=simulated).delete()


def _import(study: Study, watch: Watch) -> None:
    rows = list(read_runs(DATA / "runs.jsonl"))
    with watch("Importing runs", len(rows)) as steps:
        for row in rows:
            if row.record is None:
                raise SettingsError(f"the demo's data are damaged: {row.message}")
            import_run(study, row.record, source_format="lseval", source_name="runs.jsonl")
            steps.advance()


@transaction.atomic
def _draw(study: Study) -> Audit:
    audit = create_audit(study, _PLAN, _SEED, AUDIT, User.objects.get(username="lead"))
    truth = _truth(study)
    for role in (LabelerRole.H1, LabelerRole.H2):
        seat(queue_of(audit, role), User.objects.get(username=role.lower()))
        simulate_labels(audit, role, truth, _LABEL_SEED, _ERROR_RATES[role])
    return audit


def _truth(study: Study) -> Callable[[Item], str | None]:
    """What a perfect labeler would say, from the labels kept beside the trajectories.

    A link corresponds where its round speaks of the group: where the group's title stands in its words.
    """
    written = json.loads((DATA / "truth.json").read_text())
    by_run = {
        run.pk: [unit["label"] for unit in written[f"{run.task.key}|{run.model.name}"]]
        for run in study.runs.select_related("task", "model")
    }

    def label(item: Item) -> str | None:
        if item.kind == ItemKind.GROUP and item.group is not None:
            return by_run[item.run_id][item.group.number - 1]
        if item.kind == ItemKind.LINK and item.group is not None and item.round is not None:
            words = " ".join(
                f"{turn.text} {call.observation or ''}"
                for turn in item.round.turns.all()
                for call in turn.tool_calls.all()
            )
            speaks_of_it = item.group.title.lower() in words.lower()
            return LinkLabel.CORRESPONDS if speaks_of_it else LinkLabel.DOES_NOT
        return None

    return label


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
