"""What leads send about an audit that is under way and about the codebook, parsed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from annotation.codebooks import LONGEST_CODEBOOK, LONGEST_NOTE
from annotation.forms import DrawForm
from annotation.models import Audit, AuditStatus
from lseval.models import Study, User


class ExtensionForm(DrawForm):
    """The plan of a further draw; its seed follows from the audit's."""

    name = None  # type: ignore[assignment]
    seed = None  # type: ignore[assignment]


class ReassignForm(forms.Form):
    """Whose place ends, and who takes it over."""

    leaving = forms.ModelChoiceField(User.objects.none())
    to = forms.ModelChoiceField(User.objects.none(), required=False)

    def __init__(self, *args: Any, leaving: list[User], people: list[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, found in (("leaving", leaving), ("to", people)):
            self.fields[name].queryset = User.objects.filter(pk__in=[user.pk for user in found])  # type: ignore[attr-defined]


class CodebookForm(forms.Form):
    """The next version of a codebook, and the audits that it goes into force in."""

    text = forms.CharField(
        label="Guidelines",
        max_length=LONGEST_CODEBOOK,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24}),
        help_text="Markdown: headings, lists, tables and links. Raw HTML is shown as text. A list entry like "
        "“- **Correct** (c): …” under the heading of its kind also describes the button.",
    )
    note = forms.CharField(label="What has changed", max_length=LONGEST_NOTE, help_text="One line.")
    audits = forms.ModelMultipleChoiceField(
        Audit.objects.none(),
        label="Put in force in",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Labels given before keep the version that they were given under.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["audits"].queryset = self.open_in(study)  # type: ignore[attr-defined]

    @staticmethod
    def open_in(study: Study) -> QuerySet[Audit]:
        """The study's audits that are not closed."""
        return study.audits.exclude(status=AuditStatus.CLOSED).order_by("-id")
