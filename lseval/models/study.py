"""A study, its people, its tasks and the models under test."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models


class User(AbstractUser):
    """A person who logs in, or a simulated labeler, who never can."""

    is_simulated = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [
            models.CheckConstraint(
                name="simulated_user_is_no_superuser",
                condition=models.Q(is_simulated=False) | models.Q(is_superuser=False, is_staff=False),
            )
        ]


class Study(models.Model):
    """One evaluation. Every other row belongs to one."""

    slug = models.SlugField(
        unique=True, max_length=60, validators=[RegexValidator(r"^[a-z0-9][a-z0-9-]*$", "use a-z, 0-9 and -")]
    )
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    settings = models.JSONField(default=dict, blank=True, help_text="controls and policies, as name: value")
    is_demo = models.BooleanField(default=False)
    is_paused = models.BooleanField(default=False, help_text="no new job is started while set")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member may do. A lead may also do what a researcher may."""

    LEAD = "lead"
    RESEARCHER = "researcher"
    ANNOTATOR = "annotator"


class Membership(models.Model):
    """A person's one role in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "user"], name="one_role_per_study_and_user"),
            models.CheckConstraint(name="membership_role_is_known", condition=models.Q(role__in=Role.values)),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} in {self.study}"


class Task(models.Model):
    """An evaluation question. `rubric` holds a rubric given with the task, if one was."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="tasks")
    key = models.CharField(max_length=200, help_text="the task's identifier in its source")
    question = models.TextField()
    topic = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=20, blank=True)
    gold_answer = models.TextField(blank=True, help_text="kept for reference; no judge sees it")
    rubric = models.JSONField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "key"], name="one_task_per_study_and_key")
        ]

    def __str__(self) -> str:
        return self.key


class EvaluatedModel(models.Model):
    """A model under test, with its family and provider settings."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="models")
    name = models.CharField(max_length=200)
    family = models.CharField(max_length=200, blank=True)
    settings = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["family", "name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "name"], name="one_model_per_study_and_name")
        ]

    def __str__(self) -> str:
        return self.name
