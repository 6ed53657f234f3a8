"""Stage 2: two judges on every evaluable round, then failure nodes and their links to incorrect groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

from lseval.domain.consensus import consensus, retained_links
from lseval.domain.evidence import CallUnderAudit, ClaimCheck, GroupUnderAudit, JudgementDraft, RoundUnderAudit
from lseval.domain.labels import UNJUDGED, GroupLabel, RoundLabel
from lseval.judging.embedded import STAGE2_A_NAME, STAGE2_B_NAME, VERSION
from lseval.judging.embedded.stage2 import judge_round_a, judge_round_b
from lseval.models import AnswerGroup, FailureNode, Judgement, Link, Round, RoundConsensus, Run, Study
from lseval.pipeline.forget import forget_process
from lseval.pipeline.parallel import on_runs
from lseval.pipeline.stage1 import rubric_record

DEFAULT_LINK_POLICY = "both"
JUDGES = {"A": STAGE2_A_NAME, "B": STAGE2_B_NAME}


@dataclass(frozen=True)
class _Opinions:
    a: JudgementDraft
    b: JudgementDraft


def runs_to_audit(study: Study, *, again: bool = False) -> list[int]:
    """The ids of the runs with a round that waits for its judges; of all runs with `again`."""
    rounds = Round.objects.filter(run__study=study, skip_reason="")
    if not again:
        done = Judgement.objects.filter(judge__in=JUDGES.values(), judge_version=VERSION)
        rounds = rounds.exclude(pk__in=done.values("round"))
    return list(rounds.order_by("run_id").values_list("run_id", flat=True).distinct())


def audit_runs(
    run_ids: Sequence[int], advance: Callable[[], None] = lambda: None, *, processes: int | None = None
) -> Counter[str]:
    """Judge the rounds of the runs, a transaction a run; returns how many rounds came to each consensus."""
    return on_runs(audit_run, run_ids, advance, processes=processes)


def audit_run(run_id: int) -> Counter[str]:
    """Judge every evaluable round of one run anew, replacing judgements, nodes and links."""
    run = Run.objects.select_related("study", "task", "rubric").get(pk=run_id)
    groups = list(run.answer_groups.select_related("verdict"))
    under_audit = [group_under_audit(group) for group in groups]
    rubric = rubric_record(run.rubric)
    every = list(run.rounds.prefetch_related("turns__tool_calls"))
    seen = [round_under_audit(found) for found in every]
    rounds = [found for found in every if not found.skip_reason]
    opinions = {
        found.pk: _Opinions(
            judge_round_a(run.task.question, rubric, under_audit, seen[place], seen[:place]),
            judge_round_b(run.task.question, rubric, under_audit, seen[place], seen[:place]),
        )
        for place, found in enumerate(every)
        if not found.skip_reason
    }
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run_id)  # another evaluation of this run waits for us
        forget_process(run)
        return _save(run, rounds, {group.number: group for group in groups}, opinions)


def group_under_audit(group: AnswerGroup) -> GroupUnderAudit:
    """A group with Stage 1's result as the judges see it; unjudged where Stage 1 has not been there."""
    verdict = getattr(group, "verdict", None)
    return GroupUnderAudit(
        number=group.number,
        title=group.title,
        text=group.text,
        label=verdict.label if verdict else UNJUDGED,
        claims=tuple(
            ClaimCheck(claim["claim"], claim["status"], note=claim.get("note", ""))
            for claim in (verdict.claims if verdict else ())
        ),
        fields=group.fields,
    )


def round_under_audit(found: Round) -> RoundUnderAudit:
    """A round as the judges see it: words and calls with observations, without the model's hidden reasoning."""
    turns = list(found.turns.all())
    return RoundUnderAudit(
        number=found.number,
        text="\n\n".join(turn.text for turn in turns if turn.text.strip()),
        calls=tuple(
            CallUnderAudit(call.name, call.arguments, call.observation or "", call.is_error)
            for turn in turns
            for call in turn.tool_calls.all()
        ),
    )


def _save(
    run: Run, rounds: list[Round], groups: dict[int, AnswerGroup], opinions: dict[int, _Opinions]
) -> Counter[str]:
    policy = run.study.settings.get("link_policy", DEFAULT_LINK_POLICY)
    incorrect = {
        number
        for number, group in groups.items()
        if (verdict := getattr(group, "verdict", None)) and verdict.label == GroupLabel.INCORRECT
    }
    results = {found.pk: consensus(opinions[found.pk].a, opinions[found.pk].b) for found in rounds}
    _save_judgements(rounds, groups, opinions)
    RoundConsensus.objects.bulk_create(
        RoundConsensus(round=found, verdict=results[found.pk].verdict, is_split=results[found.pk].is_split)
        for found in rounds
    )
    nodes = FailureNode.objects.bulk_create(
        FailureNode(
            run=run,
            round=found,
            error_type=results[found.pk].error_type,
            is_type_agreed=results[found.pk].is_type_agreed,
        )
        for found in rounds
        if results[found.pk].verdict == RoundLabel.ERROR
    )
    Link.objects.bulk_create(
        Link(run=run, node=node, round_id=node.round_id, group=groups[number])
        for node in nodes
        for number in retained_links(opinions[node.round_id].a, opinions[node.round_id].b, incorrect, policy)
    )
    return Counter(result.verdict for result in results.values())


def _save_judgements(rounds: list[Round], groups: dict[int, AnswerGroup], opinions: dict[int, _Opinions]) -> None:
    drafts = [
        (found, role, draft)
        for found in rounds
        for role, draft in (("A", opinions[found.pk].a), ("B", opinions[found.pk].b))
    ]
    judgements = Judgement.objects.bulk_create(
        Judgement(
            round=found,
            judge_role=role,
            verdict=draft.verdict,
            error_type=draft.error_type,
            explanation=draft.explanation,
            judge=JUDGES[role],
            judge_version=VERSION,
        )
        for found, role, draft in drafts
    )
    named = Judgement.groups.through
    named.objects.bulk_create(
        named(judgement_id=judgement.pk, answergroup_id=groups[number].pk)
        for judgement, (_, _, draft) in zip(judgements, drafts, strict=True)
        for number in dict.fromkeys(draft.groups)
        if number in groups
    )
