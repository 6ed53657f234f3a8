"""The page on which a lead brings runs into a study: a file is uploaded or pasted, and told what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from lseval.access import require_access
from lseval.errors import InputError
from lseval.formats import FORMATS
from lseval.models import Role
from lseval.site.importing import LARGEST_BYTES, FileReport, import_file

_PASTED = "pasted.jsonl"
_LARGEST_TEXT = 2_000_000


class RunsFileForm(forms.Form):
    """A file of runs, uploaded or pasted, and how to read it."""

    upload = forms.FileField(
        label="File",
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.json,.eval"}),
        help_text="Up to 10 MB and 500 runs; manage.py import_runs takes any size.",
    )
    text = forms.CharField(
        label="Or its text",
        required=False,
        max_length=_LARGEST_TEXT,
        strip=False,
        widget=forms.Textarea(attrs={"class": "input mono", "rows": 8, "spellcheck": "false", "wrap": "off"}),
    )
    format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[
            ("auto", "Told from the content"),
            *((name, entry.description) for name, entry in FORMATS.items()),
        ],
        initial="auto",
        widget=forms.Select(attrs={"class": "input"}),
    )
    model = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"class": "input"}),
        help_text="Used only where the file names none.",
    )
    leave_out_faulty = forms.BooleanField(
        label="Leave out rows that cannot be read, and import the others",
        required=False,
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        upload = given.get("upload")
        if upload is not None and upload.size > LARGEST_BYTES:
            raise forms.ValidationError("The file is larger than 10 MB: use manage.py import_runs.")
        if upload is None and not given.get("text", "").strip():
            raise forms.ValidationError("Choose a file or paste its text.")
        return given

    @property
    def source(self) -> tuple[str, Iterable[bytes]]:
        """The file's name and its bytes; an uploaded one goes before a pasted one."""
        upload = self.cleaned_data["upload"]
        if upload is not None:
            return upload.name, upload.chunks()
        return _PASTED, [self.cleaned_data["text"].encode("utf-8", "surrogatepass")]


@require_http_methods(["GET", "HEAD", "POST"])
def import_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Try a file of runs and tell what would become of it; with `import` in the form, import it. For leads."""
    study = require_access(request, slug, Role.LEAD).study
    if request.method != "POST":
        return _page(request, slug, RunsFileForm())
    form = RunsFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, slug, form, status=400)
    name, chunks = form.source
    try:
        report = import_file(
            study,
            name,
            chunks,
            asked_format=form.cleaned_data["format"] or "auto",
            default_model=form.cleaned_data["model"].strip(),
            leave_out_faulty=form.cleaned_data["leave_out_faulty"],
            only_check="import" not in request.POST,
        )
    except InputError as error:
        form.add_error(None, str(error))
        return _page(request, slug, form, status=400)
    refused = "import" in request.POST and not report.is_kept
    return _page(
        request, slug, form, report=report, is_check="import" not in request.POST, status=400 if refused else 200
    )


def _page(
    request: HttpRequest,
    slug: str,
    form: RunsFileForm,
    *,
    report: FileReport | None = None,
    is_check: bool = False,
    status: int = 200,
) -> HttpResponse:
    context = {"form": form, "report": report, "is_check": is_check, "slug": slug}
    return render(request, "site/import_runs.html", context, status=status)
