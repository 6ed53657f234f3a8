"""The final response of a simulated model: its units in one of the forms in which models answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from lseval.domain.labels import GroupLabel
from lseval.domain.taxonomy import ErrorType
from lseval.sandbox.units import PlannedUnit
from lseval.sandbox.world import SandboxTask

APOLOGIES: Final = (
    "I am sorry, I could not find an answer that I could stand behind.",
    "Unfortunately, I was unable to determine which of them meet the conditions.",
)


def write_answer(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """The response: every unit once, in order, each with what it cites."""
    if not units:
        return random.choice(APOLOGIES)
    forms = _FORMS_OF_ONE if len(units) == 1 else _FORMS
    return random.choice(forms)(task, units, random)


def write_unsourced(
    task: SandboxTask, units: Sequence[PlannedUnit], random: Random
) -> tuple[str, list[PlannedUnit]]:
    """A response without a single source, or none at all: no valid final; and its units as they are then true.

    What cites nothing cannot be verified, whatever it says.
    """
    if random.random() < 0.5 or len(units) < 2:
        return random.choice(APOLOGIES), []
    bare = [
        replace(
            unit,
            source="",
            extra_source="",
            label=GroupLabel.UNVERIFIABLE,
            error_type=unit.error_type or ErrorType.MISSING_REQUIRED_FIELD,
        )
        for unit in units
    ]
    items = "\n".join(
        f"{number}. **{title_of(unit)}** – {'; '.join(f'{label}: {value}' for label, value in pairs_of(unit))}"
        for number, unit in enumerate(units, start=1)
    )
    return f"{_lead(task, units, random)}\n\n{items}\n", bare


def title_of(unit: PlannedUnit) -> str:
    """How the response names a unit."""
    return f"{unit.thing.name} and {unit.partner.name}" if unit.partner else unit.thing.name


def pairs_of(unit: PlannedUnit) -> list[tuple[str, str]]:
    """A unit's fields with their values, as the response names them."""
    return [(unit.thing.kind.label(slot), value) for slot, value in unit.stated]


def _urls(unit: PlannedUnit) -> list[str]:
    return [url for url in (unit.source, unit.extra_source) if url]


def _lead(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    things = task.kind.plural
    return random.choice(
        (
            f"Here is what I found for {things} in the {task.region}.",
            f"These are the {things} that I could establish:",
            f"I checked the {things} of the {task.region} one by one. My answer:",
        )
    )


def _numbered(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """A numbered list with nested fields and links."""
    items = []
    for number, unit in enumerate(units, start=1):
        indent = " " * len(f"{number}. ")
        fields = "".join(f"\n{indent}- **{label.capitalize()}:** {value}" for label, value in pairs_of(unit))
        links = ", ".join(f"[source]({url})" for url in _urls(unit))
        items.append(f"{number}. **{title_of(unit)}**{fields}\n{indent}- **Source:** {links}")
    return f"{_lead(task, units, random)}\n\n" + "\n".join(items) + "\n"


def _listed(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """A numbered list with markers, and the sources below."""
    items, sources = [], []
    for number, unit in enumerate(units, start=1):
        markers = ""
        for url in _urls(unit):
            sources.append(url)
            markers += f"[{len(sources)}]"
        told = "; ".join(f"{label}: {value}" for label, value in pairs_of(unit))
        items.append(f"{number}. **{title_of(unit)}** – {told} {markers}")
    listed = "\n".join(f"[{number}] {url}" for number, url in enumerate(sources, start=1))
    return f"{_lead(task, units, random)}\n\n" + "\n".join(items) + f"\n\n## Sources\n\n{listed}\n"


def _table(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """A table, a row a unit."""
    labels = task.labels
    head = ["#", task.kind.singular.capitalize(), *(label.capitalize() for label in labels), "Source"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for number, unit in enumerate(units, start=1):
        held = dict(pairs_of(unit))
        cells = [str(number), title_of(unit), *(held.get(label, "–") for label in labels), " ".join(_urls(unit))]
        lines.append(f"| {' | '.join(cells)} |")
    return f"{_lead(task, units, random)}\n\n" + "\n".join(lines) + "\n"


def _headed(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """A section a unit."""
    sections = []
    for unit in units:
        fields = "\n".join(f"- **{label.capitalize()}**: {value}" for label, value in pairs_of(unit))
        links = " ".join(f"<{url}>" for url in _urls(unit))
        sections.append(f"### {title_of(unit)}\n\n{fields}\n\nSource: {links}")
    return f"{_lead(task, units, random)}\n\n" + "\n\n".join(sections) + "\n"


def _single(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """A short answer in running words."""
    unit = units[0]
    told = ", ".join(f"{label} {value}" for label, value in pairs_of(unit))
    links = " ".join(f"([source]({url}))" for url in _urls(unit))
    return f"**{title_of(unit)}** – {told}. {links}\n"


def _card(task: SandboxTask, units: Sequence[PlannedUnit], random: Random) -> str:
    """One unit as a name with its fields below."""
    unit = units[0]
    fields = "\n".join(f"- **{label.capitalize()}:** {value}" for label, value in pairs_of(unit))
    links = ", ".join(f"[source]({url})" for url in _urls(unit))
    return f"**{title_of(unit)}**\n\n{fields}\n- **Source:** {links}\n"


_Form = Callable[[SandboxTask, Sequence[PlannedUnit], Random], str]
_FORMS: Final[tuple[_Form, ...]] = (_numbered, _numbered, _listed, _listed, _table, _headed)
_FORMS_OF_ONE: Final[tuple[_Form, ...]] = (_single, _card)
