"""What labelers and leads send, parsed; whether it fits is for the services to say."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any

from django import forms

from annotation.models import LabelerRole
from annotation.sampling import Plan
from annotation.services import LABELER_ROLES, LARGEST_SEED, LONGEST_NAME, free_name
from lseval.models import User

_LARGEST_ID = 2**63 - 1
_LARGEST_NUMBER = 100_000


class SlotForm(forms.Form):
    """What every request about a slot carries."""

    slot = forms.IntegerField(min_value=1, max_value=_LARGEST_ID)
    request_key = forms.UUIDField()


class DecisionForm(SlotForm):
    """What every decision on a slot carries."""

    base_version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    seconds_on_task = forms.FloatField(required=False, min_value=0)


class LabelForm(DecisionForm):
    """A label with its comment."""

    label = forms.CharField(max_length=40)
    error_type = forms.CharField(required=False, max_length=80)
    comment = forms.CharField(required=False, strip=False)
    evidence = forms.CharField(required=False, max_length=64)


class SkipForm(DecisionForm):
    """A skip with its reason."""

    reason = forms.CharField(required=False, strip=False)


class FlagForm(SlotForm):
    """A flag with its note, or the end of one."""

    note = forms.CharField(required=False, strip=False)
    take_back = forms.BooleanField(required=False)


class RulingForm(DecisionForm):
    """An adjudicator's decision: the label, the reason as its comment, and which pair of labels they saw."""

    label = forms.CharField(max_length=40)
    error_type = forms.CharField(required=False, max_length=80)
    comment = forms.CharField(required=False, strip=False)
    evidence = forms.CharField(required=False, max_length=64)
    pair = forms.CharField(max_length=60)


class RebuildForm(forms.Form):
    """Which disagreements are queued."""

    with_automatic = forms.BooleanField(required=False)


class UndoForm(forms.Form):
    """An undo of the last decision."""

    request_key = forms.UUIDField()


class SeatForm(forms.Form):
    """Who gets a place in which role's queue."""

    user = forms.ModelChoiceField(User.objects.none(), label="Person", empty_label=None)
    role = forms.ChoiceField(label="Role", choices=[(role, LabelerRole(role).label) for role in LABELER_ROLES])

    def __init__(self, *args: Any, people: list[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["user"]
        field.queryset = User.objects.filter(pk__in=[person.pk for person in people]).order_by("username")  # type: ignore[attr-defined]


class AdjudicatorForm(forms.Form):
    """Who adjudicates."""

    user = forms.ModelChoiceField(User.objects.none(), empty_label=None)

    def __init__(self, *args: Any, people: list[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = User.objects.filter(pk__in=[person.pk for person in people])  # type: ignore[attr-defined]


class DrawForm(forms.Form):
    """The plan of a draw. What is larger than the study gives all that the study has."""

    name = forms.CharField(max_length=LONGEST_NAME, help_text="Unique within the study.")
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The same seed draws the same sample from the same runs.",
    )
    tasks = forms.IntegerField(min_value=1, max_value=_LARGEST_NUMBER, help_text="How many tasks are drawn.")
    responses_per_task = forms.IntegerField(label="Responses per task", min_value=1, max_value=_LARGEST_NUMBER)
    h2_tasks = forms.IntegerField(
        label="Tasks to H2 as well",
        min_value=0,
        max_value=_LARGEST_NUMBER,
        required=False,
        help_text="Empty: a fifth of the drawn tasks, one at least.",
    )
    trajectories = forms.IntegerField(
        min_value=0,
        max_value=_LARGEST_NUMBER,
        help_text="From how many trajectories all links go to H1; drawn by whole tasks.",
    )
    with_rounds = forms.BooleanField(label="Put their rounds to H1 too", required=False)
    reveal_after_submission = forms.BooleanField(
        label="Let labelers see the automatic verdict on an item once they have labeled it",
        required=False,
        help_text="Their label of that item is final from then on.",
    )

    @staticmethod
    def of(plan: Plan) -> dict[str, Any]:
        """A plan as the form begins with it."""
        return {
            "tasks": plan.tasks,
            "responses_per_task": plan.responses_per_task,
            "h2_tasks": plan.h2_tasks,
            "trajectories": plan.link_trajectories,
            "with_rounds": plan.round_trajectories > 0,
        }

    @classmethod
    def proposal(cls, taken_names: Collection[str], plan: Plan) -> dict[str, Any]:
        """A free name and a random seed to begin with, beside the plan."""
        return {**cls.of(plan), "name": free_name(taken_names), "seed": secrets.randbelow(1_000_000)}

    def plan(self) -> Plan:
        """The plan that a valid form asks for."""
        given = self.cleaned_data
        return Plan(
            tasks=given["tasks"],
            responses_per_task=given["responses_per_task"],
            h2_tasks=given["h2_tasks"],
            link_trajectories=given["trajectories"],
            round_trajectories=given["trajectories"] if given["with_rounds"] else 0,
        )
