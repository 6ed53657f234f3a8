"""Stage 2: two judges on every evaluable round, then failure nodes and their links to incorrect groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from django.db import transaction
from django.db.models import Exists, OuterRef

from lseval.domain.consensus import consensus, retained_links
from lseval.domain.evidence import (
    CallUnderAudit,
    ClaimCheck,
    GroupUnderAudit,
    JudgementDraft,
    Quotation,
    RoundUnderAudit,
)
from lseval.domain.labels import UNJUDGED, GroupLabel, RoundLabel
from lseval.domain.storable_text import storable
from lseval.judging.replies import Unusable
from lseval.models import AnswerGroup, FailureNode, Judgement, Link, Round, RoundConsensus, Run, Study
from lseval.pipeline.forget import forget_process
from lseval.pipeline.hooks import UNATTENDED, Hooks
from lseval.pipeline.judges import JudgeName, RoundEvidence, auditor, stage2_name
from lseval.pipeline.parallel import on_runs
from lseval.pipeline.stage1 import rubric_record

DEFAULT_LINK_POLICY = "both"
ROLES: Final[tuple[Literal["A"], Literal["B"]]] = ("A", "B")


@dataclass(frozen=True)
class Opinions:
    """Both judges' opinions of a round."""

    a: JudgementDraft
    b: JudgementDraft


@dataclass(frozen=True)
class Conclusions:
    """What the judgements of a run come to, not saved: consensus, failure nodes, and the groups that each links."""

    rounds: list[RoundConsensus]
    nodes: list[FailureNode]
    linked: dict[int, list[AnswerGroup]]

    @classmethod
    def of(
        cls, run: Run, rounds: Sequence[Round], groups: Mapping[int, AnswerGroup], opinions: Mapping[int, Opinions]
    ) -> Conclusions:
        """By the verdicts of the groups, given by number with theirs, and the link policy of the study.

        `opinions` has those of each round by its key.
        """
        policy = run.study.settings.get("link_policy", DEFAULT_LINK_POLICY)
        incorrect = {
            number
            for number, group in groups.items()
            if (verdict := getattr(group, "verdict", None)) and verdict.label == GroupLabel.INCORRECT
        }
        results = {found.pk: consensus(opinions[found.pk].a, opinions[found.pk].b) for found in rounds}
        nodes = [
            FailureNode(
                run=run,
                round=found,
                error_type=results[found.pk].error_type,
                is_type_agreed=results[found.pk].is_type_agreed,
            )
            for found in rounds
            if results[found.pk].verdict == RoundLabel.ERROR
        ]
        return cls(
            rounds=[
                RoundConsensus(round=found, verdict=results[found.pk].verdict, is_split=results[found.pk].is_split)
                for found in rounds
            ],
            nodes=nodes,
            linked={
                node.round_id: [
                    groups[number]
                    for number in retained_links(
                        opinions[node.round_id].a, opinions[node.round_id].b, incorrect, policy
                    )
                ]
                for node in nodes
            },
        )

    def content(self) -> tuple[set[Any], set[Any], set[Any]]:
        """The consensus, the nodes and the links as values that can be compared."""
        return (
            {(found.round_id, found.verdict, found.is_split) for found in self.rounds},
            {(node.round_id, node.error_type, node.is_type_agreed) for node in self.nodes},
            {(round_id, group.pk) for round_id, groups in self.linked.items() for group in groups},
        )

    def save(self) -> None:
        """Save them for a run that has none."""
        RoundConsensus.objects.bulk_create(self.rounds)
        nodes = FailureNode.objects.bulk_create(self.nodes)
        Link.objects.bulk_create(
            Link(run=node.run, node=node, round_id=node.round_id, group=group)
            for node in nodes
            for group in self.linked[node.round_id]
        )


def runs_to_audit(study: Study, *, again: bool = False) -> list[int]:
    """The ids of the runs with a round that waits for a judge in use; of all runs with `again`.

    A round waits that has no judgement of that judge and version, or one that only says that the judge could not be
    reached.
    """
    rounds = Round.objects.filter(run__study=study, skip_reason="")
    if not again:
        done_by = [_judged_by(study, role) for role in ROLES]
        rounds = rounds.exclude(*done_by)
    return list(rounds.order_by("run_id").values_list("run_id", flat=True).distinct())


def _judged_by(study: Study, role: Literal["A", "B"]) -> Exists:
    name = stage2_name(study, role)
    done = Judgement.objects.filter(
        round=OuterRef("pk"), judge_role=role, judge=name.name, judge_version=name.version
    )
    return Exists(done.exclude(code=Unusable.UNREACHABLE))


def audit_runs(
    run_ids: Sequence[int], advance: Callable[[], None] = lambda: None, *, processes: int | None = None
) -> Counter[str]:
    """Judge the rounds of the runs, a transaction a run; returns how many rounds came to each consensus."""
    return on_runs(audit_run, run_ids, advance, processes=processes)


def audit_run(run_id: int, hooks: Hooks = UNATTENDED) -> Counter[str]:
    """Judge every evaluable round of one run, replacing judgements, nodes and links.

    Both judges see every round once, whatever the other says; what the ledger holds is not asked again.
    Where Stage 1 gives the run other verdicts meanwhile, the judges are shown those, and only what rests on them is
    saved.
    """
    while (counts := _audited(run_id, hooks)) is None:
        pass
    return counts


def _audited(run_id: int, hooks: Hooks) -> Counter[str] | None:
    """Judge the run once; None, and nothing saved, where its verdicts are no longer those that the judges saw."""
    run = Run.objects.select_related("study", "task", "rubric").get(pk=run_id)
    verdicts = _verdicts_of(run)
    groups = list(run.answer_groups.select_related("verdict"))
    under_audit = groups_under_audit(run, groups)
    rubric = rubric_record(run.rubric)
    every = list(run.rounds.prefetch_related("turns__tool_calls"))
    seen = [round_under_audit(found) for found in every]
    rounds = [found for found in every if not found.skip_reason]
    opinions: dict[int, Opinions] = {}
    for place, found in enumerate(every):
        if found.skip_reason:
            continue
        evidence = RoundEvidence(
            run.task.question, rubric, run.final_answer, under_audit, seen[place], seen[:place]
        )
        opinions[found.pk] = Opinions(*(auditor(run, found.number, role, hooks).judge(evidence) for role in ROLES))
    names: dict[str, JudgeName] = {role: stage2_name(run.study, role) for role in ROLES}
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run_id)  # another evaluation of this run waits for us
        if _verdicts_of(run) != verdicts:
            return None
        forget_process(run)
        return _save(run, rounds, {group.number: group for group in groups}, opinions, names)


def _verdicts_of(run: Run) -> dict[int, int | None]:
    """The run's groups, each with its verdict's key: a verdict that changes is another row."""
    return dict(run.answer_groups.order_by().values_list("pk", "verdict__pk"))


def groups_under_audit(run: Run, groups: Sequence[AnswerGroup]) -> list[GroupUnderAudit]:
    """The run's groups as the judges see them.

    A reference label says that a person found the run to have gone wrong. So its groups that Stage 1 could not
    decide (U, or unjudged) are shown to the judges as incorrect; those that it could keep their verdict. What is
    stored of Stage 1 does not change, and a link still needs Stage 1 to call the group incorrect.
    """
    seen = [group_under_audit(group) for group in groups]
    if not run.reference_labels.exists():
        return seen
    decided = (GroupLabel.CORRECT, GroupLabel.INCORRECT)
    return [group if group.label in decided else replace(group, label=GroupLabel.INCORRECT) for group in seen]


def group_under_audit(group: AnswerGroup) -> GroupUnderAudit:
    """A group with Stage 1's result as the judges see it; unjudged where Stage 1 has not been there."""
    verdict = getattr(group, "verdict", None)
    return GroupUnderAudit(
        number=group.number,
        title=group.title,
        text=group.text,
        label=verdict.label if verdict else UNJUDGED,
        claims=tuple(
            ClaimCheck(claim["claim"], claim["status"], _quotation(claim.get("quotation")), claim.get("note", ""))
            for claim in (verdict.claims if verdict else ())
        ),
        fields=group.fields,
    )


def _quotation(kept: Mapping[str, Any] | None) -> Quotation | None:
    return Quotation(str(kept["page"]), kept["text"], kept["start"], kept["end"]) if kept else None


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
    run: Run,
    rounds: list[Round],
    groups: dict[int, AnswerGroup],
    opinions: dict[int, Opinions],
    names: Mapping[str, JudgeName],
) -> Counter[str]:
    conclusions = Conclusions.of(run, rounds, groups, opinions)
    _save_judgements(rounds, groups, opinions, names)
    conclusions.save()
    return Counter(found.verdict for found in conclusions.rounds)


def _save_judgements(
    rounds: list[Round],
    groups: dict[int, AnswerGroup],
    opinions: dict[int, Opinions],
    names: Mapping[str, JudgeName],
) -> None:
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
            error_type=draft.error_type[:40],
            explanation=storable(draft.explanation),
            code=draft.code[:30],
            flags=list(draft.flags),
            judge=names[role].name,
            judge_version=names[role].version,
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
