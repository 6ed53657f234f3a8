"""A study made from the page: a study file is pasted or uploaded, checked, shown, and then made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from lseval.access import note_denial
from lseval.errors import ConflictError, InputError
from lseval.models import User
from lseval.pipeline.study_files.reading import read_study_text
from lseval.pipeline.study_files.saving import SavedStudy, check_study, save_study
from lseval.pipeline.study_files.schema import StudyFile
from lseval.site.sandbox_tasks import with_sandbox_tasks

LARGEST_BYTES = 2_000_000
_FORBIDDEN = "Making a study is for the people who run the program."


class StudyFileForm(forms.Form):
    """The text of a study file, written into the page or uploaded; an uploaded one takes its place."""

    text = forms.CharField(
        label="Study file",
        required=False,
        max_length=LARGEST_BYTES,
        strip=False,
        widget=forms.Textarea(attrs={"class": "input mono", "rows": 22, "spellcheck": "false", "wrap": "off"}),
        help_text="TOML, with the tasks in it. Keys never stand here: name their environment variables.",
    )
    upload = forms.FileField(label="Or a file", required=False, widget=forms.FileInput(attrs={"accept": ".toml"}))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        upload = given.get("upload")
        if upload is not None:
            if upload.size > LARGEST_BYTES:
                raise forms.ValidationError("The file is larger than 2 MB: use manage.py create_study.")
            try:
                given["text"] = upload.read().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise forms.ValidationError("The file is not UTF-8 text.") from error
        if not given.get("text", "").strip():
            raise forms.ValidationError("Paste a study file or choose one.")
        return given


@dataclass(frozen=True, slots=True)
class Preview:
    """What making the study would do, and what the file says, in short."""

    saved: SavedStudy
    file: StudyFile

    @property
    def lines(self) -> list[str]:
        return self.saved.lines()

    @property
    def judges(self) -> str:
        return ", ".join(sorted(self.file.judges)) or "the embedded baselines"


@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Check a study file and show what it would make; with `make` in the form, make it. For superusers."""
    user = request.user
    if not isinstance(user, User) or not user.is_superuser:
        note_denial(request, "no superuser")
        raise PermissionDenied(_FORBIDDEN)
    if request.method != "POST":
        return _page(request, StudyFileForm())
    form = StudyFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=400)
    text = form.cleaned_data["text"]
    shown = StudyFileForm(initial={"text": text})
    try:
        file = with_sandbox_tasks(read_study_text(text))
        if "make" not in request.POST:
            return _page(request, shown, preview=Preview(check_study(file), file))
        saved = save_study(file)
    except (InputError, ConflictError) as error:
        status = 409 if isinstance(error, ConflictError) else 400
        return _page(request, shown, problems=str(error).splitlines(), status=status)
    messages.success(
        request, f"Study {saved.study.name} is {'made' if saved.is_new else 'up to date with its file'}."
    )
    return redirect("study_home", slug=saved.study.slug)


def _page(
    request: HttpRequest,
    form: StudyFileForm,
    *,
    preview: Preview | None = None,
    problems: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {"form": form, "preview": preview, "problems": problems or []}
    return render(request, "site/new_study.html", context, status=status)
