"""A study's model judge on claims that people labelled, through the ledger, so that measuring again is free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from lseval.domain.evidence import EvidencePage
from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.domain.trajectory import RubricRecord
from lseval.errors import InputError
from lseval.judging.embedded.measuring import NOT, SUPPORTED, Measured
from lseval.judging.stage1 import Stage1Judge
from lseval.models import Phase, Study
from lseval.pipeline.ledger import Ledger
from lseval.pipeline.providers_of import openai_chat
from lseval.pipeline.study_settings import allow_of, judge_endpoint_of, judge_price_of, judge_settings_of


def measure_model_judge(
    study: Study, rows: Sequence[Mapping[str, Any]], *, threads: int, advance: Callable[[], None] = lambda: None
) -> tuple[Measured, Counter[str]]:
    """The judge's two degrees beside people's three, and why it gave no label, by reason.

    Rows have `claim`, `evidence` (a list of sentences), `label` and `meta.id`. C stands for supported and I for not
    supported; a claim without a label is counted apart.

    Raises:
        InputError: the study names no model for Stage 1.
    """
    if judge_endpoint_of(study, "stage1") is None:
        raise InputError(
            f"{study.slug} names no model for Stage 1: set judges.stage1 in its file, or leave --study out to "
            "measure the embedded judge."
        )

    def judged(row: Mapping[str, Any]) -> tuple[str, str, str]:
        try:
            verdict = _judge(study, row)
        finally:
            connection.close()
        advance()
        if verdict.label == UNJUDGED:
            return str(row["label"]), "", verdict.code
        return str(row["label"]), SUPPORTED if verdict.label == GroupLabel.CORRECT else NOT, ""

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(judged, rows))
    return (
        Measured.of((people, said) for people, said, _ in found if said),
        Counter(reason for _, said, reason in found if not said),
    )


def _judge(study: Study, row: Mapping[str, Any]) -> Any:
    endpoint, settings = judge_endpoint_of(study, "stage1"), judge_settings_of(study, "stage1")
    assert endpoint is not None
    assert settings is not None
    ledger = Ledger(study, Phase.STAGE_1, role=f"measure:{row['meta']['id']}"[:60])
    chat = ledger.chat(
        openai_chat(allow_of(study)), price=judge_price_of(study, "stage1"), most=settings.concurrency
    )
    page = EvidencePage("page", "", "\n".join(row["evidence"]))
    return Stage1Judge(chat, endpoint).verify("", RubricRecord(1), "", row["claim"], {}, [page])
