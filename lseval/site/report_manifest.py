"""What a report was made of, so that its numbers can be made again: versions, prompts, judges, seeds, hashes of
data."""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models.fields.json import KT

from lseval.agent.wording import wording
from lseval.judging import prompts
from lseval.models import Study
from lseval.pipeline.study_files.schema import JUDGE_ROLES
from lseval.pipeline.study_settings import judge_settings_of
from lseval.site.selectors.judges import stage1_judges, stage2_judges
from lseval.site.tables.facts import StudyFacts

FORMAT: Final = "longsearcheval-report-set"
FORMAT_VERSION: Final = 1
_OWN: Final = "longsearcheval"
_PACKAGES: Final = ("django", "numpy", "scipy", "altair", "vl-convert-python", "psycopg")

_OF_RUN: Final = """
JOIN lseval_run run ON run.id = {on}
JOIN lseval_task task ON task.id = run.task_id
JOIN lseval_evaluatedmodel model ON model.id = run.model_id
WHERE run.study_id = %s
"""
_RUN: Final = "task.key, model.name"

_ROWS: Final[Mapping[str, tuple[str, str]]] = {
    "tasks": ("task.key, task.question, task.rubric", "lseval_task task WHERE task.study_id = %s"),
    "models": ("model.name, model.family, model.settings", "lseval_evaluatedmodel model WHERE model.study_id = %s"),
    "runs": (
        f"{_RUN}, run.final_answer, run.source_digest, run.is_valid_final, run.is_premature, run.is_final_only",
        "lseval_run run JOIN lseval_task task ON task.id = run.task_id "
        "JOIN lseval_evaluatedmodel model ON model.id = run.model_id WHERE run.study_id = %s",
    ),
    "rubrics": (
        f"{_RUN}, row.required_count, row.constraints, row.grouping_rule, row.required_fields",
        "lseval_rubric row" + _OF_RUN.format(on="row.run_id"),
    ),
    "answer_groups": (f"{_RUN}, row.number, row.text", "lseval_answergroup row" + _OF_RUN.format(on="row.run_id")),
    "verdicts": (
        f"{_RUN}, owner.number, row.label, row.judge, row.judge_version",
        "lseval_verdict row JOIN lseval_answergroup owner ON owner.id = row.group_id"
        + _OF_RUN.format(on="owner.run_id"),
    ),
    "second_verdicts": (
        f"{_RUN}, owner.number, row.label, row.judge, row.judge_version",
        "lseval_secondverdict row JOIN lseval_answergroup owner ON owner.id = row.group_id"
        + _OF_RUN.format(on="owner.run_id"),
    ),
    "rounds": (f"{_RUN}, row.number, row.skip_reason", "lseval_round row" + _OF_RUN.format(on="row.run_id")),
    "judgements": (
        f"{_RUN}, owner.number, row.judge_role, row.verdict, row.error_type, row.judge, row.judge_version",
        "lseval_judgement row JOIN lseval_round owner ON owner.id = row.round_id"
        + _OF_RUN.format(on="owner.run_id"),
    ),
    "failure_nodes": (
        f"{_RUN}, owner.number, row.error_type",
        "lseval_failurenode row JOIN lseval_round owner ON owner.id = row.round_id"
        + _OF_RUN.format(on="row.run_id"),
    ),
    "links": (
        f"{_RUN}, owner.number, joined.number",
        "lseval_link row JOIN lseval_round owner ON owner.id = row.round_id "
        "JOIN lseval_answergroup joined ON joined.id = row.group_id" + _OF_RUN.format(on="row.run_id"),
    ),
    "calls": (
        "row.phase, row.kind, task.key, model.name, row.role, row.asked_model, row.repeat, row.attempt, "
        "row.error_code, row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens, "
        "row.cost_usd, row.upper_cost_usd",
        "lseval_anycall row LEFT JOIN lseval_task task ON task.id = row.task_id "
        "LEFT JOIN lseval_evaluatedmodel model ON model.id = row.model_id WHERE row.study_id = %s",
    ),
    "labels": (
        "audit.name, queue.role, queue.is_simulated, slot.position, version.number, version.action, version.label",
        "annotation_labelversion version JOIN annotation_slot slot ON slot.id = version.slot_id "
        "JOIN annotation_queue queue ON queue.id = slot.queue_id "
        "JOIN annotation_audit audit ON audit.id = queue.audit_id WHERE audit.study_id = %s",
    ),
}
"""For each kind of row, what of it counts and where it stands. Ids are left out: an import elsewhere has others."""

_DIGEST: Final = """
SELECT count(*),
       encode(sha256(convert_to(coalesce(string_agg(digest, '' ORDER BY digest), ''), 'UTF8')), 'hex')
FROM (SELECT md5(jsonb_build_array({columns})::text) AS digest FROM {source}) AS rows
"""


def manifest_of(facts: StudyFacts, made_at: str, written: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The manifest, JSON-able. `written` are the report's other files, each with bytes and SHA-256."""
    study = facts.study
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "study": {"slug": study.slug, "name": study.name, "is_demo": study.is_demo},
        "database_moment": made_at,
        "versions": versions(),
        "prompts": prompt_digests(),
        "prompts_of_runs": prompts_of_runs(study),
        "judges": {
            "stage_1": [judge.as_dict() for judge in stage1_judges(study)],
            "stage_2": [judge.as_dict() for judge in stage2_judges(study)],
            "asked": _asked(study),
        },
        "settings": {
            "link_policy": facts.process.link_policy,
            "rubric_per": study.settings.get("rubric_per", "run"),
            "controls": _controls(facts),
        },
        "statistics": {
            "resamples": facts.how.resamples,
            "seed": facts.how.seed,
            "level": facts.how.level,
            "unit": facts.how.unit,
        },
        "audits": [
            {"name": audit.name, "seed": audit.seed, "plan": audit.plan, "frame": audit.frame}
            for audit in study.audits.order_by("id")
        ],
        "reported_audit": {"name": facts.people.audit.name, "labels": facts.people.source}
        if facts.people
        else None,
        "data": data_digests(study),
        "data_digest_is": (
            "SHA-256 of the sorted MD5 digests of the rows, each row as the text of a PostgreSQL jsonb array"
        ),
        "files": dict(written),
    }


def versions() -> dict[str, str]:
    """Python, PostgreSQL, this program with a digest of its source, Django, and what computes and draws."""
    return {
        "python": sys.version.split()[0],
        "postgresql": _postgresql(),
        _OWN: _own_version(),
        "source_sha256": source_digest(),
        **{package: metadata.version(package) for package in _PACKAGES},
    }


def _own_version() -> str:
    """What its package says, or `pyproject.toml` where the program runs from its folder."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(_OWN)
    try:
        with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
            return str(tomllib.load(file)["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return "not known"


@cache
def source_digest() -> str:
    """SHA-256 over the names and digests of the program's own files of Python, prompts and templates."""
    whole = hashlib.sha256()
    folders = [settings.BASE_DIR / name for name in ("lseval", "annotation", "agreement", "templates")]
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _SOURCES):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(settings.BASE_DIR).as_posix()} {digest}\n".encode())
    return whole.hexdigest()


_SOURCES: Final = frozenset((".py", ".txt", ".html", ".toml"))


def _postgresql() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])


def prompt_digests() -> dict[str, str]:
    """The SHA-256 of each prompt that this program has: the agent's, and the judges' by name and version."""
    names = sorted(
        entry.name.removesuffix(".txt") for entry in files(prompts).iterdir() if entry.name.endswith(".txt")
    )
    agent = wording()
    return {f"agent.{agent.version}": agent.digest, **{name: prompts.prompt(name).digest for name in names}}


def prompts_of_runs(study: Study) -> list[dict[str, Any]]:
    """Under which prompts the runs were made, as they keep it; null for runs made elsewhere. One query."""
    asked = KT("metadata__prompt_version"), KT("metadata__prompt_digest")
    found = Counter(study.runs.values_list(*asked))
    rows = sorted(found.items(), key=lambda entry: tuple(part or "" for part in entry[0]))
    return [{"version": version, "sha256": digest, "runs": runs} for (version, digest), runs in rows]


def data_digests(study: Study) -> dict[str, dict[str, Any]]:
    """Rows and digest of each kind of data; the same wherever the same study is. A query a kind."""
    found = {}
    with connection.cursor() as cursor:
        for kind, (columns, source) in _ROWS.items():
            cursor.execute(_DIGEST.format(columns=columns, source=source), [study.pk])
            rows, digest = cursor.fetchone()
            found[kind] = {"rows": rows, "sha256": digest}
    return found


def _controls(facts: StudyFacts) -> dict[str, Any]:
    return asdict(facts.controls.controls)


def _asked(study: Study) -> dict[str, Any]:
    """The models that the study's settings name as judges, without their addresses."""
    found: dict[str, Any] = {}
    for role in JUDGE_ROLES:
        settings = judge_settings_of(study, role)
        found[role] = (
            {"model": settings.model, "sampling": dict(settings.sampling)} if settings else "embedded or none"
        )
    return found
