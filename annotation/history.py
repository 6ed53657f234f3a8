"""What is appended against what is stored: everything in an audit that must follow from its history alone.

Slots follow from their label versions, the audit itself from its log, items and their inclusion probabilities from
the seed. Flags and shown verdicts are histories themselves, which must be whole. The words inside a version are not
looked at: the database refuses to change them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from annotation import history_of_audits
from annotation.history_of_audits import ADJUDICATION, DRAWS, SEATS, SETTINGS, Things
from annotation.history_of_draws import redrawn
from annotation.labels import STATUS_AFTER
from annotation.models import Audit, AuditEvent, Flag, LabelAction, LabelVersion, Queue, Reveal, Slot, SlotStatus
from annotation.slot_counts import slot_counts


@dataclass(frozen=True, slots=True)
class State:
    """Where a slot stands: its status and the number of its version in force, 0 for none."""

    status: str = SlotStatus.OPEN
    version: int = 0

    def __str__(self) -> str:
        return f"{self.status} at version {self.version}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not what its history leads to."""

    what: str
    stored: str
    replayed: str

    def __str__(self) -> str:
        return f"{self.what}: stored {self.stored}; its history says {self.replayed}"


@dataclass(slots=True)
class Checked:
    """What a check of an audit found.

    `numbers` says how many of what were looked at; `untold` names what an older log does not say enough of.
    """

    differences: list[Difference] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)


def replay(versions: Iterable[LabelVersion]) -> State:
    """The state that a slot's versions lead to, in the order of their numbers; late ones change nothing.

    Raises ValueError where the numbers are not 1, 2, 3, ...: a version is missing then.
    """
    state = State()
    for expected, version in enumerate(sorted(versions, key=lambda version: version.number), 1):
        if version.number != expected:
            raise ValueError(f"version {expected} of slot {version.slot_id} is missing")
        if not version.is_late:
            state = State(STATUS_AFTER[version.action], version.number)
    return state


def check_audit(audit: Audit) -> Checked:
    """Everything of an audit against its history. Call it within `one_moment` where people are at work."""
    checked = Checked()
    checked.differences = [
        *_log_differences(audit, checked),
        *_draw_differences(audit, checked),
        *slot_differences(audit, checked),
        *_count_differences(audit),
        *_flag_differences(audit, checked),
        *_reveal_differences(audit, checked),
    ]
    return checked


def differences(audit: Audit) -> list[Difference]:
    """What of an audit is not what its history leads to; nothing where all is well."""
    return check_audit(audit).differences


_KIND_NAMES: Final = {SEATS: "the place of {}", DRAWS: "draw {}"}
_FIELD_NAMES: Final = {
    (SETTINGS, "status"): "the audit's status",
    (SETTINGS, "codebook_version"): "the codebook in force",
    (SETTINGS, "reveal_after_submission"): "whether verdicts are shown after a label",
    (SETTINGS, "name"): "the audit's name",
    (SETTINGS, "seed"): "the seed",
    (SETTINGS, "plan"): "the digest of the plan",
    (SETTINGS, "frame"): "the digest of the frame",
    (ADJUDICATION, "queued"): "the disagreements that are queued",
    (ADJUDICATION, "settled"): "the disagreements that are settled",
}


def _log_differences(audit: Audit, checked: Checked) -> Iterator[Difference]:
    events = list(AuditEvent.objects.filter(audit=audit).order_by("id"))
    stored = history_of_audits.things_of(audit)
    checked.numbers.update(events=len(events), seats=len(stored[SEATS]), draws=len(stored[DRAWS]))
    replayed = history_of_audits.replayed(events)
    if replayed is None:
        checked.untold.append("the audit's settings, places, draws and adjudication")
        return
    yield from _thing_differences(stored, replayed, checked)


def _thing_differences(stored: Things, replayed: Things, checked: Checked) -> Iterator[Difference]:
    for kind in history_of_audits.KINDS:
        for name in sorted(stored[kind].keys() | replayed[kind].keys()):
            one, two = stored[kind].get(name), replayed[kind].get(name)
            if one is None or two is None:
                yield Difference(_KIND_NAMES[kind].format(name), _said(one), _said(two))
                continue
            for of_it, value in one.items():
                called = _FIELD_NAMES.get((kind, of_it)) or f"{of_it} of {_KIND_NAMES[kind].format(name)}"
                if of_it not in two:
                    checked.untold.append(called)
                elif value != two[of_it]:
                    yield Difference(called, str(value), str(two[of_it]))


def _said(values: dict[str, Any] | None) -> str:
    return "nothing" if values is None else ", ".join(f"{name} {value}" for name, value in values.items())


def _draw_differences(audit: Audit, checked: Checked) -> Iterator[Difference]:
    """The items and inclusion probabilities of the draws that can be drawn again, which `redrawn` counts."""
    for found in redrawn(audit):
        if found.drawn is None:
            continue
        checked.numbers.update(redrawn=1)
        others = len(found.stored.keys() ^ found.drawn.keys())
        if others:
            yield Difference(f"the items of draw {found.number}", f"{others} others", "what its seed draws")
        for item in sorted(found.stored.keys() & found.drawn.keys(), key=str):
            if found.stored[item] != found.drawn[item]:
                kind, run, group, of_round = item
                called = " ".join(f"{what} {pk}" for what, pk in (("round", of_round), ("group", group)) if pk)
                yield Difference(
                    f"the inclusion probability of the {kind} item on {called} of run {run}",
                    str(found.stored[item]),
                    str(found.drawn[item]),
                )


def slot_differences(audit: Audit, checked: Checked | None = None) -> Iterator[Difference]:
    """The slots of an audit whose state is not what their versions replay to; `checked` counts both."""
    checked = checked or Checked()
    versions: dict[int, list[LabelVersion]] = defaultdict(list)
    found = LabelVersion.objects.filter(slot__queue__audit=audit).only("slot_id", "number", "action", "is_late")
    for version in found.iterator():
        versions[version.slot_id].append(version)
    checked.numbers.update(versions=sum(map(len, versions.values())))
    for slot in Slot.objects.filter(queue__audit=audit).select_related("queue").iterator():
        checked.numbers.update(slots=1)
        stored = State(slot.status, slot.version)
        try:
            state = replay(versions[slot.pk])
        except ValueError as error:
            yield Difference(_place(slot), str(stored), str(error))
            continue
        if stored != state:
            yield Difference(_place(slot), str(stored), str(state))


def _count_differences(audit: Audit) -> Iterator[Difference]:
    """The counts that the database keeps of slots."""
    queues = list(Queue.objects.filter(audit=audit))
    there: dict[int, Counter[tuple[int, str]]] = defaultdict(Counter)
    for queue_id, stage, status in Slot.objects.filter(queue__in=queues).values_list("queue_id", "stage", "status"):
        there[queue_id][stage, status] += 1
    kept = slot_counts(queues)
    for queue in queues:
        for stage, status in sorted(kept[queue.pk].keys() | there[queue.pk].keys()):
            one, two = kept[queue.pk][stage, status], there[queue.pk][stage, status]
            if one != two:
                yield Difference(f"the count of {status} items of stage {stage} in {queue}", str(one), str(two))


def _flag_differences(audit: Audit, checked: Checked) -> Iterator[Difference]:
    """Flags count from 1 on each item and person, begin with a raised one, and each changes something."""
    found = Flag.objects.filter(slot__queue__audit=audit).select_related("slot__queue", "user")
    rows: dict[tuple[int, int], list[Flag]] = defaultdict(list)
    for flag in found.order_by("slot_id", "user_id", "number"):
        checked.numbers.update(flags=1)
        rows[flag.slot_id, flag.user_id].append(flag)
    for of_person in rows.values():
        before: tuple[bool, str] = (False, "")
        for expected, flag in enumerate(of_person, 1):
            whose = f"flag {flag.number} of {flag.user.username} on {_place(flag.slot)}"
            if flag.number != expected:
                yield Difference(whose, "there", f"nothing: flag {expected} is missing")
                break
            if (flag.is_raised, flag.note) == before:
                yield Difference(whose, "there", "nothing: it changes nothing")
            before = flag.is_raised, flag.note


def _reveal_differences(audit: Audit, checked: Checked) -> Iterator[Difference]:
    """A label whose verdict was shown to its person is theirs and stays in force."""
    reveals = Reveal.objects.filter(slot__queue__audit=audit).select_related("slot__queue", "user")
    found = {
        (version.slot_id, version.number): version
        for version in LabelVersion.objects.filter(slot__reveals__in=reveals, action=LabelAction.LABEL)
    }
    for shown in reveals:
        checked.numbers.update(reveals=1)
        whose = f"the label of {shown.user.username} on {_place(shown.slot)}, who was shown the verdict"
        version = found.get((shown.slot_id, shown.version))
        if version is None or version.user_id != shown.user_id:
            yield Difference(whose, "no such version", f"version {shown.version}")
        elif shown.slot.version != shown.version:
            yield Difference(whose, f"version {shown.slot.version}", f"version {shown.version}")


def _place(slot: Slot) -> str:
    return f"place {slot.position} of {slot.queue}"
