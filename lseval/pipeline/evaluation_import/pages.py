"""Snapshots out of a file, as they were."""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import UTC, datetime
from typing import Any, Final

from django.db import DataError, IntegrityError, connection, transaction

from lseval.errors import InputError
from lseval.formats.evaluation_rows import BYTES_PREFIX, PageRow
from lseval.models import Page, PageContent, Study
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, REPLACED

_CHUNK: Final = 2000
_TAKEN: Final = (
    "url", "title", "text", "text_digest", "outcome", "detail", "final_url", "status", "headers", "content_type",
    "sniffed_type", "content_digest", "decoder", "decoder_source", "flags",
)  # fmt: skip


class KnownPages:
    """The snapshots of a study, to tell whether one can be there without asking for each."""

    def __init__(self, study: Study) -> None:
        names = Page.objects.filter(study=study).order_by().values_list("run_id", "source", "canonical_key")
        self._hashes = {hash(name) for name in names.iterator(chunk_size=_CHUNK)}

    def may_have(self, page: Page) -> bool:
        """False where there was none such at the beginning."""
        return hash((page.run_id, page.source, page.canonical_key)) in self._hashes


def plan_for_pages() -> None:
    """Let the database plan for the pages that have just been stored; else it takes the table for what it was."""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Page._meta.db_table}")


def import_page(study: Study, row: PageRow, run_id: int | None, known: KnownPages, *, replace: bool) -> str:
    """Store a snapshot; returns what became of it. With `replace` it takes the place of one that differs.

    Raises:
        InputError: a digest is not that of what came, or another snapshot is there.
    """
    content = _content(row)
    page = Page(study=study, run_id=run_id, source=row.source, canonical_key=row.canonical_key, **_values(row))
    try:
        with transaction.atomic():
            return _store(page, content, known, replace=replace)
    except (IntegrityError, DataError) as error:
        raise InputError(f"the database cannot store this page: {str(error).splitlines()[0]}") from error


def no_such_run(study: Study, task_key: str, model: str) -> str:
    """What people are told of a row whose run the study does not have."""
    return (
        f"study {study.slug} has no run of {model} on task {task_key}; "
        f"`manage.py import_runs {study.slug} runs.jsonl` brings it"
    )


def moment(text: str) -> datetime:
    """A time as it was written, with its zone."""
    return datetime.fromisoformat(text).astimezone(UTC)


def _store(page: Page, content: bytes | None, pages: KnownPages, *, replace: bool) -> str:
    same = {"study": page.study, "run_id": page.run_id, "source": page.source, "canonical_key": page.canonical_key}
    known = Page.objects.select_for_update().filter(**same).first() if pages.may_have(page) else None
    if known is None:
        page.save(force_insert=True)
        if content is not None:
            PageContent.objects.create(page=page, body=content)
        return ADDED
    changed = [name for name in (*_TAKEN, "hops", "retrieved_at") if getattr(known, name) != getattr(page, name)]
    if _bytes_of(known) != content:
        changed.append("content")
    if not changed:
        return KEPT
    if not replace:
        raise InputError(
            f"another snapshot of {page.url[:200]} is there, which differs in {', '.join(changed)}; it was kept. "
            "--replace puts this one in its place"
        )
    page.pk = known.pk
    page.save(force_update=True)
    if content is None:
        PageContent.objects.filter(page=page).delete()
    else:
        PageContent.objects.update_or_create(page=page, defaults={"body": content})
    return REPLACED


def _values(row: PageRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in _TAKEN}
    values["hops"] = [hop.model_dump(exclude_unset=True) for hop in row.hops]
    values["retrieved_at"] = moment(row.retrieved_at) if row.retrieved_at else None
    return values


def _bytes_of(page: Page) -> bytes | None:
    kept = PageContent.objects.filter(page=page).values_list("body", flat=True).first()
    return None if kept is None else bytes(kept)


def _content(row: PageRow) -> bytes | None:
    """The page's bytes, after all that came has been compared with its digests."""
    if hashlib.sha256(row.text.encode()).hexdigest() != row.text_digest:
        raise InputError("text_digest is not the SHA-256 of text: the row was changed or cut short")
    if row.content is None:
        return None
    try:
        if not row.content.startswith(BYTES_PREFIX):
            raise binascii.Error
        content = base64.b64decode(row.content.removeprefix(BYTES_PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"content is not {BYTES_PREFIX} and the page's bytes in Base64") from error
    if content and hashlib.sha256(content).hexdigest() != row.content_digest:
        raise InputError("content_digest is not the SHA-256 of content: the row was changed or cut short")
    return content
