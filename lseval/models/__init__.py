"""The rows of the automatic pipeline, from a study down to a provider call."""

from lseval.models.jobs import Job, JobKind, JobState
from lseval.models.ledger import AnyCall, Call, CallKind, MovedCall, Phase, StoredMessage
from lseval.models.outcome import AnswerGroup, Citation, Rubric, SecondVerdict, Verdict
from lseval.models.process import FailureNode, Judgement, Link, RoundConsensus
from lseval.models.study import EvaluatedModel, Membership, Role, Study, Task, User
from lseval.models.trajectory import (
    Attempt,
    Page,
    PageContent,
    PageSource,
    ReferenceLabel,
    Round,
    Run,
    ToolCall,
    Turn,
)

__all__ = [
    "AnswerGroup",
    "AnyCall",
    "Attempt",
    "Call",
    "CallKind",
    "Citation",
    "EvaluatedModel",
    "FailureNode",
    "Job",
    "JobKind",
    "JobState",
    "Judgement",
    "Link",
    "Membership",
    "MovedCall",
    "Page",
    "PageContent",
    "PageSource",
    "Phase",
    "ReferenceLabel",
    "Role",
    "Round",
    "RoundConsensus",
    "Rubric",
    "Run",
    "SecondVerdict",
    "StoredMessage",
    "Study",
    "Task",
    "ToolCall",
    "Turn",
    "User",
    "Verdict",
]
