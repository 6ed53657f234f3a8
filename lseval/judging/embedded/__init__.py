"""The embedded judges: word-matching baselines that need no model, no key and no network.

They are the default only where no model is configured, and are named as baselines wherever they show.
"""

from __future__ import annotations

from typing import Final

STAGE1_NAME: Final = "embedded lexical baseline"
STAGE2_A_NAME: Final = "embedded observation-tracing baseline"
STAGE2_B_NAME: Final = "embedded provenance-tracing baseline"
RUBRIC_NAME: Final = "embedded rule-based rubric"
VERSION: Final = "4"
"""Raised whenever a rule, a list of words or a threshold changes a judge's answer."""
