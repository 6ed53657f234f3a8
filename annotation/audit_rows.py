"""The rows of a file of audits as strict models; `docs/move-a-study.md` says what they hold.

A row is of one of ten kinds, which `row` names; a column that its kind does not have is empty, or not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from annotation.codebook import LONGEST_COMMENT
from annotation.codebooks import LONGEST_CODEBOOK, LONGEST_NOTE
from annotation.models import AuditAction, AuditStatus, Between, ItemKind, LabelerRole
from annotation.services import LARGEST_SEED, LONGEST_NAME
from lseval.formats.errors import FieldError
from lseval.formats.evaluation_rows import (
    Count,
    Digest,
    Filled,
    Id,
    ListOf,
    Moment,
    Number,
    OfRun,
    PageSourceName,
    StrictModel,
    one_of,
    row_as,
)
from lseval.formats.row_files import RawRow
from lseval.pipeline.evaluation_import.pages import moment

CODEBOOK, RUN, AUDIT, DRAW, QUEUE, ITEM, SLOT, FLAG, REVEAL, EVENT = (
    "codebook", "run", "audit", "draw", "queue", "item", "slot", "flag", "reveal", "event",
)  # fmt: skip


def _as_given(name: str) -> str:
    if name != name.strip() or not name.isprintable():
        raise ValueError("a name is printable and has no space around it")
    return name


AuditName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_as_given)]
RoleName = Annotated[str, one_of(LabelerRole.values)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Probability = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Place = Annotated[int, Field(ge=1, le=32767)]


class _Stored(BaseModel):
    """A part that is stored as it is; only what the program reads of it is looked at."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class PlanTold(_Stored):
    """A plan as `Plan.as_json` gives it, with what was drawn by it."""

    tasks: Number
    responses_per_task: Number
    h2_tasks: Count | None = None
    link_trajectories: Count = 0
    round_trajectories: Count = 0
    drawn: dict[str, Count]

    @model_validator(mode="after")
    def _says_how_many_tasks(self) -> PlanTold:
        if "tasks" not in self.drawn:
            raise ValueError("drawn should say how many tasks")
        return self


class FrameTold(_Stored):
    """A frame as `frame_summary` gives it."""

    runs: Count
    tasks: Count
    runs_by_family: dict[str, Count]
    digest: Digest


class CodebookRow(StrictModel):
    """A version of the study's codebook that a lead published."""

    row: str
    number: Annotated[int, Field(ge=2, le=2**31 - 1)]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_CODEBOOK)]
    note: Annotated[str, Field(max_length=LONGEST_NOTE)]
    at: Moment


class RunRow(OfRun):
    """Since when the study has had a run, by which a further draw's chances are told."""

    row: str
    at: Moment


class OfAudit(StrictModel):
    """A row of an audit."""

    audit: AuditName


class AuditRow(OfAudit):
    """An audit with its first draw, and how many items, slots, label versions, flags, reveals and events it had.

    Earlier versions wrote no events.
    """

    row: str
    seed: Seed
    plan: PlanTold
    frame: FrameTold
    status: Annotated[str, one_of(AuditStatus.values)]
    reveal_after_submission: bool
    codebook_version: Annotated[str, Field(pattern="^[0-9]{1,9}$")]
    at: Moment
    items: Count
    slots: Count
    labels: Count
    flags: Count
    reveals: Count
    events: Count = 0


class DrawRow(OfAudit):
    """A further draw, which extended the audit."""

    row: str
    draw: Annotated[int, Field(ge=2, le=32767)]
    seed: Seed
    plan: PlanTold
    frame: FrameTold
    at: Moment


class QueueRow(OfAudit):
    """A queue, which may hold nothing."""

    row: str
    role: RoleName
    is_simulated: bool


class CitedPage(StrictModel):
    """A cited URL with its snapshot when the item was drawn; all but the URL is null where there was none."""

    url: Filled
    source: PageSourceName | None
    canonical_key: str | None
    text_digest: Digest | None

    @model_validator(mode="after")
    def _is_whole(self) -> CitedPage:
        if len({self.source is None, self.canonical_key is None, self.text_digest is None}) > 1:
            raise ValueError("a snapshot has source, canonical_key and text_digest")
        return self


class ItemRow(OfAudit, OfRun):
    """An item; `item_id` is its id where it was exported, by which the slots name it."""

    row: str
    item_id: Id
    kind: Annotated[str, one_of(ItemKind.values)]
    group_number: Number | None
    round_number: Number | None
    group_text_digest: Digest | None
    round_digest: Digest | None
    draw: Place
    inclusion_probability: Probability
    snapshots: ListOf[CitedPage]

    @model_validator(mode="after")
    def _names_its_target(self) -> ItemRow:
        has_group, has_round = self.kind != ItemKind.ROUND, self.kind != ItemKind.GROUP
        for name, told, digest, wanted in (
            ("group", self.group_number, self.group_text_digest, has_group),
            ("round", self.round_number, self.round_digest, has_round),
        ):
            if (told is not None, digest is not None) != (wanted, wanted):
                raise ValueError(f"a {self.kind} has {'a' if wanted else 'no'} {name}, with number and digest")
        return self


class SlotRow(OfAudit):
    """An item's place in a queue; in the adjudicators' queue with whose labels differ on it."""

    row: str
    role: RoleName
    is_simulated: bool
    position: Number
    item_id: Id
    between: Annotated[str, one_of(Between.values)] | None
    is_settled: bool | None

    @model_validator(mode="after")
    def _says_why_it_is_there(self) -> SlotRow:
        wanted = self.role == LabelerRole.ADJUDICATOR
        if (self.between is not None, self.is_settled is not None) != (wanted, wanted):
            raise ValueError(
                "a slot of adjudicators has between and is_settled, and no other slot has"
                if wanted
                else "only a slot of adjudicators has between and is_settled"
            )
        return self


class OfPerson(OfAudit):
    """What a person did on a slot beside labeling it."""

    role: RoleName
    is_simulated: bool
    position: Number
    labeler: Annotated[str, Field(min_length=1, max_length=150)]
    number: Number
    at: Moment


class FlagRow(OfPerson):
    """A flag raised or taken back; `number` counts those of the person on the slot."""

    row: str
    is_raised: bool
    note: Annotated[str, Field(max_length=LONGEST_COMMENT)]

    @model_validator(mode="after")
    def _has_a_note_where_raised(self) -> FlagRow:
        if self.note and not self.is_raised:
            raise ValueError("a flag that is taken back has no note")
        return self


class RevealRow(OfPerson):
    """The automatic verdict was shown to whoever had labeled the item; `number` is that label's version."""

    row: str


class EventRow(OfAudit):
    """A line of the audit's log; `by` is empty where a command did it, or where nobody knows who."""

    row: str
    action: Annotated[str, one_of(AuditAction.values)]
    by: Annotated[str, Field(max_length=150)] | None
    detail: dict[str, Any]
    at: Moment


ROW_TYPES: Final[dict[str, type[StrictModel]]] = {
    CODEBOOK: CodebookRow,
    RUN: RunRow,
    AUDIT: AuditRow,
    DRAW: DrawRow,
    QUEUE: QueueRow,
    ITEM: ItemRow,
    SLOT: SlotRow,
    FLAG: FlagRow,
    REVEAL: RevealRow,
    EVENT: EventRow,
}
"""By what `row` says, in the order of the file."""
COLUMNS: Final = tuple(
    dict.fromkeys(("row", "audit", *(name for kind in ROW_TYPES.values() for name in kind.model_fields)))
)
"""The columns of a file of audits, in order."""


def read_audit_row(raw: RawRow, *, is_csv: bool) -> Any:
    """The row as a model of `ROW_TYPES`. Raises `ReadError` naming what is at fault in it."""
    if raw.problem:
        raise FieldError(raw.problem)
    kind = raw.values.get("row")
    if not isinstance(kind, str) or kind not in ROW_TYPES:
        raise FieldError(f"row: {str(kind)[:40]!r} is none of {', '.join(ROW_TYPES)}")
    row_type = ROW_TYPES[kind]
    values = {
        name: value
        for name, value in raw.values.items()
        if name in row_type.model_fields or name not in COLUMNS or value not in (None, "")
    }
    return row_as(row_type, values, is_csv=is_csv)


def plain(row: StrictModel, *without: str) -> dict[str, Any]:
    """A row as plain values that can be compared: without ids of a database, and with times in UTC."""
    told: dict[str, Any] = row.model_dump(exclude={"run_id", *without})
    if "at" in told:
        told["at"] = moment(told["at"])
    return told


def stored_json(part: _Stored) -> Mapping[str, Any]:
    """What is stored of a plan or a frame: what the file said of it."""
    return part.model_dump(exclude_unset=True)
