"""One run: what was asked, what was answered, and what the judges of both stages say of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from django.http import Http404
from django.utils.safestring import SafeString

from lseval.models import Link, Rubric, Run, Study
from lseval.rendering import MARKDOWN_LIMIT, render_markdown
from lseval.site.quantities import LabelCounts, counted
from lseval.site.selectors.groups import GroupShown, GroupsShown, SourceShown, groups_of, sources_of_none
from lseval.site.selectors.judges import JudgeName
from lseval.site.selectors.rounds import RoundShown, rounds_of
from lseval.site.selectors.scores import ScoredRun, scored_run
from lseval.site.selectors.trajectory import Overview, Stretch, overview_of, stretches_of

SHORT_RESPONSE: Final = 2_500
"""Characters up to which a response stands open; a longer one is opened by hand."""

MOST_LINKS: Final = 20_000
"""Links of a run that its page is made from, the earliest rounds' first."""


@dataclass(frozen=True, slots=True)
class RunShown:
    """Everything on the page, with the groups of the page asked for."""

    run: Run
    rubric: Rubric | None
    scored: ScoredRun
    markers: list[tuple[str, str]]
    response: SafeString
    page_of_groups: GroupsShown
    unplaced_sources: list[SourceShown]
    rounds: list[RoundShown]
    stretches: list[Stretch]
    overview: Overview | None

    @property
    def groups(self) -> list[GroupShown]:
        """The groups of this page."""
        return self.page_of_groups.groups

    @property
    def verdict_judges(self) -> list[JudgeName]:
        """Whose verdicts the page shows, once each."""
        return list(dict.fromkeys(group.judge for group in self.groups if group.judge))

    @property
    def names_judge(self) -> bool:
        """Whether each group says who judged it, because they were not all judged by the same one."""
        return len(self.verdict_judges) > 1

    @property
    def judgement_judges(self) -> list[JudgeName]:
        """Whose judgements the page shows, once each."""
        return list(dict.fromkeys(judgement.judge for found in self.rounds for judgement in found.judgements))

    @property
    def is_response_cut(self) -> bool:
        """Whether the page shows only the beginning of the response."""
        return len(self.run.final_answer) > MARKDOWN_LIMIT

    @property
    def is_response_open(self) -> bool:
        """Whether the response stands open: it is short, or there are no rounds below it."""
        return len(self.run.final_answer) <= SHORT_RESPONSE or not self.rounds

    @property
    def labels(self) -> LabelCounts:
        """The labels of all groups."""
        return self.page_of_groups.labels

    @property
    def failures(self) -> list[RoundShown]:
        """The failure nodes, in order."""
        return [found for found in self.rounds if found.state == "failure"]

    @property
    def splits(self) -> list[RoundShown]:
        """The rounds that one judge calls an error and the other not, in order."""
        return [found for found in self.rounds if found.state == "split"]

    @property
    def references(self) -> list[Any]:
        """The labels that came with the run, those first that are tied to a round."""
        return list(self.run.reference_labels.all())


def run_of(study: Study, run_id: int, page: str = "1") -> RunShown:
    """A run of the study with all that belongs to it; its number of queries does not depend on its length.

    Raises Http404 where the study has no such run.
    """
    run = (
        Run.objects.filter(study=study, pk=run_id)
        .select_related("task", "model", "rubric")
        .prefetch_related("attempts", "reference_labels__round")
        .first()
    )
    if run is None:
        raise Http404("no such run")
    rounds_by_group: dict[int, list[int]] = defaultdict(list)
    groups_by_round: dict[int, list[int]] = defaultdict(list)
    links = Link.objects.filter(run=run).order_by("round__number", "group__number")
    for round_number, group_number in links.values_list("round__number", "group__number")[:MOST_LINKS]:
        rounds_by_group[group_number].append(round_number)
        groups_by_round[round_number].append(group_number)
    loose = sources_of_none(run)
    groups = groups_of(run, page, rounds_by_group)
    rounds = rounds_of(run, groups_by_round, groups.url_of)
    return RunShown(
        run=run,
        rubric=getattr(run, "rubric", None),
        scored=scored_run(run, groups.labels),
        markers=_markers(run),
        response=render_markdown(run.final_answer),
        page_of_groups=groups,
        unplaced_sources=loose,
        rounds=rounds,
        stretches=stretches_of(rounds),
        overview=overview_of(rounds, groups_by_round, groups.labels.total, groups.groups),
    )


def _markers(run: Run) -> list[tuple[str, str]]:
    """The run's markers as (tone, words); none where it went as it should."""
    attempts = len(run.attempts.all())
    found = []
    if not run.is_valid_final:
        found.append(("bad", "no valid final answer"))
    if run.is_premature:
        found.append(("caution", "answered before reading a page"))
    if run.is_premature is None:
        found.append(("muted", "trajectory not recorded"))
    if run.is_final_only:
        found.append(("caution", "final-only synthesis"))
    if attempts > 1:
        found.append(("muted", f"resumed, {counted(attempts, 'attempt')}"))
    return found
