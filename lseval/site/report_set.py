"""A study's whole report as a folder of files that needs no server: every table and figure in every form."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import connection
from django.template.loader import render_to_string

from agreement.stats.bootstrap import Resampling
from lseval.errors import InputError
from lseval.models import Study
from lseval.pipeline.export_runs import one_moment
from lseval.site.figures.catalog import FIGURES, FigureSpec
from lseval.site.figures.files import CONTENT_TYPES, figure_files
from lseval.site.report_manifest import FORMAT, manifest_of
from lseval.site.report_methods import methods_document, methods_paragraphs, report_from
from lseval.site.tables.catalog import PARTS, TABLES
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.identities import identities_of
from lseval.site.tables.rendering import FORMATS
from lseval.site.tables.table import Table

MANIFEST: Final = "manifest.json"
STEPS: Final = 2 * len(TABLES) + 2 * len(FIGURES) + 1
"""How often `write_report` says that it has come further."""

Step = Callable[[], None]


_LONGEST_UNFOLDED: Final = 40


@dataclass(frozen=True, slots=True)
class Shown:
    """A table or figure on the index page, with its files as (word, relative address)."""

    key: str
    title: str
    table: Table
    files: list[tuple[str, str]]
    image: str = ""

    @property
    def is_folded(self) -> bool:
        """Whether the page shows it on demand only: a long one that the paper does not have."""
        return not self.title and len(self.table.rows) > _LONGEST_UNFOLDED


@dataclass(frozen=True, slots=True)
class _Read:
    """All that was read of the database at one moment."""

    facts: StudyFacts
    tables: dict[str, Table]
    figures: dict[str, Table]
    texts: dict[str, str]
    methods: list[tuple[str, str]]
    manifest: dict[str, Any]
    made_at: Any


def write_report(
    study: Study, out: Path, how: Resampling | None = None, step: Step = lambda: None
) -> dict[str, Any]:
    """Write the report of the study, as it is at one moment, to the folder `out`; returns its manifest.

    The folder appears whole or not at all: it is written beside `out` and takes its place at the end. An earlier
    report there is replaced; any other folder that holds something is left alone.

    Raises:
        InputError: `out` is something else, or cannot be written.
    """
    _check(out)
    with one_moment():
        read = _read(study, how, step)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
            whole = Path(folder) / "report"
            written = {name: _save(whole / name, content) for name, content in _contents(read, step)}
            manifest = {**read.manifest, "files": written}
            _save(whole / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
            _take_place(whole, out, Path(folder) / "earlier")
    except OSError as problem:
        raise InputError(
            f"The report cannot be written to {out}: {problem.strerror or problem}. Nothing of it was kept."
        ) from problem
    step()
    return manifest


def _check(out: Path) -> None:
    if out.is_dir():
        if not any(out.iterdir()):
            return
        try:
            if json.loads((out / MANIFEST).read_text(encoding="utf-8")).get("format") == FORMAT:
                return
        except (OSError, ValueError, AttributeError):
            pass
        raise InputError(f"{out} holds something else than a report; name a new folder.")
    if out.exists() or out.is_symlink():
        raise InputError(f"{out} is a file; name a folder.")


def _take_place(whole: Path, out: Path, aside: Path) -> None:
    if out.is_dir():
        os.replace(out, aside)
    try:
        os.replace(whole, out)
    except OSError:
        if aside.exists():
            os.replace(aside, out)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _read(study: Study, how: Resampling | None, step: Step) -> _Read:
    facts = StudyFacts(study, how)
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        made_at = cursor.fetchone()[0]
    tables: dict[str, Table] = {}
    figures: dict[str, Table] = {}
    for key, spec in TABLES.items():
        tables[key] = spec.build(facts)
        step()
    for key, figure in FIGURES.items():
        figures[key] = figure.data(facts)
        step()
    report = report_from(facts, made_at)
    return _Read(
        facts=facts,
        tables=tables,
        figures=figures,
        texts={
            "methods.md": methods_document(facts, report),
            "report.json": json.dumps(report.as_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        },
        methods=methods_paragraphs(facts, report),
        manifest={
            **manifest_of(facts, made_at.isoformat(), {}),
            "identities": [identity.as_dict() for identity in identities_of(tables, figures)],
        },
        made_at=made_at,
    )


def _contents(read: _Read, step: Step) -> Iterator[tuple[str, str | bytes]]:
    """Every file but the manifest as (relative name, content)."""
    yield from read.texts.items()
    for key, table in read.tables.items():
        for ending, (_, write) in FORMATS.items():
            yield f"tables/table-{key}.{ending}", write(table)
        step()
    yield "tables/all.tex", "\n".join(FORMATS["tex"][1](table) for table in read.tables.values())
    yield "tables/all.md", "\n".join(FORMATS["md"][1](table) for table in read.tables.values())
    for key, spec in FIGURES.items():
        data = read.figures[key]
        for form, body in figure_files(spec.draw(data)).items():
            yield f"figures/{spec.file_name}.{form}", body
        for ending in ("csv", "json"):
            yield f"figures/{spec.file_name}.{ending}", FORMATS[ending][1](data)
        step()
    yield "style.css", render_to_string("site/tables/report_set.css")
    yield "index.html", _index(read)


def _index(read: _Read) -> str:
    return render_to_string(
        "site/tables/report_set.html",
        {
            "study": read.facts.study,
            "made_at": read.made_at,
            "methods": read.methods,
            "is_simulated": any(table.is_simulated for table in read.tables.values()),
            "parts": [
                (
                    key,
                    title,
                    [_shown_table(table, name) for name, table in read.tables.items() if TABLES[name].part == key],
                    [_shown_figure(spec, read.figures[spec.key]) for spec in FIGURES.values() if spec.part == key],
                )
                for key, title in PARTS.items()
            ],
        },
    )


def _shown_table(table: Table, key: str) -> Shown:
    files = [(ending.upper(), f"tables/table-{key}.{ending}") for ending in FORMATS]
    return Shown(f"table-{key}", table.title, table, files)


def _shown_figure(spec: FigureSpec, data: Table) -> Shown:
    endings = (*CONTENT_TYPES, "csv", "json")
    files = [(ending.upper(), f"figures/{spec.file_name}.{ending}") for ending in endings]
    return Shown(spec.file_name, spec.title, data, files, image=f"figures/{spec.file_name}.svg")


def _save(path: Path, content: str | bytes) -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    body = content.encode() if isinstance(content, str) else content
    path.write_bytes(body)
    return {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
