"""Small studies for the tests, made through the same services that the program uses."""

from __future__ import annotations

from lseval.domain.trajectory import PageRecord, RubricRecord, RunRecord, ToolCallRecord, TurnRecord
from lseval.models import Membership, Role, Run, Study, User, Verdict
from lseval.pipeline.import_runs import import_run

PAGE_TEXT = "Lake Aldis ferry opened in 1962. It is 840 metres long and carried 210,000 passengers in 2023."
ANSWER = """1. Lake Aldis ferry: opened in 1962 [1]
2. Lake Borun ferry: opened in 1971 [2]

Sources
[1] https://ferries.example/aldis
[2] https://ferries.example/borun
"""


def make_study(slug: str = "s1") -> Study:
    """An empty study."""
    return Study.objects.create(slug=slug, name=f"Study {slug}")


def make_user(username: str, study: Study | None = None, role: str = Role.ANNOTATOR) -> User:
    """A person with the password `pw`, a member of the study if one is given."""
    user = User.objects.create_user(username, password="pw")
    if study is not None:
        Membership.objects.create(study=study, user=user, role=role)
    return user


def make_record(task: str = "t1", model: str = "m1", answer: str = ANSWER, **changes: object) -> RunRecord:
    """A run with one search round, one reading round and an answer of two groups on two cited pages."""
    content: dict = {
        "task_key": task,
        "question": f"Which two ferries of {task} opened before 1975?",
        "model_name": model,
        "model_family": model[:1],
        "final_answer": answer,
        "turns": (
            TurnRecord(
                "I will search for the ferries.",
                (
                    ToolCallRecord(
                        "web_search", "web_search", {"query": task}, "1. Ferries https://ferries.example/aldis"
                    ),
                ),
            ),
            TurnRecord(
                "The Lake Aldis ferry opened in 1962.",
                (
                    ToolCallRecord(
                        "read_page", "read_page", {"url": "https://ferries.example/aldis", "task": task}, PAGE_TEXT
                    ),
                ),
            ),
        ),
        "pages": (
            PageRecord("https://ferries.example/aldis", PAGE_TEXT, "Lake Aldis ferry"),
            PageRecord("https://ferries.example/borun", "", "Lake Borun ferry", "not_found"),
        ),
        "rubric": RubricRecord(2, ("opened before 1975",), "one ferry is one group", ("opening year",)),
    }
    return RunRecord(**{**content, **changes})


def make_run(study: Study, task: str = "t1", model: str = "m1", answer: str = ANSWER, **changes: object) -> Run:
    """A saved run; see `make_record`."""
    outcome = import_run(study, make_record(task, model, answer, **changes), source_format="test")
    return Run.objects.get(pk=outcome.run_id)


def give_verdict(run: Run, *labels: str) -> None:
    """Store Stage 1 verdicts on the groups of a run, in order."""
    for group, label in zip(run.answer_groups.all(), labels, strict=True):
        Verdict.objects.update_or_create(
            group=group, defaults={"label": label, "reason": "set by a test", "judge": "test", "judge_version": "1"}
        )
