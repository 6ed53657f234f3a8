"""`python -m bench._exports make N|export FORMAT|naive FORMAT|arrive`: the parts of the benchmark of exports."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import resource
import sys
import time
from itertools import count
from typing import Any
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")

NAIVE_ROWS = 20_000
LABELS_PER_ITEM_SQL = """
INSERT INTO annotation_item (audit_id, kind, run_id, group_id, inclusion_probability, draw, snapshots)
SELECT %(audit)s, 'group', run_id, id, 1, 1, '[]' FROM lseval_answergroup WHERE run_id = %(run)s;
INSERT INTO annotation_slot (queue_id, item_id, position, status, version, run_id, stage)
SELECT %(queue)s, id, row_number() OVER (ORDER BY id), 'labeled', 1, run_id, 0 FROM annotation_item
WHERE audit_id = %(audit)s;
INSERT INTO annotation_labelversion
    (slot_id, number, action, label, error_type, comment, user_id, is_simulated, is_late, codebook_version,
     evidence_digest, visible, request_key, source)
SELECT id, 1, 'label', 'C', '', 'The page says so: ' || md5(id::text), %(user)s, false, false, '1', md5(id::text),
    '{}', gen_random_uuid(), ''
FROM annotation_slot WHERE queue_id = %(queue)s
"""


def make(items: int) -> dict[str, Any]:
    """A study with so many labeled items, and another with 1,000."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    _study("bench", items)
    _study("few", 1000)
    return {"labels": items}


def _study(slug: str, items: int) -> None:
    from django.db import connection

    from annotation.models import Audit, Queue
    from lseval.models import EvaluatedModel, Run, Study, Task, User

    study = Study.objects.create(slug=slug, name=slug)
    task = Task.objects.create(study=study, key="t1", question="Which ferries?")
    model = EvaluatedModel.objects.create(study=study, name="m1")
    run = Run.objects.create(
        study=study, task=task, model=model, source_format="bench", source_digest="", is_valid_final=True,
        is_final_only=False,
    )  # fmt: skip
    audit = Audit.objects.create(study=study, name="Audit", seed=1, plan={}, frame={})
    queue = Queue.objects.create(audit=audit, role="H1")
    user = User.objects.create(username=f"labeler-{slug}")
    given = {"audit": audit.pk, "run": run.pk, "queue": queue.pk, "user": user.pk, "items": items}
    with connection.cursor() as cursor:
        cursor.execute(
            'INSERT INTO lseval_answergroup (run_id, number, title, text, fields, start, "end") '
            "SELECT %(run)s, n, 'Ferry ' || n, 'opened', '{}', n, n + 1 FROM generate_series(1, %(items)s) n",
            given,
        )
        for statement in LABELS_PER_ITEM_SQL.split(";"):
            cursor.execute(statement, given)
        cursor.execute("ANALYZE")


def arrive() -> None:
    """Append skips to the first slot, one after the other, until the process is ended."""
    from annotation.models import LabelVersion, Slot
    from lseval.models import User

    slot = Slot.objects.filter(queue__audit__study__slug="bench").order_by("pk").first()
    user = User.objects.get(username="labeler-bench")
    assert slot is not None
    for number in count(2):
        LabelVersion.objects.create(
            slot=slot, number=number, action="skip", user=user, codebook_version="1", evidence_digest="",
            request_key=uuid4(),
        )  # fmt: skip


def export(file_format: str) -> dict[str, Any]:
    """Put the file together as the API does; its rows by its tally, by counting them, and by the first slot."""
    from annotation.transfers import COLUMNS
    from lseval.models import Study
    from lseval.site.api.export_views import spooled

    studies = {study.slug: study for study in Study.objects.all()}
    spooled(studies["few"], "labels", file_format)[0].close()
    before = _peak_mib()
    begun = time.perf_counter()
    file, tally = spooled(studies["bench"], "labels", file_format)
    took = time.perf_counter() - begun
    after = _peak_mib()
    digest, lines = hashlib.sha256(), 0
    newest, place = 0, COLUMNS.index("version")
    for line in file:  # no text of these labels holds a line end
        digest.update(line)
        lines += 1
        if file_format == "jsonl":
            newest = max(newest, json.loads(line)["version"])
        elif lines > 1:
            newest = max(newest, int(next(csv.reader([line.decode()]))[place]))
    assert digest.digest() == tally.digest
    names = file_format == "csv"
    found = {
        "rows": tally.rows,
        "lines": lines - names,
        # Labels arrive one after the other on one item, so those of one moment are the first so many of them.
        "counted": studies["bench"].runs.get().items.count() + newest - 1,
        "seconds": round(took, 2),
        "rows_per_second": round(tally.rows / took),
        "mib": round(tally.size / 2**20, 1),
        "growth_mib": round(after - before, 1),
    }
    file.close()
    return found


def naive(file_format: str) -> dict[str, Any]:
    """A tenth of the rows as instances in a list, written at the end."""
    from annotation.models import LabelVersion
    from lseval.models import Study
    from lseval.site.api.serializers import LabelSerializer

    study = Study.objects.get(slug="bench")
    before = _peak_mib()
    begun = time.perf_counter()
    related = ("slot__queue__audit", "slot__item", "user")
    rows = list(LabelVersion.objects.filter(slot__queue__audit__study=study).select_related(*related)[:NAIVE_ROWS])
    text = "\n".join(json.dumps(row) for row in LabelSerializer(rows, many=True).data)
    return {
        "rows": len(rows),
        "seconds": round(time.perf_counter() - begun, 2),
        "mib": round(len(text) / 2**20, 1),
        "growth_mib": round(_peak_mib() - before, 1),
    }


def _peak_mib() -> float:
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    django.setup()
    what, *arguments = sys.argv[1:]
    if what == "arrive":
        arrive()
    else:
        told = {"make": lambda: make(int(arguments[0])), "export": lambda: export(*arguments),
                "naive": lambda: naive(*arguments)}[what]()  # fmt: skip
        print(json.dumps(told))
