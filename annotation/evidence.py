"""What a labeler is shown of an item: the question, the rubric, the group, the round, and the cited snapshots.

Nothing here reaches a verdict, a judgement, a model, or anybody's label; see `labeler_selectors`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Prefetch

from annotation.codebook import QUESTIONS, Question
from annotation.models import Item, Slot
from lseval.models import AnswerGroup, Page, Round, ToolCall, Turn
from lseval.plain_sql import Columns, Statement, row_of, rows_of, rows_of_each

NO_SNAPSHOT = "-"
"""Stands in an evidence digest for a cited page of which there is no snapshot."""


@dataclass(frozen=True, slots=True)
class Source:
    """A URL that the group cites with its snapshot, if there is one. `number` counts from 1 within the item.

    The snapshot's text is loaded only for the source that opens first, and for others when they are asked for.
    """

    number: int
    url: str
    page: Page | None

    @property
    def outcome(self) -> str:
        return self.page.outcome if self.page else "no_snapshot"

    @property
    def digest(self) -> str:
        return self.page.text_digest if self.page else NO_SNAPSHOT


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a round as a labeler sees it."""

    name: str
    arguments: Mapping[str, object]
    observation: str | None
    is_error: bool


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round: its number in the run, its words, and its calls."""

    number: int
    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class ItemShown:
    """One item with all that a labeler is given to judge it by."""

    kind: str
    question: Question
    task_question: str
    rubric: Mapping[str, object]
    group: AnswerGroup | None
    round: RoundShown | None
    sources: tuple[Source, ...]
    evidence_digest: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands beside an item: its digest, and the list that a label version keeps as `visible`.

    `visible["sources"]` lists {url, page, digest} in order, where `page` is the snapshot's id, or null where there
    was none; `visible["round"]` is the number of the round shown beside them, or null.
    """

    digest: str
    visible: dict[str, Any]


def evidence_of(item: Item, pages: Mapping[int, Page] | None = None) -> Evidence:
    """What a labeler of the item is given to judge it by, without the item itself.

    `pages` are the item's snapshots, where the caller has read them already.
    """
    found = _rounds_shown([item.round_id])[item.round_id] if item.round_id else None
    sources = _sources(item, _pages([item]) if pages is None else pages)
    listed = [
        {"url": source.url, "page": source.page.pk if source.page else None, "digest": source.digest}
        for source in sources
    ]
    return Evidence(_digest(sources, found), {"sources": listed, "round": found.number if found else None})


_GROUP: Final = Columns(AnswerGroup, '"group"', only=["id", "number", "title", "text"])


def _item(item: str) -> Statement:
    return Statement(f"""
SELECT item.kind, item.snapshots, item.round_id,
    (
        SELECT task.question FROM lseval_task task JOIN lseval_run run ON run.task_id = task.id
        WHERE run.id = item.run_id
    ),
    rubric.required_count, rubric.constraints, rubric.grouping_rule, rubric.required_fields,
    "group".fields, {_GROUP}
FROM annotation_item item
LEFT JOIN lseval_rubric rubric ON rubric.run_id = item.run_id
LEFT JOIN lseval_answergroup "group" ON "group".id = item.group_id
WHERE item.id = {item}
""")  # noqa: S608 - column names, and what the caller's statement has


def item_shown(slot: Slot) -> ItemShown:
    """The slot's item as a labeler is shown it. Only fields that carry no opinion are read."""
    return item_in(slot, *rows_of_each(SHOWN, {"item": slot.item_id}))


def item_in(
    slot: Slot, items: list[tuple[Any, ...]], pages: list[tuple[Any, ...]], texts: list[tuple[Any, ...]]
) -> ItemShown:
    """The slot's item, of the rows that the statements of `SHOWN` give."""
    if not items:
        raise Item.DoesNotExist(f"item {slot.item_id}")
    kind, snapshots, round_id, task_question, *rubric, fields = items[0][:9]
    group = _GROUP.of(items[0], 9) if fields is not None else None
    if group is not None:
        group.fields = json.loads(fields)
    item = Item(pk=slot.item_id, kind=kind, snapshots=json.loads(snapshots), round_id=round_id)
    found = _rounds_shown([round_id])[round_id] if round_id else None
    by_id = pages_in(pages)
    for page_id, text in texts:
        by_id[page_id].text = text
    sources = _sources(item, by_id)
    return ItemShown(
        kind=kind,
        question=QUESTIONS[kind],
        task_question=task_question,
        rubric=_rubric(*rubric) if rubric[0] is not None else {},
        group=group,
        round=found,
        sources=sources,
        evidence_digest=_digest(sources, found),
    )


def _rubric(required_count: int, constraints: str, grouping_rule: str, required_fields: str) -> dict[str, Any]:
    return {
        "required_count": required_count,
        "constraints": json.loads(constraints),
        "grouping_rule": grouping_rule,
        "required_fields": json.loads(required_fields),
    }


_PAGE: Final = Columns(
    Page, "page", only=["id", "title", "url", "outcome", "source", "text_digest", "retrieved_at"]
)


def _pages_cited_by(item: str) -> str:
    """The ids of an item's snapshots as an array, in order; `item` is the id as the statement has it."""
    return f"""ARRAY(
    SELECT (cited.entry ->> 'page')::bigint
    FROM annotation_item item, jsonb_array_elements(item.snapshots) WITH ORDINALITY AS cited (entry, number)
    WHERE item.id = {item} ORDER BY cited.number)
"""  # noqa: S608 - what the caller's statement has


def pages_of_item(item: str) -> str:
    """The statement that reads an item's snapshots for `pages_in`; `item` is the id as the statement has it."""
    return f"SELECT {_PAGE} FROM lseval_page page WHERE page.id = ANY ({_pages_cited_by(item)})"  # noqa: S608 - column names, and what the caller's statement has


def _text_that_opens(item: str) -> Statement:
    """The page that opens first: the first that was read, else the first of which there is a snapshot."""
    cited = _pages_cited_by(item)
    return Statement(f"""
SELECT page.id, page.text FROM lseval_page page WHERE page.id = ANY ({cited})
ORDER BY page.outcome <> 'ok', array_position({cited}, page.id) LIMIT 1
""")  # noqa: S608 - put together from this file


def shown_of(item: str) -> tuple[Statement, Statement, Statement]:
    """The statements of whose rows `item_in` makes an item; `item` is its id as they have it."""
    return _item(item), Statement(pages_of_item(item)), _text_that_opens(item)


SHOWN: Final = shown_of("%(item)s")
_PAGES: Final = Statement(f"SELECT {_PAGE} FROM lseval_page page WHERE page.id = ANY(%(pages)s)")  # noqa: S608 - column names


def _pages(items: Collection[Item]) -> dict[int, Page]:
    ids = {entry["page"] for item in items for entry in item.snapshots if entry["page"]}
    return pages_in(rows_of(_PAGES, {"pages": sorted(ids)})) if ids else {}


def pages_in(rows: list[tuple[Any, ...]]) -> dict[int, Page]:
    """Snapshots by id, of the rows that `pages_of_item` gives."""
    pages = [_PAGE.of(row) for row in rows]
    return {page.pk: page for page in pages}


def _sources(item: Item, pages: Mapping[int, Page]) -> tuple[Source, ...]:
    return tuple(
        Source(number, entry["url"], pages.get(entry["page"])) for number, entry in enumerate(item.snapshots, 1)
    )


_TEXT: Final = Statement("SELECT page.text FROM lseval_page page WHERE page.id = %(page)s")


def snapshot_text(source: Source) -> str:
    """The text of a source's snapshot; empty where there is none."""
    if source.page is None:
        return ""
    if "text" in source.page.__dict__:
        return source.page.text
    row = row_of(_TEXT, {"page": source.page.pk})
    return row[0] if row else ""


def _rounds_shown(round_ids: Collection[int]) -> dict[int, RoundShown]:
    calls = ToolCall.objects.only("turn_id", "number", "name", "arguments", "observation", "is_error")
    turns = Turn.objects.only("round_id", "number", "text").prefetch_related(Prefetch("tool_calls", calls))
    rounds = Round.objects.only("number").prefetch_related(Prefetch("turns", turns)).in_bulk(round_ids)
    return {
        pk: RoundShown(
            found.number,
            "\n\n".join(turn.text for turn in found.turns.all() if turn.text.strip()),
            tuple(
                Call(call.name, call.arguments, call.observation, call.is_error)
                for turn in found.turns.all()
                for call in turn.tool_calls.all()
            ),
        )
        for pk, found in rounds.items()
    }


def evidence_digests(items: Collection[Item]) -> dict[int, str]:
    """Item id to the digest of what a labeler of it is shown. Four queries, however many items there are."""
    pages = _pages(items)
    rounds = _rounds_shown({item.round_id for item in items if item.round_id})
    return {item.pk: _digest(_sources(item, pages), rounds.get(item.round_id or 0)) for item in items}


def _digest(sources: tuple[Source, ...], found: RoundShown | None) -> str:
    """SHA-256 over the digests of the snapshots shown, and of the round's words and observations."""
    digests = [source.digest for source in sources]
    if found is not None:
        texts = [found.text, *(call.observation or "" for call in found.calls)]
        digests += [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
