"""The rules that every evaluated model runs under (Table A3), stored with every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_SEARCH_RESULTS = 10
MOST_READ_CHARS = 5_000


@dataclass(frozen=True, slots=True)
class Controls:
    """Collection controls; the defaults are the paper's (Table A3), and the caps cannot be raised.

    `iterations` is the ReAct budget: replies of the model before one answer is asked for without tools
    (final-only synthesis). `watchdog_s` bounds a run as a whole. Stagnation: after `stagnation_warn` searches in a
    row that repeat an earlier query or find nothing new the model is told so; after `stagnation_cut` web_search is
    taken away for the rest of the run.
    """

    iterations: int = 120
    early_stopping: Literal["generate", "stop"] = "generate"
    search_results: int = MOST_SEARCH_RESULTS
    read_chars: int = 3_000
    read_chars_cap: int = MOST_READ_CHARS
    llm_timeout_s: float = 600.0
    search_connect_s: float = 10.0
    search_read_s: float = 20.0
    watchdog_s: float = 7_200.0
    stagnation_warn: int = 3
    stagnation_cut: int = 6
