"""Verdicts whose evidence has changed: the cited pages have other snapshots now than the judge was given."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from lseval.domain.labels import PageOutcome
from lseval.models import Page, SecondVerdict, Study, Verdict
from lseval.pipeline.prepared import fetch_all

NO_TEXT: Final = hashlib.sha256(b"").hexdigest()
"""The digest of a page without text."""

_TABLES: Final = {"verdict": Verdict._meta.db_table, "second_verdict": SecondVerdict._meta.db_table}

# Of a cited page's snapshots the one that `preference` puts first serves the group, of equal ones the oldest.
_CHANGED: Final = """
WITH served AS (
    SELECT DISTINCT ON (c.id) c.id, c.group_id, p.id AS page, p.text_digest
    FROM lseval_run r
    JOIN lseval_citation c ON c.run_id = r.id
    JOIN lseval_page p ON p.study_id = r.study_id AND p.canonical_key = c.canonical_key
        AND (p.run_id IS NULL OR p.run_id = r.id)
    WHERE r.study_id = %(study)s AND c.group_id IS NOT NULL AND c.url <> ''
    ORDER BY c.id, (p.outcome = %(ok)s AND p.text_digest <> %(no_text)s) DESC, (p.run_id IS NOT NULL) DESC, p.id
), evidence AS (
    SELECT group_id, jsonb_agg(jsonb_build_object('id', page, 'digest', text_digest) ORDER BY id) AS pages
    FROM served GROUP BY group_id
)
SELECT v.group_id FROM {table} v
JOIN lseval_answergroup g ON g.id = v.group_id JOIN lseval_run r ON r.id = g.run_id
LEFT JOIN evidence e ON e.group_id = v.group_id
WHERE r.study_id = %(study)s AND coalesce(e.pages, '[]'::jsonb) <> v.pages
"""


def groups_with_other_evidence(study: Study, relation: Literal["verdict", "second_verdict"]) -> list[int]:
    """The ids of the study's groups whose opinion of that kind rests on other snapshots than they have now.

    So it is where a cited page was fetched, fetched again with another text, or saved after the group was judged.
    """
    given = {"study": study.pk, "ok": PageOutcome.OK.value, "no_text": NO_TEXT}
    return [group for (group,) in fetch_all(_CHANGED.format(table=_TABLES[relation]), given)]


def preference(page: Page) -> tuple[bool, bool]:
    """What makes a snapshot serve before another of the same page: it was read; it is the run's own."""
    return (page.outcome == PageOutcome.OK and page.text_digest != NO_TEXT, page.run_id is not None)
