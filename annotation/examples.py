"""Examples for the codebook that are made of items, and whom an item waits for before it can become one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from django.db.models import Q

from annotation.adjudication_selectors import settled_slots
from annotation.codebook_text import TO_FILL_IN
from annotation.models import AuditStatus, Item, ItemKind, LabelerRole, Slot, SlotStatus
from lseval.errors import ConflictError

_LONGEST_QUOTED: Final = 600
_LONGEST_TITLE: Final = 200
_HEADINGS: Final = {ItemKind.GROUP: "answer group", ItemKind.ROUND: "round", ItemKind.LINK: "link"}


def waited_for(items: Collection[Item]) -> dict[int, str]:
    """Item id to whom it waits for before it can be an example, in a few words; only the items that wait.

    An item waits while anybody may still decide on what it shows, in its own audit or in another one that is not
    closed. Disagreements that the labelers have settled wait for nobody. Four queries at most, none without items.
    """
    if not items:
        return {}
    groups, rounds = ({getattr(item, of_it) for item in items} - {None} for of_it in ("group_id", "round_id"))
    still_open = list(
        Slot.objects.filter(Q(item__group__in=groups) | Q(item__round__in=rounds), status=SlotStatus.OPEN)
        .filter(queue__is_simulated=False)
        .exclude(queue__audit__status=AuditStatus.CLOSED)
        .select_related("queue__audit", "item")
        .order_by("queue__audit_id", "queue__role")
    )
    settled = settled_slots({slot.queue for slot in still_open})
    open_for: dict[tuple[object, ...], list[Slot]] = defaultdict(list)
    for slot in still_open:
        if slot.pk not in settled:
            open_for[_target(slot.item)].append(slot)
    return {
        item.pk: " and ".join(_named(slot, item) for slot in slots)
        for item in items
        if (slots := open_for.get(_target(item)))
    }


def example_of(item: Item) -> str:
    """An item as the beginning of an example in Markdown; its label and the reason are for the lead to add.

    Raises ConflictError while anybody may still label the item: an example would tell them how.
    """
    waits = waited_for([item]).get(item.pk)
    if waits:
        raise ConflictError(
            f"Somebody has yet to label this item, and an example would tell them how. It waits for {waits}."
        )
    words = [f"> {line}" if line else ">" for line in _quoted(item).splitlines()]
    title = f"### Example: {_HEADINGS[ItemKind(item.kind)]} on “{title_of(item.run.task.question)}”"
    return "\n".join([title, "", *words, "", TO_FILL_IN])


def title_of(question: str) -> str:
    """A question in one line to stand between quotes: cut at a word, and what it quotes itself in single quotes.

    A quote that the cut has left open is closed.
    """
    words = " ".join(question.split())
    if len(words) > _LONGEST_TITLE:
        words = f"{words[:_LONGEST_TITLE].rsplit(' ', 1)[0].rstrip(' ,;:“‘(')} …"
    if words.count('"') % 2:
        words += '"'
    words += "”" * max(0, words.count("“") - words.count("”"))
    return words.replace("“", "‘").replace("”", "’")


def _quoted(item: Item) -> str:
    parts = []
    if item.round is not None:
        parts.append("\n".join(turn.text for turn in item.round.turns.all() if turn.text.strip()))
    if item.group is not None:
        parts.append(item.group.text)
    return "\n\n".join(
        part if len(part) <= _LONGEST_QUOTED else part[:_LONGEST_QUOTED] + " …" for part in parts if part
    )


def _target(item: Item) -> tuple[object, ...]:
    return item.kind, item.group_id, item.round_id


def _named(slot: Slot, item: Item) -> str:
    role = "adjudication" if slot.queue.role == LabelerRole.ADJUDICATOR else str(slot.queue.role)
    return role if slot.queue.audit_id == item.audit_id else f"{role} in {slot.queue.audit.name}"
