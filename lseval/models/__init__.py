"""The rows of the automatic pipeline, from a study down to a provider call."""

from lseval.models.ledger import Call
from lseval.models.outcome import AnswerGroup, Citation, Rubric, Verdict
from lseval.models.process import FailureNode, Judgement, Link, RoundConsensus
from lseval.models.study import EvaluatedModel, Membership, Role, Study, Task, User
from lseval.models.trajectory import Attempt, Page, PageSource, ReferenceLabel, Round, Run, ToolCall, Turn

__all__ = [
    "AnswerGroup",
    "Attempt",
    "Call",
    "Citation",
    "EvaluatedModel",
    "FailureNode",
    "Judgement",
    "Link",
    "Membership",
    "Page",
    "PageSource",
    "ReferenceLabel",
    "Role",
    "Round",
    "RoundConsensus",
    "Rubric",
    "Run",
    "Study",
    "Task",
    "ToolCall",
    "Turn",
    "User",
    "Verdict",
]
