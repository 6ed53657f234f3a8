"""`manage.py draw_audit STUDY`: a sample of responses and trajectories for people to label."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotation.models import Audit, LabelerRole
from annotation.sampling import KINDS, Plan
from annotation.services import Drawing, create_audit, free_name, planned, preview_draw, queue_of, seat
from lseval.models import Study, User
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand

DEFAULT_SEED = 1
_KIND_NAMES = {"group": "answer groups", "round": "rounds", "link": "round-group links"}


class Command(PagelessCommand):
    help = (
        "Draw an audit: whole responses by task, model families balanced, and the rounds and links of some of "
        "their trajectories. What no option says is as the study's file plans it, else as in the paper; a study "
        "that has less gives all it has. The same seed draws the same sample from the same runs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--name", default="", help="the audit's name; default: Audit and the next free number")
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help=f"default: {DEFAULT_SEED}")
        parser.add_argument("--tasks", type=int, help="how many tasks are drawn")
        parser.add_argument("--responses-per-task", type=int, help="how many responses of each")
        parser.add_argument(
            "--h2-tasks", type=int, help="tasks that H2 labels too; a fifth, 1 at least, if none is named"
        )
        parser.add_argument("--trajectories", type=int, help="from how many H1 labels links and rounds")
        parser.add_argument(
            "--rounds",
            action=argparse.BooleanOptionalAction,
            help="whether H1 labels rounds of trajectories at all",
        )
        for role in (LabelerRole.H1, LabelerRole.H2):
            parser.add_argument(
                f"--{role.lower()}", nargs="+", default=[], metavar="USERNAME", help=f"who labels as {role}"
            )
        parser.add_argument("--dry-run", action="store_true", help="print the draw and store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        plan = _plan(study, options)
        labelers = {role: _people(options[role.lower()]) for role in (LabelerRole.H1, LabelerRole.H2)}
        drawing = preview_draw(study, plan, options["seed"])
        self._print(drawing)
        if options["dry_run"]:
            self.stdout.write("\nNothing was stored (dry run).")
            return
        name = options["name"] or free_name(study.audits.values_list("name", flat=True))
        audit = _draw_and_seat(study, plan, options["seed"], name, labelers)
        self.stdout.write(f"\nDrawn as {audit.name!r} in study {study.slug}, seed {audit.seed}.")
        for role, people in labelers.items():
            names = (
                ", ".join(user.username for user in people) or "nobody yet: give people a place on the audit page"
            )
            self.stdout.write(f"{role}: {names}")

    def _print(self, drawing: Drawing) -> None:
        frame, sample, drawn = drawing.frame, drawing.sample, drawing.sample.drawn
        self.stdout.write(
            f"frame: tasks {frame['tasks']}, responses {frame['runs']}, answer groups {frame['groups']}, "
            f"rounds {frame['rounds']}, links {frame['links']}"
        )
        if frame["runs_left_out"]:
            self.stdout.write(f"left out: responses without an answer group {frame['runs_left_out']}")
        self.stdout.write(f"digest: {frame['digest']}\n")
        self.stdout.write(
            f"drawn: tasks {drawn['tasks']}, responses {drawn['responses']}; of these to H2: tasks "
            f"{drawn['h2_tasks']}, responses {drawn['h2_responses']}; trajectories for links "
            f"{drawn['link_trajectories']}, for rounds {drawn['round_trajectories']}"
        )
        counts = {role: sample.counts(role) for role in (LabelerRole.H1, LabelerRole.H2)}
        self.stdout.write(f"{'items':<20}" + "".join(f"{role:>8}" for role in counts))
        for kind in KINDS:
            self.stdout.write(
                f"{_KIND_NAMES[kind]:<20}" + "".join(f"{found[kind]:>8}" for found in counts.values())
            )
        self.stdout.write(f"{'all':<20}" + "".join(f"{sum(found.values()):>8}" for found in counts.values()))


def _plan(study: Study, options: dict[str, Any]) -> Plan:
    """The study's plan, with what the options say in its place."""
    plan = planned(study)
    asked = {name: options[name] for name in ("tasks", "responses_per_task", "h2_tasks")}
    if options["trajectories"] is not None:
        asked |= {"link_trajectories": options["trajectories"]}
        asked |= {"round_trajectories": options["trajectories"] if plan.round_trajectories else 0}
    plan = replace(plan, **{name: value for name, value in asked.items() if value is not None})
    if options["rounds"] is None:
        return plan
    return replace(plan, round_trajectories=plan.link_trajectories if options["rounds"] else 0)


@transaction.atomic
def _draw_and_seat(
    study: Study, plan: Plan, seed: int, name: str, labelers: dict[LabelerRole, list[User]]
) -> Audit:
    """The audit with its people, or neither: somebody who cannot be seated leaves no audit behind."""
    audit = create_audit(study, plan, seed, name, None)
    for role, people in labelers.items():
        for user in people:
            seat(queue_of(audit, role), user)
    return audit


def _people(usernames: list[str]) -> list[User]:
    known = {user.username: user for user in User.objects.filter(username__in=usernames)}
    missing = [name for name in usernames if name not in known]
    if missing:
        raise CommandError(
            f"There is no user {', '.join(missing)}. "
            "`manage.py add_member STUDY USERNAME annotator --create` makes one."
        )
    return [known[name] for name in dict.fromkeys(usernames)]
