"""A study on which both stages have been, its export, and a twin that is made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import transaction

from agreement.reporting import full_report
from agreement.selectors import PEOPLE, SIMULATED
from agreement.stats.bootstrap import Resampling
from lseval.domain.web import FetchedPage, Hop
from lseval.models import (
    Call,
    FailureNode,
    Judgement,
    Link,
    Page,
    PageSource,
    Run,
    SecondVerdict,
    Study,
    Verdict,
)
from lseval.pipeline.snapshots import save_page
from lseval.site.api.exports import (
    CALL_COLUMNS,
    JUDGEMENT_COLUMNS,
    LINK_COLUMNS,
    PAGE_COLUMNS,
    READING_COLUMNS,
    SECOND_VERDICT_COLUMNS,
    VERDICT_COLUMNS,
    export_lines,
)
from lseval.site.tables.catalog import TABLES
from lseval.site.tables.facts import StudyFacts
from tests.factories import make_run, make_study
from tests.site.building import give_judgements, reading_turns

LONG_AGO = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
COLUMNS = {
    "pages": PAGE_COLUMNS,
    "answers": READING_COLUMNS,
    "verdicts": VERDICT_COLUMNS,
    "second_verdicts": SECOND_VERDICT_COLUMNS,
    "judgements": JUDGEMENT_COLUMNS,
    "links": LINK_COLUMNS,
    "calls": CALL_COLUMNS,
}
FORMATS = ("jsonl", "csv")


def opinion(run: Run, number: int, label: str, reason: str, *pages: Page, **more: Any) -> dict[str, Any]:
    return {
        "group": run.answer_groups.get(number=number),
        "label": label,
        "reason": reason,
        "judge": "a judge",
        "judge_version": "7",
        "pages": [{"id": page.pk, "digest": page.text_digest} for page in pages],
        **more,
    }


def quoting(page: Page, text: str) -> dict[str, Any]:
    start = page.text.index(text)
    quotation = {"page": page.pk, "text": text, "start": start, "end": start + len(text)}
    return {"claim": "=it opened in 1962", "status": "supported", "quotation": quotation, "note": "said\r\nplainly"}


def make_evaluated(slug: str = "one") -> Study:
    """Two runs with something of everything that a stage can come to."""
    study = make_study(slug)
    run, other = (make_run(study, task, turns=reading_turns(5)) for task in ("=t1", "t2"))
    body = b"<p>Borun</p>\xff\x00"
    fetched = FetchedPage(
        "https://ferries.example/borun",
        "ok",
        final_url="https://ferries.example/borun/",
        title="'=Borun",
        text="The Lake Borun ferry 渡し船 opened in 1978.",
        status=200,
        hops=(Hop("https://ferries.example/borun", "192.0.2.1", 301),),
        headers={"content-type": "text/html", "x": "-1"},
        content=body,
        flags=("truncated",),
    )
    assert save_page(study, fetched, PageSource.FETCHED)
    assert save_page(study, FetchedPage("https://ferries.example/none", "not_found", status=404), PageSource.SAVED)
    read, borun = run.pages.get(outcome="ok"), Page.objects.get(study=study, source="fetched")
    Verdict.objects.create(**opinion(run, 1, "C", "both\nagree", read, claims=[quoting(read, "opened in 1962")]))
    Verdict.objects.create(
        **opinion(run, 2, "I", "-no", borun, claims=[quoting(borun, "渡し船 opened")], flags=["repaired"], repeat=2)
    )
    Verdict.objects.create(**opinion(other, 1, "U", "'+cannot tell"))
    Verdict.objects.create(**opinion(other, 2, "unjudged", "the judge said nothing", code="unreachable"))
    SecondVerdict.objects.create(**opinion(run, 1, "I", "otherwise", read, judge="another"))
    give_judgements(run, 1, "error", "error", error_type="wrong_entity", groups=[2])
    give_judgements(run, 2, "error", "error", error_type="scope_error", groups=[1])  # no link: group 1 is correct
    give_judgements(run, 3, "error", "non_error", groups=[1, 2])
    give_judgements(run, 4, "skipped", "non_error")
    give_judgements(run, 5, "unjudged", "error")
    give_judgements(other, 1, "error", "error", error_type="no such type")
    # As Stage 2 has it: links to incorrect groups only, and a type that is none of the ten is unassigned.
    Link.objects.filter(run=run, group__number=1).delete()
    FailureNode.objects.filter(error_type="no such type").update(error_type="unassigned", is_type_agreed=False)
    Verdict.objects.update(judged_at=LONG_AGO)
    Judgement.objects.update(judged_at=LONG_AGO)
    make_calls(run)
    return study


def make_calls(run: Run) -> None:
    """Calls for a run and for none: with and without a price, failed, superseded, a search and a fetched page."""
    tokens = {"input_tokens": 1_500_000, "cached_tokens": 3, "output_tokens": 40_000, "reasoning_tokens": 0}
    cost = {"cost_usd": Decimal("0.000000000001"), "upper_cost_usd": Decimal("12.5")}
    of_run = {"task": run.task, "model": run.model}
    given: list[dict[str, Any]] = [
        {"phase": "collection", "asked_model": "=m1", "latency_s": 1 / 3, **of_run, **tokens, **cost},
        {"phase": "collection", "asked_model": "=m1", "error_code": "timed_out", "reply": None, **of_run},
        {"phase": "collection", "kind": "search", "cost_usd": Decimal("0.005"), **of_run},
        {"phase": "stage1", "asked_model": "judge", "role": "stage1:G1", "repeat": 2, **of_run, **tokens},
        {"phase": "stage1", "kind": "fetch", "latency_s": 1e-5},
        {"phase": "stage2", "asked_model": "judge", "error_code": "superseded", "reply": None, **tokens, **cost},
    ]
    for number, values in enumerate(given):
        call = Call.objects.create(
            study=run.study, digest=f"{number:064x}", request={}, **{"provider": "@p", "reply": {}, **values}
        )
        Call.objects.filter(pk=call.pk).update(called_at=LONG_AGO + timedelta(microseconds=number))


def written(study: Study, what: str, file_format: str = "jsonl") -> str:
    return "".join(export_lines(study, what, file_format, lambda tally: None))


def rows_of(study: Study, what: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(study, what).split("\n")[:-1]]


def plain(study: Study, what: str) -> list[str]:
    """The rows of an export in an order of their own, without the ids of the database."""
    found = []
    for row in rows_of(study, what):
        for name in ("run_id", "page_id"):
            row.pop(name, None)
        names = {
            page["id"]: (page.pop("id"), page["source"], page["canonical_key"])[1:] for page in row.get("pages", ())
        }
        for claim in row.get("claims", ()):
            if claim.get("quotation"):
                claim["quotation"]["page"] = names[claim["quotation"]["page"]]
        found.append(json.dumps(row, sort_keys=True))
    return sorted(found)


def export_all(study: Study, folder: Path, file_format: str = "jsonl") -> Path:
    call_command("export", study.slug, "all", str(folder), format=file_format, stdout=StringIO(), stderr=StringIO())
    return folder


def export_and_forget(make: Callable[[], Study], folder: Path, blocker: Any) -> Path:
    """The export of a study that is not there any more, made once for the tests of a module."""
    with blocker.unblock(), transaction.atomic():
        export_all(make(), folder)
        transaction.set_rollback(True)
    return folder


def make_twin(folder: Path, slug: str = "two") -> Study:
    """An empty study with the runs of the folder."""
    study = make_study(slug)
    call_command("import_runs", slug, str(folder / "runs.jsonl"), stdout=StringIO(), verbosity=0)
    return study


def tables_of(study: Study) -> dict[str, str]:
    facts = StudyFacts(study)
    return {name: json.dumps(spec.build(facts).as_dict(), default=str) for name, spec in TABLES.items()}


def place_of_fetched(folder: Path) -> int:
    lines = (folder / "pages.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line)["source"] for line in lines].index("fetched")


def nothing_of(study: Study) -> bool:
    return not any(rows_of(study, what) for what in ("verdicts", "second_verdicts", "judgements", "links"))


def edit(path: Path, change: Callable[[dict[str, Any]], Any], place: int = 0) -> Path:
    """Change one row of a file; what the change returns, if anything, is written in the row's place."""
    lines = path.read_text(encoding="utf-8").split("\n")
    row = json.loads(lines[place])
    changed = change(row)
    lines[place] = changed if isinstance(changed, str) else json.dumps(row, ensure_ascii=False)
    path.write_text("\n".join(lines), encoding="utf-8")
    (path.parent / "SHA256SUMS").unlink(missing_ok=True)
    return path


def put(**values: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda row: row.update(values)


def put_in(name: str, **values: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda row: row[name][0].update(values)


def labels_of(study: Study) -> list[dict[str, Any]]:
    """The rows of a study's labels in order, without ids; a simulated labeler is named after the audit's."""
    found = []
    for row in rows_of(study, "labels"):
        row = {name: value for name, value in row.items() if name not in ("item_id", "run_id", "study")}
        if row["is_simulated"]:
            row["labeler"] = row["labeler"].rpartition("-")[0]
        found.append(row)
    return found


def audits_of(study: Study) -> list[dict[str, Any]]:
    """The rows of a study's audits but for their logs, items by the order of their ids."""
    places: dict[int, int] = {}
    found = []
    for row in rows_of(study, "audits"):
        if row["row"] == "event":
            continue
        row.pop("events", None)
        row.pop("run_id", None)
        if "item_id" in row:
            row["item_id"] = places.setdefault(row["item_id"], len(places))
        found.append(row)
    return found


def reports_of(study: Study) -> list[str]:
    """The agreement reports on people's and on simulated labels, without the name of the study and ids."""
    found = []
    for source in (PEOPLE, SIMULATED):
        report = full_report(study.audits.get(), source, Resampling(200, 1))
        text = json.dumps({**report, "study": ""}, sort_keys=True, default=str)
        found.append(text.replace(f'-{study.audits.get().pk}"', '"'))
    return found
