"""Drawing and storing an audit, and seating people in it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError

from annotation import services
from annotation.models import Audit, Item, ItemKind, LabelAction, Queue, Seat, Slot
from annotation.sampling import Plan, draw, frame_summary
from annotation.selectors import frame_of
from annotation.simulation import simulate_labels
from lseval.errors import ConflictError, InputError
from lseval.models import Page, PageSource, Role, User
from lseval.pipeline.import_runs import text_digest
from tests.annotation.making import GROUPS_ONLY, Made, add_link, make_audit, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


class TestCreateAudit:
    """What is stored of a draw."""

    def test_audit_keeps_plan_seed_and_frame(self, made: Made) -> None:
        frame = frame_of(made.study)
        assert made.audit.seed == 1
        assert made.audit.frame == frame_summary(frame)
        assert Plan.from_json(made.audit.plan) == GROUPS_ONLY
        assert made.audit.plan["drawn"]["responses"] == 6

    def test_stored_audit_can_be_drawn_again(self, made: Made) -> None:
        again = draw(frame_of(made.study), Plan.from_json(made.audit.plan), made.audit.seed)
        stored = list(made.audit.items.order_by("pk").values_list("kind", "run_id", "group_id", "round_id"))
        assert stored == [(item.kind, item.run, item.group, item.round) for item in again.items]
        for queue, places in ((made.h1, again.h1), (made.h2, again.h2)):
            assert list(queue.slots.values_list("item__group_id", flat=True)) == [
                again.items[place].group for place in places
            ]

    def test_same_seed_draws_the_same_in_a_database_where_runs_came_in_another_order(self) -> None:
        """Neither items nor queues nor the digest of the frame hang on the ids of tasks, models and runs."""
        cells = [(f"t{task}", f"{family}{number}") for task in range(4) for family in "mn" for number in range(2)]
        plan = Plan(tasks=3, responses_per_task=2, h2_tasks=2, link_trajectories=2, round_trajectories=3)
        told = []
        for slug, order in (("forth", cells), ("back", cells[::-1])):
            study = make_study(slug)
            for task, model in order:
                add_link(make_run(study, task, model))
            audit = services.create_audit(study, plan, 7, "A", None)
            numbers = ("kind", "run__task__key", "run__model__name", "group__number", "round__number")
            items = audit.items.order_by("pk").values_list(*numbers, "inclusion_probability")
            slots = Slot.objects.filter(queue__audit=audit).order_by("queue__role", "position")
            places = slots.values_list("queue__role", *(f"item__{name}" for name in numbers))
            told.append((audit.frame, audit.plan, list(items), list(places)))
        assert told[0] == told[1]

    def test_inclusion_probability_is_stored(self) -> None:
        """Two of four tasks, one of two models: each group has 1/2 · 1/2."""
        made = make_audit(Plan(tasks=2, responses_per_task=1, link_trajectories=0, round_trajectories=0), tasks=4)
        assert set(made.audit.items.values_list("inclusion_probability", flat=True)) == {0.25}

    def test_rounds_and_links_of_the_drawn_trajectories_are_items_of_h1(self) -> None:
        study = make_study()
        link = add_link(make_run(study))
        audit = services.create_audit(study, Plan(), 1, "A", None)
        kinds = [slot.item.kind for slot in audit.queues.get(role="H1").slots.all()]
        assert kinds == [ItemKind.GROUP] * 2 + [ItemKind.ROUND] * 2 + [ItemKind.LINK]
        item = audit.items.get(kind=ItemKind.LINK)
        assert (item.round_id, item.group_id) == (link.round_id, link.group_id)
        assert [slot.item.kind for slot in audit.queues.get(role="H2").slots.all()] == [ItemKind.GROUP] * 2

    def test_link_item_outlives_a_new_stage_2(self) -> None:
        study = make_study()
        link = add_link(make_run(study))
        audit = services.create_audit(study, Plan(), 1, "A", None)
        link.node.delete()
        assert audit.items.filter(kind=ItemKind.LINK).exists()

    def test_snapshots_are_fixed_when_the_audit_is_drawn(self, made: Made) -> None:
        """A page fetched later must not give the second labeler other evidence than the first had."""
        item = made.audit.items.filter(group__title__contains="Borun").first()
        (cited,) = item.snapshots
        assert Page.objects.get(pk=cited["page"]).outcome == "not_found"
        Page.objects.create(
            study=made.study,
            source=PageSource.FETCHED,
            url=cited["url"],
            canonical_key=Page.objects.get(pk=cited["page"]).canonical_key,
            text="now it is there",
            text_digest=text_digest("now it is there"),
            outcome="ok",
        )
        item.refresh_from_db()
        assert item.snapshots == [cited]

    def test_cited_url_without_a_snapshot_is_kept(self) -> None:
        study = make_study()
        make_run(study, answer="1. One thing is so [1]\n2. Another is not [1]\n\n[1] https://nowhere.example/\n")
        services.create_audit(study, GROUPS_ONLY, 1, "A", None)
        assert [item.snapshots for item in Item.objects.all()] == [
            [{"url": "https://nowhere.example/", "page": None}]
        ] * 2

    def test_name_is_unique_within_the_study(self, made: Made) -> None:
        with pytest.raises(ConflictError):
            services.create_audit(made.study, GROUPS_ONLY, 2, " A ", None)
        other = make_audit(slug="s2")
        assert other.audit.name == "A"

    @pytest.mark.parametrize("name", ["", "   ", "x" * 101, "two\nlines", "a\x00b"])
    def test_name_must_be_usable(self, made: Made, name: str) -> None:
        with pytest.raises(InputError):
            services.create_audit(made.study, GROUPS_ONLY, 2, name, None)

    @pytest.mark.parametrize("seed", [-1, 2**63])
    def test_seed_must_fit(self, made: Made, seed: int) -> None:
        with pytest.raises(InputError):
            services.create_audit(made.study, GROUPS_ONLY, seed, "B", None)

    def test_nothing_to_label_is_refused_and_stores_nothing(self) -> None:
        study = make_study()
        with pytest.raises(InputError, match="Import runs"):
            services.create_audit(study, GROUPS_ONLY, 1, "A", None)
        make_run(study, answer="")
        with pytest.raises(InputError, match="None of the 1 runs"):
            services.create_audit(study, GROUPS_ONLY, 1, "A", None)
        assert not Audit.objects.exists()


class TestSeat:
    """Who may label, and as what."""

    def test_seating_twice_changes_nothing(self, made: Made) -> None:
        assert services.seat(made.h1, made.first) == Seat.objects.get(user=made.first)

    def test_one_person_never_holds_both_roles(self, made: Made) -> None:
        with pytest.raises(ConflictError):
            services.seat(made.h2, made.first)

    def test_same_person_may_label_in_two_audits(self, made: Made) -> None:
        audit = services.create_audit(made.study, GROUPS_ONLY, 2, "B", None)
        services.seat(audit.queues.get(role="H2"), made.first)
        assert Seat.objects.filter(user=made.first).count() == 2

    def test_stranger_and_researcher_are_refused(self, made: Made) -> None:
        for user in (make_user("stranger"), make_user("researcher", made.study, Role.RESEARCHER)):
            with pytest.raises(InputError):
                services.seat(made.h1, user)

    @pytest.mark.django_db(transaction=True)
    def test_database_refuses_a_second_role_and_a_foreign_queue(self, made: Made) -> None:
        with pytest.raises(IntegrityError):
            Seat.objects.create(audit=made.audit, queue=made.h2, user=made.first)
        other, third = make_audit(slug="s2"), make_user("third", made.study)
        with pytest.raises(IntegrityError):
            Seat.objects.create(audit=made.audit, queue=other.h1, user=third)


class TestSimulation:
    """Labels of programs, stored and shown apart."""

    def test_simulated_labels_are_marked_and_in_a_queue_of_their_own(self, made: Made) -> None:
        queue = simulate_labels(made.audit, "H1", lambda item: "C", 5)
        assert queue.is_simulated
        assert queue != made.h1
        user = queue.seats.get().user
        assert user.is_simulated
        assert not user.has_usable_password()
        versions = [version for slot in queue.slots.all() for version in slot.versions.all()]
        assert len(versions) == made.h1.slots.count() == 12
        assert all(version.is_simulated and version.action == LabelAction.LABEL for version in versions)
        assert not made.h1.slots.exclude(status="open").exists()

    def test_simulated_queue_has_the_same_items_in_the_same_order(self, made: Made) -> None:
        queue = simulate_labels(made.audit, "H2", lambda item: "C", 5)
        assert list(queue.slots.values_list("item_id", "position")) == list(
            made.h2.slots.values_list("item_id", "position")
        )

    def test_evidence_is_recorded_as_for_people(self, made: Made) -> None:
        queue = simulate_labels(made.audit, "H1", lambda item: "C", 5)
        slot = next_slot(made.h1, made.first)
        digest = submit(slot, made.first).version.evidence_digest
        assert queue.slots.get(item=slot.item).versions.get().evidence_digest == digest

    def test_without_errors_the_truth_comes_out(self, made: Made) -> None:
        truth = {item.pk: "CIU"[item.pk % 3] for item in made.audit.items.all()}
        queue = simulate_labels(made.audit, "H1", truth, 5, error_rate=0)
        assert {slot.item_id: slot.versions.get().label for slot in queue.slots.all()} == truth

    def test_with_errors_only_every_label_is_another_one(self, made: Made) -> None:
        queue = simulate_labels(made.audit, "H1", lambda item: "C", 5, error_rate=1)
        assert {slot.versions.get().label for slot in queue.slots.all()} == {"I", "U"}

    def test_item_without_a_truth_stays_open(self, made: Made) -> None:
        known = made.audit.items.first()
        queue = simulate_labels(made.audit, "H1", {known.pk: "C"}, 5)
        assert Slot.objects.filter(queue=queue, status="labeled").get().item == known
        assert Slot.objects.filter(queue=queue, status="open").count() == 11

    def test_seed_decides_and_each_role_errs_on_its_own(self) -> None:
        labels = []
        for slug in ("s1", "s2"):
            made = make_audit(Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0), slug=slug)
            queues = [simulate_labels(made.audit, role, lambda item: "C", 9, 0.5) for role in ("H1", "H2")]
            for queue in queues:
                by_item = queue.slots.order_by("item_id")
                labels.append([slot.versions.get().label for slot in by_item])
        assert labels[0] == labels[2]
        assert labels[1] == labels[3]
        assert labels[0] != labels[1]

    def test_label_that_does_not_fit_stores_nothing(self, made: Made) -> None:
        with pytest.raises(InputError):
            simulate_labels(made.audit, "H1", lambda item: "perhaps", 5)
        assert not Queue.objects.filter(is_simulated=True).exists()
        assert not User.objects.filter(is_simulated=True).exists()

    def test_second_simulation_of_a_role_is_refused(self, made: Made) -> None:
        simulate_labels(made.audit, "H1", lambda item: "C", 5)
        with pytest.raises(ConflictError):
            simulate_labels(made.audit, "H1", lambda item: "C", 6)

    @pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
    def test_error_rate_is_a_probability(self, made: Made, rate: float) -> None:
        with pytest.raises(InputError):
            simulate_labels(made.audit, "H1", lambda item: "C", 5, rate)

    def test_people_and_simulated_labelers_never_share_a_queue(self, made: Made) -> None:
        queue = simulate_labels(made.audit, "H1", lambda item: "C", 5)
        with pytest.raises(InputError):
            services.seat(queue, make_user("third", made.study))
        with pytest.raises(InputError):
            services.seat(made.h2, queue.seats.get().user)

    def test_all_kinds_get_labels_of_their_kind(self) -> None:
        study = make_study()
        add_link(make_run(study))
        audit = services.create_audit(study, Plan(), 1, "A", None)
        truth = {"group": "I", "round": "error", "link": "corresponds"}
        queue = simulate_labels(audit, "H1", lambda item: truth[item.kind], 5, error_rate=0)
        for slot in queue.slots.all():
            version = slot.versions.get()
            assert version.label == truth[slot.item.kind]
            assert bool(version.error_type) == (slot.item.kind == ItemKind.ROUND)
