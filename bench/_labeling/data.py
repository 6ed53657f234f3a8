"""`python -m bench._labeling.data make|check FILE`: the study that is labeled, and what became of it.

The database is the one of the settings; the benchmark gives it a folder of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")

ITEMS = 7685
GROUPS_PER_RUN = 5
RUNS_PER_TASK = 20
PAGES_PER_RUN = 3
WORDS_PER_PAGE = 900
LABELERS = 50
PASSWORD = "bench-only-password"  # noqa: S105 - of a database that is thrown away


def make() -> dict[str, Any]:
    """Fill the empty database: 7,685 answer groups in a queue with 50 labelers; returns who logs in where."""
    from django.contrib.auth.hashers import make_password
    from django.core.management import call_command

    from annotation.models import Audit, LabelerRole, Queue, Seat
    from annotation.services import fill_queue
    from lseval.models import Membership, Role, Study, User

    call_command("migrate", verbosity=0)
    study = Study.objects.create(slug="bench", name="Bench")
    audit = Audit.objects.create(study=study, name="Audit", seed=1, plan={}, frame={})
    items = _items(study, audit)
    queue = Queue.objects.create(audit=audit, role=LabelerRole.H1)
    fill_queue(queue, items)
    secret = make_password(PASSWORD)
    people = User.objects.bulk_create(
        User(username=f"labeler-{number}", password=secret) for number in range(1, LABELERS + 1)
    )
    Membership.objects.bulk_create(Membership(study=study, user=user, role=Role.ANNOTATOR) for user in people)
    Seat.objects.bulk_create(Seat(audit=audit, queue=queue, user=user) for user in people)
    _floor_table(len(items))
    _analyze()
    return {
        "queue": queue.pk,
        "slots": len(items),
        "password": PASSWORD,
        "people": [user.username for user in people],
    }


def _items(study: Any, audit: Any) -> list[Any]:
    from annotation.models import Item
    from lseval.models import AnswerGroup, EvaluatedModel, Page, Rubric, Run, Task
    from lseval.pipeline.import_runs import text_digest

    rng = random.Random(1)  # noqa: S311 - words, not secrets
    runs_wanted = -(-ITEMS // GROUPS_PER_RUN)
    tasks = Task.objects.bulk_create(
        Task(study=study, key=f"t{number}", question=f"Which five ferries of region {number} opened before 1975?")
        for number in range(-(-runs_wanted // RUNS_PER_TASK))
    )
    models = EvaluatedModel.objects.bulk_create(
        EvaluatedModel(study=study, name=f"model-{number}", family=f"family-{number % 5}")
        for number in range(RUNS_PER_TASK)
    )
    pairs = [(task, model) for task in tasks for model in models][:runs_wanted]
    runs = Run.objects.bulk_create(
        Run(
            study=study, task=task, model=model, final_answer="…", source_format="bench", source_digest="",
            is_valid_final=True, is_final_only=False,
        )
        for task, model in pairs
    )  # fmt: skip
    Rubric.objects.bulk_create(
        Rubric(run=run, required_count=5, constraints=["opened before 1975"], origin="bench") for run in runs
    )
    pages, groups = [], []
    for run in runs:
        texts = [_text(rng) for _ in range(PAGES_PER_RUN)]
        pages += [
            Page(
                study=study, run=run, source="recorded", url=f"https://ferries.example/{run.pk}/{number}",
                canonical_key=f"ferries.example/{run.pk}/{number}", title=f"Ferry {number}", text=text,
                text_digest=text_digest(text), outcome="ok",
            )
            for number, text in enumerate(texts)
        ]  # fmt: skip
        for number in range(1, GROUPS_PER_RUN + 1):
            words = texts[number % PAGES_PER_RUN].split()
            start = rng.randrange(len(words) - 40)
            quoted = " ".join(words[start : start + 40])
            groups.append(
                AnswerGroup(
                    run=run, number=number, title=f"Ferry {number}", text=f"Ferry {number}: {quoted} [1]",
                    fields={"Opening year": str(1900 + number)}, start=number, end=number + 1,
                )
            )  # fmt: skip
    pages = Page.objects.bulk_create(pages, batch_size=1000)
    groups = AnswerGroup.objects.bulk_create(groups, batch_size=2000)[:ITEMS]
    by_run: dict[int, list[Any]] = {}
    for page in pages:
        by_run.setdefault(page.run_id, []).append(page)
    return Item.objects.bulk_create(
        (
            Item(
                audit=audit, kind="group", run_id=group.run_id, group=group, inclusion_probability=1.0,
                snapshots=[
                    {"url": page.url, "page": page.pk}
                    for page in (by_run[group.run_id][(group.number + step) % PAGES_PER_RUN] for step in (0, 1))
                ],
            )
            for group in groups
        ),
        batch_size=2000,
    )  # fmt: skip


def _text(rng: random.Random) -> str:
    """A page of some 6,000 characters in short paragraphs."""
    words = [rng.choice(_WORDS) for _ in range(WORDS_PER_PAGE)]
    lines = [" ".join(words[start : start + 60]) + "." for start in range(0, len(words), 60)]
    return "\n\n".join(lines)


_WORDS = [f"{first}{last}" for first in ("ald", "bor", "cor", "dun", "els", "fen", "gar", "hol", "ith", "jar")
          for last in ("is", "un", "en", "ay", "ow", "ick", "ham", "ford", "ley", "ton", "by", "mere")]  # fmt: skip


def _floor_table(rows: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_floor (id integer PRIMARY KEY, claimed_by text, claimed_at timestamptz)")
        cursor.execute("CREATE INDEX bench_floor_free ON bench_floor (id) WHERE claimed_by IS NULL")
        cursor.execute("INSERT INTO bench_floor (id) SELECT generate_series(1, %s)", [10 * rows])


def _analyze() -> None:
    """What autovacuum does soon after: it looks at tables that have grown, not at those that nothing is in yet."""
    from django.apps import apps
    from django.db import connection

    with connection.cursor() as cursor:
        for model in apps.get_models():
            if model._meta.managed and model._default_manager.exists():
                cursor.execute(f'ANALYZE "{model._meta.db_table}"')
        cursor.execute("ANALYZE bench_floor")


def check(acknowledged: list[list[Any]]) -> dict[str, int]:
    """What the database holds beside what the clients were told: [username, slot] of each acknowledged label."""
    from django.db.models import Count, Q

    from annotation.models import LabelVersion, Slot

    stored = set(LabelVersion.objects.filter(action="label").values_list("user__username", "slot_id"))
    told = {(username, slot) for username, slot in acknowledged}
    in_force = Count("versions", filter=Q(versions__action="label", versions__is_late=False))
    return {
        "acknowledged": len(told),
        "stored": len(stored),
        "lost": len(told - stored),
        "beyond_overlap": Slot.objects.annotate(labels=in_force).filter(labels__gt=1).count(),
        "labeled_slots": Slot.objects.filter(status="labeled").count(),
    }


def label_all() -> None:
    """Give every open slot a label by a simulated labeler, so that an export has all of them."""
    from annotation.models import Audit
    from annotation.simulation import simulate_labels

    simulate_labels(Audit.objects.get(), "H1", lambda item: "C", 1)


def export(path: Path) -> dict[str, float]:
    """How long the whole audit's labels take to be written, in seconds, by format; and how many."""
    import time

    from annotation.models import Queue
    from annotation.transfers import FILE_FORMATS, label_lines

    found: dict[str, float] = {}
    queue = Queue.objects.select_related("audit__study").get(is_simulated=True)
    for file_format in FILE_FORMATS:
        begin = time.perf_counter()
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = sum(1 for line in label_lines(queue.audit.study, queue.audit, file_format) if file.write(line))
        found[file_format] = time.perf_counter() - begin
        found["rows"] = rows
    return found


def main(what: str, file: str) -> None:
    """Do what is asked and print it as one JSON object."""
    django.setup()
    if what == "make":
        result: Any = make()
    elif what == "check":
        result = check(json.loads(Path(file).read_text()))
    else:
        label_all()
        result = export(Path(file))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:3])
