"""The versions of a study's codebook: reading them, and publishing one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.db import transaction
from django.db.models import Max

from annotation.codebook import CODEBOOK_VERSION
from annotation.codebook_text import first_text, to_fill_in
from annotation.events import AuditClosedError, record_event, share_audit
from annotation.models import Audit, AuditAction, AuditStatus, CodebookVersion
from lseval.errors import InputError
from lseval.models import Study, User

LONGEST_CODEBOOK: Final = 50_000
LONGEST_NOTE: Final = 300


def codebook_text(study_id: int, version: str) -> str:
    """A published version's text in Markdown; empty for version 1, the program's own, and for an unknown one."""
    if version == CODEBOOK_VERSION or not version.isdecimal():
        return ""
    texts = CodebookVersion.objects.filter(study_id=study_id, number=int(version))
    return texts.values_list("text", flat=True).first() or ""


def versions_of(study: Study) -> list[CodebookVersion]:
    """The versions that leads have published, newest first. Version 1 is not among them."""
    return list(study.codebook_versions.select_related("published_by").order_by("-number"))


def newest_text(study: Study) -> str:
    """The newest version's text, to begin the next one with."""
    newest = study.codebook_versions.order_by("-number").first()
    return newest.text if newest else first_text()


def publish_codebook(
    study: Study, text: str, note: str, by: User | None, audits: Collection[Audit] = ()
) -> CodebookVersion:
    """Add a version to a study's codebook and put it in force in the given audits.

    Labels given there from now on carry its number; those given before keep theirs.

    Raises:
        InputError: the text is empty, too long, or what is in force already, or has an example that is not filled
            in; the note is empty or too long; an audit is another study's.
        ConflictError: an audit is closed.
    """
    text = text.replace("\x00", "\ufffd").replace("\r\n", "\n").strip()
    note = " ".join(note.replace("\x00", "\ufffd").split())
    if not text or len(text) > LONGEST_CODEBOOK:
        raise InputError(f"A codebook needs a text of 1 to {LONGEST_CODEBOOK:,} characters; it has {len(text):,}.")
    if unfinished := to_fill_in(text):
        raise InputError(unfinished)
    if not note or len(note) > LONGEST_NOTE:
        raise InputError(f"Say in a line of 1 to {LONGEST_NOTE} characters what has changed.")
    if any(audit.study_id != study.pk for audit in audits):
        raise InputError("A codebook goes with the audits of its own study.")
    with transaction.atomic():
        for audit in sorted(audits, key=lambda audit: audit.pk):
            share_audit(audit.pk)
        # Two who publish at once get two numbers.
        Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
        if text == newest_text(study).strip():
            raise InputError("This is the newest version's text, unchanged. Change it, then publish.")
        last = study.codebook_versions.aggregate(last=Max("number"))["last"] or int(CODEBOOK_VERSION)
        made = CodebookVersion.objects.create(study=study, number=last + 1, text=text, note=note, published_by=by)
        for audit in audits:
            found = Audit.objects.select_for_update(of=("self",), no_key=True).get(pk=audit.pk)
            if found.status == AuditStatus.CLOSED:
                raise AuditClosedError
            before, found.codebook_version = found.codebook_version, str(made.number)
            found.save(update_fields=["codebook_version"])
            record_event(found, AuditAction.CODEBOOK, by, version=found.codebook_version, before=before)
    return made
