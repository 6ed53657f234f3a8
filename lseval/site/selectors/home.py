"""A study's home: each stage at a glance, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Audit
from annotation.selectors import QueueProgress, audits_of
from lseval.models import Study
from lseval.pipeline.import_runs import counts_of
from lseval.site.quantities import LabelCounts, Share, counted
from lseval.site.selectors.home_glances import (
    AgreementGlance,
    MoneyGlance,
    WorkGlance,
    agreement_of,
    money_of,
    work_of,
)
from lseval.site.selectors.judges import JudgeName, stage1_judges
from lseval.site.selectors.process import Process, process_of
from lseval.site.selectors.scores import ModelRow, model_rows, scored_runs, total_labels


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue with its audit. `labeled` is of all its items."""

    audit: Audit
    progress: QueueProgress
    labeled: Share


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something to do: why, and the command or the page that does it."""

    text: str
    command: str = ""
    url_name: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class StudyHome:
    """Everything on the page."""

    counts: dict[str, int]
    labels: LabelCounts
    judged: Share
    models: list[ModelRow]
    unscored_runs: int
    judges: list[JudgeName]
    process: Process
    queues: list[QueueRow]
    next_steps: list[NextStep]
    work: WorkGlance
    money: MoneyGlance
    agreement: AgreementGlance | None


def study_home_of(study: Study) -> StudyHome:
    """The page's content; its number of queries does not depend on the size of the study."""
    counts = counts_of(study)
    runs = scored_runs(study)
    labels = total_labels(runs)
    process = process_of(study)
    queues = queue_rows(study)
    return StudyHome(
        counts=counts,
        labels=labels,
        judged=Share(labels.judged, labels.total, "no run has an answer group"),
        models=model_rows(runs),
        unscored_runs=sum(run.score is None for run in runs),
        judges=stage1_judges(study),
        process=process,
        queues=queues,
        next_steps=next_steps(study.slug, counts["runs"], labels.waiting, process.accounting.waiting, queues),
        work=work_of(study),
        money=money_of(study),
        agreement=agreement_of(study),
    )


def queue_rows(study: Study) -> list[QueueRow]:
    """The queues of a study's audits, newest audit first and people's queues before simulated ones."""
    return [
        QueueRow(audit.audit, queue, Share(queue.labeled, queue.total, "the queue is empty"))
        for audit in audits_of(study)
        for queue in audit.queues
    ]


def commands_for(slug: str) -> dict[str, str]:
    """The commands that pages name, by the command's own name."""
    return {
        "import_runs": f"python manage.py import_runs {slug} PATH...",
        "evaluate": f"python manage.py evaluate {slug}",
        "draw_audit": f"python manage.py draw_audit {slug}",
        "add_member": f"python manage.py add_member {slug} USERNAME annotator --create",
    }


def next_steps(
    slug: str, runs: int, waiting_groups: int, waiting_rounds: int, queues: list[QueueRow]
) -> list[NextStep]:
    """What has not been done yet, in the order in which it is done; empty where nothing waits."""
    commands = commands_for(slug)
    if not runs:
        return [NextStep("The study has no runs. Import trajectories:", commands["import_runs"])]
    steps = []
    if waiting_groups or waiting_rounds:
        counts = ((waiting_groups, "answer group"), (waiting_rounds, "round"))
        what = " and ".join(counted(count, thing) for count, thing in counts if count)
        steps.append(NextStep(f"Have the judges go through {what}:", commands["evaluate"]))
    people = [row.progress for row in queues if not row.progress.queue.is_simulated]
    if not people:
        steps.append(NextStep("Draw the sample that people will label:", commands["draw_audit"]))
    waiting = sum(queue.open for queue in people)
    unseated = [queue.queue.role for queue in people if queue.open and not queue.people]
    if unseated:
        who = f"{counted(waiting, 'item')} to label, and nobody sits at {' or '.join(sorted(set(unseated)))} yet."
        steps.append(
            NextStep(f"{who} Add people, then seat them:", commands["add_member"], "audit", "Open the audit")
        )
    elif waiting:
        steps.append(NextStep(f"{counted(waiting, 'item')} to label.", "", "audit", "Open the audit"))
    return steps
