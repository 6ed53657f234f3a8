"""Verdicts of Stage 1 out of a file, as they were given, with the snapshots of this study in their quotations."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Q

from lseval.errors import InputError
from lseval.formats.evaluation_rows import VerdictRow
from lseval.models import AnswerGroup, Page, Run, SecondVerdict, Verdict
from lseval.pipeline.evaluation_import.files import PlacedRow
from lseval.pipeline.evaluation_import.opinions import Changes
from lseval.pipeline.evaluation_import.pages import moment
from lseval.pipeline.evaluation_import.reports import EvaluationReport
from lseval.pipeline.forget import forget_process

_AS_TOLD: Final = ("label", "reason", "code", "flags", "judge", "judge_version", "repeat")

Opinion = type[Verdict] | type[SecondVerdict]


def import_verdicts(
    run: Run, kind: Opinion, what: str, rows: Sequence[PlacedRow], report: EvaluationReport, *, replace: bool
) -> None:
    """Store the verdicts of a run; what became of each row is added to the report.

    Where a verdict is added or changes, what Stage 2 said of the run is forgotten, as where Stage 1 judges anew.
    One that says the same at another time counts as there, and only with `replace` takes the time of the row.
    """
    groups = {group.number: group for group in run.answer_groups.all()}
    manager: Any = kind._default_manager
    stored = {opinion.group_id: opinion for opinion in manager.filter(group__run=run)}
    pages = _Pages(run, [row.row for row in rows])
    changes = Changes()
    seen: dict[int, str] = {}
    for place, row in rows:
        try:
            _check_place(row, groups, seen, place)
            told = kind(group=groups[row.group_number], judged_at=moment(row.judged_at), **_values(row, pages))
            known = stored.get(told.group_id)
            outcome = changes.settle(
                known,
                told,
                same=known is not None and _said(known) == _said(told),
                replace=replace,
                differs=f"answer group {row.group_number} has another verdict here, "
                + (f"{known.label} by {known.judge}" if known else ""),
            )
        except InputError as error:
            report.refuse(what, place, str(error))
        else:
            report.rows[what, outcome] += 1
    changes.save(manager)
    if kind is Verdict and changes.new:
        forget_process(run)


def _check_place(row: VerdictRow, groups: dict[int, AnswerGroup], seen: dict[int, str], place: str) -> None:
    if (before := seen.setdefault(row.group_number, place)) != place:
        raise InputError(f"{before} is of the same answer group, {row.group_number}")
    group = groups.get(row.group_number)
    if group is None:
        raise InputError(
            f"the run's response has {len(groups)} answer groups, and none has number {row.group_number}"
        )
    if hashlib.sha256(group.text.encode()).hexdigest() != row.group_text_digest:
        raise InputError(
            f"answer group {row.group_number} has another text here than the one that was judged; import the "
            "answers of the same export, which say how the response was taken apart"
        )


def _said(opinion: Any) -> list[Any]:
    return [getattr(opinion, name) for name in (*_AS_TOLD, "claims", "pages")]


class _Pages:
    """The snapshots of a study that the rows of a run name."""

    def __init__(self, run: Run, rows: Sequence[VerdictRow]) -> None:
        keys = {page.canonical_key for row in rows for page in row.pages if page.canonical_key is not None}
        quoted = {
            page.canonical_key
            for row in rows
            for page in row.pages
            if page.id in {claim.quotation.page for claim in row.claims if claim.quotation}
        }
        found = Page.objects.filter(Q(run=None) | Q(run=run), study=run.study_id, canonical_key__in=keys)
        self._by_name = {
            (source, key): (pk, digest)
            for pk, source, key, digest in found.values_list("pk", "source", "canonical_key", "text_digest")
        }
        self._texts = dict(found.filter(canonical_key__in=quoted).values_list("pk", "text"))

    def of(self, row: VerdictRow) -> dict[int, tuple[int, str | None]]:
        """The row's own ids of pages to those of this study, and to the text where the judge was given that one.

        Raises InputError where the study has no such snapshot, or one with another text.
        """
        mapped: dict[int, tuple[int, str | None]] = {}
        for told in row.pages:
            if told.source is None or told.canonical_key is None:
                raise InputError(f"page {told.id} was not there any more when the row was exported")
            pk, digest = self._by_name.get((told.source, told.canonical_key), (0, ""))
            if not pk:
                raise InputError(
                    f"the study has no {told.source} snapshot of {_short(told.url)}; import the pages first"
                )
            if digest != told.text_digest:
                raise InputError(
                    f"the {told.source} snapshot of {_short(told.url)} has another text here; import the pages of "
                    "the same export"
                )
            # A snapshot that was replaced after it was judged stays told apart from it, as where it was exported.
            mapped[told.id] = pk, self._texts.get(pk) if told.digest == digest else None
        return mapped


def _short(url: str | None) -> str:
    return (url or "")[:200]


def _values(row: VerdictRow, pages: _Pages) -> dict[str, Any]:
    mapped = pages.of(row)
    values = {name: getattr(row, name) for name in _AS_TOLD}
    values["pages"] = [{"id": mapped[told.id][0], "digest": told.digest} for told in row.pages]
    values["claims"] = [_claim(number, told, mapped) for number, told in enumerate(row.claims, 1)]
    return values


def _claim(number: int, told: Any, mapped: dict[int, tuple[int, str | None]]) -> dict[str, Any]:
    claim: dict[str, Any] = told.model_dump(exclude_unset=True)
    quotation = told.quotation
    if quotation is None:
        return claim
    if quotation.page not in mapped:
        raise InputError(f"claim {number} quotes page {quotation.page}, which the row does not list")
    pk, text = mapped[quotation.page]
    if text is not None and text[quotation.start : quotation.end] != quotation.text:
        raise InputError(
            f"claim {number} quotes words that do not stand from {quotation.start} to {quotation.end} of its page, "
            f"which has {len(text):,} characters"
        )
    claim["quotation"]["page"] = pk
    return claim
