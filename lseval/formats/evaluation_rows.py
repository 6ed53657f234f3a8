"""The rows of a study's exported evaluation as strict models; `docs/move-a-study.md` says what they hold."""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, ValidationError, model_validator

from lseval.csv_cells import plain_cell
from lseval.domain.labels import UNJUDGED, GroupLabel, PageOutcome, RoundLabel
from lseval.formats.errors import FieldError, ReadError
from lseval.formats.row_files import RawRow, parse_exactly

BYTES_PREFIX: Final = "base64:"
MOST_FAULTS: Final = 5
_LARGEST: Final = 2**31 - 1
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_AMOUNT: Final = re.compile(r"[0-9]{1,8}(\.[0-9]{1,12})?")
LONGEST_CALL_S: Final = 86_400
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

T = TypeVar("T")


def one_of(values: Collection[str]) -> AfterValidator:
    """The demand that a text be one of `values`."""

    def check(text: str) -> str:
        if text not in values:
            raise ValueError(f"{text[:40]!r} is none of {', '.join(values)}")
        return text

    return AfterValidator(check)


def _moment(text: str) -> str:
    try:
        found = datetime.fromisoformat(text)
        is_told = found.utcoffset() is not None
        found.astimezone(UTC)
    except (ValueError, OverflowError):
        is_told = False
    if not is_told:
        raise ValueError(f"{text[:40]!r} is no time in ISO 8601 with its zone")
    return text


def _dollars(text: str) -> str:
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no amount of dollars in plain digits, at most 8 and after a point 12")
    return text


def _digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise ValueError("is no SHA-256 in small hexadecimal digits")
    return text


def _filled(text: str) -> str:
    if not text:
        raise ValueError("should not be empty")
    return text


Filled = Annotated[str, AfterValidator(_filled)]
Name = Annotated[str, AfterValidator(_filled), Field(max_length=200)]
Moment = Annotated[str, AfterValidator(_moment)]
Digest = Annotated[str, AfterValidator(_digest)]
Number = Annotated[int, Field(ge=1, le=_LARGEST)]
Count = Annotated[int, Field(ge=0, le=_LARGEST)]
Tokens = Annotated[int, Field(ge=0, le=2**53)]
Amount = Annotated[str, AfterValidator(_dollars)]
Id = Annotated[int, Field(ge=0)]
ListOf = Annotated[list[T], FailFast()]
PageSourceName = Annotated[str, one_of(("recorded", "fetched", "saved"))]


class StrictModel(BaseModel):
    """A row, or a part of one, that takes nothing for what it is not."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class OfRun(StrictModel):
    """A row about a run, which task and model name; `run_id` is its id where the row was exported."""

    run_id: Id | None = None
    task_key: Name
    model: Name


class Hop(StrictModel):
    url: str
    address: str = ""
    status: int = 0


class PageRow(StrictModel):
    """A snapshot. One that was recorded in a run names the run; any other belongs to the study."""

    page_id: Id | None = None
    run_id: Id | None = None
    task_key: Name | None
    model: Name | None
    source: PageSourceName
    url: str
    canonical_key: Annotated[str, Field(max_length=1000)]
    title: str
    text: str
    text_digest: Digest
    outcome: Annotated[str, one_of(tuple(PageOutcome))]
    detail: str
    final_url: str
    status: Count | None
    hops: ListOf[Hop]
    headers: dict[str, str]
    content_type: str
    sniffed_type: Annotated[str, Field(max_length=100)]
    content_digest: str
    decoder: Annotated[str, Field(max_length=40)]
    decoder_source: Annotated[str, Field(max_length=20)]
    flags: ListOf[str]
    retrieved_at: Moment | None
    content: str | None

    @model_validator(mode="after")
    def _has_its_run(self) -> PageRow:
        if (self.source == "recorded") != (self.task_key is not None) or (self.task_key is None) != (
            self.model is None
        ):
            raise ValueError("a page that is recorded names its run by task_key and model, and no other page does")
        return self


class CitedSource(StrictModel):
    url: str
    canonical_key: str
    marker: str
    is_inline: bool

    @model_validator(mode="after")
    def _names_something(self) -> CitedSource:
        if not self.url and not self.marker:
            raise ValueError("a citation has a url or a marker")
        return self


class Group(StrictModel):
    number: Number
    title: str
    text: str
    fields: dict[str, Any]
    start: Count
    end: Count
    citations: ListOf[CitedSource]


class AnswerRow(OfRun):
    """How a response is read: its rubric, its answer groups, and what it cites."""

    final_answer_digest: Digest
    required_count: Number
    constraints: list[Any]
    grouping_rule: str
    required_fields: list[Any]
    rubric_origin: Annotated[str, Field(max_length=300)]
    rubric_prompt_digest: Annotated[str, Field(max_length=64)]
    grouping_method: Annotated[str, Field(max_length=20)]
    grouping_origin: Annotated[str, Field(max_length=300)]
    grouping_digest: Annotated[str, Field(max_length=64)]
    is_valid_final: bool
    groups: ListOf[Group]
    other_citations: ListOf[CitedSource]

    @model_validator(mode="after")
    def _groups_are_numbered(self) -> AnswerRow:
        numbers = [group.number for group in self.groups]
        if len(set(numbers)) < len(numbers):
            raise ValueError("two groups have the same number")
        if any(group.end <= group.start for group in self.groups):
            raise ValueError("a group ends before it starts")
        return self


class Quotation(StrictModel):
    page: Id
    text: str
    start: Count
    end: Count


class Claim(StrictModel):
    claim: str
    status: Literal["supported", "contradicted", "not_found"]
    quotation: Quotation | None = None
    note: str = ""


class EvidencePage(StrictModel):
    """A snapshot that a judge was given: its id where it was exported, and what it is known by elsewhere.

    `digest` is of the text that the judge saw, `text_digest` of the one that the snapshot had at the export.
    """

    id: Id
    digest: Digest
    source: PageSourceName | None
    url: str | None
    canonical_key: str | None
    text_digest: Digest | None


class VerdictRow(OfRun):
    """A verdict of Stage 1, or of a second judge."""

    group_number: Number
    title: str
    group_text_digest: Digest
    is_second: bool
    label: Annotated[str, one_of((*GroupLabel, UNJUDGED))]
    reason: Filled
    code: Annotated[str, Field(max_length=30)]
    judge: Annotated[str, Field(max_length=200)]
    judge_version: Annotated[str, Field(max_length=100)]
    repeat: Count
    judged_at: Moment
    flags: ListOf[str]
    claims: ListOf[Claim]
    pages: ListOf[EvidencePage]


class JudgementRow(OfRun):
    """A judge's opinion of a round; `groups` are the numbers of the answer groups that it names."""

    round_number: Number
    round_digest: Digest
    judge_role: Annotated[str, one_of(("A", "B"))]
    verdict: Annotated[str, one_of((*RoundLabel, UNJUDGED))]
    error_type: Annotated[str, Field(max_length=40)]
    explanation: str
    code: Annotated[str, Field(max_length=30)]
    flags: ListOf[str]
    groups: ListOf[Number]
    judge: Annotated[str, Field(max_length=200)]
    judge_version: Annotated[str, Field(max_length=100)]
    judged_at: Moment


class LinkRow(OfRun):
    """A retained link, with the type of its failure node."""

    round_number: Number
    group_number: Number
    error_type: str
    is_type_agreed: bool


class CallRow(StrictModel):
    """What one attempt at a call of a provider came to; of neither task nor model where it was for no run.

    Dollars are exact, as text. `error_code` is empty where a reply came, which is not part of the row.
    """

    phase: Annotated[str, one_of(("collection", "stage1", "stage2"))]
    kind: Annotated[str, one_of(("chat", "search", "fetch"))]
    task_key: Name | None
    model: Name | None
    role: Annotated[str, Field(max_length=60)]
    digest: Digest
    repeat: Count
    attempt: Number
    provider: Annotated[str, Field(max_length=200)]
    asked_model: Annotated[str, Field(max_length=200)]
    error_code: Annotated[str, Field(max_length=60)]
    input_tokens: Tokens | None
    cached_tokens: Tokens | None
    output_tokens: Tokens | None
    reasoning_tokens: Tokens | None
    cost_usd: Amount | None
    upper_cost_usd: Amount | None
    latency_s: Annotated[float, Field(ge=0, le=LONGEST_CALL_S, allow_inf_nan=False)] | None
    called_at: Moment


class MemberRow(StrictModel):
    """A member of the study, by the username that a person has on both servers."""

    username: Annotated[str, AfterValidator(_filled), Field(max_length=150)]
    role: Annotated[str, one_of(("lead", "researcher", "annotator"))]


PAGES, ANSWERS, VERDICTS, SECOND_VERDICTS, JUDGEMENTS, LINKS, CALLS = (
    "pages", "answers", "verdicts", "second_verdicts", "judgements", "links", "calls",
)  # fmt: skip
ROW_TYPES: Final[dict[str, type[StrictModel]]] = {
    PAGES: PageRow,
    ANSWERS: AnswerRow,
    VERDICTS: VerdictRow,
    SECOND_VERDICTS: VerdictRow,
    JUDGEMENTS: JudgementRow,
    LINKS: LinkRow,
    CALLS: CallRow,
}
"""What is imported back, in the order in which it is needed, with the model of its rows."""

_TELLING: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    (PAGES, frozenset({"canonical_key", "outcome", "text"})),
    (ANSWERS, frozenset({"grouping_rule", "rubric_origin", "groups"})),
    (VERDICTS, frozenset({"group_number", "label", "claims"})),
    (JUDGEMENTS, frozenset({"round_number", "judge_role", "explanation"})),
    (LINKS, frozenset({"round_number", "group_number", "is_type_agreed"})),
    (CALLS, frozenset({"phase", "digest", "attempt"})),
)


def kind_of(values: Mapping[str, Any]) -> str | None:
    """What a row is of by the names of its values, one of `ROW_TYPES`; None where they do not tell."""
    found = next((what for what, names in _TELLING if names <= values.keys()), None)
    return SECOND_VERDICTS if found == VERDICTS and values.get("is_second") in (True, "true") else found


def read_row(what: str, raw: RawRow, *, is_csv: bool) -> Any:
    """The row as a model of `ROW_TYPES[what]`. Raises `ReadError` naming what is at fault in it."""
    if raw.problem:
        raise FieldError(raw.problem)
    row = row_as(ROW_TYPES[what], raw.values, is_csv=is_csv)
    if isinstance(row, VerdictRow) and row.is_second != (what == SECOND_VERDICTS):
        raise FieldError(f"is_second: should be {str(not row.is_second).lower()} in a file of {what}")
    return row


def row_as(row_type: type[T], values: Mapping[str, Any], *, is_csv: bool) -> T:
    """Values, or cells of CSV, as a `StrictModel`. Raises `ReadError` naming what is at fault in them."""
    model: Any = row_type
    try:
        found: T = model.model_validate(_from_cells(model, values) if is_csv else values)
    except ValidationError as error:
        raise FieldError(_told(error)) from error
    return found


_TRUTHS: Final = {"true": True, "false": False}
"""A spreadsheet writes them in capitals."""


def _from_cells(row_type: type[StrictModel], cells: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, cell in cells.items():
        field = row_type.model_fields.get(name)
        kinds = _kinds(field.annotation) if field else (str,)
        if _UNSTORABLE.search(cell):
            raise FieldError(f"{name}: NUL or a lone surrogate cannot be stored")
        if cell == "" and types.NoneType in kinds:
            values[name] = None
        elif str in kinds:
            values[name] = plain_cell(cell)
        elif bool in kinds and (truth := cell.strip().lower()) in _TRUTHS:
            values[name] = _TRUTHS[truth]
        else:
            values[name] = _value(name, cell)
    return values


def _value(name: str, cell: str) -> Any:
    try:
        return parse_exactly(cell.encode())
    except ReadError as error:
        raise FieldError(f"{name}: {cell[:40]!r}: {error}") from error


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation allows, without what else it demands of them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return tuple(kind for part in get_args(annotation) for kind in _kinds(part))
    return (annotation,)


def _told(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = []
    for fault in faults[:MOST_FAULTS]:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:80]}" for part in fault["loc"])
        what = {"missing": "is missing", "extra_forbidden": "is no value of such a row"}.get(
            fault["type"], fault["msg"].removeprefix("Value error, ").replace("Input should", "should")
        )
        told.append(f"{path.removeprefix('.')}: {what}" if path else what)
    if len(faults) > MOST_FAULTS:
        told.append(f"and {len(faults) - MOST_FAULTS} more")
    return "; ".join(told)
