"""How whoever runs a step takes part in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lseval.agent.run import Progress
from lseval.pipeline.ledger import CallSeen
from lseval.providers.retrying import RetryPolicy


@dataclass(frozen=True, slots=True)
class Hooks:
    """Called as a step goes on. Each of the first three may raise to end it.

    `worked_s` is the time since it was last asked, in seconds; `policy` says how calls are tried again.
    """

    before_call: Callable[[], None] = lambda: None
    sleep: Callable[[float], object] = time.sleep
    on_progress: Callable[[Progress], None] = lambda progress: None
    on_call: Callable[[CallSeen], None] = lambda seen: None
    worked_s: Callable[[], float] = lambda: 0.0
    policy: RetryPolicy | None = None


UNATTENDED = Hooks()
"""Nobody takes part."""
