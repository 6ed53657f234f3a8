"""A study's evaluation out of files that another study was exported to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from django.db import DataError, IntegrityError, transaction

from lseval.errors import InputError
from lseval.formats.evaluation_rows import (
    ANSWERS,
    CALLS,
    JUDGEMENTS,
    LINKS,
    PAGES,
    SECOND_VERDICTS,
    VERDICTS,
)
from lseval.formats.row_files import long_cells
from lseval.models import Judgement, Run, SecondVerdict, Study, Verdict
from lseval.pipeline.evaluation_import.answers import import_answer
from lseval.pipeline.evaluation_import.calls import import_calls
from lseval.pipeline.evaluation_import.files import EvaluationFile, PlacedRow, RunName, of_runs, open_files
from lseval.pipeline.evaluation_import.judgements import compare_links, import_judgements
from lseval.pipeline.evaluation_import.pages import KnownPages, import_page, no_such_run, plan_for_pages
from lseval.pipeline.evaluation_import.reports import LEFT_OUT, REFUSED, EvaluationReport, Lacking
from lseval.pipeline.evaluation_import.verdicts import import_verdicts

Rows = Mapping[str, list[PlacedRow]]


class Steps(Protocol):
    """Whoever watches the work go forward."""

    def advance(self, steps: float = 1) -> None:
        """So much more is done."""


class _Unwatched:
    def advance(self, steps: float = 1) -> None:
        pass


def _unwatched(label: str, total: int, *, in_bytes: bool = False) -> AbstractContextManager[Steps]:
    return nullcontext(_Unwatched())


Watch = Callable[..., AbstractContextManager[Steps]]
"""Called with what is done, how much there is of it, and whether that is in bytes."""


def import_evaluation(
    study: Study, paths: Sequence[Path], *, replace: bool = False, watch: Watch = _unwatched
) -> EvaluationReport:
    """Store what exported files hold of pages, answers, verdicts, judgements and calls, and compare their links.

    Rows find their run by task and model. Every page is stored by itself, and so is every call. A run is stored
    whole or not at all: where one of its rows is refused, none of them is stored, whichever file it is in. A row
    that cannot be read may be of any run, so that then nothing is stored. What is there already is left alone; what
    differs from it is refused, or takes its place with `replace`, but for calls.

    Raises:
        InputError: a file cannot be used at all.
    """
    with long_cells():
        return import_files(study, open_files(paths), replace=replace, watch=watch)


def import_files(
    study: Study, files: Mapping[str, EvaluationFile], *, replace: bool = False, watch: Watch = _unwatched
) -> EvaluationReport:
    """What `import_evaluation` does, with files that have been opened."""
    with long_cells():
        report = EvaluationReport()
        by_run = of_runs(files)
        with watch("reading", sum(file.rows.size for file in by_run.values()), in_bytes=True) as steps:
            for file in by_run.values():
                file.index(report, steps.advance)
        if report.refused:
            return report
        runs = {(task, model): pk for pk, task, model in study.runs.values_list("pk", "task__key", "model__name")}
        if PAGES in files:
            with watch("pages", files[PAGES].rows.size, in_bytes=True) as steps:
                _import_pages(study, files[PAGES], runs, report, steps, replace=replace)
        names = list(dict.fromkeys(name for file in by_run.values() for name in file.runs))
        with watch("runs", len(names)) as steps:
            for name in names:
                report.add(_import_run(study, name, runs.get(name), by_run, replace=replace))
                steps.advance()
        if CALLS in files:
            with watch("calls", files[CALLS].rows.size, in_bytes=True) as steps:
                import_calls(study, files[CALLS], report, steps)
        return report


def _import_pages(
    study: Study,
    file: EvaluationFile,
    runs: dict[RunName, int],
    report: EvaluationReport,
    steps: Steps,
    *,
    replace: bool,
) -> None:
    seen: dict[tuple[str | None, ...], str] = {}
    lacking, known = Lacking(), KnownPages(study)
    done = 0
    for raw in file.rows.rows():
        if placed := file.read(raw, report):
            row = placed.row
            key = row.task_key, row.model, row.source, row.canonical_key
            run_id = None if row.task_key is None else runs.get((row.task_key, row.model))
            try:
                if row.task_key is not None and run_id is None:
                    lacking.add((row.task_key, row.model), placed.place)
                elif (before := seen.setdefault(key, placed.place)) != placed.place:
                    raise InputError(f"{before} is the same page")
                else:
                    report.rows[PAGES, import_page(study, row, run_id, known, replace=replace)] += 1
            except InputError as error:
                report.refuse(PAGES, placed.place, str(error))
        steps.advance(raw.end - done)
        done = raw.end
    plan_for_pages()
    lacking.refuse(report, PAGES, lambda name: no_such_run(study, *name))


def _import_run(
    study: Study, name: RunName, run_id: int | None, files: Mapping[str, EvaluationFile], *, replace: bool
) -> EvaluationReport:
    """Store a run's rows of all files, or none of them where one is refused."""
    if run_id is None:
        return _without_run(study, name, files)
    report = EvaluationReport()
    rows = {what: file.rows_of(name, report) for what, file in files.items()}
    if not report.refused:
        try:
            with transaction.atomic():
                _store_run(run_id, rows, report, replace=replace)
                transaction.set_rollback(bool(report.refused))
        except (IntegrityError, DataError) as error:
            place = next(placed[0].place for placed in rows.values() if placed)
            what = next(what for what, placed in rows.items() if placed)
            report.refuse(what, place, f"the database cannot store this run: {str(error).splitlines()[0]}")
    return _left_out(report, {what: len(file.runs.get(name, ())) for what, file in files.items()})


def _without_run(study: Study, name: RunName, files: Mapping[str, EvaluationFile]) -> EvaluationReport:
    """The refusal of all rows of a run that the study does not have, told once."""
    report = EvaluationReport()
    given = [(file, len(places), places[0][0]) for file in files.values() if (places := file.runs.get(name))]
    report.rows.update({(file.what, REFUSED): count for file, count, _ in given})
    counts = ", ".join(f"{count:,} of {file.what}" for file, count, _ in given)
    first, _, line = given[0]
    report.problems.append(f"{first.place(line)}: {no_such_run(study, *name)} (rows: {counts})")
    return report


def _left_out(report: EvaluationReport, given: Mapping[str, int]) -> EvaluationReport:
    """The report as it is where a refusal has kept all other rows of the run from being stored."""
    if not report.refused:
        return report
    kept = EvaluationReport(problems=report.problems)
    for what, count in given.items():
        refused = report.rows[what, REFUSED]
        kept.rows[what, REFUSED] = refused
        kept.rows[what, LEFT_OUT] = max(0, count - refused)
    return kept


def _store_run(run_id: int, rows: Rows, report: EvaluationReport, *, replace: bool) -> None:
    # Another evaluation of this run waits for us, as we for it.
    run = Run.objects.select_for_update(of=("self",)).select_related("study", "task", "model").get(pk=run_id)
    _import_answer(run, rows.get(ANSWERS, []), report, replace=replace)
    if report.refused:
        return
    was_audited = Judgement.objects.filter(round__run=run).exists()
    import_verdicts(run, Verdict, VERDICTS, rows.get(VERDICTS, []), report, replace=replace)
    import_verdicts(run, SecondVerdict, SECOND_VERDICTS, rows.get(SECOND_VERDICTS, []), report, replace=replace)
    if report.refused:
        return
    judgements = rows.get(JUDGEMENTS, [])
    import_judgements(run, judgements, report, replace=replace)
    if report.refused:
        return
    if LINKS in rows:
        compare_links(run, rows[LINKS], report, is_whole=bool(judgements or rows[LINKS]))
    report.forgotten += was_audited and not Judgement.objects.filter(round__run=run).exists()


def _import_answer(run: Run, rows: Sequence[PlacedRow], report: EvaluationReport, *, replace: bool) -> None:
    for place, _ in rows[1:]:
        report.refuse(ANSWERS, place, f"{rows[0].place} is of the same run")
    if len(rows) == 1:
        try:
            report.rows[ANSWERS, import_answer(run, rows[0].row, replace=replace)] += 1
        except InputError as error:
            report.refuse(ANSWERS, rows[0].place, str(error))
