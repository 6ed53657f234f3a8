"""How large a demo is, and what its audit draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from annotation.sampling import Plan
from lseval.errors import InputError
from lseval.sandbox.profiles import PROFILES, Profile

_SMALL_MODELS: Final = ("Alder-6 Grand", "Alder-5 Mini", "Cardoon-K2.5", "Heather-Large")


@dataclass(frozen=True, slots=True)
class DemoSize:
    """A demo: its study, the models and number of tasks, the audit's plan, and how many processes collect it.

    With no further process everything is done in the calling one.
    """

    slug: str
    name: str
    description: str
    models: tuple[Profile, ...]
    tasks: int
    plan: Plan
    processes: int = 0


SIZES: Final = {
    "small": DemoSize(
        "demo",
        "Demo: a made-up web",
        "Four simulated models on ten tasks of a made-up web whose truth is known. Nothing in it exists.",
        tuple(profile for profile in PROFILES if profile.name in _SMALL_MODELS),
        10,
        Plan(tasks=10, responses_per_task=2, h2_tasks=4, link_trajectories=12, round_trajectories=6),
    ),
    "paper": DemoSize(
        "demo-paper",
        "Demo: the paper's size",
        "Sixteen simulated models of eight families on a hundred tasks of a made-up web whose truth is known. "
        "Nothing in it exists.",
        PROFILES,
        100,
        Plan(),
        processes=2,
    ),
}


def demo_size(name: str) -> DemoSize:
    """The demo of that size.

    Raises:
        InputError: there is none.
    """
    if name not in SIZES:
        raise InputError(f"there is no demo of size {name!r}: use {' or '.join(SIZES)}.")
    return SIZES[name]
