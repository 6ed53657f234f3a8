"""Stage 2 in counts: failure nodes by type and model, their links, and the earliest association."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q

from lseval.domain.labels import UNJUDGED, GroupLabel, RoundLabel, SkipReason
from lseval.domain.taxonomy import UNASSIGNED, ErrorType
from lseval.models import AnswerGroup, FailureNode, Link, Round, Run, Study
from lseval.pipeline.stage2 import DEFAULT_LINK_POLICY
from lseval.site.quantities import Share, heat_of
from lseval.site.selectors.accounting import Accounting
from lseval.site.selectors.judges import JudgeName, stage2_judges
from lseval.site.selectors.pairs import JudgePairs, judge_pairs_by_task

EARLY_ROUNDS = (5, 20)
"""The rounds by which Table 2 counts the earliest association."""

TYPE_NAMES = [kind.display_name for kind in ErrorType]
TYPE_CODES = [*(str(kind) for kind in ErrorType), UNASSIGNED]


@dataclass(frozen=True, slots=True)
class ModelProcess:
    """A model's line in Table A6 and in the table of types."""

    name: str
    runs: int
    accounting: Accounting
    nodes: int
    runs_with_node: int
    linked_nodes: int
    runs_with_link: int
    types: Mapping[str, int]

    @property
    def typed(self) -> int:
        """Nodes with one of the ten types, by which the model's shares are normalized."""
        return sum(count for code, count in self.types.items() if code != UNASSIGNED)

    @property
    def type_cells(self) -> list[tuple[Share, int]]:
        """One entry per type, in the taxonomy's order: the share of typed nodes and its heat step."""
        shares = [Share(self.types.get(str(kind), 0), self.typed, "no typed node") for kind in ErrorType]
        return [(share, heat_of(None if share.value is None else share.value * 100)) for share in shares]

    @property
    def unassigned(self) -> int:
        """Nodes whose type maps to none of the ten."""
        return self.types.get(UNASSIGNED, 0)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able counts."""
        return {
            "model": self.name,
            "runs": self.runs,
            **self.accounting.as_dict(),
            "failure_nodes": self.nodes,
            "runs_with_node": self.runs_with_node,
            "linked_nodes": self.linked_nodes,
            "runs_with_link": self.runs_with_link,
            "types": {code: self.types.get(code, 0) for code in TYPE_CODES},
        }


@dataclass(frozen=True)
class Process:
    """Stage 2 of a study. The shares of the earliest association are of the runs with a link.

    `same_type` counts the failure nodes of which both judges name the same type.
    """

    study: Study
    accounting: Accounting
    skip_reasons: list[tuple[str, str, Share]]
    nodes: int
    linked_nodes: int
    unassigned: int
    links: int
    linked_groups: int
    incorrect_groups: int
    unlinked_incorrect_groups: int
    runs: int
    runs_with_link: int
    earliest: list[tuple[int, Share]]
    models: list[ModelProcess]
    same_type: int
    judges: list[JudgeName]
    link_policy: str

    @cached_property
    def pairs(self) -> JudgePairs:
        """The two judges beside each other; read from the database when it is asked for, since few pages do."""
        return JudgePairs(judge_pairs_by_task(self.study), self.same_type, self.nodes)

    @property
    def unlinked_nodes(self) -> int:
        """Failure nodes without a retained link."""
        return self.nodes - self.linked_nodes

    @property
    def typed(self) -> int:
        """Failure nodes with one of the ten types."""
        return self.nodes - self.unassigned

    @property
    def types(self) -> list[tuple[str, Share]]:
        """Each of the ten types, by name, with its share of the typed nodes; most frequent first."""
        totals: Counter[str] = Counter()
        for model in self.models:
            totals.update(model.types)
        rows = [(kind.display_name, Share(totals[str(kind)], self.typed, "no typed node")) for kind in ErrorType]
        return sorted(rows, key=lambda row: -row[1].count)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        return {
            "accounting": self.accounting.as_dict(),
            "skip_reasons": {reason: share.count for reason, _, share in self.skip_reasons},
            "failure_nodes": self.nodes,
            "linked_nodes": self.linked_nodes,
            "unlinked_nodes": self.unlinked_nodes,
            "typed_nodes": self.typed,
            "unassigned_nodes": self.unassigned,
            "links": self.links,
            "linked_groups": self.linked_groups,
            "incorrect_groups": self.incorrect_groups,
            "unlinked_incorrect_groups": self.unlinked_incorrect_groups,
            "runs": self.runs,
            "runs_with_link": self.runs_with_link,
            "earliest_association": {f"by_round_{number}": share.as_dict() for number, share in self.earliest},
            "link_policy": self.link_policy,
            "judge_pairs": self.pairs.as_dict(),
            "judges": [judge.as_dict() for judge in self.judges],
            "models": [model.as_dict() for model in self.models],
        }


def process_of(study: Study) -> Process:
    """Stage 2 of a study; the number of queries does not depend on its size."""
    rounds = _rounds(study)
    nodes, same_type = _nodes(study)
    links = _links(study)
    models = _models(study, rounds, nodes, links)
    incorrect = AnswerGroup.objects.filter(run__study=study, verdict__label=GroupLabel.INCORRECT).aggregate(
        every=Count("id"),
        linked=Count("id", filter=Q(Exists(Link.objects.filter(group=OuterRef("pk"))))),
    )
    first_rounds = list(
        Link.objects.filter(run__study=study)
        .values_list("run_id")
        .annotate(first=Min("round__number"))
        .order_by()
        .values_list("first", flat=True)
    )
    return Process(
        study=study,
        accounting=_accounting(count for counts in rounds.values() for count in counts.items()),
        skip_reasons=_skip_reasons(rounds),
        nodes=sum(model.nodes for model in models),
        linked_nodes=sum(model.linked_nodes for model in models),
        unassigned=sum(model.unassigned for model in models),
        links=sum(found["links"] for found in links.values()),
        linked_groups=sum(found["groups"] for found in links.values()),
        incorrect_groups=incorrect["every"],
        unlinked_incorrect_groups=incorrect["every"] - incorrect["linked"],
        runs=sum(model.runs for model in models),
        runs_with_link=len(first_rounds),
        earliest=[
            (number, Share(sum(first <= number for first in first_rounds), len(first_rounds), "no run has a link"))
            for number in EARLY_ROUNDS
        ],
        models=models,
        same_type=same_type,
        judges=stage2_judges(study),
        link_policy=study.settings.get("link_policy", DEFAULT_LINK_POLICY),
    )


_RoundKey = tuple[str, str | None, bool | None]
"""Skip reason, consensus verdict, whether split."""


def _rounds(study: Study) -> dict[int, dict[_RoundKey, int]]:
    """Rounds by model and by where they ended up."""
    rows = (
        Round.objects.filter(run__study=study)
        .values_list("run__model_id", "skip_reason", "consensus__verdict", "consensus__is_split")
        .annotate(count=Count("id"))
        .order_by()
    )
    found: dict[int, dict[_RoundKey, int]] = defaultdict(dict)
    for model_id, reason, verdict, is_split, count in rows:
        found[model_id][reason, verdict, is_split] = count
    return found


def _accounting(counts: Iterable[tuple[_RoundKey, int]]) -> Accounting:
    ended: Counter[str] = Counter()
    for (reason, verdict, is_split), count in counts:
        ended["pre_skipped" if reason else _ENDS[verdict]] += count
        if is_split:
            ended["split"] += count
    return Accounting(**ended)


_ENDS: dict[str | None, str] = {
    None: "waiting",
    RoundLabel.ERROR: "error",
    RoundLabel.NON_ERROR: "non_error",
    RoundLabel.SKIPPED: "post_skipped",
    UNJUDGED: "unjudged",
}


def _skip_reasons(rounds: Mapping[int, Mapping[_RoundKey, int]]) -> list[tuple[str, str, Share]]:
    """Each rule as (code, words, share of all rounds)."""
    totals: Counter[str] = Counter()
    for counts in rounds.values():
        for (reason, _, _), count in counts.items():
            totals[reason] += count
    every = sum(totals.values())
    return [
        (reason.value, reason.value.replace("_", " "), Share(totals[reason], every, "there are no rounds"))
        for reason in SkipReason
    ]


def _nodes(study: Study) -> tuple[dict[int, dict[str, Any]], int]:
    """By model: `types` (nodes by type) and `runs` (runs with a node); and how many nodes have an agreed type."""
    found: dict[int, dict[str, Any]] = defaultdict(lambda: {"types": {}, "runs": 0})
    nodes = FailureNode.objects.filter(run__study=study)
    same_type = 0
    by_type = nodes.values_list("run__model_id", "error_type").annotate(
        count=Count("id"), agreed=Count("id", filter=Q(is_type_agreed=True))
    )
    for model_id, error_type, count, agreed in by_type.order_by():
        found[model_id]["types"][error_type] = count
        same_type += agreed
    by_model = nodes.values_list("run__model_id").annotate(runs=Count("run", distinct=True)).order_by()
    for model_id, runs in by_model:
        found[model_id]["runs"] = runs
    return found, same_type


def _links(study: Study) -> dict[int, dict[str, int]]:
    """By model: how many links, and how many distinct nodes, groups and runs they join."""
    rows = (
        Link.objects.filter(run__study=study)
        .values_list("run__model_id")
        .annotate(
            links=Count("id"),
            nodes=Count("node", distinct=True),
            groups=Count("group", distinct=True),
            runs=Count("run", distinct=True),
        )
        .order_by()
    )
    return {
        model_id: {"links": links, "nodes": nodes, "groups": groups, "runs": runs}
        for model_id, links, nodes, groups, runs in rows
    }


def _models(
    study: Study,
    rounds: Mapping[int, Mapping[_RoundKey, int]],
    nodes: Mapping[int, Mapping[str, Any]],
    links: Mapping[int, Mapping[str, int]],
) -> list[ModelProcess]:
    runs = (
        Run.objects.filter(study=study)
        .values_list("model_id", "model__name")
        .annotate(count=Count("id"))
        .order_by("model__family", "model__name")
    )
    rows = []
    for model_id, name, count in runs:
        found = nodes.get(model_id, {"types": {}, "runs": 0})
        linked = links.get(model_id, {"nodes": 0, "runs": 0})
        rows.append(
            ModelProcess(
                name=name,
                runs=count,
                accounting=_accounting(rounds.get(model_id, {}).items()),
                nodes=sum(found["types"].values()),
                runs_with_node=found["runs"],
                linked_nodes=linked["nodes"],
                runs_with_link=linked["runs"],
                types=found["types"],
            )
        )
    return rows
