"""What the models did, in sums by model: calls of tools, characters read, domains opened, URLs cited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from django.db import connection
from django.db.models import Count, Min, Q

from lseval.models import Citation, FailureNode, Link, Round, Run, Study

_TOOLS_SQL: Final = """
SELECT run.model_id, call.name, count(*),
       coalesce(sum(length(call.observation)) FILTER (WHERE call.name = 'read_page' AND NOT call.is_error), 0)
FROM lseval_toolcall call
JOIN lseval_turn turn ON turn.id = call.turn_id
JOIN lseval_run run ON run.id = turn.run_id
WHERE run.study_id = %s
GROUP BY run.model_id, call.name
"""

# A page that an imported run holds is a row of the run's; of a collected run the pages are the study's, and the run
# keeps which of them it opened. A pattern in place of `split_part` took three times as long.
_DOMAINS_SQL: Final = """
SELECT model_id, sum(domains) FROM (
    SELECT run.id, run.model_id, count(DISTINCT
        CASE WHEN starts_with(found.host, 'www.') THEN substr(found.host, 5) ELSE nullif(found.host, '') END
        COLLATE "C"
    ) AS domains
    FROM lseval_run run
    CROSS JOIN LATERAL (
        SELECT
            lower(split_part(split_part(split_part(split_part(url, '://', 2), '/', 1), '?', 1), '#', 1)) AS host
        FROM (
            SELECT page.canonical_key AS url FROM lseval_page page WHERE page.run_id = run.id
            UNION ALL
            SELECT coalesce(nullif(entry.value ->> 'final_url', ''), entry.value ->> 'url')
            FROM jsonb_each(
                CASE jsonb_typeof(run.metadata -> 'pages') WHEN 'object' THEN run.metadata -> 'pages' END
            ) AS entry
        ) AS opened
    ) AS found
    WHERE run.study_id = %s
    GROUP BY run.id
) AS by_run GROUP BY model_id
"""


@dataclass(frozen=True, slots=True)
class Activity:
    """A model's sums. `recorded` of its `runs` have a trajectory, and only these act; all cite.

    `tools` counts calls by name; `read_chars` are the characters that `read_page` showed. `domains` are the
    distinct hosts (without `www.`) of the pages that a run opened, summed over runs, and `urls` likewise the
    distinct URLs that it cites.
    """

    runs: int = 0
    recorded: int = 0
    rounds: int = 0
    tools: Mapping[str, int] = field(default_factory=dict)
    read_chars: int = 0
    domains: int = 0
    urls: int = 0


def activity_of(study: Study) -> Mapping[int, Activity]:
    """By model id, for the models that have runs.

    What a stored run did never changes, and its citations only with its groups, by which they get new ids. So the
    sums are kept in this process until the study's runs or citations are others: one query then, six at first.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EXTENT_SQL, {"study": study.pk})
        extent = cursor.fetchone()
    return _activity_of(str(connection.settings_dict["NAME"]), study.pk, extent)


_EXTENT_SQL: Final = """
SELECT (
    SELECT (count(*), coalesce(sum(run.id), 0))::text FROM lseval_run run WHERE run.study_id = %(study)s
), (
    SELECT (count(*), coalesce(sum(citation.id), 0))::text
    FROM lseval_citation citation JOIN lseval_run run ON run.id = citation.run_id WHERE run.study_id = %(study)s
)
"""


@lru_cache(maxsize=16)
def _activity_of(database: str, study: int, extent: tuple[str, ...]) -> dict[int, Activity]:
    runs = (
        Run.objects.filter(study=study)
        .values_list("model_id")
        .annotate(runs=Count("id"), recorded=Count("id", filter=Q(is_premature__isnull=False)))
        .order_by()
    )
    rounds = dict(_by_model(Round.objects.filter(run__study=study)))
    urls: dict[int, int] = defaultdict(int)
    cited = (
        Citation.objects.filter(run__study=study)
        .exclude(url="")
        .values_list("run__model_id", "run_id")
        .annotate(urls=Count("canonical_key", distinct=True))
        .order_by()
    )
    for model_id, _, count in cited:
        urls[model_id] += count
    tools: dict[int, dict[str, int]] = defaultdict(dict)
    read: dict[int, int] = defaultdict(int)
    with connection.cursor() as cursor:
        cursor.execute(_TOOLS_SQL, [study])
        for model_id, name, count, characters in cursor.fetchall():
            tools[model_id][name] = count
            read[model_id] += int(characters)
        cursor.execute(_DOMAINS_SQL, [study])
        domains = {model_id: int(count) for model_id, count in cursor.fetchall()}
    return {
        model_id: Activity(
            runs=count,
            recorded=recorded,
            rounds=rounds.get(model_id, 0),
            tools=tools.get(model_id, {}),
            read_chars=read.get(model_id, 0),
            domains=domains.get(model_id, 0),
            urls=urls.get(model_id, 0),
        )
        for model_id, count, recorded in runs
    }


def _by_model(rows: object) -> list[tuple[int, int]]:
    return list(rows.values_list("run__model_id").annotate(count=Count("id")).order_by())  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Associations:
    """Failure nodes by type as (linked, unlinked); of each run with a link the earliest linked round, ascending."""

    types: Mapping[str, tuple[int, int]]
    firsts: tuple[int, ...]


def associations_of(study: Study) -> Associations:
    """How nodes and links fall. Two queries."""
    nodes = (
        FailureNode.objects.filter(run__study=study)
        .values_list("error_type")
        .annotate(every=Count("id", distinct=True), linked=Count("links__node", distinct=True))
        .order_by()
    )
    firsts = (
        Link.objects.filter(run__study=study)
        .values_list("run_id")
        .annotate(first=Min("round__number"))
        .order_by()
        .values_list("first", flat=True)
    )
    return Associations({code: (linked, every - linked) for code, every, linked in nodes}, tuple(sorted(firsts)))
