"""Stage 2: two judges on every evaluable round, then failure nodes and their links to incorrect groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction

from lseval.domain.consensus import consensus, retained_links
from lseval.domain.evidence import CallUnderAudit, ClaimCheck, GroupUnderAudit, JudgementDraft, RoundUnderAudit
from lseval.domain.labels import UNJUDGED, GroupLabel, RoundLabel
from lseval.judging.embedded import STAGE2_A_NAME, STAGE2_B_NAME, VERSION
from lseval.judging.embedded.stage2 import judge_round_a, judge_round_b
from lseval.models import AnswerGroup, FailureNode, Judgement, Link, Round, RoundConsensus, Run, Study
from lseval.pipeline.forget import forget_process
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


def audit_runs(run_ids: Iterable[int], advance: Callable[[], None] = lambda: None) -> Counter[str]:
    """Judge the rounds of the runs, a transaction a run; returns how many rounds came to each consensus."""
    reached: Counter[str] = Counter()
    for run_id in run_ids:
        reached += audit_run(run_id)
        advance()
    return reached


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
    reached: Counter[str] = Counter()
    for found in rounds:
        pair = opinions[found.pk]
        for role, draft in (("A", pair.a), ("B", pair.b)):
            _save_judgement(found, role, draft, groups)
        result = consensus(pair.a, pair.b)
        RoundConsensus.objects.create(round=found, verdict=result.verdict, is_split=result.is_split)
        reached[result.verdict] += 1
        if result.verdict == RoundLabel.ERROR:
            node = FailureNode.objects.create(
                run=run, round=found, error_type=result.error_type, is_type_agreed=result.is_type_agreed
            )
            Link.objects.bulk_create(
                Link(run=run, node=node, round=found, group=groups[number])
                for number in retained_links(pair.a, pair.b, incorrect, policy)
            )
    return reached


def _save_judgement(found: Round, role: str, draft: JudgementDraft, groups: dict[int, AnswerGroup]) -> None:
    judgement = Judgement.objects.create(
        round=found,
        judge_role=role,
        verdict=draft.verdict,
        error_type=draft.error_type,
        explanation=draft.explanation,
        judge=JUDGES[role],
        judge_version=VERSION,
    )
    judgement.groups.set(groups[number] for number in draft.groups if number in groups)
