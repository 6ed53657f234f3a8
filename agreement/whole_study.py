"""What an audited part says of the whole study, and how the models stand by their automatic scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agreement.stats.bootstrap import Resampling
from agreement.stats.design import AuditedGroup, AuditedScore, study_agreement, study_mean
from agreement.stats.estimates import with_remark
from agreement.stats.groups import GroupRow
from agreement.stats.leaderboard import leaderboard
from agreement.stats.links import CANNOT_TELL, CORRESPONDS, AuditedLink
from agreement.stats.planner import Plan, plan_any, plan_proportion
from agreement.stats.report import groups_report
from agreement.stats.scores import LABELS, SCORES, response_scores
from agreement.stats.study_scores import MOST, Run, model_estimates, remarked
from agreement.stats.undefined import Interval, Undefined, plain
from agreement.study_selectors import StudyRun, automatic_totals, drawing_chances
from annotation.models import Audit

DESIGNS = ("as_drawn", "design_weighted", "post_stratified")
_SCALED = ("point", "se")
_PLANNED_SCORES = ("kendall_b",)


def whole_study_report(audit: Audit, rows: list[GroupRow], runs: list[StudyRun]) -> dict[str, Any]:
    """Agreement and scores for all runs of the study from the audited ones, JSON-able.

    One query, and three more for an audit that has been extended.

    `agreement` holds `stats.design.study_agreement` under each of `DESIGNS`: the audited groups for themselves,
    weighted by the design, and with the study's totals of automatic labels besides. `human_scores` are the
    design-weighted means of H1's scores over responses that supplied a group, with the automatic mean over the same
    responses. `models` holds `stats.study_scores.model_estimates`, in which responses without a group count with
    the 0 that they have whoever labels them; `empty` and `unscored` count runs by model. `draws` says how many
    draws the audit has, and whether the weights over all of them are exact.
    """
    drawing = drawing_chances(audit)
    chances = drawing.by_run
    sizes = {run.id: len(run.automatic) for run in runs}
    human = {run: labels for run, labels in human_labels(rows).items() if len(labels) == sizes.get(run)}
    audited = [
        AuditedGroup(row.task_id, str(row.auto), str(row.h1), chances[int(row.response_id)])
        for row in rows
        if row.auto in LABELS and row.h1 in LABELS
    ]
    labelable = [run for run in runs if run.is_scored and run.automatic]
    return {
        "runs": len(runs),
        "draws": {"number": drawing.draws, "is_exact": drawing.is_exact},
        "labelable_runs": len(labelable),
        "audited_groups": len(audited),
        "drawn_groups": len(rows),
        "audited_runs": sum(run.id in human for run in labelable),
        "automatic_totals": automatic_totals(runs),
        "agreement": {
            "as_drawn": study_agreement([_certain(group) for group in audited], LABELS),
            "design_weighted": study_agreement(audited, LABELS),
            "post_stratified": study_agreement(audited, LABELS, automatic_totals(runs)),
        },
        "human_scores": _human_scores(labelable, human, chances),
        "models": _models(runs, labelable, human),
    }


def human_labels(rows: list[GroupRow]) -> dict[int, tuple[str, ...]]:
    """Run id to H1's labels in the order of the groups, of the runs whose groups H1 labeled all."""
    by_run: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        by_run[int(row.response_id)].append(row.h1 or "")
    return {run: tuple(labels) for run, labels in by_run.items() if all(label in LABELS for label in labels)}


def _certain(group: AuditedGroup) -> AuditedGroup:
    return AuditedGroup(group.task, group.automatic, group.human, 1.0)


def _human_scores(
    labelable: list[StudyRun], human: dict[int, tuple[str, ...]], chances: Mapping[int, float]
) -> dict[str, Any]:
    known = [(run, response_scores(run.required or 0, human[run.id])) for run in labelable if run.id in human]
    scored = [scores for run in labelable if (scores := run.scores) is not None]
    found: dict[str, Any] = {}
    for place, score in enumerate(SCORES):
        automatic = [scores[score] for scores in scored]
        entries = [AuditedScore(run.task, float(scores[place]), chances[run.id]) for run, scores in known]
        found[score] = {
            "human": with_remark(plain(study_mean(entries)), MOST[score]),
            "automatic": sum(automatic) / len(automatic) if automatic else plain(Undefined("no run has a score")),
        }
    return found


def _models(
    runs: list[StudyRun], labelable: list[StudyRun], human: dict[int, tuple[str, ...]]
) -> list[dict[str, Any]]:
    empty = Counter(run.model for run in runs if run.is_scored and not run.automatic)
    unscored = Counter(run.model for run in runs if not run.is_scored)
    entries = model_estimates(
        [Run(run.model, run.task, run.required or 0, run.automatic, human.get(run.id)) for run in labelable]
    )
    for entry in entries:
        model = entry["model"]
        share = entry["runs"] / (entry["runs"] + empty[model])
        for score in SCORES:
            estimators = {
                name: found if name == "rogan_gladen" else scaled(found, share)
                for name, found in entry[score].items()
            }
            entry[score] = remarked(estimators, MOST[score])
        entry |= {"empty": empty[model], "unscored": unscored[model]}
    return entries


def scaled(estimate: dict[str, Any], share: float) -> dict[str, Any]:
    """A JSON-able estimate of a mean over a known share of all units, the others being 0, as the mean over all."""
    found = dict(estimate)
    for name in _SCALED:
        if isinstance(found.get(name), int | float):
            found[name] = found[name] * share
    if isinstance(found["interval"], list | tuple):
        found["interval"] = [end * share for end in found["interval"]]
    return found


def leaderboards(runs: list[StudyRun], how: Resampling | None = None) -> dict[str, Any]:
    """`stats.leaderboard` by each score, from the automatic scores of all runs, JSON-able."""
    return {score: leaderboard_by(score, runs, how) for score in SCORES}


def leaderboard_by(score: str, runs: list[StudyRun], how: Resampling | None = None) -> dict[str, Any]:
    """The models by one of `as`, `ap`, `upper`; a run without a score is counted and never taken for 0."""
    scores: dict[str, dict[str, float | None]] = defaultdict(dict)
    for run in runs:
        found = run.scores
        scores[run.model][run.task] = None if found is None else found[score]
    board = leaderboard(scores, how)
    for entry in board["models"]:
        entry["mean"] = with_remark(entry["mean"], MOST[score])
    return board


@dataclass(frozen=True, slots=True)
class Wanted:
    """The half-widths that a plan is for: of shares and coefficients, and of a mean score in points."""

    share: float = 0.03
    points: float = 3.0


def plans(
    rows: list[GroupRow],
    links: Sequence[AuditedLink],
    whole: dict[str, Any],
    wanted: Wanted,
    first: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """What each main number needs for an interval of the wanted half-width, JSON-able; see `stats.planner`.

    `first` is the block `auto_h1` of a report on the rows, where the caller has one.
    """
    first = first or groups_report(rows, names=_PLANNED_SCORES)["auto_h1"]
    kappa, tau = first["nominal"]["kappa"], first["scores"]["as"]["kendall_b"]
    score = whole["human_scores"]["as"]["human"]
    both = [(row.task_id, row.auto == row.h1) for row in rows if row.auto in LABELS and row.h1 in LABELS]
    people = [(row.task_id, row.h1 == row.h2) for row in rows if row.h1 in LABELS and row.h2 in LABELS]
    decided = [(link.task, link.label == CORRESPONDS) for link in links if link.label != CANNOT_TELL]
    entries: list[tuple[str, str, Plan | Undefined]] = [
        ("Observed agreement, automatic – H1", "share", _share_plan(both, wanted.share)),
        ("Observed agreement, H1 – H2", "share", _share_plan(people, wanted.share)),
        ("Cohen's kappa, automatic – H1", "share", _any_plan(kappa, first["tasks"], first["n"], wanted.share)),
        (
            "Kendall tau-b of AS, automatic – H1",
            "share",
            _any_plan(tau, first["score_pairs"]["tasks"], first["n"], wanted.share),
        ),
        ("Link precision", "share", _share_plan(decided, wanted.share)),
        (
            "Mean human AS over the study",
            "points",
            _any_plan(score, score["clusters"] or 0, first["n"], wanted.points),
        ),
    ]
    return [{"what": what, "unit": unit, "plan": plain(plan)} for what, unit, plan in entries]


def _share_plan(hits: list[tuple[str, bool]], half_width: float) -> Plan | Undefined:
    trials = Counter(task for task, _ in hits)
    successes = Counter(task for task, hit in hits if hit)
    if not trials:
        return Undefined("nothing has been labeled yet")
    return plan_proportion([successes[task] for task in trials], list(trials.values()), half_width)


def _any_plan(estimate: dict[str, Any], tasks: int, labels: int, half_width: float) -> Plan | Undefined:
    found = estimate["interval"]
    if not tasks:
        return Undefined("nothing has been labeled yet")
    interval: Interval = Undefined(found["undefined"]) if isinstance(found, dict) else (found[0], found[1])
    return plan_any(interval, tasks, labels, half_width)
