"""The statistics of agreement: plain functions and frozen dataclasses, usable with no database and no Django.

Start at `report.groups_report` (labels on answer groups) or `report.pairs_report` (two numeric scores);
`docs/statistics.md` says what each number means. A statistic that does not exist for the data is an
`undefined.Undefined` with its reason, never a NaN.
"""
