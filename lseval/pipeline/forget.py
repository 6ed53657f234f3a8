"""Undoing Stage 2 of a run whose verdicts change."""

from __future__ import annotations

from lseval.models import Judgement, RoundConsensus, Run


def forget_process(run: Run) -> None:
    """Remove the run's judgements, consensus, failure nodes and links, so that it waits for Stage 2 again."""
    if not Judgement.objects.filter(round__run=run).exists():
        return
    Judgement.objects.filter(round__run=run).delete()
    RoundConsensus.objects.filter(round__run=run).delete()
    run.failure_nodes.all().delete()
