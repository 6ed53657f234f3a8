"""Judgements of Stage 2 out of a file; consensus, failure nodes and links follow from them, and are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lseval.domain.evidence import JudgementDraft
from lseval.errors import InputError
from lseval.formats.evaluation_rows import JUDGEMENTS, LINKS, JudgementRow, LinkRow
from lseval.models import AnswerGroup, FailureNode, Judgement, Link, Round, RoundConsensus, Run
from lseval.pipeline.evaluation_import.files import PlacedRow
from lseval.pipeline.evaluation_import.opinions import Changes
from lseval.pipeline.evaluation_import.pages import moment
from lseval.pipeline.evaluation_import.reports import KEPT, EvaluationReport
from lseval.pipeline.row_expressions import RoundDigest
from lseval.pipeline.stage2 import DEFAULT_LINK_POLICY, ROLES, Conclusions, Opinions

_AS_TOLD: Final = ("verdict", "error_type", "explanation", "code", "flags", "judge", "judge_version")


def import_judgements(run: Run, rows: Sequence[PlacedRow], report: EvaluationReport, *, replace: bool) -> None:
    """Store the judgements of a run, and what they come to as Stage 2 would; tells the report of each row.

    One that says the same at another time counts as there, and only with `replace` takes the time of the row.
    """
    if not rows:
        return
    groups = {group.number: group for group in run.answer_groups.select_related("verdict")}
    rounds = {found.number: found for found in run.rounds.annotate(digest=RoundDigest("pk"))}
    stored = _stored(run)
    after = {place: judgement for place, (judgement, _) in stored.items()}
    named = {place: numbers for place, (_, numbers) in stored.items()}
    changes = Changes()
    seen: dict[tuple[int, str], str] = {}
    for place, row in rows:
        key = row.round_number, row.judge_role
        try:
            _check_place(row, rounds, groups, seen, place)
            told = _judgement(row, rounds[row.round_number])
            known = after.get(key)
            same = known is not None and _said(known, named[key]) == _said(told, set(row.groups))
            differs = f"round {row.round_number} has another judgement of judge {row.judge_role} here"
            outcome = changes.settle(known, told, same=same, replace=replace, differs=differs)
        except InputError as error:
            report.refuse(JUDGEMENTS, place, str(error))
            continue
        report.rows[JUDGEMENTS, outcome] += 1
        if not same:
            after[key], named[key] = told, set(row.groups)
    for (number, role), place in seen.items():
        if any((number, each) not in after for each in ROLES):
            problem = f"round {number} has a judgement of judge {role} and none of the other"
            report.refuse(JUDGEMENTS, place, problem)
    if report.refused:
        return  # all of the run is taken back
    changes.save(Judgement._default_manager)
    _name_groups(changes.new, groups, named)
    _conclude(run, rounds, groups, after, named)


def _name_groups(
    judgements: Sequence[Judgement], groups: dict[int, AnswerGroup], named: dict[tuple[int, str], set[int]]
) -> None:
    through = Judgement.groups.through
    through.objects.bulk_create(
        through(judgement_id=judgement.pk, answergroup_id=groups[number].pk)
        for judgement in judgements
        for number in sorted(named[judgement.round.number, judgement.judge_role])
    )


def _stored(run: Run) -> dict[tuple[int, str], tuple[Judgement, set[int]]]:
    found = Judgement.objects.filter(round__run=run).select_related("round").prefetch_related("groups")
    return {
        (judgement.round.number, judgement.judge_role): (
            judgement,
            {group.number for group in judgement.groups.all()},
        )
        for judgement in found
    }


def _check_place(
    row: JudgementRow,
    rounds: dict[int, Any],
    groups: dict[int, AnswerGroup],
    seen: dict[tuple[int, str], str],
    place: str,
) -> None:
    if (before := seen.setdefault((row.round_number, row.judge_role), place)) != place:
        raise InputError(f"{before} is of the same round and judge, {row.round_number} and {row.judge_role}")
    found = rounds.get(row.round_number)
    if found is None:
        raise InputError(f"the run has {len(rounds)} rounds, and none has number {row.round_number}")
    if found.digest != row.round_digest:
        raise InputError(f"round {row.round_number} says or observes something else here than what was judged")
    if found.skip_reason:
        raise InputError(
            f"round {row.round_number} is set aside here before any judge sees it ({found.skip_reason})"
        )
    if stray := [number for number in row.groups if number not in groups]:
        raise InputError(
            f"it names answer group {stray[0]}, and the run's response has {len(groups)}; import the answers of "
            "the same export, which say how the response was taken apart"
        )


def _judgement(row: JudgementRow, found: Round) -> Judgement:
    values: dict[str, Any] = {name: getattr(row, name) for name in _AS_TOLD}
    return Judgement(round=found, judge_role=row.judge_role, judged_at=moment(row.judged_at), **values)


def _said(judgement: Judgement, groups: set[int]) -> list[Any]:
    return [*(getattr(judgement, name) for name in _AS_TOLD), groups]


def _conclude(
    run: Run,
    rounds: dict[int, Any],
    groups: dict[int, AnswerGroup],
    judgements: dict[tuple[int, str], Judgement],
    named: dict[tuple[int, str], set[int]],
) -> None:
    """Have consensus, failure nodes and links be what Stage 2 makes of the judgements, if they are not."""
    judged = [found for number, found in rounds.items() if all((number, role) in judgements for role in ROLES)]
    opinions = {
        found.pk: Opinions(*(_draft(judgements, named, (found.number, role)) for role in ROLES)) for found in judged
    }
    conclusions = Conclusions.of(run, judged, groups, opinions)
    ids = [found.pk for found in rounds.values()]
    if conclusions.content() == _concluded(run, ids):
        return
    RoundConsensus.objects.filter(round__in=ids).delete()
    run.failure_nodes.all().delete()
    conclusions.save()


def _draft(
    judgements: dict[tuple[int, str], Judgement], named: dict[tuple[int, str], set[int]], key: tuple[int, str]
) -> JudgementDraft:
    return JudgementDraft(judgements[key].verdict, judgements[key].error_type, tuple(sorted(named[key])))


def _concluded(run: Run, rounds: Sequence[int]) -> tuple[set[Any], set[Any], set[Any]]:
    return (
        # By the ids of rounds: a join with a table that has just been filled is planned as if it were empty.
        set(RoundConsensus.objects.filter(round__in=rounds).values_list("round_id", "verdict", "is_split")),
        set(FailureNode.objects.filter(run=run).values_list("round_id", "error_type", "is_type_agreed")),
        set(Link.objects.filter(run=run).values_list("round_id", "group_id")),
    )


def compare_links(run: Run, rows: Sequence[PlacedRow], report: EvaluationReport, *, is_whole: bool) -> None:
    """Compare the rows with the run's links. One that is not there is refused.

    With `is_whole` the file has all links of the run, so that one which it lacks is told as well.
    """
    names = ("round__number", "group__number", "node__error_type", "node__is_type_agreed")
    here: dict[tuple[int, int], tuple[str, bool]] = {
        (round_, group): (error_type, is_agreed)
        for round_, group, error_type, is_agreed in Link.objects.filter(run=run).values_list(*names)
    }
    seen: dict[tuple[int, int], str] = {}
    for place, row in rows:
        key = row.round_number, row.group_number
        if key in seen:
            report.refuse(LINKS, place, f"{seen[key]} is the same link")
        elif problem := _difference(run, row, here.get(key)):
            report.refuse(LINKS, place, problem)
        else:
            report.rows[LINKS, KEPT] += 1
        seen.setdefault(key, place)
    if is_whole:
        for round_, group in sorted(here.keys() - seen.keys()):
            report.refuse(
                LINKS,
                f"{run.model.name} on {run.task.key}",
                f"its judgements link round {round_} to answer group {group}, which the file of links does not "
                f"have; {_policy_told(run)}",
            )


def _difference(run: Run, row: LinkRow, found: tuple[str, bool] | None) -> str:
    if found is None:
        return (
            f"round {row.round_number} is not linked to answer group {row.group_number} by the judgements and "
            f"verdicts that are here; {_policy_told(run)}"
        )
    if found != (row.error_type, row.is_type_agreed):
        agreed = "agreed" if found[1] else "not agreed"
        return f"the failure node of round {row.round_number} has the type {found[0]} here, {agreed}"
    return ""


def _policy_told(run: Run) -> str:
    policy = run.study.settings.get("link_policy", DEFAULT_LINK_POLICY)
    return f"the study keeps links by the policy {policy!r} (link_policy of its file)"
