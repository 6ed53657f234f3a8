"""`methods.md`: what a paper's methods and results sections say of a study, with the study's own numbers."""

from __future__ import annotations

from agreement.stats.scores import LABELS
from lseval.site.money import dollars, tokens
from lseval.site.quantities import counted, percent
from lseval.site.report_text import methods_of
from lseval.site.selectors.judges import stage1_judges
from lseval.site.selectors.report import Labeling, StudyReport, labeling_of
from lseval.site.selectors.scores import total_labels
from lseval.site.tables.cells import Cell
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.people import validation_table
from lseval.site.tables.rendering import escape


def report_from(facts: StudyFacts, made_at: object, labeling: Labeling | None = None) -> StudyReport:
    """The study's report from facts that have been read already."""
    people = facts.people
    return StudyReport(
        study=facts.study,
        made_at=made_at,  # type: ignore[arg-type]
        counts=facts.counts,
        labels=total_labels(facts.runs),
        models=facts.models,
        runs=facts.runs,
        judges=stage1_judges(facts.study),
        markers=facts.markers,
        process=facts.process,
        labeling=labeling or labeling_of(facts.study),
        agreement={**people.labels, **people.process} if people else None,
    )


def methods_paragraphs(facts: StudyFacts, report: StudyReport) -> list[tuple[str, str]]:
    """(heading, text) of each paragraph; what has not been done yet is said to be open."""
    collection, *middle, labeling = methods_of(report)
    headings = ["Outcome verification", "Failure-node localization"]
    found = [("Runs", collection), ("Protocol", _protocol(facts))]
    found += list(zip(headings, middle, strict=False))
    found += [("People", labeling), ("Validation", _validation(facts)), ("Statistics", _statistics(facts))]
    return [*found, ("Cost", _cost(facts))]


def methods_document(facts: StudyFacts, report: StudyReport) -> str:
    """The paragraphs as Markdown. Names from outside cannot become markup."""
    lines = [f"# Methods: {escape(report.study.name)}", "", f"As of {report.made_at:%Y-%m-%d %H:%M} UTC.", ""]
    for heading, words in methods_paragraphs(facts, report):
        lines += [f"## {heading}", "", escape(words), ""]
    return "\n".join(lines)


def _protocol(facts: StudyFacts) -> str:
    coverage = facts.controls
    rules = coverage.controls
    if not coverage.stating:
        return (
            "The runs were made elsewhere and imported, so the controls they were made under are not known to the "
            "program."
        )
    text = (
        f"{counted(coverage.stating, 'run')} of {coverage.runs:,} keep the controls that they were made under, "
        f"{coverage.same:,} of them those of the study now: at most {rules.iterations:,} iterations with early "
        "stopping "
        f"by {rules.early_stopping}, up to {rules.search_results:,} search results, {rules.read_chars:,} "
        "characters a "
        f"read by default and {rules.read_chars_cap:,} at most, {rules.llm_timeout_s:g} seconds for a model's "
        "reply, "
        f"{rules.search_connect_s:g} to connect to the search engine and {rules.search_read_s:g} to read from it."
    )
    rest = coverage.runs - coverage.stating
    return f"{text} The other {rest:,} came from elsewhere and state none." if rest else text


def _validation(facts: StudyFacts) -> str:
    if facts.people is None:
        return "Nobody has labeled an item yet, so agreement with people is not known."
    whose = "SIMULATED labels, which are no evidence" if facts.people.is_simulated else "people's labels"
    parts = [
        f"{row[0].text}: {_with_counts(row[3], row[1], row[2])}" for row in validation_table(facts.people).rows
    ]
    matrix = facts.people.labels["auto_h1"]["matrix"]
    sums = ", ".join(f"{sum(row):,} {label}" for label, row in zip(LABELS, matrix, strict=True))
    return f"By {whose} (audit {facts.people.audit.name}). {'; '.join(parts)}. Automatic labels audited: {sums}."


def _with_counts(share: Cell, count: Cell, of: Cell) -> str:
    if share.is_undefined:
        return f"undefined, {share.reason}"
    return f"{share.text}% {share.interval_text} ({count.text} of {of.text})".replace("  ", " ")


def _statistics(facts: StudyFacts) -> str:
    return (
        f"Intervals are {facts.how.level:.0%} percentile intervals of {facts.how.resamples:,} resamples of whole "
        "tasks "
        f"(seed {facts.how.seed}). Scores are exact fractions until they are printed, and rounded half away from "
        "zero. "
        "A number that does not exist for the data is reported as undefined with its reason."
    )


def _cost(facts: StudyFacts) -> str:
    found = facts.costs.total.spent
    if not found.calls:
        return "No call to a provider is recorded; the embedded judges cost nothing."
    phases = "; ".join(
        f"{row.label} {tokens(row.spent.input_tokens)} input and {tokens(row.spent.output_tokens)} output tokens"
        for row in facts.costs.phases
        if row.spent.calls
    )
    cost = dollars(found.upper_cost_usd, is_known=found.is_priced, is_empty=not found.paid)
    failed = percent(found.failed, found.calls, 1)
    return (
        f"{counted(found.calls, 'call')} ({failed}% failed tries): {phases}. Without a discount for cached tokens "
        f"they come to {cost} at the prices of the study's file; {counted(found.unpriced, 'call')} unpriced."
    )
