"""What the database works out of rows so that they can be told in a file and known again in another study."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, F, Func, JSONField, OuterRef
from django.db.models.functions import JSONObject

from lseval.models import AnswerGroup, Citation, Judgement


class TextDigest(Func):
    """SHA-256 of a text in UTF-8."""

    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


class RoundDigest(Func):
    """SHA-256 of what a round, given by its id, says and observes: words, names of tools, observations."""

    template = (
        "(SELECT encode(sha256(convert_to(coalesce(string_agg(t.text || chr(30) || coalesce("
        "(SELECT string_agg(c.name || chr(31) || coalesce(c.observation, ''), chr(30) ORDER BY c.number)"
        " FROM lseval_toolcall c WHERE c.turn_id = t.id), ''), chr(29) ORDER BY t.number), ''), 'UTF8')), 'hex')"
        " FROM lseval_turn t WHERE t.round_id = %(expressions)s)"
    )
    output_field = CharField()


class PagesTold(Func):
    """An opinion's list of pages, each with what it is known by outside this database and its digest now."""

    template = (
        "(SELECT coalesce(jsonb_agg(e.page || jsonb_build_object('source', p.source, 'url', p.url,"
        " 'canonical_key', p.canonical_key, 'text_digest', p.text_digest) ORDER BY e.place), '[]'::jsonb)"
        " FROM jsonb_array_elements(%(expressions)s) WITH ORDINALITY AS e(page, place)"
        " LEFT JOIN lseval_page p ON p.id = (e.page->>'id')::bigint)"
    )
    output_field = JSONField()


NAMED_GROUPS: Final = ArraySubquery(
    Judgement.groups.through.objects.filter(judgement=OuterRef("pk"))
    .order_by("answergroup__number")
    .values("answergroup__number")
)
"""The numbers of the groups that a judgement names."""

_CITATION: Final = JSONObject(url="url", canonical_key="canonical_key", marker="marker", is_inline="is_inline")
_GROUP: Final = JSONObject(
    number="number",
    title="title",
    text="text",
    fields="fields",
    start="start",
    end="end",
    citations=ArraySubquery(Citation.objects.filter(group=OuterRef("pk")).order_by("id").values(told=_CITATION)),
)
ANSWER_COLUMNS: Final[dict[str, Any]] = {
    "final_answer_digest": TextDigest("final_answer"),
    "required_count": "rubric__required_count",
    "constraints": "rubric__constraints",
    "grouping_rule": "rubric__grouping_rule",
    "required_fields": "rubric__required_fields",
    "rubric_origin": "rubric__origin",
    "rubric_prompt_digest": "rubric__prompt_digest",
    "grouping_method": "grouping_method",
    "grouping_origin": "grouping_origin",
    "grouping_digest": "grouping_digest",
    "is_valid_final": "is_valid_final",
    "groups": ArraySubquery(AnswerGroup.objects.filter(run=OuterRef("pk")).order_by("number").values(told=_GROUP)),
    "other_citations": ArraySubquery(
        Citation.objects.filter(run=OuterRef("pk"), group=None).order_by("id").values(told=_CITATION)
    ),
}
"""How the response of a run is read, by name, each with where its value stands."""

JUDGED_GROUP_DIGEST: Final = TextDigest(F("group__text"))
