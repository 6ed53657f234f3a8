"""What the pages of adjudication show, as their templates take it."""

from __future__ import annotations

from typing import Any, Final

from annotation import presenting
from annotation.adjudication_selectors import RATERS, Ruling, SetAside, Side
from annotation.codebook import label_word
from annotation.models import Between, Item, ItemKind
from annotation.presenting import type_name
from lseval.domain.labels import GroupLabel

_NO_USE: Final = {"f", "g"}
"""Keys of the labeling page that an adjudicator has no use for."""


def side_shown(side: Side, kind: str) -> dict[str, Any]:
    """One of the two labels in words; nothing in it tells whose it is."""
    return {
        "version": _label(side.label, kind) | {"error_type": type_name(side.error_type), "comment": side.comment}
    }


def ruling_shown(ruling: Ruling) -> dict[str, Any]:
    """A decided disagreement as a row: the item, both labels, the decision, its reason, by whom and when."""
    item, decision = ruling.slot.item, ruling.decision
    second = "automatic" if ruling.between == Between.AUTOMATIC else RATERS[1]
    return {
        **_named(item),
        "first": _label(ruling.labels.get(RATERS[0], ""), item.kind),
        "second": _label(ruling.labels.get(second, ""), item.kind),
        "is_automatic": ruling.between == Between.AUTOMATIC,
        "outcome": _label(decision.label, item.kind) | {"error_type": type_name(decision.error_type)},
        "reason": decision.comment,
        "by": decision.user.username,
        "at": decision.created_at,
    }


def skip_shown(skip: SetAside) -> dict[str, Any]:
    """A skipped disagreement as a row: the item, the reason, by whom and when. What its labels are stays untold."""
    version = skip.skip
    return {
        **_named(skip.slot.item),
        "reason": version.comment,
        "by": version.user.username,
        "at": version.created_at,
    }


def _named(item: Item) -> dict[str, Any]:
    names = [f"Round {item.round.number}"] if item.round else []
    names += [item.group.title or f"Answer group {item.group.number}"] if item.group else []
    return {
        "name": " and ".join(names),
        "kind": ItemKind(item.kind).label,
        "task": item.run.task.key,
        "run": item.run_id,
    }


def shortcuts_of(kind: str) -> list[presenting.Shortcut]:
    """The keys of the page."""
    return [shortcut for shortcut in presenting.shortcuts_of(kind) if shortcut.key not in _NO_USE]


def _label(label: str, kind: str) -> dict[str, Any]:
    return {
        "label": label,
        "letter": label if label in list(GroupLabel) else "",
        "word": label_word(kind, label) if label else "none",
    }
