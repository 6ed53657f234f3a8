"""The simulated models: how good each is, how it works, and at which rates it goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from lseval.domain.taxonomy import ErrorType
from lseval.errors import InputError

TYPE_WEIGHTS: Final[Mapping[ErrorType, float]] = {
    ErrorType.WRONG_ENTITY: 0.12,
    ErrorType.CONSTRAINT_VIOLATION: 0.15,
    ErrorType.MISSING_REQUIRED_FIELD: 0.09,
    ErrorType.INSUFFICIENT_EVIDENCE: 0.14,
    ErrorType.SOURCE_NOT_SUPPORTING: 0.14,
    ErrorType.SOURCE_QUALITY_ERROR: 0.10,
    ErrorType.TEMPORAL_ERROR: 0.10,
    ErrorType.SCOPE_ERROR: 0.06,
    ErrorType.MAPPING_ERROR: 0.06,
    ErrorType.GROUPING_ERROR: 0.04,
}
"""How often each type is drawn among wrong units; where a task has no room for the drawn one, another is drawn."""


@dataclass(frozen=True)
class Profile:
    """A simulated model's skill and habits; shares are from 0 to 1.

    `right` is the share of supplied units that are right, `supplied` the chance that a required unit is supplied at
    all, `unreadable` the share of units that cite only what nobody can read. `passing` is the chance, a unit, of a
    mistake that the model mends later in the run. `searches`, `opens`, `reads` and `finds` are what it spends on
    one unit on average; `extracts` the chance, a unit, of an extract call. `says` is the chance that it tells what
    it has read. `dead_ends` is the chance, a unit, to open something that cannot be read. `premature`, `invalid`
    and `endless` are the shares of runs that answer before reading, answer without any source, or use up the
    budget; `turned_away` is the share of runs whose first attempt the model's server cuts short. `weights` multiply
    `TYPE_WEIGHTS`.
    """

    name: str = ""
    family: str = ""
    right: float = 0.6
    supplied: float = 0.95
    unreadable: float = 0.06
    passing: float = 0.08
    searches: float = 2.4
    opens: float = 2.2
    reads: float = 1.6
    finds: float = 1.4
    extracts: float = 0.10
    says: float = 0.55
    dead_ends: float = 0.25
    premature: float = 0.007
    invalid: float = 0.012
    endless: float = 0.008
    turned_away: float = 0.06
    weights: tuple[tuple[str, float], ...] = ()

    def weight_of(self, error_type: ErrorType) -> float:
        """How often that type is drawn among this model's wrong units, against the others."""
        return TYPE_WEIGHTS[error_type] * dict(self.weights).get(error_type, 1.0)


def _model(name: str, family: str, right: float, **habits: Any) -> Profile:
    return Profile(name=name, family=family, right=right, **habits)


PROFILES: Final = (
    _model("Alder-6 Grand", "Alder", 0.80, searches=1.3, opens=2.1, reads=1.3, finds=0.6, supplied=0.98),
    _model("Alder-5 Prime", "Alder", 0.77, searches=2.1, opens=1.6, reads=1.0, finds=0.6, supplied=0.98),
    _model("Alder-5", "Alder", 0.66, searches=1.6, opens=1.7, reads=0.9, finds=1.4, unreadable=0.035),
    _model("Alder-5 Mini", "Alder", 0.57, searches=2.5, opens=1.6, reads=0.8, invalid=0.06, premature=0.05),
    _model("Bracken-3 Pro", "Bracken", 0.48, searches=2.6, opens=2.2, reads=2.0, finds=0.9, unreadable=0.11),
    _model("Bracken-2 Flash", "Bracken", 0.41, searches=2.2, opens=1.8, reads=1.2, finds=1.0, unreadable=0.10),
    _model("Cardoon-K2.6", "Cardoon", 0.65, searches=3.4, opens=2.9, reads=2.5, finds=1.5, endless=0.02),
    _model("Cardoon-K2.5", "Cardoon", 0.61, searches=3.2, opens=2.7, reads=2.3, finds=1.5, endless=0.02),
    _model("Dogwood-3.7 Plus", "Dogwood", 0.60, searches=2.3, opens=2.3, reads=1.8, finds=1.6),
    _model("Dogwood-3.6 Flash", "Dogwood", 0.51, searches=2.6, opens=2.0, reads=1.5, finds=1.5, passing=0.16),
    _model("Elder-V3.2", "Elder", 0.59, searches=2.2, opens=2.5, reads=1.8, finds=2.1),
    _model("Elder-V4 Flash", "Elder", 0.63, searches=3.4, opens=2.3, reads=2.0, finds=0.9),
    _model("Fennel-5", "Fennel", 0.58, searches=2.5, opens=2.4, reads=1.9, finds=1.5),
    _model("Fennel-4.7 Flash", "Fennel", 0.45, searches=2.9, opens=2.2, reads=1.6, finds=1.4, supplied=0.9),
    _model("Gorse-M2", "Gorse", 0.55, searches=2.8, opens=2.5, reads=2.0, finds=1.6),
    _model("Heather-Large", "Heather", 0.38, searches=2.0, opens=1.8, reads=1.1, finds=0.9, dead_ends=0.4),
)  # fmt: skip
"""Sixteen models of eight families, from strong to weak. Neither they nor their makers exist."""

_BY_NAME: Final = {profile.name: profile for profile in PROFILES}


def profile_of(name: str, given: Mapping[str, Any] | None = None) -> Profile:
    """The profile of a simulated model of that name, with what a study sets otherwise.

    A name that is none of `PROFILES` has the middling skills that `Profile` begins with.

    Raises:
        InputError: a setting is none of a profile's, or no number.
    """
    known = _BY_NAME.get(name, Profile(name=name))
    values: dict[str, Any] = {item.name: getattr(known, item.name) for item in fields(Profile)}
    for key, value in (given or {}).items():
        if key not in values or key == "name":
            raise InputError(f"A simulated model's profile has no {key!r}; it has {', '.join(sorted(values))}.")
        values[key] = _weights(value) if key == "weights" else _checked(key, value)
    return Profile(**values)


def _checked(key: str, value: Any) -> Any:
    is_fit = isinstance(value, str) if key == "family" else isinstance(value, int | float) and 0 <= value <= 20
    if not is_fit or isinstance(value, bool):
        raise InputError(f"The profile's {key} cannot be {value!r}.")
    return value


def _weights(given: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(given, Mapping) or not set(given) <= set(TYPE_WEIGHTS):
        raise InputError(f"The profile's weights must be numbers by error type: {', '.join(TYPE_WEIGHTS)}.")
    return tuple(sorted((str(kind), float(_checked("weights", weight))) for kind, weight in given.items()))
