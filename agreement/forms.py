"""What a reader of the whole-study page may ask for."""

from __future__ import annotations

from typing import Any

from django import forms

from agreement.whole_study import Wanted

_DEFAULT = Wanted()


class PlannerForm(forms.Form):
    """The half-widths of the intervals that a plan is for; what is left out keeps its default."""

    share = forms.FloatField(
        label="Half-width of a share or coefficient",
        min_value=0.001,
        max_value=0.49,
        required=False,
        widget=forms.NumberInput(attrs={"step": "0.001"}),
    )
    points = forms.FloatField(
        label="Half-width of a mean score, points",
        min_value=0.1,
        max_value=50,
        required=False,
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )

    def __init__(self, asked: Any) -> None:
        given = {name: asked.get(name) or getattr(_DEFAULT, name) for name in ("share", "points")}
        super().__init__(given)

    @property
    def wanted(self) -> Wanted:
        """What was asked for, or the defaults where that cannot be used."""
        if not self.is_valid():
            return _DEFAULT
        return Wanted(self.cleaned_data["share"], self.cleaned_data["points"])
