"""A lease that runs out by itself: no row is moved, nothing sweeps, and the database's clock alone decides."""

from __future__ import annotations

import time

import pytest

from annotation import leases, services
from annotation.models import Lease, SlotStatus
from tests.annotation.making import make_audit, next_slot, submit
from tests.factories import make_user


@pytest.mark.django_db(transaction=True)
def test_item_is_served_to_a_colleague_once_its_lease_has_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_audit(tasks=1)
    colleague = make_user("colleague", made.study)
    services.seat(made.h1, colleague)
    monkeypatch.setattr(leases, "_LENGTH_S", 2.0)
    slot = made.h1.slots.first()
    assert slot is not None
    made.h1.slots.exclude(pk=slot.pk).update(status=SlotStatus.SKIPPED)
    assert next_slot(made.h1, made.first) == slot
    given = Lease.objects.get(slot=slot)
    assert leases.claim_next(made.h1, colleague) is None
    while (served := leases.claim_next(made.h1, colleague)) is None:
        time.sleep(0.1)
    assert served == slot
    taken = Lease.objects.get(slot=slot)
    assert taken.user == colleague
    assert given.expires_at <= taken.leased_at
    with pytest.raises(leases.NotHeldError):
        leases.heartbeat(slot.pk, made.first)
    assert not submit(slot, colleague).is_late
    made.study.delete()
