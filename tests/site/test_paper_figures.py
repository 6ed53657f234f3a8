"""From raw counts that give the paper's figures, the tables print what the paper prints."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from agreement.stats.bootstrap import Resampling
from agreement.stats.groups import GroupRow
from agreement.stats.links import AuditedLink, links_report
from agreement.stats.report import groups_report
from lseval.domain.controls import Controls
from lseval.domain.scoring import Mean
from lseval.domain.trajectory import TOOLS
from lseval.models import Study
from lseval.pipeline.costs import CostRow, Costs, Spent
from lseval.site.figures import process as process_figures
from lseval.site.quantities import Average, LabelCounts, Share, fixed
from lseval.site.selectors.accounting import Accounting
from lseval.site.selectors.process import ModelProcess, Process
from lseval.site.selectors.report import Markers
from lseval.site.selectors.scores import ModelRow
from lseval.site.tables import outcome, people, process, setup
from lseval.site.tables.activity import Activity, Associations
from lseval.site.tables.facts import ControlCoverage
from lseval.site.tables.intervals import ScoreIntervals
from lseval.site.tables.rubrics import RubricStability, Stability
from lseval.site.tables.table import Table
from tests.shared import shared_path

RUNS = 100


@pytest.fixture(scope="module")
def paper() -> dict[str, Any]:
    return json.loads(shared_path("paper/facts.json").read_text())


def _texts(table: Table, column: str) -> list[str]:
    place = [found.key for found in table.columns].index(column)
    return [row[place].text for row in table.rows]


def _row(table: Table, name: str) -> list[str]:
    return next([cell.text for cell in row] for row in table.rows if row[0].text == name)


def _process(paper: dict[str, Any], models: list[ModelProcess] | None = None) -> Process:
    """The paper's study. 395 and 754 of 850 runs are what gives 46.5% and 88.7%: 46.47 and 88.71."""
    table, figure, whole = paper["table_2"], paper["figure_a3"], paper["inventory"]
    return Process(
        study=Study(),
        accounting=Accounting(
            pre_skipped=figure["pre_skipped"],
            error=table["flagged"],
            non_error=figure["evaluable"] - table["flagged"],
            post_skipped=figure["post_judging_skipped"],
        ),
        skip_reasons=[],
        nodes=table["flagged"],
        linked_nodes=table["linked"],
        unassigned=table["unassigned"],
        links=whole["edges"],
        linked_groups=whole["linked_groups"],
        incorrect_groups=whole["linked_groups"] + table["unlinked_incorrect_groups"],
        unlinked_incorrect_groups=table["unlinked_incorrect_groups"],
        runs=whole["runs"],
        runs_with_link=table["runs_with_link"],
        earliest=[(5, Share(395, 850)), (20, Share(754, 850))],
        models=models or [],
        same_type=0,
        judges=[],
        link_policy="both",
    )


def _model(number: int, name: str, **changes: Any) -> ModelRow:
    nothing = Average(None, None, 0, "no scored run")
    content: dict[str, Any] = {
        "model_id": number, "name": name, "family": "", "runs": RUNS, "scored": RUNS, "unscored": 0, "empty": 0,
        "labels": LabelCounts(), "answer_score": nothing, "answer_precision": nothing, "upper_score": nothing,
        "unverifiable": Share(0, 0), "valid_final": Share(RUNS, RUNS), "premature": Share(0, RUNS),
    }  # fmt: skip
    return ModelRow(**{**content, **changes})


def test_table_2(paper: dict[str, Any]) -> None:
    facts = paper["table_2"]
    assert _texts(process.table_2(_process(paper)), "result") == [
        f"{facts['flagged']:,}",
        f"{facts['linked']:,}",
        f"{facts['unlinked']:,}",
        f"{facts['typed']:,}",
        f"{facts['unassigned']:,}",
        f"{facts['unlinked_incorrect_groups']:,}",
        f"{facts['runs_with_link']:,}",
        f"{facts['earliest_by_round_5_pct']}%",
        f"{facts['earliest_by_round_20_pct']}%",
    ]


def test_figure_a3(paper: dict[str, Any]) -> None:
    figure = process_figures.data_a3(_process(paper))
    facts = paper["figure_a3"]
    counts = [facts[key] for key in ("rounds", "pre_skipped", "dual_judged", "evaluable", "post_judging_skipped")]
    assert _texts(figure, "count")[:6] == [f"{count:,}" for count in [*counts, facts["final_skipped"]]]
    shares = [facts["pct"][key] for key in ("pre_skipped", "evaluable", "post_judging_skipped")]
    assert _texts(figure, "share")[6:] == [f"{share:.2f}" for share in shares]


def test_table_a1(paper: dict[str, Any]) -> None:
    whole = paper["inventory"]
    table = outcome.table_a1(whole, _process(paper))
    keys = ("tasks", "runs", "answer_groups", "rounds", "flagged_nodes", "edges")
    assert _texts(table, "count")[:6] == [f"{whole[key]:,}" for key in keys]
    assert _texts(table, "count")[6] == "850"
    meanings = " ".join(_texts(table, "meaning"))
    for words in ("Of 1,600 model–task cells", "3,664 nodes to 2,229 groups", "42 of them", "The other 750"):
        assert words in meanings


def test_figure_a5_shares(paper: dict[str, Any]) -> None:
    caption = process_figures.data_a5(_process(paper)).caption
    assert "6,503 (99.36%)" in caption
    assert "42 (0.64%)" in caption


def test_figure_a6_markers(paper: dict[str, Any]) -> None:
    facts = paper["figure_a6_markers"]
    markers = Markers(
        *(
            Share(facts[key], 1600)
            for key in ("invalid_final", "final_only_synthesis", "premature_answer", "resumed")
        )
    )
    figure = process_figures.data_a6(_process(paper), Associations({}, (1,)), markers)
    assert _texts(figure, "count")[-4:] == ["25", "20", "11", "99"]


def test_table_1_shares_and_means(paper: dict[str, Any]) -> None:
    """Means of 100 runs have two decimals, so the raw sum of each is its hundredfold. UGR needs pooled counts."""
    names = [name for name in paper["table_1"] if name != "columns"]
    models, activity = [], {}
    for number, name in enumerate(names):
        facts = dict(zip(paper["table_1"]["columns"], paper["table_1"][name], strict=True))
        models.append(
            _model(
                number,
                name,
                answer_score=_average(facts["AS"]),
                answer_precision=_average(facts["AP_pct"] / 100, is_share=True),
                upper_score=_average(facts["Upper"]),
                unverifiable=Share(round(facts["UGR_pct"] * 100), 10_000),
                valid_final=Share(facts["valid_pct"], RUNS),
                premature=Share(facts["premature_pct"], RUNS),
            )
        )
        activity[number] = Activity(
            RUNS,
            RUNS,
            _hundredfold(facts["avg_rounds"]),
            {"web_search": _hundredfold(facts["avg_searches"])},
            _hundredfold(facts["read_kchars"]) * 1000,
            _hundredfold(facts["avg_domains"]),
            _hundredfold(facts["final_urls"]),
        )
    table = outcome.table_1(models, ScoreIntervals(Resampling(), 100), activity)
    for name in names:
        *numbers, valid, premature = paper["table_1"][name]
        assert _row(table, name)[1:] == [*(f"{number:.2f}" for number in numbers), str(valid), str(premature)]


def _average(value: float, *, is_share: bool = False) -> Average:
    return Average.of(Mean(Fraction(str(round(value, 6))), None, RUNS), is_share=is_share)


def _hundredfold(mean: float) -> int:
    return round(mean * 100)


def test_table_a2(paper: dict[str, Any]) -> None:
    models = [
        _model(number, f"{family} {number}", family=family)
        for family, count in paper["table_a2"].items()
        for number in range(count)
    ]
    table = outcome.table_a2(models, 100)
    for family, count in paper["table_a2"].items():
        assert _row(table, family)[2:] == [str(count), str(100 * count)]


def test_table_a3(paper: dict[str, Any]) -> None:
    values = _texts(setup.table_a3(ControlCoverage(Controls(), 1600, 1600, 1600)), "value")
    assert values[:6] == [
        "120 iterations",
        "generate",
        "Default 10; hard cap 10",
        "Default 3,000; hard cap 5,000",
        "600 seconds per attempt",
        "10-second connect; 20-second read",
    ]
    assert paper["table_a3"]["max_iterations"] == Controls().iterations


def test_table_a4(paper: dict[str, Any]) -> None:
    facts = paper["table_a4"]
    table = setup.table_a4(
        RubricStability(
            1600,
            0,
            100,
            16,
            {
                key: _stability(facts[name])
                for key, name in (
                    ("required_count", "required_count"),
                    ("constraints", "hard_constraint_count"),
                    ("grouping_rule", "grouping_rule_text"),
                )
            },
        )
    )
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["1,556/1,600", "97.25", "1", "16/16", "99", "1–5"],
        ["755/1,600", "47.19", "11", "7/16", "89", "1–9"],
        ["927/1,600", "57.94", "2", "10/16", "98", "1–16"],
    ]


def _stability(facts: dict[str, Any]) -> Stability:
    """Modes of 100 tasks with the sum, the ties and the median that the paper states."""
    unique = [facts["median_unique_mode"]] * facts["unique_mode_tasks"]
    tied = facts["modal"] - sum(unique)
    half = facts["unique_mode_tasks"] // 2
    for place in range(half):  # the sum is met by moving values away from the middle, which keeps the median
        if not 0 <= tied <= 8 * facts["tied_tasks"]:
            step = min(abs(tied), 16 - unique[-1 - place]) if tied > 0 else -min(abs(tied), unique[place] - 1)
            unique[-1 - place if tied > 0 else place] += step
            tied = facts["modal"] - sum(unique)
    modes = [*unique, tied, *[0] * (facts["tied_tasks"] - 1)]
    low, high = facts["distinct_range"]
    is_tied = [False] * len(unique) + [True] * facts["tied_tasks"]
    return Stability(1600, tuple(modes), (low, high, *[low] * 98), tuple(is_tied))


def test_table_a6(paper: dict[str, Any]) -> None:
    names = [name for name in paper["table_a6"] if name != "columns"]
    models = []
    for name in names:
        rounds, evaluable, flagged, with_flag, linked, with_link = paper["table_a6"][name]
        accounting = Accounting(pre_skipped=rounds - evaluable, error=flagged, non_error=evaluable - flagged)
        models.append(ModelProcess(name, RUNS, accounting, flagged, with_flag, linked, with_link, {}))
    rows = [_model(number, name) for number, name in enumerate(names)]
    table = process.table_a6(rows, _process(paper, models))
    for name in names:
        assert _row(table, name)[2:] == [f"{count:,}" for count in paper["table_a6"][name]]


def test_table_a7(paper: dict[str, Any]) -> None:
    """The paper's parts add up to its Tools as they are printed, so the hundredfold of each is the raw count."""
    names = [name for name in paper["table_a7"] if name != "columns"]
    activity = {}
    for number, name in enumerate(names):
        *tools, _, rounds = paper["table_a7"][name]
        parts = dict(zip(TOOLS, map(_hundredfold, tools), strict=True))
        activity[number] = Activity(RUNS, RUNS, _hundredfold(rounds), parts)
    table = process.table_a7([_model(number, name) for number, name in enumerate(names)], activity)
    for name in names:
        assert _row(table, name)[1:] == ["100", *(f"{mean:.2f}" for mean in paper["table_a7"][name])]


def _people(facts: dict[str, Any]) -> Any:
    """Labels that give Table A8's matrices, H2's on the first groups of each label of H1; 104 of 106 links hold."""
    labels = facts["labels"]
    first_h1 = {label: iter(_spread(facts["h1_h2"][place], labels)) for place, label in enumerate(labels)}
    pairs = [
        (auto, h1) for place, auto in enumerate(labels) for h1 in _spread(facts["automatic_h1"][place], labels)
    ]
    rows = [
        GroupRow(f"t{number % 100}", f"r{number % 200}", f"g{number}", 5, auto, h1, next(first_h1[h1], ""))
        for number, (auto, h1) in enumerate(pairs)
    ]
    links = [AuditedLink(f"t{number % 50}", "corresponds" if number < 104 else "does_not") for number in range(106)]
    report = groups_report(rows, Resampling(resamples=50))
    return SimpleNamespace(labels=report, process={"links": links_report(links)}, is_simulated=False)


def _spread(counts: list[int], labels: list[str]) -> list[str]:
    return [label for label, count in zip(labels, counts, strict=True) for _ in range(count)]


def test_table_a8(paper: dict[str, Any]) -> None:
    table = people.table_a8(_people(paper["table_a8"]))
    assert [title for title, _ in table.groups] == ["", "Automatic–H1 (946 groups)", "H1–H2 (172 groups)"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["C", "475", "21", "2", "498", "103", "5", "1", "109"],
        ["I", "22", "373", "1", "396", "6", "51", "0", "57"],
        ["U", "1", "5", "46", "52", "0", "0", "6", "6"],
        ["Total", "498", "399", "49", "946", "109", "56", "7", "172"],
    ]


def test_agreement_and_link_precision_of_the_abstract(paper: dict[str, Any]) -> None:
    """The paper does not say how many links were audited: of up to 119, only 52 of 53 and 104 of 106 give 98.11."""
    automatic, between, links = people.validation_table(_people(paper["table_a8"])).rows
    assert [cell.text for cell in automatic[1:]] == [
        "894",
        "946",
        f"{paper['table_a8']['automatic_h1_agreement_pct']:.2f}",
    ]
    assert [cell.text for cell in between[1:]] == ["160", "172", "93.02"]
    assert links[3].text == f"{paper['link_precision_pct']:.2f}"


def test_table_a10(paper: dict[str, Any]) -> None:
    facts = paper["table_a10"]
    rows = people.matrix_rows([facts["rows_human_columns_automatic"]], facts["labels"])
    assert [[cell.text for cell in row[1:]] for row in rows] == [
        ["0", "0", "0", "0"],
        ["329", "589", "353", "1,271"],
        ["20", "9", "1,342", "1,371"],
        ["349", "598", "1,695", "2,642"],
    ]


def test_table_a11_totals_are_summed_before_rounding(paper: dict[str, Any]) -> None:
    """The rounded inputs add up to 3,042.08; the tokens below round to the same parts, and to 3,042.07 in all."""
    facts = paper["table_a11"]
    less = {"collection": 4_000, "stage_1": 3_000, "stage_2": 0}
    phases = []
    for phase, words in (("collection", "collection"), ("stage_1", "Stage 1"), ("stage_2", "Stage 2")):
        input_m, output_m, usd = facts[phase]
        more_dollars = Decimal("-0.004") if phase == "collection" else Decimal("-0.003")
        spent = Spent(
            1,
            1,
            0,
            0,
            round(input_m * 10**6) - less[phase],
            0,
            round(output_m * 10**6),
            0,
            Decimal(str(usd)),
            Decimal(str(usd)) + more_dollars,
        )
        phases.append(CostRow(words, spent))
    table = setup.table_a11(Costs(phases, [], [], []))
    for row, key in zip(table.rows, ("collection", "stage_1", "stage_2", "total"), strict=True):
        found = [row[place].text for place in (2, 3, 4)]
        assert found == [f"{number:,.2f}" for number in facts[key]]


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (Fraction(1, 8), 2, "0.13"),
        (Fraction(-1, 8), 2, "-0.13"),
        (Fraction(-1, 1000), 2, "0.00"),
        (2.675, 2, "2.67"),  # the binary number is 2.67499999999999982236431605997495353221893310546875
        (Decimal("2.675"), 2, "2.68"),
        (Fraction(2, 3), 0, "1"),
        (1234567, 1, "1234567.0"),
    ],
)
def test_numbers_are_rounded_exactly_and_half_away_from_zero(number: Any, digits: int, text: str) -> None:
    assert fixed(number, digits) == text
