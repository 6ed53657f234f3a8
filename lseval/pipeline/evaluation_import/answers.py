"""How a response is read, out of a file: rubric, answer groups and citations, where a model made them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from lseval.errors import InputError
from lseval.formats.evaluation_rows import AnswerRow, CitedSource, Group
from lseval.models import AnswerGroup, Citation, Rubric, Run
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, REPLACED
from lseval.pipeline.row_expressions import ANSWER_COLUMNS

_OF_RUBRIC = ("required_count", "constraints", "grouping_rule", "required_fields")
_OF_RUN = ("grouping_method", "grouping_origin", "grouping_digest", "is_valid_final")


def import_answer(run: Run, row: AnswerRow, *, replace: bool) -> str:
    """Have the run's response read as the row has it; returns what became of the row.

    A run whose groups nothing rests on yet takes the row as it is. Where something does, its groups stay, and
    another rubric is taken only with `replace`.

    Raises:
        InputError: it is another response, or what rests on the groups forbids the change.
    """
    if hashlib.sha256(run.final_answer.encode()).hexdigest() != row.final_answer_digest:
        raise InputError("the run has another response here, so this way of reading it does not fit")
    if any(group.end > len(run.final_answer) for group in row.groups):
        raise InputError("a group ends beyond the response")
    values = row.model_dump(exclude_unset=True)
    [stored] = Run.objects.filter(pk=run.pk).values_list(*ANSWER_COLUMNS.values())
    differ = {name for name, value in zip(ANSWER_COLUMNS, stored, strict=True) if values[name] != value}
    if not differ:
        return KEPT
    fresh = not _is_relied_on(run)
    if differ & {"groups", "other_citations"}:
        if not fresh:
            raise InputError(
                "the response is taken apart otherwise here, and verdicts or labels rest on its groups already; "
                "import into a study where none do"
            )
        _save_groups(run, row)
    elif not fresh and not replace:
        raise InputError(
            f"the run has another {', '.join(sorted(differ))} here, and its groups are judged; --replace takes "
            "the row's"
        )
    _save_rubric(run, row)
    Run.objects.filter(pk=run.pk).update(**{name: getattr(row, name) for name in _OF_RUN})
    return ADDED if fresh else REPLACED


def _is_relied_on(run: Run) -> bool:
    """Whether anything but citations refers to a group of the run: verdicts, links, items of an audit."""
    groups = AnswerGroup.objects.filter(run=run)
    relations = [each for each in AnswerGroup._meta.related_objects if each.related_model is not Citation]
    return any(groups.filter(**{f"{each.name}__isnull": False}).exists() for each in relations)


def _save_rubric(run: Run, row: AnswerRow) -> None:
    values: dict[str, Any] = {name: getattr(row, name) for name in _OF_RUBRIC}
    Rubric.objects.update_or_create(
        run=run, defaults={**values, "origin": row.rubric_origin, "prompt_digest": row.rubric_prompt_digest}
    )


def _save_groups(run: Run, row: AnswerRow) -> None:
    run.answer_groups.all().delete()
    run.citations.all().delete()
    saved = AnswerGroup.objects.bulk_create(_group(run, group) for group in row.groups)
    citations = [
        cited
        for group, told in zip(saved, row.groups, strict=True)
        for cited in _citations(run, group, told.citations)
    ]
    Citation.objects.bulk_create([*citations, *_citations(run, None, row.other_citations)])


def _group(run: Run, told: Group) -> AnswerGroup:
    values = {name: getattr(told, name) for name in ("number", "title", "text", "fields", "start", "end")}
    return AnswerGroup(run=run, **values)


def _citations(run: Run, group: AnswerGroup | None, told: Iterable[CitedSource]) -> list[Citation]:
    return [Citation(run=run, group=group, **cited.model_dump()) for cited in told]
