"""The log of what was done to an audit, and the one lock that its writers share."""

from __future__ import annotations

from typing import Any, Final

from django.db import IntegrityError, connection

from annotation.models import Audit, AuditAction, AuditEvent
from lseval.errors import ConflictError
from lseval.models import User

_LOCK_CLASS: Final = 24942
_CLOSED_CONSTRAINT: Final = "closed_audits_stay"


class AuditClosedError(ConflictError):
    """The audit is closed, so nothing in it can be changed."""

    code = "audit_closed"

    def __init__(self) -> None:
        super().__init__("This audit is closed. Nothing in it can be changed any more.")


def record_event(audit: Audit, action: AuditAction, by: User | None, **detail: Any) -> AuditEvent:
    """Add a line to the audit's log, in the caller's transaction."""
    return AuditEvent.objects.create(audit=audit, action=action, by=by, detail=detail)


SHARE_AUDIT: Final = "SELECT pg_advisory_xact_lock_shared(%(lock)s, annotation_audit_lock(%(audit)s))"
"""What `share_audit` does, for a service that sends it along with what it reads; takes `shared_audit(...)`."""


def shared_audit(audit_id: int) -> dict[str, int]:
    """The parameters of `SHARE_AUDIT`."""
    return {"lock": _LOCK_CLASS, "audit": audit_id}


def share_audit(audit_id: int) -> None:
    """Keep the audit from being closed until this transaction ends. A trigger does so on every write to it.

    A service that locks rows before it writes calls this first, so that it and a closing never wait for each other.
    """
    _lock("pg_advisory_xact_lock_shared", audit_id)


SHARE_AUDIT_OF: Final = """
SELECT pg_advisory_xact_lock_shared(%(lock)s, annotation_audit_lock(queue.audit_id))
FROM annotation_slot slot JOIN annotation_queue queue ON queue.id = slot.queue_id WHERE slot.id = %(slot)s
"""
"""As `SHARE_AUDIT`, for the audit that a slot is in; nothing is locked where there is no such slot."""


def shared_audit_of() -> dict[str, int]:
    """The parameters of `SHARE_AUDIT_OF` beside `slot`."""
    return {"lock": _LOCK_CLASS}


def claim_audit(audit_id: int) -> None:
    """Wait for every write to the audit that is on its way, and keep others out until this transaction ends."""
    _lock("pg_advisory_xact_lock", audit_id)


def says_closed(error: IntegrityError) -> bool:
    """Whether the database refused a write because the audit is closed."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None) == _CLOSED_CONSTRAINT


def _lock(function: str, audit_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, annotation_audit_lock(%s))", [_LOCK_CLASS, audit_id])
