"""The report in words: a methods paragraph with the study's own counts, and the whole as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agreement.text import report_text
from lseval.site.quantities import Average, counted
from lseval.site.selectors.judges import JudgeName
from lseval.site.selectors.process import Process
from lseval.site.selectors.report import StudyReport

_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&])")
_SCORE_COLUMNS = (
    "Model", "Runs", "Scored", "AS", "SE", "AP", "Upper", "UGR", "C", "I", "U", "Valid final", "Premature",
)  # fmt: skip
_PROCESS_COLUMNS = (
    "Model", "All rounds", "Evaluable", "Failure nodes", "Runs with node", "Linked nodes", "Runs with link",
)  # fmt: skip


def methods_of(report: StudyReport) -> list[str]:
    """The methods section as paragraphs of plain text. What has not been done yet is said to be open."""
    paragraphs = [_collection(report), _outcome(report)]
    if report.process.accounting.rounds:
        paragraphs.append(_process(report.process))
    paragraphs.append(_labeling(report))
    return paragraphs


def _collection(report: StudyReport) -> str:
    counts = report.counts
    possible = counts["tasks"] * counts["models"]
    missing = possible - counts["runs"]
    gaps = f"; {counted(missing, 'pair')} of task and model {_are(missing, 'has', 'have')} none" if missing else ""
    return (
        f"The study holds {counted(counts['runs'], 'run')} of {counted(counts['models'], 'model')} on "
        f"{counted(counts['tasks'], 'task')}, one retained run for each task and model{gaps}. The trajectories "
        f"were normalized into {counted(counts['rounds'], 'round')}, and the final responses were divided into "
        f"{counted(counts['answer_groups'], 'answer group')} with {counted(counts['citations'], 'citation')}."
    )


def _outcome(report: StudyReport) -> str:
    labels = report.labels
    if not labels.judged:
        return "The answer groups have not been judged yet."
    text = (
        f"Each answer group was checked against snapshots of the pages that the response itself cites, by "
        f"{_judges(report.judges)}. Of {counted(labels.total, 'group')}, {labels.correct:,} "
        f"{_are(labels.correct, 'was', 'were')} labeled correct, "
        f"{labels.incorrect:,} incorrect and {labels.unverifiable:,} unverifiable"
    )
    if labels.unjudged or labels.waiting:
        text += f"; {labels.unjudged:,} got no label and {labels.waiting:,} have not been judged"
    text += (
        f". {counted(report.scored_runs, 'run')} {_are(report.scored_runs)} scored, among them "
        f"{report.empty_runs:,} whose response supplied no group, which score 0"
    )
    if report.unscored_runs:
        text += (
            f"; {counted(report.unscored_runs, 'run')} with a group without a label "
            f"{_are(report.unscored_runs)} left out, not scored as wrong"
        )
    return text + (
        ". For a run with required count k that supplied N groups, of which C correct and U unverifiable, the "
        "Answer Score is 100 min(C, k)/k, the Answer Precision C/N, and the Upper score 100 min(C + U, k)/k. The "
        "three are means over a model's scored runs; the unverifiable group rate pools groups."
    )


def _process(process: Process) -> str:
    accounting = process.accounting
    text = (
        f"Of {counted(accounting.rounds, 'round')}, deterministic rules set aside {accounting.pre_skipped:,} "
        f"before judging"
    )
    if not accounting.dual_judged:
        return f"{text}; the other {accounting.waiting:,} have not been judged yet."
    text += (
        f" and {accounting.dual_judged:,} went to two judges ({_judges(process.judges)}). "
        f"{accounting.evaluable:,} came to an error or non-error consensus and {accounting.post_skipped:,} were "
        f"skipped after judging"
    )
    if accounting.unjudged or accounting.waiting:
        text += f"; {accounting.unjudged:,} got no opinion from a judge and {accounting.waiting:,} still wait"
    naming = "both judges name" if process.link_policy == "both" else "either judge names"
    text += (
        f". A round that both judges call an error is a failure node: there are {process.nodes:,}, "
        f"{process.typed:,} of them with one of ten types. A node is linked to a group that Stage 1 calls "
        f"incorrect where {naming} the group: "
        f"{counted(process.links, 'link')} {_are(process.links, 'connects', 'connect')} "
        f"{counted(process.linked_nodes, 'node')} to "
        f"{counted(process.linked_groups, 'group')} in {counted(process.runs_with_link, 'run')}."
    )
    return text + " These are candidate flags of automatic judges, not established causes."


def _labeling(report: StudyReport) -> str:
    labeling = report.labeling
    if not labeling.labels and not labeling.simulated:
        return "No item has been labeled by people yet, so nothing is said of how far the verdicts can be trusted."
    sentences = []
    if labeling.labels:
        roles = ", ".join(f"{count:,} as {role}" for role, count in labeling.by_role if count)
        sentences.append(
            f"People gave {counted(labeling.labels, 'label')} ({roles}) in {counted(labeling.audits, 'audit')}, "
            "without seeing the automatic verdicts or each other's labels."
        )
    else:
        sentences.append("No item has been labeled by people yet.")
    if labeling.simulated:
        sentences.append(
            f"{counted(labeling.simulated, 'simulated label')} {_are(labeling.simulated)} stored "
            "apart and never counted with people's; a program drew them, and they are no evidence."
        )
    return " ".join(sentences)


def _are(count: int, one: str = "is", many: str = "are") -> str:
    return one if count == 1 else many


def _judges(judges: Sequence[JudgeName]) -> str:
    return " and ".join(judge.text for judge in judges)


def markdown_of(report: StudyReport) -> str:
    """The report as a Markdown document. Names from outside are escaped, so that they cannot become markup."""
    process = report.process
    lines = [
        f"# {_escape(report.study.name)}",
        "",
        f"As of {report.made_at:%Y-%m-%d %H:%M} UTC.",
        "",
        "## Methods",
        "",
        *_paragraphs(methods_of(report)),
        "## Scores",
        "",
        *_table(
            _SCORE_COLUMNS,
            [
                [
                    _escape(row.name),
                    str(row.runs),
                    str(row.scored),
                    *_average(row.answer_score),
                    row.answer_precision.text,
                    row.upper_score.text,
                    row.unverifiable.text,
                    str(row.labels.correct),
                    str(row.labels.incorrect),
                    str(row.labels.unverifiable),
                    row.valid_final.text,
                    row.premature.text,
                ]
                for row in report.models
            ],
        ),
        f"Verdicts by {_escape(_judges(report.judges)) or 'no judge yet'}.",
        "",
        "## Process",
        "",
        *_table(["Diagnostic", "Result"], [list(line) for line in process_lines(process)]),
        *_table(
            _PROCESS_COLUMNS,
            [
                [
                    _escape(model.name),
                    f"{model.accounting.rounds:,}",
                    f"{model.accounting.evaluable:,}",
                    f"{model.nodes:,}",
                    f"{model.runs_with_node:,}",
                    f"{model.linked_nodes:,}",
                    f"{model.runs_with_link:,}",
                ]
                for model in process.models
            ],
        ),
        f"Judgements by {_escape(_judges(process.judges)) or 'no judge yet'}.",
        "",
        "## Agreement with people",
        "",
        *(_agreement(report.agreement) if report.agreement else ["Nobody has labeled an item yet.", ""]),
    ]
    return "\n".join(lines)


def _agreement(found: Mapping[str, Any]) -> list[str]:
    """The agreement of the newest audit as the command line prints it, marked where the labels are simulated."""
    return ["```text", report_text(dict(found)).replace("```", "'''"), "```", ""]


def process_lines(process: Process) -> list[tuple[str, str]]:
    """Table 2: each diagnostic in words with its result."""
    return [
        ("Failure nodes", f"{process.nodes:,}"),
        ("Linked / unlinked nodes", f"{process.linked_nodes:,} / {process.unlinked_nodes:,}"),
        ("Typed / unassigned nodes", f"{process.typed:,} / {process.unassigned:,}"),
        ("Links (run, round, incorrect group)", f"{process.links:,}"),
        (
            "Incorrect groups without a link",
            f"{process.unlinked_incorrect_groups:,} of {process.incorrect_groups:,}",
        ),
        ("Runs with a link", f"{process.runs_with_link:,} of {process.runs:,}"),
        *(
            (f"Earliest association by round {number}", f"{share.text} ({share.counts})")
            for number, share in process.earliest
        ),
    ]


def _average(average: Average) -> list[str]:
    return [average.text, average.error_text or "–"]


def _paragraphs(paragraphs: Iterable[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in (_escape(paragraph), "")]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return ["There are no rows yet.", ""]
    return [
        f"| {' | '.join(header)} |",
        f"|{'|'.join(' --- ' for _ in header)}|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _escape(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(r"\\\1", " ".join(text.split()))
