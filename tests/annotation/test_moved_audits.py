"""Audits moved to another study by files: as they were, with every label, or refused with a reason. I10."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from annotation import administration, codebooks, flags, labels, reveals
from annotation.adjudication import claim_disagreement, decide, rebuild_queue, seat_adjudicator
from annotation.adjudication_selectors import adjudicator_queue, pair_of, rulings_of, skips_of
from annotation.audit_rows import ROW_TYPES
from annotation.draws import group_chances
from annotation.evidence import evidence_digests
from annotation.history import differences
from annotation.lead_presenting import audits_shown
from annotation.models import (
    Audit,
    AuditEvent,
    Disagreement,
    Flag,
    Item,
    LabelVersion,
    Queue,
    Reveal,
    Seat,
    Slot,
)
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from annotation.simulation import simulate_labels
from annotation.slot_counts import slot_counts
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, Study, User
from tests.annotation.making import Made, give, make_audit, submit
from tests.api.conftest import Program
from tests.factories import give_verdict, make_user
from tests.pipeline.evaluation_import.making import (
    FORMATS,
    audits_of,
    edit,
    export_all,
    export_and_forget,
    labels_of,
    make_twin,
    put,
    put_in,
    reports_of,
    rows_of,
    written,
)

pytestmark = pytest.mark.django_db
CHOICES = {
    "group": (("C", ""), ("I", ""), ("U", "")),
    "round": (("error", "scope_error"), ("non_error", ""), ("skipped", "")),
    "link": (("corresponds", ""), ("does_not", ""), ("cannot_tell", "")),
}


def make_labeled() -> Made:
    """An audit with something of everything: two draws, histories, late work, simulated labels, and rulings."""
    made = make_audit(Plan(tasks=2, responses_per_task=1, h2_tasks=2), tasks=4)
    study = made.study
    for run in study.runs.all():
        give_verdict(run, "C", "I")
    codebooks.publish_codebook(study, "# =Second\n\n- **Correct** (c): all of it", "-more", made.lead, [made.audit])
    administration.extend_audit(Audit.objects.get(pk=made.audit.pk), made.lead)
    other = make_user("other", study)
    seat(made.h1, other)
    slots = list(made.h1.slots.select_related("item").order_by("position"))
    for place, slot in enumerate(slots[1:-1]):
        person = other if place == 1 else made.first
        label, error_type = CHOICES[slot.item.kind][place % 3]
        given = {"error_type": error_type, "comment": "=1\r\n", "seconds_on_task": place / 7}
        submit(give(slot, person), person, label, **given)
    _change_mind(made, slots[0])
    for slot in made.h2.slots.order_by("position"):
        submit(give(slot, made.second), made.second, "C", seconds_on_task=1 / 3)
    for role in ("H1", "H2"):
        simulate_labels(made.audit, role, lambda item: CHOICES[item.kind][1][0], 3, 0.4)
    _mark(made)
    _adjudicate(made)
    return made


def _mark(made: Made) -> None:
    """A flag that stands, one that was taken back, and a verdict shown."""
    last, before = made.h2.slots.order_by("-position")[:2]
    flags.raise_flag(last.pk, made.second, "=odd\n", request_key=uuid4())
    flags.raise_flag(before.pk, made.second, request_key=uuid4())
    flags.take_flag_back(before.pk, made.second, request_key=uuid4())
    Audit.objects.filter(pk=made.audit.pk).update(reveal_after_submission=True)
    reveals.reveal(Seat.objects.get(user=made.second, audit=made.audit), last)


def _change_mind(made: Made, slot: Slot) -> None:
    """A label, an undo, a skip, another undo, a label, and late work of a colleague's."""
    submit(give(slot, made.first), made.first, "C")
    labels.undo_last(made.h1, made.first, request_key=uuid4())
    slot.refresh_from_db()
    labels.skip(slot.pk, made.first, "not now", request_key=uuid4(), base_version=slot.version)
    labels.undo_last(made.h1, made.first, request_key=uuid4())
    slot.refresh_from_db()
    colleague = User.objects.get(username="other")
    give(slot, colleague)
    give(slot, made.first)
    submit(slot, made.first, "I")
    submit(slot, colleague, "U")


def _adjudicate(made: Made) -> None:
    """One disagreement decided and one skipped of those that there are."""
    rebuild_queue(made.audit, made.lead)
    seat_adjudicator(made.audit, made.lead, made.lead)
    queue = adjudicator_queue(made.audit)
    assert queue
    for number in (1, 2):
        slot = claim_disagreement(queue, made.lead, sees_automatic=True)
        assert slot
        if number == 1:
            pair = pair_of(slot)
            assert pair
            given = {"request_key": uuid4(), "base_version": 0, "pair_key": pair.key}
            decide(slot.pk, made.lead, "U", "=so", **given)
        else:
            labels.skip(slot.pk, made.lead, "cannot tell", request_key=uuid4(), base_version=0)


@pytest.fixture
def made() -> Made:
    return make_labeled()


def join(study: Study) -> None:
    """The people of the other study, as a lead adds them to this one."""
    for name in ("first-s1", "second-s1", "other", "lead-s1"):
        role = Role.LEAD if name == "lead-s1" else Role.ANNOTATOR
        user = User.objects.filter(username=name).first() or make_user(name)
        Membership.objects.get_or_create(study=study, user=user, defaults={"role": role})


def bring(folder: Path, *files: str, slug: str = "two") -> str:
    told = StringIO()
    paths = [str(folder / name) for name in files] or [str(folder)]
    call_command("import_evaluation", slug, *paths, stdout=told)
    return told.getvalue()


def refused(folder: Path, *files: str) -> list[str]:
    with pytest.raises(CommandError, match="rows were refused"):
        call_command(
            "import_evaluation", "two", *([str(folder / name) for name in files] or [str(folder)]),
            report=folder / "told.txt", stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip
    return (folder / "told.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def exported(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a study that is not there any more."""
    return export_and_forget(lambda: make_labeled().study, tmp_path_factory.mktemp("exported"), django_db_blocker)


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "out"))


@pytest.fixture
def twin(folder: Path) -> Study:
    """A study with the runs, pages, answers, verdicts and people, and no audit."""
    found = make_twin(folder)
    join(found)
    bring(folder, "pages.jsonl", "answers.jsonl", "verdicts.jsonl")
    return found


def outcomes(told: str, what: str) -> dict[str, int]:
    lines = [line.split() for line in told.splitlines() if line.startswith(f"  {what} ")]
    return {" ".join(words[1:-1]): int(words[-1]) for words in lines}


def nothing_of_audits(study: Study) -> bool:
    return not study.audits.exists() and not Item.objects.filter(run__study=study).exists()


def row_at(folder: Path, kind: str, /, **values: Any) -> int:
    """The place in the file of the first row of a kind that has the values."""
    rows = [json.loads(line) for line in (folder / "audits.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    return next(
        place for place, row in enumerate(rows)
        if row["row"] == kind and all(row[name] == value for name, value in values.items())
    )  # fmt: skip


@pytest.mark.parametrize("file_format", FORMATS)
def test_audit_that_was_moved_equals_the_one_it_was(made: Made, tmp_path: Path, file_format: str) -> None:
    administration.close_audit(Audit.objects.get(pk=made.audit.pk), made.lead)
    folder = export_all(made.study, tmp_path / "out", file_format)
    twin = make_twin(folder)
    join(twin)
    told = bring(folder)
    assert audits_of(twin) == audits_of(made.study)
    assert labels_of(twin) == labels_of(made.study)
    found = labels_of(twin)
    assert {row["labeler"] for row in found} == {
        "first-s1", "other", "second-s1", "lead-s1", "simulated-h1", "simulated-h2",
    }  # fmt: skip
    assert {(row["action"], row["is_late"]) for row in found} >= {
        ("undo", False), ("skip", False), ("label", False), ("label", True),
    }  # fmt: skip
    assert {row["row"] for row in rows_of(twin, "audits")} == set(ROW_TYPES)
    assert "audit 'A' is closed, as it was" in told
    audit = twin.audits.get()
    assert audit.status == "closed"
    chances = group_chances(audit)
    assert (chances.draws, chances.is_exact) == (2, True)
    assert sorted(chances.by_run.values()) == sorted(group_chances(made.audit).by_run.values())
    one, two = ([(r.between, r.labels, r.decision.comment) for r in rulings_of(a)] for a in (made.audit, audit))
    assert two == one
    assert one
    assert [skip.skip.comment for skip in skips_of(audit)] == ["cannot tell"]
    assert reports_of(twin) == reports_of(made.study)
    assert differences(audit) == []
    assert slot_counts(audit.queues.all())[queue_of(audit, "H1").pk] == slot_counts([made.h1])[made.h1.pk]
    # What a person may be shown is digested alike, so that what they saw can be told to be the same.
    assert _digests(audit) == _digests(made.audit)


def _digests(audit: Audit) -> list[str]:
    return list(evidence_digests(list(audit.items.order_by("pk"))).values())


def _log(study: Study) -> list[dict[str, Any]]:
    return [row for row in rows_of(study, "audits") if row["row"] == "event"]


class TestLog:
    @pytest.mark.parametrize("file_format", FORMATS)
    def test_log_moves_and_tells_of_the_import_after_it(self, made: Made, tmp_path: Path, file_format: str) -> None:
        administration.pause_audit(made.audit, made.lead)
        administration.resume_audit(made.audit, made.lead)
        before = _log(made.study)
        folder = export_all(made.study, tmp_path / "out", file_format)
        twin = make_twin(folder)
        join(twin)
        bring(folder)
        moved, own = _log(twin)[: len(before)], _log(twin)[len(before) :]
        assert moved == before
        assert {row["action"] for row in before} >= {
            "drawn", "extended", "seated", "codebook", "adjudication", "paused", "resumed",
        }  # fmt: skip
        assert {row["by"] for row in before} == {None, "lead-s1"}
        # The simulated labelers come with the audit.
        assert [row["action"] for row in own[:3]] == ["seated", "seated", "imported"]
        assert own[2]["detail"]["source"] == f"audits.{file_format}"
        # Then the people take their places, their labels come, and the audit is opened, as it was.
        assert own[-1]["action"] == "resumed"
        audit = twin.audits.get()
        assert audit.status == "open"
        assert differences(audit) == []

    def test_who_is_not_known_here_is_named_and_named_again_by_a_further_export(
        self, folder: Path, twin: Study, tmp_path: Path
    ) -> None:
        edit(folder / "audits.jsonl", put(by="gone"), row_at(folder, "event"))
        bring(folder)
        assert AuditEvent.objects.filter(audit__study=twin, by=None, detail__by="gone").count() == 1
        assert _log(twin)[0]["by"] == "gone"
        shown = [event["by"] for event in audits_shown(twin)[0]["events"]]
        assert "A command" in shown
        third = make_twin(export_all(twin, tmp_path / "again"), "three")
        join(third)
        bring(tmp_path / "again", slug="three")
        assert _log(third)[: len(_log(twin))] == _log(twin)

    def test_lead_reads_of_the_import(self, folder: Path, twin: Study) -> None:
        bring(folder, "audits.jsonl")
        told = audits_shown(twin)[0]["events"][0]
        items = twin.audits.get().items.count()
        assert (told["by"], told["said"]) == (
            "A command",
            f"brought the audit in from audits.jsonl: {items} items",
        )

    def test_who_lost_a_place_elsewhere_gets_no_other_one_here(self, made: Made, tmp_path: Path) -> None:
        """The log knows of a place that left no label behind."""
        newcomer = make_user("newcomer", made.study)
        seat(made.h1, newcomer)
        administration.reassign(Audit.objects.get(pk=made.audit.pk), newcomer, made.lead)
        folder = export_all(made.study, tmp_path / "out")
        twin = make_twin(folder)
        join(twin)
        Membership.objects.create(study=twin, user=newcomer, role=Role.ANNOTATOR)
        bring(folder)
        with pytest.raises(ConflictError, match="newcomer has labeled as H1"):
            seat(queue_of(twin.audits.get(), "H2"), newcomer)

    def test_export_of_an_earlier_version_has_no_log_and_gets_one_of_its_draws(
        self, folder: Path, twin: Study
    ) -> None:
        path = folder / "audits.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        for row in rows:
            row.pop("events", None)
        kept = [row for row in rows if row["row"] != "event"]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in kept), encoding="utf-8")
        bring(folder, "audits.jsonl", "labels.jsonl")
        audit = twin.audits.get()
        assert [row["action"] for row in _log(twin)][:5] == ["drawn", "extended", "seated", "seated", "imported"]
        assert (audit.events.get(action="drawn").at, audit.status) == (audit.created_at, "open")
        assert differences(audit) == []

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (put(action="dropped"), "action: 'dropped' is none of drawn"),
            (put(detail=[]), "detail: should be a valid dictionary"),
            (put(at="today"), "no time in ISO 8601"),
            (lambda row: row.update(row="draw"), "draw: is missing"),
        ],
    )
    def test_line_of_a_log_at_fault_is_refused(
        self, folder: Path, twin: Study, change: Callable[..., Any], told: str
    ) -> None:
        edit(folder / "audits.jsonl", change, row_at(folder, "event"))
        assert any(told in line for line in refused(folder))
        assert nothing_of_audits(twin)

    def test_lost_line_of_a_log_is_seen(self, folder: Path, twin: Study) -> None:
        path = edit(folder / "audits.jsonl", lambda row: "", row_at(folder, "event"))
        [problem] = refused(folder, path.name)
        assert "events and the file holds" in problem


class TestWhatIsThere:
    @pytest.mark.parametrize("is_closed", [False, True])
    def test_second_import_writes_nothing(self, made: Made, folder: Path, twin: Study, is_closed: bool) -> None:
        if is_closed:
            administration.close_audit(Audit.objects.get(pk=made.audit.pk), made.lead)
            export_all(made.study, folder)
        bring(folder)
        models = (Audit, Item, Queue, Slot, Seat, LabelVersion, Disagreement, AuditEvent, User, Flag, Reveal)
        before = [list(model._default_manager.order_by("pk").values()) for model in models]
        told = bring(folder)
        assert outcomes(told, "audits").keys() == outcomes(told, "labels").keys() == {"already there"}
        assert before == [list(model._default_manager.order_by("pk").values()) for model in models]

    @pytest.mark.parametrize("file_format", FORMATS)
    def test_own_export_is_there_already(self, made: Made, tmp_path: Path, file_format: str) -> None:
        folder = export_all(made.study, tmp_path / "own", file_format)
        told = bring(folder, f"audits.{file_format}", f"labels.{file_format}", slug="s1")
        assert outcomes(told, "audits").keys() == outcomes(told, "labels").keys() == {"already there"}

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (put(seed=2), "differs in seed"),
            (put(at="2024-01-01T00:00:00+00:00"), "differs in at"),
            (lambda row: row["plan"].update(tasks=3), "differs in plan"),
            (lambda row: row["frame"].update(runs=3), "differs in frame"),
            (put(reveal_after_submission=False), "differs in reveal_after_submission"),
        ],
    )
    def test_another_audit_of_the_name_is_kept(
        self, folder: Path, twin: Study, change: Callable[..., Any], told: str
    ) -> None:
        bring(folder)
        before = audits_of(twin)
        edit(folder / "audits.jsonl", change, row_at(folder, "audit"))
        [problem] = refused(folder)
        assert f"another audit named 'A' is here, which {told}; it was kept" in problem
        assert audits_of(twin) == before

    def test_other_items_and_places_are_told(self, folder: Path, twin: Study) -> None:
        bring(folder)
        edit(folder / "audits.jsonl", put(inclusion_probability=0.125), row_at(folder, "item"))
        one, two = (row_at(folder, "slot", role="H2", is_simulated=False, position=place) for place in (1, 2))
        edit(folder / "audits.jsonl", put(position=2), one)
        edit(folder / "audits.jsonl", put(position=1), two)
        [problem] = refused(folder)
        assert "differs in 1 item, 2 slots; it was kept" in problem

    def test_work_goes_on_in_an_open_audit_and_an_older_export_is_still_the_same(
        self, folder: Path, twin: Study
    ) -> None:
        bring(folder)
        audit = twin.audits.get()
        assert audit.status == "open"
        slot = queue_of(audit, "H1").slots.order_by("-position").first()
        assert slot
        first = User.objects.get(username="first-s1")
        assert slot.status == "open"
        label = CHOICES[slot.item.kind][0]
        submit(give(slot, first), first, label[0], error_type=label[1])
        administration.pause_audit(audit, None)
        told = bring(folder)
        assert outcomes(told, "audits").keys() == outcomes(told, "labels").keys() == {"already there"}
        audit.refresh_from_db()
        assert audit.status == "paused"

    def test_labels_given_here_meanwhile_are_kept(self, folder: Path, twin: Study) -> None:
        bring(folder, "audits.jsonl")
        slot = queue_of(twin.audits.get(), "H2").slots.order_by("position").first()
        second = User.objects.get(username="second-s1")
        assert slot
        seat(slot.queue, second)
        submit(give(slot, second), second, "U")
        assert any("has been decided here" in line for line in refused(folder))
        assert LabelVersion.objects.get(slot__queue__audit__study=twin).label == "U"


class TestStatus:
    def test_audit_is_paused_until_its_labels_are_here(self, made: Made, folder: Path, twin: Study) -> None:
        export_all(made.study, folder)
        told = bring(folder, "audits.jsonl")
        assert outcomes(told, "audits")["left out with the rest"] == 4
        assert "audit 'A' is paused: 0 of its" in told
        assert twin.audits.get().status == "paused"
        assert not Flag.objects.filter(slot__queue__audit__study=twin).exists()
        bring(folder, "audits.jsonl", "labels.jsonl")
        assert twin.audits.get().status == "open"
        assert audits_of(twin) == audits_of(made.study)
        assert labels_of(twin) == labels_of(made.study)

    def test_labels_may_come_by_themselves_and_the_folder_after_them(self, folder: Path, twin: Study) -> None:
        bring(folder, "audits.jsonl")
        assert "Give the whole folder of the export again" in bring(folder, "labels.jsonl")
        assert twin.audits.get().status == "paused"  # its flags are still to come
        assert "paused" not in bring(folder)
        assert twin.audits.get().status == "open"

    def test_who_paused_it_here_keeps_it_paused(self, made: Made, folder: Path, twin: Study) -> None:
        bring(folder)
        administration.pause_audit(twin.audits.get(), made.lead)
        bring(folder)
        assert twin.audits.get().status == "paused"

    def test_closed_audit_is_closed_when_its_labels_are_here(self, made: Made, folder: Path, twin: Study) -> None:
        administration.close_audit(Audit.objects.get(pk=made.audit.pk), made.lead)
        export_all(made.study, folder)
        bring(folder, "audits.jsonl")
        assert twin.audits.get().status == "paused"
        bring(folder)
        audit = twin.audits.get()
        assert audit.status == "closed"
        with pytest.raises(ConflictError, match="closed"):
            seat(queue_of(audit, "H1"), make_user("late", twin))

    def test_paused_audit_stays_so(self, made: Made, folder: Path, twin: Study) -> None:
        administration.pause_audit(Audit.objects.get(pk=made.audit.pk), made.lead)
        export_all(made.study, folder)
        bring(folder)
        assert twin.audits.get().status == "paused"

    def test_labels_of_a_role_can_be_imported_by_hand_into_a_moved_audit(self, folder: Path, twin: Study) -> None:
        bring(folder, "audits.jsonl")
        path = str(folder / "labels.jsonl")
        call_command("import_labels", "two", path, role="H2", labeler="second-s1", stdout=StringIO())
        assert LabelVersion.objects.filter(slot__queue__role="H2", slot__queue__audit__study=twin).exists()
        bring(folder)
        assert twin.audits.get().status == "open"


class TestPeople:
    def test_who_is_no_member_is_told_and_nothing_is_stored(self, folder: Path, twin: Study) -> None:
        Membership.objects.filter(study=twin, user__username="second-s1").delete()
        problems = refused(folder)
        assert any("second-s1 is no member of this study" in line for line in problems)
        assert nothing_of_audits(twin)
        join(twin)
        bring(folder)
        assert Seat.objects.filter(audit__study=twin, user__username="second-s1").exists()

    def test_who_is_unknown_is_told_with_the_command_that_helps(self, folder: Path, twin: Study) -> None:
        path = folder / "labels.jsonl"
        path.write_text(path.read_text(encoding="utf-8").replace('"second-s1"', '"nobody"'), encoding="utf-8")
        (folder / "SHA256SUMS").unlink()
        [problem] = refused(folder)
        assert "rows from here on: they are of 'nobody', whom this server does not know" in problem
        assert "`manage.py add_member STUDY nobody annotator --create`" in problem
        assert nothing_of_audits(twin)

    def test_lead_cannot_come_as_a_labeler(self, folder: Path, twin: Study) -> None:
        Membership.objects.filter(study=twin, user__username="other").update(role=Role.LEAD)
        assert any("other is a lead and sees the verdicts" in line for line in refused(folder))
        assert nothing_of_audits(twin)

    def test_nobody_of_the_name_of_a_simulated_labeler_is_needed(self, folder: Path, twin: Study) -> None:
        bring(folder)
        simulated = Seat.objects.filter(audit__study=twin, user__is_simulated=True)
        assert {found.user.username for found in simulated} == {
            f"simulated-{role}-{twin.audits.get().pk}" for role in ("h1", "h2")
        }


def _at(kind: str, /, **values: Any) -> Callable[[Path], int]:
    return lambda folder: row_at(folder, kind, **values)


ITEM, GROUP, ROUND = _at("item"), _at("item", kind="group"), _at("item", kind="round")
SLOT, AUDIT, ADJUDICATED = _at("slot", role="H1", position=2), _at("audit"), _at("slot", role="adjudicator")


class TestRefusals:
    @pytest.mark.parametrize(
        ("place", "change", "told"),
        [
            (ITEM, put(kind="page"), "kind: 'page' is none of group, link, round"),
            (ITEM, put(inclusion_probability=0), "inclusion_probability: should be greater than 0"),
            (ITEM, put(inclusion_probability=-0.5), "inclusion_probability: should be greater than 0"),
            (ITEM, put(inclusion_probability=1.0000001), "should be less than or equal to 1"),
            (ITEM, lambda row: json.dumps(row | {"seed": float("nan")}), "NaN is not a JSON number"),
            (ITEM, put(inclusion_probability="0.5"), "inclusion_probability: should be a valid number"),
            (ITEM, put(inclusion_probability=None), "inclusion_probability: should be a valid number"),
            (ITEM, put(draw=3), "the audit has 2 draws, and the item came with draw 3"),
            (ITEM, put(draw=0), "draw: should be greater than or equal to 1"),
            (ITEM, put(task_key="t9"), "no run of"),
            (ITEM, put(model="m9"), "`manage.py import_runs two runs.jsonl` brings it"),
            (ITEM, put(item_id=10**9), "the audit has no item with the item_id"),
            (ITEM, put(role="H1"), "role: is no value of such a row"),
            (GROUP, put(group_number=9), "the run has no answer group 9"),
            (GROUP, put(group_number=None), "a group has a group, with number and digest"),
            (GROUP, put(round_number=1), "a group has no round, with number and digest"),
            (GROUP, put(group_text_digest="0" * 64), "answer group 1 has another text here"),
            (GROUP, put(group_number=2), "is of the same item"),
            (ROUND, put(round_number=9), "the run has no round 9"),
            (ROUND, put(round_digest="0" * 64), "has another text here than the one that was drawn"),
            (GROUP, put_in("snapshots", text_digest="0" * 64), "has another text here; import the pages"),
            (GROUP, put_in("snapshots", canonical_key="x"), "the study has no recorded snapshot of"),
            (GROUP, put_in("snapshots", source=None), "a snapshot has source, canonical_key"),
            (GROUP, put_in("snapshots", page=1), "snapshots[0].page: is no value of such a row"),
            (SLOT, put(position=1), "is of the same place in a queue"),
            (SLOT, put(position=0), "position: should be greater than or equal to 1"),
            (SLOT, put(position=10**6), "place 2 of H1 is lacking before 3"),
            (SLOT, put(position=2**31), "position: should be less than or equal to"),
            (SLOT, put(role="H3"), "role: 'H3' is none of H1, H2, adjudicator"),
            (SLOT, put(role="adjudicator"), "a slot of adjudicators has between and is_settled"),
            (SLOT, put(between="people"), "only a slot of adjudicators has between"),
            (SLOT, put(item_id=10**9), "the audit has no item with the item_id 1000000000"),
            (ADJUDICATED, put(between="friends"), "between: 'friends' is none of people, automatic"),
            (ADJUDICATED, put(is_simulated=True), "the audit has no queue of adjudicator (simulated)"),
            (_at("queue", role="H2"), put(role="H1"), "is of the same queue"),
            (_at("queue", role="H2"), put(role="H1"), "the audit has no queue of H2"),
            (_at("queue", is_simulated=True), put(role="adjudicator"), "nobody adjudicates simulated labels"),
            (_at("draw"), put(draw=3), "draws are numbered from 2 without a gap; this is 3, not 2"),
            (_at("draw"), put(seed=-1), "seed: should be greater than or equal to 0"),
            (AUDIT, put(seed=2**63), "64 bits"),
            (AUDIT, put(status="done"), "status: 'done' is none of open, paused, closed"),
            (AUDIT, put(audit=""), "audit: String should have at least 1 character"),
            (AUDIT, put(audit="x" * 101), "audit: String should have at most 100 characters"),
            (AUDIT, put(audit="A\n"), "a name is printable"),
            (AUDIT, put(audit="B"), "there is no row of the audit 'A' itself"),
            (AUDIT, put(items=7), "the audit has 7 items and the file holds"),
            (AUDIT, put(flags=7), "the audit has 7 flags and the file holds 3: export it again"),
            (AUDIT, put(codebook_version="9"), "the study has no version 9 of its codebook"),
            (AUDIT, put(codebook_version="x"), "codebook_version: String should match pattern"),
            (AUDIT, put(plan={}), "plan.tasks: is missing"),
            (AUDIT, put(frame=[]), "frame: should be a valid dictionary"),
            (AUDIT, lambda row: row["plan"].update(drawn={}), "drawn should say how many tasks"),
            (AUDIT, put(at="yesterday"), "at: 'yesterday' is no time in ISO 8601"),
            (AUDIT, put(row="exam"), "row: 'exam' is none of codebook, run, audit, draw, queue, item, slot"),
            (AUDIT, put(row=None), "row: 'None' is none of"),
            (AUDIT, put(mood="good"), "mood: is no value of such a row"),
            (AUDIT, lambda row: "[1]", "should be a JSON object"),
            (AUDIT, lambda row: '{"row": "audit", "au', "not JSON"),
            (_at("flag"), put(labeler="nobody"), "this server knows no 'nobody'"),
            (_at("flag"), put(number=2), "flags on an item are numbered from 1"),
            (_at("flag", is_raised=False), put(note="x"), "a flag that is taken back has no note"),
            (_at("flag"), put(is_simulated=True), "simulated labelers flag nothing"),
            (_at("reveal"), put(position=10**6), "H2 has no place 1000000"),
            (_at("reveal"), put(number=9), "version 9 of the item is no label of second-s1"),
            (_at("run"), put(task_key="t9"), "no run of"),
            (_at("codebook"), put(text=""), "text: String should have at least 1 character"),
            (_at("codebook"), put(number=3), "lacks the version of the codebook before version 3"),
            (_at("codebook"), put(number=1), "number: should be greater than or equal to 2"),
        ],
    )  # fmt: skip
    def test_audit_with_a_row_at_fault_is_not_stored_and_nor_are_its_labels(
        self, folder: Path, twin: Study, place: Callable[[Path], int], change: Any, told: str
    ) -> None:
        edit(folder / "audits.jsonl", change, place(folder))
        problems = refused(folder, "audits.jsonl", "labels.jsonl")
        assert any(told in line for line in problems), problems
        assert all(line.startswith(("audits.jsonl:", "labels.jsonl:")) for line in problems)
        assert nothing_of_audits(twin)
        assert not LabelVersion.objects.filter(slot__queue__audit__study=twin).exists()

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (put(label="X"), "no label for this item"),
            (put(task_key="t9"), "the queue has no such item"),
            (put(audit="Z"), "the study has no audit 'Z'; import the audits of the same export"),
            (put(audit=""), "the row names no audit"),
            (put(role="adjudicator", is_simulated=True), "simulated labels are of H1 or H2"),
            (put(role=""), "it needs role, is_simulated and version"),
            (put(version=None), "it needs role, is_simulated and version"),
            (put(version=9), "count from 1 without a gap"),
            (put(created_at="2999-01-01T00:00:00+00:00"), "future"),
            (lambda row: "[1]", "should be a JSON object"),
        ],
    )
    def test_label_at_fault_keeps_its_audit_out(self, folder: Path, twin: Study, change: Any, told: str) -> None:
        edit(folder / "labels.jsonl", change)
        problems = refused(folder)
        assert any(told in line for line in problems), problems
        assert all(line.startswith("labels.jsonl:") for line in problems)
        assert nothing_of_audits(twin) or told.startswith("the study has no audit 'Z'")

    def test_file_that_was_cut_off_is_told(self, folder: Path, twin: Study) -> None:
        path = folder / "audits.jsonl"
        lines = path.read_text(encoding="utf-8").split("\n")
        path.write_text("\n".join(lines[: row_at(folder, "slot") + 3]), encoding="utf-8")
        with pytest.raises(InputError, match="cut short or changed"):
            bring(folder)
        (folder / "SHA256SUMS").unlink()
        assert any("slots and the file holds 3: export it again" in line for line in refused(folder))
        assert nothing_of_audits(twin)

    def test_codebook_that_says_something_else_here_is_kept(self, folder: Path, twin: Study) -> None:
        codebooks.publish_codebook(twin, "# Another", "own", None)
        problems = refused(folder)
        assert "version 2 of the codebook says something else here" in problems[0]
        assert nothing_of_audits(twin)
        assert twin.codebook_versions.get().text == "# Another"

    def test_another_audit_of_the_file_is_stored_all_the_same(self, made: Made, folder: Path, twin: Study) -> None:
        create_audit(made.study, Plan(tasks=1, link_trajectories=0, round_trajectories=0), 5, "=B", None)
        export_all(made.study, folder)
        edit(folder / "audits.jsonl", put(inclusion_probability=2**-60, group_number=9), row_at(folder, "item"))
        [problem] = refused(folder)
        assert "the run has no answer group 9" in problem
        assert [(audit.name, audit.status) for audit in twin.audits.all()] == [("=B", "open")]

    @pytest.mark.parametrize(
        ("name", "cell", "told"),
        [
            ("inclusion_probability", "NaN", "NaN is not a JSON number"),
            ("inclusion_probability", "1e999", "too large"),
            ("inclusion_probability", "", "inclusion_probability: '': not JSON"),
            ("snapshots", "[", "snapshots: '[': not JSON"),
            ("kind", "", "kind: '' is none of"),
            ("role", "H1", "role: is no value of such a row"),
            ("audit", "a\x00", "audit: NUL or a lone surrogate cannot be stored"),
        ],
    )
    def test_cell_that_is_no_value_of_its_column_is_told(
        self, made: Made, folder: Path, twin: Study, name: str, cell: str, told: str
    ) -> None:
        rows = list(csv.DictReader(io.StringIO(written(made.study, "audits", "csv"), newline="")))
        next(row for row in rows if row["row"] == "item")[name] = cell
        path = folder / "audits.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        assert any(told in line for line in refused(folder, "audits.csv"))
        assert nothing_of_audits(twin)


def test_runs_that_were_there_later_do_not_change_what_an_audit_here_rests_on(folder: Path, twin: Study) -> None:
    create_audit(twin, Plan(tasks=1), 5, "own", None)
    before = list(twin.runs.order_by("pk").values_list("imported_at", flat=True))
    bring(folder)
    assert list(twin.runs.order_by("pk").values_list("imported_at", flat=True)) == before


def test_labelers_get_nothing_of_it(made: Made) -> None:
    program = Program(made.first)
    for file_format in FORMATS:
        assert program.get(f"/api/studies/s1/exports/audits.{file_format}").status_code == 403
    assert Program(made.lead).get("/api/studies/s1/exports/audits.csv").status_code == 200
    assert Program(None).get("/api/studies/s1/exports/audits.csv").status_code == 401
