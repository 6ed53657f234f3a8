"""What a study's home shows of work under way, of money, and of agreement with people: a glance each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Count

from agreement import selectors as agreement
from agreement.reporting import choose_from
from agreement.selectors import SIMULATED
from agreement.stats.links import CANNOT_TELL, CORRESPONDS
from agreement.stats.scores import LABELS
from lseval.models import Job, JobKind, JobState, Study
from lseval.pipeline.costs import spent_by_phase, total_of
from lseval.site.money import dollars, tokens
from lseval.site.quantities import Share

_STATES: Final = (JobState.WAITING, JobState.CLAIMED, JobState.FAILED, JobState.PARKED)


@dataclass(frozen=True, slots=True)
class JobsLine:
    """The jobs of one kind that are not done: how many wait, are in work, and failed or were parked."""

    name: str
    waiting: int
    at_work: int
    stopped: int


@dataclass(frozen=True, slots=True)
class WorkGlance:
    """Kinds of jobs that are not all done; `is_paused` says that no new one is started."""

    lines: list[JobsLine]
    is_paused: bool

    @property
    def is_under_way(self) -> bool:
        """Whether anything is in work."""
        return any(line.at_work for line in self.lines)


@dataclass(frozen=True, slots=True)
class MoneyGlance:
    """What calls came to, each phase as (words, dollars, input and output tokens); `calls` is 0 for no call.

    `unpriced` calls are in no sum.
    """

    calls: int
    unpriced: int
    cost: str
    phases: list[tuple[str, str, str, str]]


@dataclass(frozen=True, slots=True)
class AgreementGlance:
    """The newest audit's plain shares, without intervals; the agreement page has those."""

    audit: str
    is_simulated: bool
    automatic_h1: Share
    h1_h2: Share
    links: Share


def work_of(study: Study) -> WorkGlance:
    """One query."""
    rows = (
        Job.objects.filter(study=study, state__in=_STATES)
        .order_by()
        .values_list("kind", "state")
        .annotate(count=Count("id"))
    )
    counts = {(kind, state): count for kind, state, count in rows}
    lines = []
    for kind in JobKind:
        waiting, at_work, failed, parked = (counts.get((kind.value, state.value), 0) for state in _STATES)
        if waiting or at_work or failed or parked:
            lines.append(JobsLine(kind.label, waiting, at_work, failed + parked))
    return WorkGlance(lines, study.is_paused)


def money_of(study: Study) -> MoneyGlance:
    """One query."""
    phases = spent_by_phase(study)
    whole = total_of(phases.values())
    return MoneyGlance(
        whole.calls,
        whole.unpriced,
        dollars(whole.cost_usd, is_known=whole.is_priced, is_empty=not whole.paid),
        [
            (
                phase.label,
                dollars(spent.cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
                tokens(spent.input_tokens),
                tokens(spent.output_tokens),
            )
            for phase, spent in phases.items()
            if spent.calls
        ],
    )


def agreement_of(study: Study) -> AgreementGlance | None:
    """None where nobody has labeled anything, after two queries; else five."""
    found = agreement.audits_with_labels(study)
    if not any(sum(counts.values()) for _, counts in found):
        return None
    audit, source = choose_from(found, study)
    rows = agreement.group_rows(audit, source)
    links = agreement.link_rows(audit, source)
    decided = [link.label == CORRESPONDS for link in links if link.label != CANNOT_TELL]
    return AgreementGlance(
        audit.name,
        source == SIMULATED,
        _agreeing([(row.auto, row.h1) for row in rows]),
        _agreeing([(row.h1, row.h2) for row in rows]),
        Share(sum(decided), len(decided), "no link is labeled yet"),
    )


def _agreeing(pairs: list[tuple[str | None, str | None]]) -> Share:
    both = [first == second for first, second in pairs if first in LABELS and second in LABELS]
    return Share(sum(both), len(both), "no group has both labels yet")
