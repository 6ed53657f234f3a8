"""Units of measure, so that `412 m`, `412 metres` and `0.412 km` are the same quantity."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Measure:
    """A unit: the symbol it is shown by, what it measures, and how many of that measure's base unit it is."""

    symbol: str
    dimension: str
    factor: float


_TABLE: Final = """
m length 1: m metre metres meter meters
km length 1000: km kilometre kilometres kilometer kilometers
cm length 0.01: cm centimetre centimetres centimeter centimeters
mm length 0.001: mm millimetre millimetres millimeter millimeters
ft length 0.3048: ft foot feet
mi length 1609.344: mi mile miles
kg mass 1: kg kilogram kilograms kilogramme kilogrammes
g mass 0.001: gram grams gramme grammes
t mass 1000: tonne tonnes
lb mass 0.45359237: lb lbs
km² area 1000000: km² km2 sqkm
m² area 1: m² m2 sqm
ha area 10000: ha hectare hectares
dB level 1: db dba decibel decibels
°C temperature 1: °c
kW power 1: kw kilowatt kilowatts
MW power 1000: mw megawatt megawatts
GW power 1000000: gw gigawatt gigawatts
km/h speed 1: km/h kmh kph
""".strip()
"""Symbol, dimension, factor, then the spellings. Left out: words that are as often something else (pound)."""


def _read(table: str) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for line in table.split("\n"):
        head, spellings = line.split(": ")
        symbol, dimension, factor = head.split()
        found.update(dict.fromkeys(spellings.split(), Measure(symbol, dimension, float(factor))))
    return found


_MEASURES: Final = _read(_TABLE)
_SPELLINGS: Final = sorted((re.escape(spelling) for spelling in _MEASURES), key=len, reverse=True)
_SQUARE: Final = re.compile(r"[\s-]?(?:square|sq\.?)[\s-](km|kilomet(?:re|er)s?|m|met(?:re|er)s?)\b", re.IGNORECASE)
_UNIT: Final = re.compile(
    rf"[\s\u00a0\u202f-]?(?:(dB)\s?\([A-Z]\)|({'|'.join(_SPELLINGS)})(?![\w²³/]))", re.IGNORECASE
)
_PER_HOUR: Final = re.compile(r"[\s-]?(?:km|kilomet(?:re|er)s?)\s(?:an|per)\shour\b", re.IGNORECASE)


def measure_at(text: str, start: int) -> tuple[Measure, int] | None:
    """The unit at `start`, after one space or hyphen at most, and where it ends; None where none is."""
    speed = _PER_HOUR.match(text, start)
    if speed:
        return _MEASURES["km/h"], speed.end()
    square = _SQUARE.match(text, start)
    if square:
        return _MEASURES["km²" if square[1][0] in "kK" else "m²"], square.end()
    match = _UNIT.match(text, start)
    if match is None:
        return None
    return _MEASURES[(match[1] or match[2]).casefold()], match.end()


def unit_form(word: str) -> str:
    """The form that all spellings of a unit share, as *metres* and *m*; empty for a word that is no unit's name.

    Feet are left out: without a number they are more often parts of a body.
    """
    measure = _MEASURES.get(word)
    return measure.symbol.casefold() if measure and measure.symbol != "ft" else ""


def measure_named(symbol: str) -> Measure | None:
    """The unit with that symbol; None for a currency, a percentage or no unit."""
    return _BY_SYMBOL.get(symbol)


_BY_SYMBOL: Final = {measure.symbol: measure for measure in _MEASURES.values()}
