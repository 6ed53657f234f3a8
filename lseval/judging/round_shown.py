"""What a model is shown of a round, and of the response's groups: all of it, or what relates to the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lseval.domain.evidence import GroupUnderAudit, RoundUnderAudit
from lseval.domain.labels import GroupLabel
from lseval.judging.embedded.caching import kept_by_text
from lseval.judging.embedded.text import form_set
from lseval.judging.excerpts import excerpts

OBSERVATION_ROOM: Final = 40_000
"""Characters of a round's observations that a judge is shown."""

WORDS_ROOM: Final = 15_000
"""Characters of the agent's words in a round that a judge is shown."""

ARGUMENTS_ROOM: Final = 10_000
"""Characters of the calls' arguments of a round that a judge is shown."""

GROUPS_ROOM: Final = 30_000
"""Characters of the response's groups, with their checks, that a judge is shown."""

_GAP: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class ShownGroups:
    """The groups that a judge is shown, in their order, as text; `is_cut` where it is not all of all groups."""

    groups: tuple[GroupUnderAudit, ...]
    text: str
    every: int
    is_cut: bool


def groups_shown(
    groups: Sequence[GroupUnderAudit], round_: RoundUnderAudit, room: int = GROUPS_ROOM
) -> ShownGroups:
    """The groups in at most `room` characters: whole ones, those that relate most to the round first.

    A group relates by the words that it shares with the round's words, arguments and observations; a word that many
    groups have counts little. Of groups that relate alike, incorrect ones come first, then by number. Where not
    even the first fits, what relates to the round of it is shown. Short enough, they are all there.
    """
    texts = [_group_text(group) for group in groups]
    every = len(groups)
    if not groups:
        return ShownGroups((), "The response supplies no answer group.", 0, is_cut=False)
    whole = _GAP.join(texts)
    if len(whole) <= room:
        return ShownGroups(tuple(groups), whole, every, is_cut=False)
    order = _by_relation(groups, round_)
    chosen: list[int] = []
    left = room
    for place in order:
        if len(texts[place]) + len(_GAP) <= left:
            chosen.append(place)
            left -= len(texts[place]) + len(_GAP)
    if not chosen:
        first = order[0]
        part = excerpts([texts[first]], [_round_words(round_)[:WORDS_ROOM]], room)[0].text
        return ShownGroups((groups[first],), _with_count(part, 1, every), every, is_cut=True)
    chosen.sort()
    shown = _GAP.join(texts[place] for place in chosen)
    return ShownGroups(
        tuple(groups[place] for place in chosen), _with_count(shown, len(chosen), every), every, is_cut=True
    )


def round_shown(round_: RoundUnderAudit, groups: Sequence[GroupUnderAudit]) -> tuple[str, bool]:
    """The round as a judge is shown it, and whether words, arguments or observations were cut.

    Of long words and observations what concerns `groups` is kept; of long arguments their beginning.
    """
    about = [group.text for group in groups]
    words = excerpts([round_.text], about, WORDS_ROOM)[0]
    observed = excerpts([call.observation for call in round_.calls], about, OBSERVATION_ROOM)
    parts = [f"The agent wrote:\n{words.text}" if round_.text.strip() else "The agent wrote nothing."]
    is_cut = words.is_cut or any(excerpt.is_cut for excerpt in observed)
    left = ARGUMENTS_ROOM
    for number, (call, excerpt) in enumerate(zip(round_.calls, observed, strict=True), 1):
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True, default=str)
        if len(arguments) > left:
            arguments, is_cut = f"{arguments[:left]}[...]", True
        left = max(left - len(arguments), 0)
        returned = "failed with" if call.is_error else "returned"
        parts.append(f"Call {number}: {call.name} {arguments}\nIt {returned}:\n{excerpt.text or '(nothing)'}")
    return "\n\n".join(parts), is_cut


def _by_relation(groups: Sequence[GroupUnderAudit], round_: RoundUnderAudit) -> list[int]:
    held = [_forms("\n".join((group.title, group.text))) for group in groups]
    having = Counter(form for forms in held for form in forms)
    words = form_set(_round_words(round_))
    relation = [sum(1 / having[form] for form in sorted(forms & words)) for forms in held]
    return sorted(
        range(len(groups)),
        key=lambda place: (-relation[place], groups[place].label != GroupLabel.INCORRECT, groups[place].number),
    )


@kept_by_text(lambda forms: 8 * len(forms) + 1)
def _forms(text: str) -> frozenset[str]:
    return form_set(text)


def _round_words(round_: RoundUnderAudit) -> str:
    arguments = (str(value) for call in round_.calls for value in call.arguments.values())
    return "\n".join((round_.text, *arguments, *(call.observation for call in round_.calls)))


def _with_count(text: str, shown: int, every: int) -> str:
    return f"{text}\n\n[{shown} of {every} groups are shown: those that share the most words with the round.]"


def _group_text(group: GroupUnderAudit) -> str:
    checks = [
        f"  - {check.status}: {check.claim}" + (f" ({check.note})" if check.note else "") for check in group.claims
    ]
    return "\n".join([f"Group {group.number}, verdict {group.label}: {group.text}", *checks])
