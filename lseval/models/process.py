"""Stage 2: what the two judges say of the rounds, the failure nodes, and their links to groups."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.domain.taxonomy import UNASSIGNED
from lseval.models.outcome import AnswerGroup
from lseval.models.trajectory import Round, Run

JUDGE_ROLES = ["A", "B"]
VERDICTS = [*RoundLabel, UNJUDGED]


class Judgement(models.Model):
    """One judge's opinion of one round, with the groups that it ties to the round."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="judgements")
    judge_role = models.CharField(max_length=1, choices=[(role, f"judge {role}") for role in JUDGE_ROLES])
    verdict = models.CharField(max_length=10, choices=[(str(value), str(value)) for value in VERDICTS])
    error_type = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    code = models.CharField(max_length=30, blank=True, default="", help_text="why the round is left unjudged")
    flags = models.JSONField(default=list, blank=True)
    groups = models.ManyToManyField(AnswerGroup, related_name="judgements", blank=True)
    judge = models.CharField(max_length=200)
    judge_version = models.CharField(max_length=100)
    judged_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["round_id", "judge_role"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "judge_role"], name="one_judgement_per_round_and_judge"),
            models.CheckConstraint(name="judge_role_is_known", condition=models.Q(judge_role__in=JUDGE_ROLES)),
            models.CheckConstraint(name="judgement_is_known", condition=models.Q(verdict__in=VERDICTS)),
        ]


class RoundConsensus(models.Model):
    """What the two judgements of a round come to. `is_split` marks error against non-error."""

    round = models.OneToOneField(Round, models.CASCADE, related_name="consensus")
    verdict = models.CharField(max_length=10, choices=[(str(value), str(value)) for value in VERDICTS])
    is_split = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="consensus_is_known", condition=models.Q(verdict__in=VERDICTS)),
            models.CheckConstraint(
                name="split_is_non_error", condition=models.Q(is_split=False) | models.Q(verdict="non_error")
            ),
        ]


class FailureNode(models.Model):
    """A round that both judges call an error, with its type."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="failure_nodes")
    round = models.OneToOneField(Round, models.CASCADE, related_name="failure_node")
    error_type = models.CharField(max_length=40, default=UNASSIGNED)
    is_type_agreed = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["run_id", "round__number"]


class Link(models.Model):
    """A retained edge: a distinct (run, round, incorrect group)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="links")
    node = models.ForeignKey(FailureNode, models.CASCADE, related_name="links")
    round = models.ForeignKey(Round, models.CASCADE, related_name="links")
    group = models.ForeignKey(AnswerGroup, models.CASCADE, related_name="links")

    class Meta:
        ordering: ClassVar = ["run_id", "round__number", "group__number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "round", "group"], name="a_link_is_distinct")
        ]
