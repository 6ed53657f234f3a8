"""The kinds of thing in the made-up world, and how each of their facts is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

YEAR_NOW: Final = 2024
"""The year that questions ask about."""

YEAR_OLD: Final = 2019
"""The year of the older figures that news and directories print."""

A, B, YEAR, COUNT, PARTY, TOWN = "a", "b", "year", "count", "party", "town"
SLOTS: Final = (A, B, YEAR, COUNT, PARTY, TOWN)
"""What is known of every thing: two measures in the same unit, a year, a yearly count, a body and a town."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its name, its unit, and the range and number of decimals of its values."""

    label: str
    unit: str
    low: float
    high: float
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a thing has or lacks; `name` follows *has a*."""

    name: str

    @property
    def told(self) -> str:
        return f"It has a {self.name}."

    @property
    def denied(self) -> str:
        return f"It has no {self.name}."

    @property
    def condition(self) -> str:
        return f"has a {self.name}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing. `began` is the verb of its year, `counted` what its yearly count counts."""

    key: str
    singular: str
    plural: str
    topic: str
    name_form: str
    subtypes: tuple[str, ...]
    a: Measure
    b: Measure
    began: str
    year_label: str
    counted: str
    count_range: tuple[int, int]
    party_label: str
    run_by: str
    features: tuple[Feature, ...]

    def label(self, slot: str) -> str:
        """The name of a field, as questions and answers have it."""
        return {
            A: self.a.label,
            B: self.b.label,
            YEAR: self.year_label,
            COUNT: f"number of {self.counted} in {YEAR_NOW}",
            PARTY: self.party_label,
            TOWN: "nearest town",
        }[slot]


def _features(text: str) -> tuple[Feature, ...]:
    return tuple(Feature(name.strip()) for name in text.split(","))


KINDS: Final = (
    Kind(
        "lake", "lake", "lakes", "geography", "Lake {}", ("reservoir", "tarn", "salt lake"),
        Measure("greatest depth", "m", 42, 180), Measure("mean depth", "m", 6, 38),
        "was opened to boats", "year of opening to boats", "boat permits", (1_200, 48_000),
        "managing body", "managed by", _features("fish ladder, public boathouse, bird hide, shore railway halt"),
    ),
    Kind(
        "museum", "museum", "museums", "culture", "{} Museum",
        ("maritime museum", "clock museum", "textile museum"),
        Measure("exhibition area", "m²", 2_100, 9_800), Measure("storage area", "m²", 300, 1_900),
        "opened", "year of opening", "visitors", (11_000, 290_000),
        "operator", "run by", _features("roof terrace, planetarium, reading room, step-free entrance"),
    ),
    Kind(
        "bridge", "bridge", "bridges", "engineering", "{} Bridge", ("arch bridge", "cable bridge", "truss bridge"),
        Measure("longest span", "m", 40, 240), Measure("total length", "m", 260, 1_900),
        "opened", "year of opening", "lorry crossings", (21_000, 460_000),
        "owner", "owned by", _features("cycle track, toll booth, lifting section, viewing platform"),
    ),
    Kind(
        "railway", "heritage railway", "heritage railways", "transport", "{} Railway",
        ("narrow-gauge line", "rack line", "broad-gauge line"),
        Measure("line length", "km", 9, 64, 1), Measure("longest tunnel", "km", 0.4, 4.9, 1),
        "opened", "year of opening", "passengers", (18_000, 410_000),
        "operator", "operated by", _features("dining car, turntable, sleeper service, working signal museum"),
    ),
    Kind(
        "lighthouse", "lighthouse", "lighthouses", "navigation", "{} Light",
        ("rock tower", "harbour light", "screw-pile light"),
        Measure("tower height", "m", 11, 39, 1), Measure("focal height", "m", 41, 110, 1),
        "was lit", "year of first lighting", "day visitors", (900, 36_000),
        "keeper", "kept by", _features("fog bell, keeper's museum, rotating lens, guest room"),
    ),
    Kind(
        "festival", "festival", "festivals", "events", "{} Festival",
        ("lantern festival", "harvest festival", "boat festival"),
        Measure("parade route length", "km", 2.1, 9.8, 1), Measure("fire run length", "km", 0.3, 1.9, 1),
        "was first held", "year of first holding", "ticket holders", (3_000, 120_000),
        "organiser", "organised by", _features("night market, children's parade, brass contest, free camp site"),
    ),
    Kind(
        "works", "pottery works", "pottery works", "industry", "{} Works",
        ("tile works", "stoneware works", "porcelain works"),
        Measure("kiln hall area", "m²", 1_100, 7_900), Measure("drying hall area", "m²", 150, 980),
        "was founded", "year of founding", "tonnes fired", (1_500, 64_000),
        "owner", "owned by", _features("wood-fired kiln, factory shop, glaze laboratory, clay pit of its own"),
    ),
    Kind(
        "observatory", "observatory", "observatories", "science", "{} Observatory",
        ("solar observatory", "university observatory", "radio observatory"),
        Measure("dome diameter", "m", 5, 14.5, 1), Measure("tower height", "m", 16, 48, 1),
        "opened", "year of opening", "evening visitors", (700, 29_000),
        "operator", "run by", _features("public telescope, lecture hall, camera archive, weather mast"),
    ),
)  # fmt: skip
