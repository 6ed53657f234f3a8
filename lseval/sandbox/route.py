"""The way of a simulated model through the web: searches, dead ends, reading, and what it says of what it read."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from lseval.sandbox.answers import pairs_of, title_of
from lseval.sandbox.kinds import A, B
from lseval.sandbox.pages import (
    DEAD,
    DIRECTORY,
    ENCYCLOPEDIA,
    MIRROR,
    MOVED,
    NEWS,
    OFFICIAL,
    OVERVIEW,
    SHELL,
    UNREADABLE,
    VISIT,
    WALLED,
    mirrored,
    url_of,
)
from lseval.sandbox.profiles import Profile
from lseval.sandbox.steps import PlannedCall, PlannedError, Step
from lseval.sandbox.units import PlannedUnit
from lseval.sandbox.world import SandboxTask, Thing, written

_WANDERING_TURNS: Final = 400
_LISTED_AT_MOST: Final = 3


class Route:
    """Collects the turns of a run, one `_turn` at a time. Nothing is read before it was opened."""

    def __init__(self, task: SandboxTask, profile: Profile, random: Random) -> None:
        self.steps: list[Step] = []
        self._task = task
        self._profile = profile
        self._random = random
        self._opened: set[str] = set()
        self._said = ""
        self._errors: list[PlannedError] = []

    def work(self, units: Sequence[PlannedUnit]) -> tuple[PlannedError, ...]:
        """A proper run: candidates first, then each unit in turn, then a last look."""
        self._survey()
        for place, unit in enumerate(units, start=1):
            self._unit(place, unit)
        self._closing(units)
        return tuple(self._errors)

    def hurry(self, units: Sequence[PlannedUnit]) -> tuple[PlannedError, ...]:
        """A premature run: a few searches, and an answer from what their results seemed to say."""
        task = self._task
        self._turn(self._intent(), [self._search(f"{task.kind.plural} {task.region}")])
        for place, unit in enumerate(units, start=1):
            self._turn(self._intent(), [self._search(f"{unit.thing.name} {task.labels[0]}")])
            if unit.error_type:
                self._errors.append(self._error(unit, place, self._turn_now, self._turn_now))
        return tuple(self._errors)

    def wander(self) -> None:
        """Turns without end: the same pages and questions over and over."""
        things, kind = self._task.things, self._task.kind
        for turn in range(_WANDERING_TURNS):
            thing = things[turn % len(things)]
            page = (ENCYCLOPEDIA, OFFICIAL, VISIT)[turn // len(things) % 3]
            url = url_of(self._task, page, thing)
            if url in self._opened:
                call = PlannedCall("find_in_page", {"pattern": kind.a.label.split()[-1]}, url)
            else:
                call = self._open(url)
            self._turn("I want to check this once more before I answer.", [call])

    @property
    def _turn_now(self) -> int:
        return len(self.steps)

    def _turn(self, text: str, calls: Sequence[PlannedCall]) -> int:
        """Add a turn, led by what is still to be said; returns its number."""
        words = " ".join(part for part in (self._said, text) if part)
        self._said = ""
        self.steps.append(Step(words, tuple(calls)))
        self._opened.update(call.url for call in calls if call.name == "open_page")
        return len(self.steps)

    # What a model says when it only plans. None of it claims anything.
    _INTENTS: Final = (
        "Let me look for candidates.",
        "I will search for more.",
        "Next, I need the figures.",
        "Let me look this up.",
        "I should find a better source.",
        "",
        "",
    )

    def _intent(self) -> str:
        return self._random.choice(self._INTENTS)

    def _times(self, mean: float) -> int:
        """A whole number with that mean."""
        whole = int(mean)
        return whole + (self._random.random() < mean - whole)

    def _search(self, query: str) -> PlannedCall:
        arguments: dict[str, object] = {"query": query}
        if self._random.random() < 0.5:
            arguments["count"] = self._random.choice((5, 8))
        return PlannedCall("web_search", arguments)

    def _open(self, url: str) -> PlannedCall:
        return PlannedCall("open_page", {"url": url}, url)

    def _read(self, url: str, offset: int = 0) -> PlannedCall:
        return PlannedCall("read_page", {"offset": offset} if offset else {}, url)

    def _find(self, url: str, pattern: str) -> PlannedCall:
        return PlannedCall("find_in_page", {"pattern": pattern}, url)

    def _survey(self) -> None:
        """Finding out which things there are: searches, the directory, the region's own page."""
        task, random = self._task, self._random
        kind = task.kind
        conditions = [condition.text for condition in task.conditions[1:]]
        queries = [f"{kind.plural} {task.region}", f"list of {kind.plural} in the {task.region}"]
        queries += [f"{kind.singular} {task.region} {text}" for text in conditions]
        queries += [f"{kind.singular} {task.region} {label}" for label in task.labels]
        rounds = 1 + self._times(self._profile.searches * 0.3)
        for _ in range(rounds):
            here = [queries.pop(0) for _ in range(min(len(queries), random.choice((2, 3, 3))))]
            if here:
                self._turn(self._intent(), [self._search(query) for query in here])
        directory, overview = url_of(task, DIRECTORY), url_of(task, OVERVIEW)
        opened = [directory, overview] if random.random() < 0.4 else [directory]
        self._turn("I will open the directory first.", [self._open(url) for url in opened])
        self._turn("", [self._read(directory)])
        names = [thing.name for thing in task.things[:_LISTED_AT_MOST]]
        if random.random() < self._profile.says:
            self._said = f"The directory lists {len(task.things)} {kind.plural}, among them {', '.join(names)}."
        if overview in opened and random.random() < 0.5:
            self._turn("", [self._read(overview)])

    def _unit(self, place: int, unit: PlannedUnit) -> None:
        """All that is done for one answer unit."""
        if unit.error_type is None and self._random.random() < self._profile.passing:
            self._passing(unit.thing)
        self._look_for(unit)
        self._dead_end(unit)
        self._open_for(unit)
        first = self._take_in(unit)
        if unit.error_type is None and not self._says():
            self._look_closer(unit)
            return
        stated = self._state(unit)
        if unit.error_type is not None:
            self._errors.append(self._error(unit, place, first or stated, stated))
        else:
            self._look_closer(unit)

    def _says(self) -> bool:
        return self._random.random() < self._profile.says

    def _error(self, unit: PlannedUnit, place: int, turn: int, stated: int) -> PlannedError:
        return PlannedError(turn, stated, str(unit.error_type), (place,))

    def _look_for(self, unit: PlannedUnit) -> None:
        thing, task, random = unit.thing, self._task, self._random
        wanted = self._times(self._profile.searches)
        queries = [thing.name, f"{thing.name} {task.region}", *(f"{thing.name} {label}" for label in task.labels)]
        queries = queries[:1] + random.sample(queries[1:], len(queries) - 1)
        while wanted > 0 and queries:
            here = [queries.pop(0) for _ in range(min(wanted, len(queries), random.choice((2, 3, 4))))]
            wanted -= len(here)
            self._turn(self._intent(), [self._search(query) for query in here])

    def _dead_end(self, unit: PlannedUnit) -> None:
        """Something that cannot be read, opened for nothing, and sometimes read all the same."""
        if self._random.random() >= self._profile.dead_ends:
            return
        url = url_of(self._task, self._random.choice((DEAD, WALLED, SHELL)), unit.thing)
        if url in self._opened:
            return
        self._turn(self._intent(), [self._open(url)])
        if self._random.random() < 0.3:
            self._turn("", [self._read(url)])
        if self._random.random() < 0.1:
            self._turn("Let me try that again.", [self._read(url)])

    def _open_for(self, unit: PlannedUnit) -> None:
        """Opens the page to be read, alone or with others that stay unread."""
        task, random = self._task, self._random
        wanted = [unit.read] if unit.read and unit.read not in self._opened else []
        others = [url_of(task, page, unit.thing) for page in (ENCYCLOPEDIA, VISIT, NEWS, OFFICIAL, MOVED)]
        others = [url for url in others if url not in self._opened and url != unit.read]
        random.shuffle(others)
        more = max(self._times(self._profile.opens) - len(wanted), 0)
        urls = wanted + others[:more]
        if unit.source not in self._opened and any(
            unit.source == url_of(task, page, unit.thing) for page in UNREADABLE
        ):
            urls.append(unit.source)
        random.shuffle(urls)
        split = len(urls) // 2 if len(urls) > 2 and random.random() < 0.3 else 0
        for part in (urls[:split], urls[split:]):
            if part:
                self._turn(self._intent(), [self._open(url) for url in part])

    def _take_in(self, unit: PlannedUnit) -> int:
        """Reads the page that the values come from; returns the turn, or 0 where nothing is read."""
        if not unit.read:
            return 0
        task, random = self._task, self._random
        words = [label.split()[-1] for label in task.labels]
        found = [self._find(unit.read, random.choice(words)) for _ in range(self._times(self._profile.finds * 0.6))]
        turn = self._turn("", [self._read(unit.read), *found])
        if random.random() < self._profile.extracts:
            self._turn("", [PlannedCall("extract", {"fields": list(task.labels)}, unit.read)])
        if random.random() < 0.06:
            self._turn("", [self._read(unit.read)])  # the same window again, for nothing
        return turn

    def _state(self, unit: PlannedUnit) -> int:
        """Says what the unit will be, while doing something else; returns the turn."""
        self._said = self._statement(unit)
        labels = [label for label, _ in pairs_of(unit)] or [unit.thing.name]
        word = self._random.choice(labels).split()[0]
        if unit.read and self._random.random() < 0.5:
            return self._turn("", [self._find(unit.read, word)])
        return self._turn("", [self._search(f"{title_of(unit)} {self._random.choice(labels)} confirmed")])

    def _statement(self, unit: PlannedUnit) -> str:
        """The unit as the model would put it in passing."""
        told = [f"{label} is {value}" for label, value in pairs_of(unit)]
        name = title_of(unit)
        if unit.partner is not None:
            one = f"{unit.thing.name} and {unit.partner.name} are one {unit.thing.kind.singular}"
            return f"{one}: its {', its '.join(told)}."
        if not told:
            return f"{name} meets the conditions."
        if len(unit.stated) < len(self._task.fields):
            left = [self._task.kind.label(slot) for slot in unit.misled]
            return f"For {name} the {', the '.join(told)}; its {' and '.join(left)} is not needed."
        return self._random.choice(
            (
                f"{name} fits: its {', its '.join(told)}.",
                f"For {name}, the {', the '.join(told)}.",
                f"{name} meets all conditions. Its {', its '.join(told)}.",
            )
        )

    def _look_closer(self, unit: PlannedUnit) -> None:
        """Further reading and finding on pages that are open."""
        random, task = self._random, self._task
        pages = [url_of(task, page, unit.thing) for page in (OFFICIAL, ENCYCLOPEDIA, VISIT, NEWS)]
        pages = [url for url in pages if url in self._opened]
        if not pages:
            return
        calls = [self._read(random.choice(pages)) for _ in range(self._times(self._profile.reads - 1))]
        words = [label.split()[-1] for label in task.labels] + [
            unit.thing.name,
            "official",
            str(task.region.split()[0]),
        ]
        calls += [
            self._find(random.choice(pages), random.choice(words))
            for _ in range(self._times(self._profile.finds * 0.6))
        ]
        while calls:
            size = random.choice((2, 3, 4))
            self._turn("", calls[:size])
            del calls[:size]

    def _passing(self, thing: Thing) -> None:
        """A mistake that is mended: a figure taken from the mirror or from old news, then corrected."""
        task, random = self._task, self._random
        slot = next((slot for slot in task.fields if slot in (A, B)), A)
        url = url_of(task, MIRROR, thing)
        wrong = written(thing.kind, slot, mirrored(thing)[slot])
        label = thing.kind.label(slot)
        self._turn(self._intent(), [self._open(url)])
        first = self._turn("", [self._read(url)])
        self._said = f"The {label} of {thing.name} is {wrong}."
        stated = self._turn("", [self._search(f"{thing.name} {label} {wrong}")])
        self._errors.append(PlannedError(first, stated, "source_quality_error", ()))
        official = url_of(task, OFFICIAL, thing)
        if official not in self._opened:
            self._turn("I should check this on the official page.", [self._open(official)])
        self._turn("", [self._read(official)])
        if random.random() < 0.7:
            self._said = f"The official page gives {thing.value(slot)} as the {label} of {thing.name}, not {wrong}."

    def _closing(self, units: Sequence[PlannedUnit]) -> None:
        """A last look before the answer."""
        task, random = self._task, self._random
        for _ in range(self._times(self._profile.searches * 0.1)):
            label = random.choice(task.labels)
            calls = [self._search(f"{unit.thing.name} {task.region} {label}") for unit in units[:2]]
            self._turn("I will check that nothing was missed.", calls)
        if self._said:
            self._turn("", [self._search(f"{task.kind.plural} {task.region} {task.labels[-1]}")])
