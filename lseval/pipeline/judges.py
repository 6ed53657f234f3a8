"""Who judges a study: the models that its settings name, through the ledger, or the embedded baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol

from lseval.domain.chat import Chat, ChatReply, ChatRequest
from lseval.domain.evidence import EvidencePage, GroupUnderAudit, JudgementDraft, RoundUnderAudit, VerdictDraft
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded import STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME, VERSION
from lseval.judging.embedded.stage1 import verify_group
from lseval.judging.embedded.stage2 import judge_round_a, judge_round_b
from lseval.judging.preparation import Preparer
from lseval.judging.stage1 import Stage1Judge
from lseval.judging.stage2 import Stage2Judge
from lseval.models import Phase, Run, Study
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.ledger import Ledger
from lseval.pipeline.ledger_store import KeptReply, replies_of_run
from lseval.pipeline.providers_of import openai_chat
from lseval.pipeline.study_files.schema import JudgeRole
from lseval.pipeline.study_settings import allow_of, judge_endpoint_of, judge_price_of, judge_settings_of

Known = dict[tuple[str, int], KeptReply]
"""Replies of the ledger by digest and repeat."""

STAGE_1_ROLES: Final[tuple[JudgeRole, ...]] = ("stage1", "stage1_second", "rubric", "grouping")
STAGE_2_ROLES: Final[dict[str, JudgeRole]] = {"A": "stage2_a", "B": "stage2_b"}
_EMBEDDED_STAGE_2: Final = {"A": (STAGE2_A_NAME, judge_round_a), "B": (STAGE2_B_NAME, judge_round_b)}


@dataclass(frozen=True, slots=True)
class JudgeName:
    """A judge as it is kept with what it says."""

    name: str
    version: str


class Verify(Protocol):
    """Stage 1's judge of one group; the arguments are those of `Stage1Judge.verify`."""

    def __call__(
        self,
        question: str,
        rubric: RubricRecord,
        title: str,
        text: str,
        fields: Mapping[str, str],
        pages: Sequence[EvidencePage],
        /,
    ) -> VerdictDraft: ...


@dataclass(frozen=True, slots=True)
class Verifier:
    """A judge of Stage 1 with its name."""

    name: JudgeName
    verify: Verify


@dataclass(frozen=True, slots=True)
class RoundEvidence:
    """What both judges of Stage 2 are given of a round."""

    question: str
    rubric: RubricRecord
    response: str
    groups: Sequence[GroupUnderAudit]
    round_: RoundUnderAudit
    earlier: Sequence[RoundUnderAudit]


@dataclass(frozen=True, slots=True)
class Auditor:
    """A judge of Stage 2 with its name."""

    name: JudgeName
    judge: Callable[[RoundEvidence], JudgementDraft]


def is_embedded(study: Study, *roles: JudgeRole) -> bool:
    """Whether none of those roles is given to a model, so that judging is computing and asks nobody."""
    return not any(study.settings.get("judges", {}).get(role) for role in roles)


def stage1_name(study: Study, role: Literal["stage1", "stage1_second"] = "stage1") -> JudgeName | None:
    """The judge of Stage 1 that the study names; None for a second one that it does not have."""
    endpoint = judge_endpoint_of(study, role)
    if endpoint is None:
        return JudgeName(STAGE1_NAME, VERSION) if role == "stage1" else None
    judge = Stage1Judge(_nobody, endpoint)
    return JudgeName(judge.name, judge.version)


def stage2_name(study: Study, role: Literal["A", "B"]) -> JudgeName:
    """The judge of Stage 2 in that role."""
    endpoint = judge_endpoint_of(study, STAGE_2_ROLES[role])
    if endpoint is None:
        return JudgeName(_EMBEDDED_STAGE_2[role][0], VERSION)
    judge = Stage2Judge(role, _nobody, endpoint)
    return JudgeName(judge.name, judge.version)


def verifier(
    run: Run,
    group: int,
    hooks: Hooks,
    *,
    role: Literal["stage1", "stage1_second"] = "stage1",
    repeat: int = 0,
    known: Known | None = None,
) -> Verifier | None:
    """Who verifies that group of the run; None where the study has no judge in that role.

    `known` has all replies about the run that the ledger holds (`known_replies`), for judging many of its groups.
    """
    name = stage1_name(run.study, role)
    if name is None:
        return None
    endpoint = judge_endpoint_of(run.study, role)
    if endpoint is None:
        return Verifier(name, partial(verify_group, number=group))
    chat = _chat(run, Phase.STAGE_1, role, f"{role}:G{group}", hooks, repeat, known=known)
    return Verifier(name, Stage1Judge(chat, endpoint).verify)


def known_replies(run: Run, *roles: JudgeRole) -> Known | None:
    """All replies about the run in Stage 1; None where the embedded judge is in those roles and asks nobody."""
    if is_embedded(run.study, *roles):
        return None
    return replies_of_run(run.study_id, Phase.STAGE_1, run.task_id, run.model_id)


def auditor(run: Run, round_number: int, role: Literal["A", "B"], hooks: Hooks) -> Auditor:
    """Who audits that round of the run as judge A or B."""
    name = stage2_name(run.study, role)
    endpoint = judge_endpoint_of(run.study, STAGE_2_ROLES[role])
    if endpoint is None:
        judge_round = _EMBEDDED_STAGE_2[role][1]
        return Auditor(
            name,
            lambda seen: judge_round(seen.question, seen.rubric, seen.groups, seen.round_, seen.earlier),
        )
    chat = _chat(run, Phase.STAGE_2, STAGE_2_ROLES[role], f"{STAGE_2_ROLES[role]}:R{round_number}", hooks)
    judge = Stage2Judge(role, chat, endpoint)
    return Auditor(
        name, lambda seen: judge.judge(seen.question, seen.rubric, seen.response, seen.groups, seen.round_)
    )


def preparer(run: Run, role: Literal["rubric", "grouping"], hooks: Hooks) -> Preparer | None:
    """The model that reads rubrics, or takes responses apart; None where the study leaves that to the rules.

    With the setting `rubric_per` *task* all runs of a task ask the same, and the ledger answers all but the first.
    """
    endpoint = judge_endpoint_of(run.study, role)
    if endpoint is None:
        return None
    is_shared = role == "rubric" and run.study.settings.get("rubric_per", "run") == "task"
    return Preparer(_chat(run, Phase.STAGE_1, role, role, hooks, is_shared=is_shared), endpoint)


def _chat(
    run: Run,
    phase: Phase,
    setting: JudgeRole,
    role: str,
    hooks: Hooks,
    repeat: int = 0,
    *,
    is_shared: bool = False,
    known: Known | None = None,
) -> Chat:
    settings = judge_settings_of(run.study, setting)
    assert settings is not None
    ledger = Ledger(
        run.study,
        phase,
        task_id=run.task_id,
        model_id=None if is_shared else run.model_id,
        role=role,
        repeat=repeat,
        policy=hooks.policy,
        before_call=hooks.before_call,
        sleep=hooks.sleep,
        on_call=hooks.on_call,
        known=known,
    )
    return ledger.chat(
        openai_chat(allow_of(run.study)), price=judge_price_of(run.study, setting), most=settings.concurrency
    )


def _nobody(request: ChatRequest) -> ChatReply:
    raise AssertionError("a judge made for its name is not asked")
