"""Figure 5: automatic scores against H1's."""

from __future__ import annotations

from typing import Any

from agreement.charts import ScorePair, ScorePanel, score_panels, score_scatter
from agreement.stats.groups import group_table
from lseval.site.figures.style import records
from lseval.site.tables import cells
from lseval.site.tables.facts import People
from lseval.site.tables.table import Column, Table

_PANELS = {"as": ("Answer Score", 100.0), "ap": ("Answer Precision", 1.0)}


def data_5(people: People | None) -> Table:
    """Each pair of scores that occurs, with how many responses share it."""
    panels = score_panels(group_table(people.rows)) if people else []
    rows = [
        [
            cells.text(panel.score),
            cells.decimal(pair.x, 4),
            cells.decimal(pair.y, 4),
            cells.whole(len(pair.responses)),
        ]
        for panel in panels
        for pair in sorted(panel.pairs, key=lambda pair: (pair.x, pair.y))
    ]
    second = people.second if people else "H1"
    columns = (
        Column("panel", "Score", align="left"),
        Column("automatic", "Automatic"),
        Column("h1", second),
        Column("responses", "Responses"),
    )
    pairs = people.labels["auto_h1"]["score_pairs"] if people else {"responses": 0, "tasks": 0}
    caption = (
        f"Automatic–human outcome-score alignment: Answer Score and Answer Precision of {pairs['responses']:,} "
        "response "
        f"pairs from {pairs['tasks']:,} tasks. Dashed lines are exact agreement; a mark's area is the number of "
        "responses "
        "that share the pair."
    )
    is_simulated = people is not None and people.is_simulated
    return Table("figure-5", "", caption, columns, rows, is_simulated=is_simulated)


def draw_5(table: Table) -> Any:
    """Both scatters side by side."""
    panels = []
    for score, (title, most) in _PANELS.items():
        pairs = [
            ScorePair(row["automatic"], row["h1"], ("",) * row["responses"]) for row in records(table, panel=score)
        ]
        panels.append(ScorePanel(score, title, pairs, most))
    return score_scatter(panels, "Automatic", table.columns[2].title)
