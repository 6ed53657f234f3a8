"""The labeling page's item as its template takes it: texts with their marks, links, keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from annotation.codebook import QUESTIONS, label_word
from annotation.codebook_meanings import meanings_in_force
from annotation.errors import OfferedLabel
from annotation.evidence import Call, ItemShown, RoundShown, Source, snapshot_text
from annotation.labeler_selectors import Decision
from annotation.marking import (
    LONGEST_SHOWN,
    MarkedText,
    group_forms,
    marked,
    nearest_passages,
    shared_words,
    word_forms,
)
from annotation.models import Flag, ItemKind, LabelAction, LabelVersion, Seat, Slot
from annotation.pace import Pace
from annotation.request_keys import request_key as request_key
from lseval.domain.labels import GroupLabel, PageOutcome
from lseval.domain.page_words import OUTCOME_WORDS
from lseval.domain.taxonomy import ErrorType
from lseval.rendering import render_markdown, web_link

_SHORT_DIGEST: Final = 12
_LONG_S: Final = 100
"""From here on a time is told in minutes."""
_LETTERS: Final = frozenset(GroupLabel)

OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    **{
        outcome: (words, "good" if outcome == PageOutcome.OK else "caution")
        for outcome, words in OUTCOME_WORDS.items()
    },
    "no_snapshot": ("no snapshot", "muted"),
}
"""A page's outcome as a tag: its words and its tone."""


def decision_fields(slot: Slot, shown: ItemShown, user_id: int) -> dict[str, Any]:
    """The hidden fields of the forms that decide an item, and the key under which its draft is kept."""
    return {
        "slot": slot.pk,
        "base_version": slot.version,
        "evidence": shown.evidence_digest,
        "label_key": request_key("label", slot.pk, slot.version, user_id),
        "skip_key": request_key("skip", slot.pk, slot.version, user_id),
        "draft": f"{user_id}-{slot.pk}-{slot.version}",
    }


def draft_of(offered: OfferedLabel | None, stored: LabelVersion | None) -> OfferedLabel:
    """What the form is filled with: what was just offered, else what the person has decided, else nothing."""
    if offered is not None:
        return offered
    if stored is None:
        return OfferedLabel("")
    return OfferedLabel(stored.action, stored.label, stored.error_type, stored.comment)


def item_fields(slot: Slot, shown: ItemShown, seat: Seat, draft: OfferedLabel) -> dict[str, Any]:
    """What labeling and adjudicating an item both show: the item, the choices, and the form's hidden fields.

    What a choice means is told in the words of the codebook that is in force in the seat's audit.
    """
    return {
        **decision_fields(slot, shown, seat.user_id),
        **words_of(shown),
        "choices": choices_of(shown.kind, draft.label, meanings_in_force(seat.audit, shown.kind)),
        "error_types": error_types(draft.error_type) if shown.kind == ItemKind.ROUND else (),
        "draft_values": draft,
    }


def words_of(shown: ItemShown) -> dict[str, Any]:
    """What an item says: itself, its group and its round, the latter two empty where it has none."""
    return {"shown": shown, "group": group_shown(shown), "round": round_shown(shown)}


def pace_shown(pace: Pace) -> str:
    """How long a decision takes a person on average, in words; empty before anything is timed."""
    seconds = pace.seconds_for(1)
    if seconds is None:
        return ""
    return f"{max(seconds, 1):.0f} s" if seconds < _LONG_S else f"{seconds / 60:.0f} min"


def flag_shown(flag: Flag | None, slot: Slot, user_id: int) -> dict[str, Any]:
    """Whether the person's flag stands on a slot, its note, and the key of the request that changes it."""
    number = flag.number if flag else 0
    stands = flag is not None and flag.is_raised
    return {
        "stands": stands,
        "note": flag.note if flag and stands else "",
        "key": request_key("flag", slot.pk, number, user_id),
    }


@dataclass(frozen=True, slots=True)
class ChoiceShown:
    """A button that decides: value, word, keys, meaning, and the letter where the label has one."""

    value: str
    word: str
    letter: str
    key: str
    number: int
    meaning: str
    is_chosen: bool

    @property
    def keys(self) -> str:
        return f"{self.key} {self.number}"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A key of the labeling page and what it does."""

    key: str
    does: str


@dataclass(frozen=True, slots=True)
class TypeShown:
    """One of the ten error types as an option of a list."""

    value: str
    name: str
    is_chosen: bool


def choices_of(kind: str, chosen: str, meanings: Mapping[str, str]) -> tuple[ChoiceShown, ...]:
    """The buttons of a kind of item. `meanings` are by value; a label without one has an empty meaning."""
    return tuple(
        ChoiceShown(
            choice.value,
            choice.word,
            choice.value if choice.value in _LETTERS else "",
            choice.key,
            number,
            meanings.get(choice.value, ""),
            choice.value == chosen,
        )
        for number, choice in enumerate(QUESTIONS[kind].choices, 1)
    )


@lru_cache
def shortcuts_of(kind: str) -> tuple[Shortcut, ...]:
    """The keys of the labeling page and what they do."""
    decide = [
        Shortcut(f"{choice.key} or {number}", f"Decide: {choice.word}, and go on")
        for number, choice in enumerate(QUESTIONS[kind].choices, 1)
    ]
    types = [Shortcut("t", "Choose the error type")] if kind == ItemKind.ROUND else []
    find = Shortcut("/", "Find in the cited page" if kind == ItemKind.GROUP else "Find in the round")
    return (
        *decide,
        *types,
        Shortcut("m", "Write a comment"),
        Shortcut("s", "Skip, with a reason"),
        Shortcut("f", "Flag for the lead, with a note; again: take the flag back"),
        Shortcut("Backspace", "Undo your last decision"),
        find,
        Shortcut("g", "Open the guidelines"),
        Shortcut("Esc", "Leave a text field"),
        Shortcut("?", "Show these keys"),
    )


def error_types(chosen: str) -> tuple[TypeShown, ...]:
    """The ten types as the options of a list."""
    return tuple(TypeShown(kind.value, kind.display_name, kind.value == chosen) for kind in ErrorType)


def group_shown(shown: ItemShown) -> dict[str, Any]:
    """The group's words as HTML. Beside a round its text is plain, with the words marked that the round has too."""
    group = shown.group
    if group is None:
        return {}
    if shown.round is None:
        html = render_markdown(group.text)
    else:
        html = _marked_words(group.text, _round_forms(shown.round)).html
    return {
        "tag": f"answer group {group.number}",
        "title": group.title,
        "html": html,
        "is_plain": shown.round is not None,
        "fields": [
            {"name": name, "html": render_markdown(str(value))}
            for name, value in group.fields.items()
            if name.casefold() != group.title.casefold()
        ],
    }


def round_shown(shown: ItemShown) -> dict[str, Any]:
    """The round's words and calls; with a group beside it, the words marked that the group has too."""
    found = shown.round
    if found is None:
        return {}
    group = shown.group
    forms = word_forms(group.title, group.text) if group is not None else frozenset()
    return {
        "number": found.number,
        "text": _marked_words(found.text, forms).html,
        "calls": [_call(call, forms) for call in found.calls],
    }


def source_shown(source: Source, shown: ItemShown) -> dict[str, Any]:
    """The open snapshot: its facts, and its text with the passages marked that are nearest to the group's words."""
    group, page = shown.group, source.page
    text = snapshot_text(source)
    forms = group_forms(group.title, group.text, group.fields) if group is not None else frozenset()
    body = marked(text, nearest_passages(text, forms), anchor="passage-")
    return {
        **source_tab(source),
        "title": page.title if page else "",
        "live_url": web_link(source.url),
        "kind": page.get_source_display() if page else "",
        "retrieved_at": page.retrieved_at if page else None,
        "digest": page.text_digest[:_SHORT_DIGEST] if page else "",
        "has_text": bool(text.strip()),
        "characters": len(text),
        "html": body.html,
        "shown": LONGEST_SHOWN,
        "is_cut": body.is_cut,
        "marks": range(1, body.marks + 1),
    }


def sources_shown(shown: ItemShown, asked: str, page: str, part_of: Callable[[int], str]) -> dict[str, Any]:
    """The cited pages as tabs, and the one that is open.

    `page` is the address of the item's page with a query, `part_of` gives that of a source's part from its number.
    """
    source = open_source(shown.sources, asked)
    return {
        "tabs": [
            {**source_tab(each), "address": f"{page}&source={each.number}", "part": part_of(each.number)}
            for each in shown.sources
        ],
        "source": source_shown(source, shown) if source else None,
    }


def source_tab(source: Source) -> dict[str, Any]:
    """A cited page as a tab: its number, its address without the scheme, and its outcome in words."""
    word, tone = OUTCOMES.get(source.outcome, (source.outcome, "muted"))
    return {
        "number": source.number,
        "url": source.url,
        "short_url": source.url.removeprefix("https://").removeprefix("http://"),
        "outcome": word,
        "tone": tone,
        "is_read": source.outcome == PageOutcome.OK,
    }


def open_source(sources: Collection[Source], asked: str) -> Source | None:
    """The source that is asked for by its number, else the first that was read, else the first."""
    by_number = {str(source.number): source for source in sources}
    first_read = next((source for source in sources if source.outcome == PageOutcome.OK), None)
    return by_number.get(asked) or first_read or next(iter(sources), None)


@dataclass(frozen=True, slots=True)
class DecisionShown:
    """One of the person's last decisions as a line of the list."""

    slot: int
    name: str
    letter: str
    word: str
    at: datetime


def decision_shown(decision: Decision) -> DecisionShown:
    """See `DecisionShown`."""
    said = version_shown(decision.version, decision.kind)
    return DecisionShown(decision.slot_id, decision.name, said["letter"], said["word"], said["at"])


def version_shown(version: LabelVersion, kind: str) -> dict[str, Any]:
    """A version in words: what was decided, with which type and comment."""
    words = {LabelAction.SKIP: "Skipped", LabelAction.UNDO: "Undone"}
    return {
        "label": version.label,
        "letter": version.label if version.label in _LETTERS else "",
        "word": words.get(LabelAction(version.action)) or label_word(kind, version.label),
        "error_type": type_name(version.error_type),
        "comment": version.comment,
        "at": version.created_at,
    }


def offered_shown(offered: OfferedLabel, kind: str) -> dict[str, Any]:
    """What was sent and not stored, in the words of `version_shown`."""
    is_skip = offered.action == LabelAction.SKIP
    return {
        "letter": offered.label if offered.label in _LETTERS else "",
        "word": "Skipped" if is_skip else label_word(kind, offered.label),
        "error_type": type_name(offered.error_type),
        "comment": offered.comment,
    }


def type_name(value: str) -> str:
    """The name of an error type; the stored value where it is none of the ten."""
    return next((kind.display_name for kind in ErrorType if kind.value == value), value)


def _round_forms(found: RoundShown) -> frozenset[str]:
    return word_forms(found.text, *(call.observation or "" for call in found.calls))


def _marked_words(text: str, forms: Collection[str]) -> MarkedText:
    return marked(text, shared_words(text, forms) if forms else ())


def _call(call: Call, forms: Collection[str]) -> dict[str, Any]:
    body = _marked_words(call.observation or "", forms)
    return {
        "name": call.name,
        "arguments": json.dumps(call.arguments, ensure_ascii=False),
        "observation": body.html,
        "has_observation": bool((call.observation or "").strip()),
        "is_cut": body.is_cut,
        "is_error": call.is_error,
    }
