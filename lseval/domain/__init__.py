"""Plain functions and frozen dataclasses of the evaluation: no Django, no clocks, no network."""
