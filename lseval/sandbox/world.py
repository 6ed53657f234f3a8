"""The made-up world: things of several kinds with facts, older facts, namesakes, and the tasks they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any, Final

from lseval.sandbox.kinds import COUNT, KINDS, PARTY, SLOTS, TOWN, YEAR, A, B, Kind, Measure
from lseval.sandbox.words import Names

MOST_REQUIRED: Final = 10
MOST_CONDITIONS: Final = 9
_REQUIRED: Final = (1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9)
_FAILING: Final = 5


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing of the world.

    `facts` holds a value for each of `SLOTS`; `older` the count of the older year. `has` says for each feature of
    the kind whether the thing has it.
    """

    name: str
    kind: Kind
    region: str
    subtype: str
    facts: Mapping[str, Any]
    older: int
    has: tuple[bool, ...]

    def value(self, slot: str) -> str:
        """A fact as it is written."""
        return written(self.kind, slot, self.facts[slot])


def written(kind: Kind, slot: str, value: Any) -> str:
    """A value of a slot as pages and answers write it."""
    if slot in (A, B):
        measure = kind.a if slot == A else kind.b
        return f"{value:,.{measure.decimals}f} {measure.unit}"
    return f"{value:,}" if slot == COUNT else str(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """A hard condition. `text` continues *that …*; `on` is a slot, or region, subtype, feature or official."""

    text: str
    on: str


@dataclass(frozen=True, slots=True, eq=False)
class SandboxTask:
    """A task of the world, with all that is true about it.

    `eligible` are the things that meet every condition, `required` of which are asked for; `failing` meet all but
    one each, and `broken` tells which. `namesakes` maps a thing's name to its namesake in another region.
    `totals` are the region's own figures by slot.
    """

    number: int
    key: str
    kind: Kind
    region: str
    other_region: str
    required: int
    conditions: tuple[Condition, ...]
    fields: tuple[str, ...]
    eligible: tuple[Thing, ...]
    failing: tuple[Thing, ...]
    broken: tuple[Condition, ...]
    namesakes: Mapping[str, Thing]
    totals: Mapping[str, Any]

    @property
    def things(self) -> tuple[Thing, ...]:
        """All things of the kind in the region."""
        return self.eligible + self.failing

    @property
    def needs_official(self) -> bool:
        return any(condition.on == "official" for condition in self.conditions)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.kind.label(slot) for slot in self.fields)

    @property
    def question(self) -> str:
        """What agents are asked."""
        kind, count = self.kind, self.required
        things = kind.singular if count == 1 else kind.plural
        conditions = [condition.text for condition in self.conditions if condition.on != "official"]
        if count > 1:
            conditions = [_plural(text) for text in conditions]
        asked = f"Find {count} {things} that {_listed(conditions)}."
        for_each = "Give its" if count == 1 else "For each give its"
        told = f" {for_each} {_listed(list(self.labels))}."
        source = " Cite its own official page." if self.needs_official else " Cite the page that shows it."
        return asked + told + source

    @property
    def rubric(self) -> dict[str, Any]:
        """The rubric that follows from the facts, as `Task.rubric` holds it."""
        subject = f"The {self.kind.singular} "
        return {
            "required_count": self.required,
            "constraints": [subject + condition.text + "." for condition in self.conditions],
            "grouping_rule": f"One answer group per {self.kind.singular}.",
            "required_fields": list(self.labels),
        }


@dataclass(frozen=True, eq=False)
class World:
    """A seed's world: as many tasks as asked for, each with its own corner of it."""

    seed: int
    tasks: tuple[SandboxTask, ...]

    def task_of(self, question: str) -> SandboxTask | None:
        """The task whose question stands in a text."""
        found = _by_question(self).get(question.strip())
        if found is None:
            found = next((task for text, task in _by_question(self).items() if text in question), None)
        return found


@lru_cache(maxsize=4)
def _by_question(world: World) -> dict[str, SandboxTask]:
    return {task.question: task for task in world.tasks}


@lru_cache(maxsize=4)
def make_world(seed: int, n_tasks: int) -> World:
    """The world of a seed with that many tasks. The same arguments always give the same world.

    A task and its corner depend on the seed and its number alone, so that a larger world begins with the smaller.
    """
    return World(seed, tuple(_make_task(seed, number) for number in range(n_tasks)))


def _make_task(seed: int, number: int) -> SandboxTask:
    random = Random(f"world {seed} {number}")  # noqa: S311 - a made-up world, no secret
    names = Names(random)
    kind = KINDS[number % len(KINDS)]
    region, other = f"{names.region()}", f"{names.region()}"
    required = MOST_REQUIRED if number % 50 == 9 else random.choice(_REQUIRED)
    wanted = MOST_CONDITIONS if number % 50 == 13 else random.randint(1, MOST_CONDITIONS - 2)
    parties = [names.body() for _ in range(3)]
    spare = random.randint(0, 3)
    pool = [_make_thing(random, names, kind, region, parties) for _ in range(required + spare)]
    fields = _fields(random)
    drawn, pool = _conditions(random, kind, region, pool, wanted)
    failing, broken = _failing(random, names, kind, region, parties, drawn, pool)
    namesakes = {thing.name: _namesake(random, names, thing, other) for thing in pool if random.random() < 0.6}
    totals = {slot: _total(slot, [*pool, *failing]) for slot in (A, B, COUNT)}
    key = f"{kind.plural.replace(' ', '-')}-{region.lower().replace(' ', '-')}"
    return SandboxTask(
        number, key, kind, region, other, required, tuple(condition for condition, _ in drawn), fields, tuple(pool),
        tuple(failing), tuple(broken), namesakes, totals,
    )  # fmt: skip


def _total(slot: str, things: list[Thing]) -> Any:
    total = sum(thing.facts[slot] for thing in things)
    return round(total, 1) if isinstance(total, float) else total


def _make_thing(random: Random, names: Names, kind: Kind, region: str, parties: list[str]) -> Thing:
    low, high = kind.count_range
    count = random.randint(low, high) // 10 * 10 + random.randint(1, 9)
    facts = {
        A: _measured(random, kind.a),
        B: _measured(random, kind.b),
        YEAR: random.randint(1851, 2009),
        COUNT: count,
        PARTY: random.choice(parties),
        TOWN: names.stem(),
    }
    older = int(count * random.choice((0.58, 0.66, 0.74, 1.31, 1.44))) // 10 * 10 + random.randint(1, 9)
    has = tuple(random.random() < 0.7 for _ in kind.features)
    name = kind.name_form.format(names.stem())
    return Thing(name, kind, region, random.choice(kind.subtypes), facts, older, has)


def _measured(random: Random, measure: Measure) -> float | int:
    value = random.uniform(measure.low, measure.high)
    return round(value, measure.decimals) if measure.decimals else round(value)


def _namesake(random: Random, names: Names, thing: Thing, region: str) -> Thing:
    """Another thing of the same name in another region, with facts of its own."""
    other = _make_thing(random, names, thing.kind, region, [names.body()])
    return replace(other, name=thing.name)


def _fields(random: Random) -> tuple[str, ...]:
    """Two to four of the slots, in a fixed order, a measure among them."""
    chosen = {random.choice((A, B))}
    if random.random() < 0.5:
        chosen |= {A, B}
    if random.random() < 0.6:
        chosen.add(COUNT)
    others = [slot for slot in (YEAR, PARTY, TOWN) if random.random() < 0.45]
    chosen.update(others)
    if len(chosen) < 2:
        chosen.add(YEAR)
    return tuple([slot for slot in SLOTS if slot in chosen][:4])


_Drawn = tuple[Condition, Any]


def _conditions(
    random: Random, kind: Kind, region: str, pool: list[Thing], wanted: int
) -> tuple[list[_Drawn], list[Thing]]:
    """Conditions with what a thing must have to meet them, and the pool made to meet them all."""
    drawn: list[_Drawn] = [(Condition(f"lies in the {region}", "region"), None)]
    subtype, party = random.choice(kind.subtypes), pool[0].facts[PARTY]
    features = random.sample(range(len(kind.features)), 2)
    smallest = min(thing.facts[A] for thing in pool)
    bound_a = round(smallest * 0.9, kind.a.decimals) if kind.a.decimals else int(smallest * 0.9)
    largest = max(thing.facts[B] for thing in pool)
    bound_b = round(largest * 1.1, kind.b.decimals) if kind.b.decimals else int(largest * 1.1) + 1
    latest = (max(thing.facts[YEAR] for thing in pool) // 5 + 1) * 5
    least = int(min(thing.facts[COUNT] for thing in pool) * 0.9) // 10 * 10
    offers: list[_Drawn] = [
        (Condition(f"is {a_or_an(subtype)}", "subtype"), subtype),
        (Condition(f"has {a_or_an(kind.a.label)} of more than {written(kind, A, bound_a)}", A), bound_a),
        (Condition(f"has {a_or_an(kind.b.label)} of less than {written(kind, B, bound_b)}", B), bound_b),
        (Condition(f"{kind.began} before {latest}", YEAR), latest),
        (Condition(f"had more than {least:,} {kind.counted} in 2024", COUNT), least),
        (Condition(kind.features[features[0]].condition, "feature"), features[0]),
        (Condition(f"is {kind.run_by} the {party}", PARTY), party),
        (Condition("is shown by its own official page", "official"), None),
    ]
    random.shuffle(offers)
    drawn += offers[: wanted - 1]
    return drawn, [_meeting(thing, drawn) for thing in pool]


def _meeting(thing: Thing, drawn: list[_Drawn]) -> Thing:
    for condition, needed in drawn:
        if condition.on == "subtype":
            thing = replace(thing, subtype=needed)
        elif condition.on == "feature":
            thing = replace(thing, has=_set(thing.has, needed, True))
        elif condition.on == PARTY:
            thing = replace(thing, facts={**thing.facts, PARTY: needed})
    return thing


def _set(has: tuple[bool, ...], place: int, value: bool) -> tuple[bool, ...]:
    return (*has[:place], value, *has[place + 1 :])


def _failing(
    random: Random,
    names: Names,
    kind: Kind,
    region: str,
    parties: list[str],
    drawn: list[_Drawn],
    pool: list[Thing],
) -> tuple[list[Thing], list[Condition]]:
    """Things that meet all conditions but one each; without a condition to break there is none."""
    breakable = [(condition, needed) for condition, needed in drawn if condition.on not in ("region", "official")]
    failing, broken = [], []
    for place in range(_FAILING if breakable else 0):
        condition, needed = breakable[place % len(breakable)]
        like = random.choice(pool)
        thing = _meeting(_make_thing(random, names, kind, region, parties), drawn)
        thing = replace(thing, facts={**thing.facts, **_inside(thing, like)})
        failing.append(_breaking(random, names, thing, condition, needed))
        broken.append(condition)
    return failing, broken


def _inside(thing: Thing, like: Thing) -> dict[str, Any]:
    """Values that keep every limit which the pool keeps, near those of a thing of the pool."""
    nudge = 10**-thing.kind.a.decimals if thing.kind.a.decimals else 1
    return {
        A: round(like.facts[A] + nudge, 1) if thing.kind.a.decimals else like.facts[A] + 1,
        B: like.facts[B],
        YEAR: like.facts[YEAR] - 1,
        COUNT: like.facts[COUNT] + 13,
    }


def _breaking(random: Random, names: Names, thing: Thing, condition: Condition, needed: Any) -> Thing:
    kind, facts = thing.kind, dict(thing.facts)
    if condition.on == "subtype":
        return replace(thing, subtype=random.choice([other for other in kind.subtypes if other != needed]))
    if condition.on == "feature":
        return replace(thing, has=_set(thing.has, needed, False))
    if condition.on == A:
        facts[A] = round(needed * 0.7, 1) if kind.a.decimals else int(needed * 0.7)
    elif condition.on == B:
        facts[B] = round(needed * 1.3, 1) if kind.b.decimals else int(needed * 1.3) + 1
    elif condition.on == YEAR:
        facts[YEAR] = needed + random.randint(2, 9)
    elif condition.on == COUNT:
        facts[COUNT] = int(needed * 0.6)
    else:
        facts[PARTY] = names.body()
    return replace(thing, facts=facts)


def a_or_an(words: str) -> str:
    """The words with their indefinite article."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _plural(text: str) -> str:
    for one, many in (
        ("lies ", "lie "), ("has ", "have "), ("is a ", "are each a "), ("is an ", "are each an "), ("is ", "are "),
        ("was ", "were "),
    ):  # fmt: skip
        if text.startswith(one):
            return many + text[len(one) :]
    return text


def _listed(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
