"""Stage 2 in more detail: the two link policies beside each other, the two judges' agreement, types with links.

All of it is computed from the judgements as they are stored; no round is judged again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import Count, Exists, FilteredRelation, OuterRef, Q

from lseval.domain.consensus import LinkPolicy, earliest_association
from lseval.domain.labels import GroupLabel
from lseval.domain.taxonomy import UNASSIGNED, ErrorType, map_type
from lseval.models import FailureNode, Judgement, Link, Study
from lseval.pipeline.stage2 import DEFAULT_LINK_POLICY
from lseval.site.quantities import Share
from lseval.site.selectors.dual_agreement import DualAgreement, dual_agreement
from lseval.site.selectors.judges import stage2_judges
from lseval.site.selectors.pairs import JudgePairs, judge_pairs_of

EARLY_ROUNDS: Final = (1, 5, 10, 20, 50)
"""The rounds by which the tables count the earliest association."""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What a link policy comes to; `firsts` are the earliest linked rounds of runs that have one, ascending."""

    policy: str
    nodes: int
    links: int
    linked_nodes: int
    linked_groups: int
    firsts: tuple[int, ...]
    is_in_force: bool

    @property
    def runs_with_link(self) -> int:
        """How many runs have a link."""
        return len(self.firsts)

    def by_round(self, number: int) -> Share:
        """The share of runs with a link whose earliest is at that round or before."""
        return Share(sum(first <= number for first in self.firsts), len(self.firsts), "no run has a link")

    @property
    def early(self) -> list[tuple[int, Share]]:
        """The shares by each of `EARLY_ROUNDS`."""
        return [(number, self.by_round(number)) for number in EARLY_ROUNDS]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        return {
            "policy": self.policy,
            "failure_nodes": self.nodes,
            "links": self.links,
            "linked_nodes": self.linked_nodes,
            "linked_groups": self.linked_groups,
            "runs_with_link": self.runs_with_link,
            "earliest_association": {f"by_round_{number}": share.as_dict() for number, share in self.early},
        }


@dataclass(frozen=True, slots=True)
class TypeRow:
    """Failure nodes of a type, with and without a link; the bar's pieces in per cent of the most frequent type."""

    name: str
    linked: int
    unlinked: int
    linked_width: float
    unlinked_width: float

    @property
    def total(self) -> int:
        """All nodes of the type."""
        return self.linked + self.unlinked


@dataclass(frozen=True, slots=True)
class ProcessDetails:
    """Everything that the study's process page shows beyond `Process`."""

    dual: DualAgreement
    policies: list[PolicyRow]
    types: list[TypeRow]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        return {
            "dual_judges": self.dual.as_dict(),
            "link_policies": [row.as_dict() for row in self.policies],
            "types": {row.name: {"linked": row.linked, "unlinked": row.unlinked} for row in self.types},
        }


def process_details_of(study: Study, pairs: JudgePairs, link_policy: str) -> ProcessDetails:
    """The details; four queries, whatever the study's size. `pairs` are those of `process_of`."""
    named = _named(study)
    nodes = FailureNode.objects.filter(run__study=study).count()
    by_judges = Counter((row.task, row.judges) for row in named)
    return ProcessDetails(
        dual=dual_agreement(pairs.by_task, _types_by_task(study), by_judges),
        policies=[_policy(policy, nodes, named, is_in_force=policy == link_policy) for policy in LinkPolicy],
        types=_types(study),
    )


def judges_report(study: Study) -> dict[str, Any]:
    """The details as JSON-able numbers, with the two judges beside each other."""
    pairs = judge_pairs_of(study)
    policy = study.settings.get("link_policy", DEFAULT_LINK_POLICY)
    return {
        "judges": [judge.as_dict() for judge in stage2_judges(study)],
        "link_policy": policy,
        "judge_pairs": pairs.as_dict(),
        **process_details_of(study, pairs, policy).as_dict(),
    }


class _Named(NamedTuple):
    """An incorrect group that a judge names at a failure node; `judges` is how many of the two name it."""

    task: int
    run: int
    round: int
    number: int
    group: int
    judges: int


def _named(study: Study) -> list[_Named]:
    rows = (
        Judgement.groups.through.objects.filter(
            judgement__round__run__study=study,
            judgement__round__failure_node__isnull=False,
            answergroup__verdict__label=GroupLabel.INCORRECT,
        )
        .values_list(
            "judgement__round__run__task_id",
            "judgement__round__run_id",
            "judgement__round_id",
            "judgement__round__number",
            "answergroup_id",
        )
        .annotate(judges=Count("judgement__judge_role", distinct=True))
        .order_by()
    )
    return [_Named(*row) for row in rows]


def _policy(policy: LinkPolicy, nodes: int, named: Iterable[_Named], *, is_in_force: bool) -> PolicyRow:
    least = 2 if policy is LinkPolicy.BOTH else 1
    kept = [row for row in named if row.judges >= least]
    rounds_of: dict[int, list[int]] = {}
    for row in kept:
        rounds_of.setdefault(row.run, []).append(row.number)
    firsts = (earliest_association(numbers) for numbers in rounds_of.values())
    return PolicyRow(
        policy=policy.value,
        nodes=nodes,
        links=len(kept),
        linked_nodes=len({row.round for row in kept}),
        linked_groups=len({row.group for row in kept}),
        firsts=tuple(sorted(first for first in firsts if first is not None)),
        is_in_force=is_in_force,
    )


def _types_by_task(study: Study) -> Counter[tuple[int, str, str]]:
    """Failure nodes by task and by both judges' types, where both name one of the ten."""
    rows = (
        FailureNode.objects.filter(run__study=study)
        .annotate(
            a=FilteredRelation("round__judgements", condition=Q(round__judgements__judge_role="A")),
            b=FilteredRelation("round__judgements", condition=Q(round__judgements__judge_role="B")),
        )
        .values_list("run__task_id", "a__error_type", "b__error_type")
        .annotate(count=Count("id"))
        .order_by()
    )
    found: Counter[tuple[int, str, str]] = Counter()
    for task, said_a, said_b, count in rows:
        type_a, type_b = map_type(said_a or ""), map_type(said_b or "")
        if type_a and type_b:
            found[task, str(type_a), str(type_b)] += count
    return found


def _types(study: Study) -> list[TypeRow]:
    rows = (
        FailureNode.objects.filter(run__study=study)
        .values_list("error_type")
        .annotate(every=Count("id"), linked=Count("id", filter=Q(Exists(Link.objects.filter(node=OuterRef("pk"))))))
        .order_by()
    )
    counts = {code: (linked, every - linked) for code, every, linked in rows}
    most = max((sum(pair) for pair in counts.values()), default=0)
    names = {str(kind): kind.display_name for kind in ErrorType} | {UNASSIGNED: "Unassigned"}
    found = []
    for code, name in names.items():
        linked, unlinked = counts.get(code, (0, 0))
        scale = 100 / most if most else 0.0
        found.append(TypeRow(name, linked, unlinked, round(linked * scale, 2), round(unlinked * scale, 2)))
    return sorted(found, key=lambda row: (row.name == "Unassigned", -row.total))
