"""The versions of a study's codebook: reading them, publishing one, and making an example of an item."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.db import transaction
from django.db.models import Max

from annotation.codebook import CODEBOOK_VERSION
from annotation.codebook_text import first_text
from annotation.events import AuditClosedError, record_event, share_audit
from annotation.models import Audit, AuditAction, AuditStatus, CodebookVersion, Item, ItemKind, Slot, SlotStatus
from lseval.errors import ConflictError, InputError
from lseval.models import Study, User

LONGEST_CODEBOOK: Final = 50_000
LONGEST_NOTE: Final = 300
_LONGEST_QUOTED: Final = 600


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
        InputError: the text is empty, too long, or what is in force already; the note is empty or too long; an
            audit is another study's.
        ConflictError: an audit is closed.
    """
    text = text.replace("\x00", "\ufffd").replace("\r\n", "\n").strip()
    note = " ".join(note.replace("\x00", "\ufffd").split())
    if not text or len(text) > LONGEST_CODEBOOK:
        raise InputError(f"A codebook needs a text of 1 to {LONGEST_CODEBOOK:,} characters; it has {len(text):,}.")
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


def example_of(item: Item) -> str:
    """An item as the beginning of an example in Markdown; its label and the reason are for the lead to add.

    Raises ConflictError while anybody may still label the item: an example would tell them how.
    """
    still_open = Slot.objects.filter(item=item, queue__is_simulated=False, status=SlotStatus.OPEN)
    if still_open.exists():
        raise ConflictError(
            "Somebody has yet to label this item, and an example would tell them how. Wait until it is decided "
            "in every queue."
        )
    words = [f"> {line}" if line else ">" for line in _quoted(item).splitlines()]
    heading = "round" if item.kind == ItemKind.ROUND else "link" if item.kind == ItemKind.LINK else "answer group"
    return "\n".join(
        [f"### Example: {heading} on “{item.run.task.question[:200]}”", "", *words, "", "**Label:** … , because …"]
    )


def _quoted(item: Item) -> str:
    parts = []
    if item.round is not None:
        parts.append("\n".join(turn.text for turn in item.round.turns.all() if turn.text.strip()))
    if item.group is not None:
        parts.append(item.group.text)
    return "\n\n".join(
        part if len(part) <= _LONGEST_QUOTED else part[:_LONGEST_QUOTED] + " …" for part in parts if part
    )
