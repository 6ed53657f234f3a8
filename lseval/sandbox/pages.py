"""What the pages of the made-up web say: each kind of page of a thing, and those of its region."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, Final

from lseval.sandbox.kinds import COUNT, PARTY, TOWN, YEAR, YEAR_NOW, YEAR_OLD, A, B, Kind
from lseval.sandbox.words import slug
from lseval.sandbox.world import SandboxTask, Thing, World, a_or_an, written

OFFICIAL, VISIT, ENCYCLOPEDIA, NEWS, MIRROR = "official", "visit", "encyclopedia", "news", "mirror"
LEAFLET, WALLED, DEAD, SHELL, MOVED = "leaflet", "walled", "dead", "shell", "moved"
DIRECTORY, OVERVIEW = "directory", "overview"
OF_A_THING: Final = (OFFICIAL, VISIT, ENCYCLOPEDIA, NEWS, MIRROR, LEAFLET, WALLED, DEAD, SHELL, MOVED)
UNREADABLE: Final = (WALLED, DEAD, SHELL)
"""Kinds of page that nobody can read, by a wall, by absence, or for want of a script engine."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a page says: its title, its paragraphs, and the rows of a table, the head first."""

    title: str
    paragraphs: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def text(self) -> str:
        """Everything as plain text."""
        return "\n".join((*self.paragraphs, *(" | ".join(row) for row in self.rows)))


@dataclass(frozen=True, slots=True, eq=False)
class PagePlace:
    """A page of the web: its address, which kind of page it is, and what it is about.

    `thing` is None for the pages of a region.
    """

    url: str
    page: str
    task: SandboxTask
    thing: Thing | None = None
    is_namesake: bool = False


def places_of(task: SandboxTask) -> Iterator[PagePlace]:
    """Every page of a task's corner, always in the same order."""
    for page in (DIRECTORY, OVERVIEW):
        yield PagePlace(url_of(task, page), page, task)
    for thing in task.things:
        for page in OF_A_THING:
            yield PagePlace(url_of(task, page, thing), page, task, thing)
    for thing in task.namesakes.values():
        for page in (OFFICIAL, ENCYCLOPEDIA):
            yield PagePlace(url_of(task, page, thing), page, task, thing, is_namesake=True)


def url_of(task: SandboxTask, page: str, thing: Thing | None = None) -> str:
    """The address of a kind of page, of a thing or of the task's region."""
    region = slug(task.region)
    kind = task.kind.plural.replace(" ", "-")
    if thing is None:
        host = {DIRECTORY: f"directory.{region}.example", OVERVIEW: f"www.{region}.example"}[page]
        return f"https://{host}/{kind}" + ("/a-to-z" if page == DIRECTORY else "/in-figures")
    own = slug(thing.name)
    site = own if thing.region == task.region else f"{own}-{slug(thing.region)}"
    return {
        OFFICIAL: f"https://www.{site}.example/facts",
        VISIT: f"https://www.{site}.example/visit",
        LEAFLET: f"https://www.{site}.example/leaflet.pdf",
        DEAD: f"https://www.{site}.example/old/figures-{YEAR_NOW}",
        MOVED: f"https://{site}.example/",
        ENCYCLOPEDIA: f"https://encyclopedia.allplaces.example/{kind}/{site}",
        NEWS: f"https://news.{region}-courier.example/{YEAR_OLD + 1}/03/{own}",
        MIRROR: f"https://quickfacts.copied.example/{kind}/{own}",
        WALLED: f"https://members.{region}-gazette.example/{YEAR_NOW}/{own}",
        SHELL: f"https://app.{region}-tours.example/{own}",
    }[page]


@lru_cache(maxsize=2)
def places_by_url(world: World) -> dict[str, PagePlace]:
    """All pages of the world by their address."""
    return {place.url: place for task in world.tasks for place in places_of(task)}


@lru_cache(maxsize=4_000)
def document_of(place: PagePlace) -> Document:
    """What a page says to a reader who gets through to it."""
    random = Random(f"page {place.url}")  # noqa: S311 - a made-up world, no secret
    if place.thing is None:
        return _directory(place.task) if place.page == DIRECTORY else _overview(place.task, random)
    write: Callable[[SandboxTask, Thing, Random], Document] = {
        OFFICIAL: _official,
        MOVED: _official,
        VISIT: _visit,
        ENCYCLOPEDIA: _encyclopedia,
        NEWS: _news,
        MIRROR: _mirror,
        LEAFLET: _leaflet,
        WALLED: _walled,
        DEAD: _walled,
        SHELL: _walled,
    }[place.page]
    return write(place.task, place.thing, random)


def _facts(kind: Kind, name: str, facts: Any, count_year: int = YEAR_NOW) -> dict[str, str]:
    """A sentence for each slot."""
    tell = {slot: written(kind, slot, value) for slot, value in facts.items()}
    return {
        A: f"The {kind.a.label} of {name} is {tell[A]}.",
        B: f"Its {kind.b.label} is {tell[B]}.",
        YEAR: f"{name} {kind.began} in {tell[YEAR]}.",
        COUNT: f"In {count_year} it had {tell[COUNT]} {kind.counted}.",
        PARTY: f"It is {kind.run_by} the {tell[PARTY]}.",
        TOWN: f"The nearest town is {tell[TOWN]}.",
    }


def _place_sentence(thing: Thing) -> str:
    return f"{thing.name} is {a_or_an(thing.subtype)} in the {thing.region}."


def _features(thing: Thing) -> str:
    return " ".join(
        feature.told if has else feature.denied for feature, has in zip(thing.kind.features, thing.has, strict=True)
    )


def _apart(task: SandboxTask, thing: Thing) -> list[str]:
    """How a page tells its subject from its namesake, where there is one."""
    if thing.name not in task.namesakes:
        return []
    other = task.other_region if thing.region == task.region else task.region
    return [f"It is not to be confused with {thing.name} in the {other}."]


def _official(task: SandboxTask, thing: Thing, random: Random) -> Document:
    told = _facts(thing.kind, thing.name, thing.facts)
    return Document(
        f"{thing.name}: facts and figures | Official site",
        (
            " ".join([_place_sentence(thing), told[PARTY], told[TOWN], *_apart(task, thing)]),
            f"{told[YEAR]} {_filler(random, thing, 2)}",
            f"{told[A]} {told[B]} {told[COUNT]}",
            _features(thing),
            _filler(random, thing, random.randint(4, 9)),
        ),
    )


def _visit(task: SandboxTask, thing: Thing, random: Random) -> Document:
    return Document(
        f"Plan your visit | {thing.name}",
        (
            f"Welcome to {thing.name}. We look forward to seeing you in the {thing.region}.",
            _filler(random, thing, 5),
            "Parking is free for those who come by bus. Dogs are welcome on a lead. Please bring a coat.",
            _filler(random, thing, 6),
        ),
    )


def _encyclopedia(task: SandboxTask, thing: Thing, random: Random) -> Document:
    told = _facts(thing.kind, thing.name, thing.facts)
    history = [_filler(random, thing, 7) for _ in range(random.choice((1, 1, 2, 5)))]
    return Document(
        f"{thing.name} | Encyclopedia of all places",
        (
            " ".join([_place_sentence(thing), *_apart(task, thing)]),
            f"{told[YEAR]} {told[PARTY]}",
            *history,
            f"{told[A]} {told[B]} {told[COUNT]} {told[TOWN]}",
            _features(thing),
        ),
    )


def _news(task: SandboxTask, thing: Thing, random: Random) -> Document:
    kind = thing.kind
    count = written(kind, COUNT, thing.older)
    return Document(
        f"{thing.name}: the {YEAR_OLD} figures are in | {task.region} Courier",
        (
            f"{task.region} Courier, 12 March {YEAR_OLD + 1}. {thing.name} had {count} {kind.counted} in "
            f"{YEAR_OLD}, its {kind.party_label} says.",
            f"The {kind.singular} {kind.began} in {thing.facts[YEAR]}. {_filler(random, thing, 3)}",
            f"Its {kind.a.label} of {written(kind, A, thing.facts[A])} is well known in {thing.facts[TOWN]}.",
            _filler(random, thing, 4),
        ),
    )


def mirrored(thing: Thing) -> dict[str, Any]:
    """The facts as the careless mirror has them: every figure a little off."""
    facts, kind = dict(thing.facts), thing.kind
    facts[A] = round(facts[A] * 1.17, kind.a.decimals) if kind.a.decimals else int(facts[A] * 1.17) + 1
    facts[B] = round(facts[B] * 0.82, kind.b.decimals) if kind.b.decimals else max(int(facts[B] * 0.82) - 1, 1)
    facts[YEAR] -= 10
    facts[COUNT] = int(facts[COUNT] * 1.09) + 3
    return facts


def _mirror(task: SandboxTask, thing: Thing, random: Random) -> Document:
    told = _facts(thing.kind, thing.name, mirrored(thing))
    return Document(
        f"{thing.name} quick facts",
        (
            f"{_place_sentence(thing)} {told[PARTY]}",
            f"{told[A]} {told[B]} {told[YEAR]} {told[COUNT]} {told[TOWN]}",
            _features(thing),
            "Text collected by machine from other sites. No claim is made that it is right.",
        ),
    )


def _leaflet(task: SandboxTask, thing: Thing, random: Random) -> Document:
    told = _facts(thing.kind, thing.name, thing.facts)
    return Document(
        f"{thing.name}: visitor leaflet",
        (
            _place_sentence(thing),
            f"{told[YEAR]} {told[PARTY]} {told[TOWN]}",
            f"{told[A]} {told[B]} {told[COUNT]}",
            _filler(random, thing, 3),
        ),
    )


def _walled(task: SandboxTask, thing: Thing, random: Random) -> Document:
    return Document(
        f"{thing.name} in {YEAR_NOW} | Gazette for members",
        (f"What {thing.name} came to in {YEAR_NOW}, for members of the Gazette. {_filler(random, thing, 3)}",),
    )


def _directory(task: SandboxTask) -> Document:
    kind = task.kind
    head = ("Name", "Type", "Nearest town", f"{kind.counted.capitalize()} ({YEAR_OLD})", "Site")
    things = sorted(task.things, key=lambda thing: thing.name)
    rows = tuple(
        (
            thing.name,
            thing.subtype,
            thing.facts[TOWN],
            written(kind, COUNT, thing.older),
            url_of(task, OFFICIAL, thing),
        )
        for thing in things
    )
    return Document(
        f"{kind.plural.capitalize()} of the {task.region}: A to Z",
        (
            f"Here are {len(things)} {kind.plural} of the {task.region}, as their owners told us of them.",
            f"The numbers of {kind.counted} are those of {YEAR_OLD}; later ones were not collected.",
        ),
        (head, *rows),
    )


def _overview(task: SandboxTask, random: Random) -> Document:
    kind, totals = task.kind, task.totals
    return Document(
        f"The {kind.plural} of the {task.region} in figures",
        (
            f"The {task.region} counts {len(task.things)} {kind.plural} in all.",
            f"Together they have a {kind.a.label} of {written(kind, A, totals[A])} and a {kind.b.label} of "
            f"{written(kind, B, totals[B])}.",
            f"All of them taken together had {written(kind, COUNT, totals[COUNT])} {kind.counted} in {YEAR_NOW}.",
            f"Among them are {', '.join(thing.name for thing in task.things)}.",
            "Figures for the whole region are published each spring; single places have pages of their own.",
        ),
    )


_FILLERS: Final = (
    "The road to {town} was widened after a wet winter and has been quiet since.",
    "Many who come from {town} walk the last part of the way, which is marked with white posts.",
    "Volunteers look after the grounds on most weekends and meet in a hut beside the gate.",
    "An earlier plan to rebuild the entrance was given up when the money went to the school in {town}.",
    "Its archive is kept in boxes and is open to anyone who writes ahead.",
    "Swallows nest under the eaves, and the doors stay open for them in early summer.",
    "Local bakers sell a flat cake with caraway that is said to have been made for the first workers here.",
    "Painters have been fond of the view from the south, which shows it against the low sun.",
    "In hard frost the paths are gritted from the gate to the shelter.",
    "A small shop sells postcards, string and boiled sweets.",
    "The present sign was carved by pupils and put up in a single afternoon.",
    "Old photographs show carts where the benches stand today.",
    "Guides tell visitors of the long argument over the colour of the gate.",
    "A bell is rung when the weather turns, and everyone goes to the shelter.",
    "Those who cannot manage the steps may ask for the side door.",
    "The name {stem} is older than anything that stands here now.",
    "Several songs mention it, none of them in a flattering way.",
    "The accounts are read aloud once a year in the hall of {town}.",
)


def _filler(random: Random, thing: Thing, sentences: int) -> str:
    """Sentences that hold none of the facts asked for."""
    stem = thing.name.replace("Lake ", "").split()[0]
    chosen = random.sample(_FILLERS, min(sentences, len(_FILLERS)))
    return " ".join(text.format(town=thing.facts[TOWN], stem=stem) for text in chosen)
