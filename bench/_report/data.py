"""A made-up study of the paper's size, put straight into the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

TASKS, MODELS, ROUNDS = 100, 16, 27
_BATCH = 5_000
_OBSERVATION = (
    "The Lake Aldis ferry opened in 1962 and carried many passengers on a long line over calm water. " * 12
)
_TYPES = (
    "wrong_entity", "constraint_violation", "missing_required_field", "insufficient_evidence",
    "source_not_supporting",
    "source_quality_error", "temporal_error", "scope_error", "mapping_error", "grouping_error", "unassigned",
)  # fmt: skip


def make_study(slug: str = "bench-report", tasks: int = TASKS, models: int = MODELS, rounds: int = ROUNDS) -> Any:
    """The study: runs with rounds, calls, citations, verdicts, judgements, nodes, links, and a labeled audit."""
    from annotation.models import LabelerRole
    from annotation.sampling import Plan
    from annotation.services import create_audit
    from annotation.simulation import simulate_labels
    from lseval.models import EvaluatedModel, SecondVerdict, Study, Task, Verdict

    random = Random(42_658)  # noqa: S311 - the same study every time
    study = Study.objects.create(slug=slug, name="Bench: the paper's size")
    task_rows = Task.objects.bulk_create(Task(study=study, key=f"t{n}", question="?") for n in range(tasks))
    model_rows = EvaluatedModel.objects.bulk_create(
        EvaluatedModel(study=study, name=f"Model {n}", family=f"Family {n // 2}") for n in range(models)
    )
    runs = _runs(study, task_rows, model_rows)
    groups = _groups(runs, random)
    _trajectories(runs, groups, random, rounds)
    verdicts = Verdict.objects.filter(group__run__study=study)
    label = dict(verdicts.values_list("group_id", "label"))
    audit = create_audit(study, Plan(), 1, "bench", None)
    SecondVerdict.objects.bulk_create(
        [
            SecondVerdict(
                group_id=pk, label=random.choice("CIU") if random.random() < 0.1 else said, reason="bench",
                judge="bench, second", judge_version="1",
            )
            for pk, said in label.items()
        ],
        _BATCH,
    )  # fmt: skip
    for role in (LabelerRole.H1, LabelerRole.H2):
        simulate_labels(audit, role, lambda item: _truth(item, label), 1, 0.06)
    return study


def _truth(item: Any, label: dict[int, str]) -> str:
    return {"group": label.get(item.group_id, "C"), "link": "corresponds", "round": "non_error"}[item.kind]


def _runs(study: Any, tasks: Sequence[Any], models: Sequence[Any]) -> list[Any]:
    from lseval.models import Attempt, Rubric, Run

    runs = Run.objects.bulk_create(
        Run(
            study=study, task=task, model=model, source_format="bench", source_digest=f"{task.pk} {model.pk}",
            is_valid_final=True, is_final_only=False, is_premature=False,
        )
        for task in tasks
        for model in models
    )  # fmt: skip
    Attempt.objects.bulk_create(Attempt(run=run, number=1) for run in runs)
    Rubric.objects.bulk_create(
        Rubric(
            run=run, required_count=4 + run.task_id % 3, origin="bench", constraints=["a"] * (1 + run.pk % 4),
            grouping_rule=f"One ferry is one group, rule {run.pk % 3}.",
        )
        for run in runs
    )  # fmt: skip
    return runs


def _groups(runs: Sequence[Any], random: Random) -> dict[int, list[tuple[Any, str]]]:
    from lseval.models import AnswerGroup, Citation, Verdict

    groups = AnswerGroup.objects.bulk_create(
        [
            AnswerGroup(run=run, number=n + 1, text="group", start=n, end=n + 1)
            for run in runs
            for n in range(random.randint(3, 6))
        ],
        _BATCH,
    )
    labels = [random.choices("CIU", (52, 42, 6))[0] for _ in groups]
    Verdict.objects.bulk_create(
        [
            Verdict(group=group, label=label, reason="bench", judge="bench", judge_version="1")
            for group, label in zip(groups, labels, strict=True)
        ],
        _BATCH,
    )
    Citation.objects.bulk_create(
        [
            Citation(
                run_id=group.run_id, group=group, url=f"https://f{group.pk % 9}.example/{group.pk}",
                canonical_key=f"https://f{group.pk % 9}.example/{group.pk}", is_inline=True,
            )
            for group in groups
        ],
        _BATCH,
    )  # fmt: skip
    found: dict[int, list[tuple[Any, str]]] = {}
    for group, label in zip(groups, labels, strict=True):
        found.setdefault(group.run_id, []).append((group, label))
    return found


def _trajectories(
    runs: Sequence[Any], groups: dict[int, list[tuple[Any, str]]], random: Random, rounds: int
) -> None:
    from lseval.models import Round, ToolCall, Turn

    for part in _parts(runs, 100):
        made = Round.objects.bulk_create(
            [
                Round(run=run, number=n + 1, skip_reason="listing_only" if random.random() < 0.62 else "")
                for run in part
                for n in range(max(1, rounds + random.randint(-8, 8)))
            ],
            _BATCH,
        )
        turns = Turn.objects.bulk_create(
            [Turn(run_id=row.run_id, round=row, number=row.number, text="I look on.") for row in made], _BATCH
        )
        ToolCall.objects.bulk_create(
            [
                ToolCall(turn=turn, number=n + 1, name=name, observation=_OBSERVATION, arguments={"q": "ferry"})
                for turn in turns
                for n, name in enumerate(random.choices(_TOOLS, (35, 28, 20, 15, 2), k=random.randint(1, 3)))
            ],
            _BATCH,
        )
        _stage_2([row for row in made if not row.skip_reason], groups, random)


_TOOLS = ("web_search", "open_page", "read_page", "find_in_page", "extract")


def _stage_2(rounds: Sequence[Any], groups: dict[int, list[tuple[Any, str]]], random: Random) -> None:
    from lseval.models import FailureNode, Judgement, Link, RoundConsensus

    ended = {row.pk: random.choices(("error", "non_error", "skipped"), (40, 50, 10))[0] for row in rounds}
    Judgement.objects.bulk_create(
        [
            Judgement(
                round=row, judge_role=role, verdict=ended[row.pk], explanation="bench", judge=f"bench {role}",
                judge_version="1",
            )
            for row in rounds
            for role in "AB"
        ],
        _BATCH,
    )  # fmt: skip
    RoundConsensus.objects.bulk_create([RoundConsensus(round=row, verdict=ended[row.pk]) for row in rounds], _BATCH)
    nodes = FailureNode.objects.bulk_create(
        [
            FailureNode(run_id=row.run_id, round=row, error_type=random.choice(_TYPES), is_type_agreed=True)
            for row in rounds
            if ended[row.pk] == "error"
        ],
        _BATCH,
    )
    Link.objects.bulk_create(
        [
            Link(run_id=node.run_id, node=node, round_id=node.round_id, group=group)
            for node in nodes
            if random.random() < 0.56
            for group, label in groups.get(node.run_id, [])[:3]
            if label == "I"
        ],
        _BATCH,
    )


def _parts(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
