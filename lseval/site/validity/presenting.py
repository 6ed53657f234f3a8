"""Validity in words and drawings: what the page shows and the command prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agreement.presenting.intervals import headline_number, interval_view, value_text
from agreement.stats.documents import Outside, Table
from agreement.stats.undefined import Estimate, Undefined, plain
from lseval.domain.taxonomy import UNASSIGNED, ErrorType
from lseval.site.validity.measuring import GIVEN_LABELS, NEAR_ROUNDS, NODE_TYPES, TRUE_LABELS, TYPES
from lseval.site.validity.selectors import Validity

TYPE_NAMES = {str(kind): kind.display_name for kind in ErrorType} | {UNASSIGNED: "Unassigned"}
_LABEL_NAMES = {"C": "correct", "I": "incorrect", "U": "unverifiable", "unjudged": "unjudged"}
_HEAT_STEPS = 9
_BOTH: Final = ("recall", "precision")


def page_of(validity: Validity) -> dict[str, Any]:
    """Everything that the page shows."""
    report = validity.report
    verdicts, nodes, links, earliest = (report[name] for name in ("verdicts", "nodes", "links", "earliest"))
    return {
        "headline": [
            headline_number("Verdicts right", plain(verdicts["accuracy"]), 3, f"of {verdicts['groups']:,} groups"),
            headline_number("Node precision", plain(nodes["precision"]), 3, f"of {nodes['nodes']:,} failure nodes"),
            headline_number("Node recall", plain(nodes["recall"]), 3, f"of {nodes['errors']:,} planted errors"),
            headline_number("Link precision", plain(links["precision"]), 3, f"of {links['links']:,} links"),
        ],
        "verdict_matrix": _matrix(
            verdicts["matrix"],
            [{"label": label} for label in TRUE_LABELS],
            [{"label": label} for label in GIVEN_LABELS],
            ("Truth and verdict", "Truth", "Verdict", "answer groups"),
        ),
        "verdict_rows": [
            {
                "label": label,
                "recall": _drawn(verdicts["recall"][label]),
                "precision": _drawn(verdicts["precision"][label]),
            }
            for label in TRUE_LABELS
        ],
        "always": {**verdicts["always"], "accuracy": value_text(plain(verdicts["always"]["accuracy"]))},
        "unreadable": verdicts["unreadable"],
        "node_rows": [
            {"term": "Precision of failure nodes", "share": _drawn(nodes["precision"])},
            {"term": "…of rounds flagged blindly", "share": _drawn(nodes["chance"])},
            {"term": "Recall of planted errors", "share": _drawn(nodes["recall"])},
            {"term": "…that made a group wrong", "share": _drawn(nodes["recall_of_consequence"])},
            {"term": "…that the run mended", "share": _drawn(nodes["recall_of_mended"])},
            {"term": "Type right, of the errors found", "share": _drawn(nodes["type_agreed"])},
        ],
        "type_rows": _type_rows(nodes["by_type"]),
        "type_matrix": _matrix(
            nodes["confusion"],
            [{"text": TYPE_NAMES[kind]} for kind in TYPES],
            [{"text": TYPE_NAMES[kind]} for kind in NODE_TYPES],
            ("Planted type and type given", "Planted", "Given", "planted errors that a node has found"),
        ),
        "link_rows": [
            {"term": "Precision of links", "share": _drawn(links["precision"])},
            {"term": "Recall of errors and groups", "share": _drawn(links["recall"])},
            {"term": "…whose group is called incorrect", "share": _drawn(links["recall_where_incorrect"])},
        ],
        "link_type_rows": _type_rows(links["by_type"]),
        "earliest": {
            **earliest,
            "median": value_text(plain(earliest["median_rounds"]), 1),
            "mean": value_text(plain(earliest["mean_rounds"]), 1),
            "exact": _drawn(earliest["exact"]),
            "near": _drawn(earliest["near"]),
            "near_rounds": NEAR_ROUNDS,
        },
        "validity": validity,
    }


def _type_rows(by_type: Mapping[str, Mapping[str, Estimate]]) -> list[dict[str, Any]]:
    return [
        {
            "term": TYPE_NAMES[kind],
            "recall": _drawn(by_type[kind]["recall"]),
            "precision": _drawn(by_type[kind]["precision"]),
        }
        for kind in TYPES
    ]


def _drawn(estimate: Estimate) -> dict[str, Any]:
    drawn = interval_view(plain(estimate))
    return {**drawn, "n": estimate.n, "tasks": estimate.clusters or 0}


def _matrix(
    counts: Sequence[Sequence[int]],
    row_heads: Sequence[dict[str, str]],
    column_heads: Sequence[dict[str, str]],
    titles: tuple[str, str, str, str],
) -> dict[str, Any]:
    """A matrix for `components/_confusion_matrix.html`, each row shaded by its own shares."""
    title, row_title, column_title, unit = titles
    rows = []
    for place, (head, row) in enumerate(zip(row_heads, counts, strict=True)):
        total = sum(row)
        cells = [
            {
                "count": count,
                "heat": round(_HEAT_STEPS * count / total) if total else 0,
                "share": f"{100 * count / total:.1f}%" if total else "",
                "is_diagonal": place == column,
            }
            for column, count in enumerate(row)
        ]
        rows.append({**head, "cells": cells, "total": total})
    total = sum(map(sum, counts))
    return {
        "title": title,
        "note": f"{total:,} {unit}; shares of each row",
        "row_title": row_title,
        "column_title": column_title,
        "columns": list(column_heads),
        "rows": rows,
        "column_totals": [sum(column) for column in zip(*counts, strict=True)],
        "total": total,
    }


def text_of(slug: str, validity: Validity) -> str:
    """The report in columns, for the command line."""
    report = validity.report
    verdicts, nodes, links, earliest = (report[name] for name in ("verdicts", "nodes", "links", "earliest"))
    lines = [
        f"study {slug}: {validity.runs:,} runs whose truth is known",
        f"judged by {', '.join(judge.text for judge in validity.judges) or 'nobody yet'}",
    ]
    if validity.unmatched or validity.lost_errors or validity.waiting:
        lines.append(
            f"left out: {validity.unmatched:,} runs whose groups are not the units planned, "
            f"{validity.lost_errors:,} errors beyond the end of their run, "
            f"{validity.waiting:,} groups without a verdict"
        )
    lines += ["", f"Verdicts ({verdicts['groups']:,} groups; rows are the truth)", _row("", GIVEN_LABELS)]
    lines += [_row(label, row) for label, row in zip(TRUE_LABELS, verdicts["matrix"], strict=True)]
    lines.append(_share("right", verdicts["accuracy"]))
    always = verdicts["always"]
    lines.append(f"  {'always ' + always['label']:<36}{value_text(plain(always['accuracy']))} right")
    for label in TRUE_LABELS:
        lines.append(_share(f"of truly {_LABEL_NAMES[label]}, called so", verdicts["recall"][label]))
    for label in TRUE_LABELS:
        lines.append(_share(f"of called {_LABEL_NAMES[label]}, truly so", verdicts["precision"][label]))
    odd = verdicts["unreadable"]
    lines.append(
        f"  U though a cited page could be read: {odd['u_though_readable']}; "
        f"not U though none could: {odd['not_u_though_unreadable']}"
    )
    lines += ["", f"Failure nodes ({nodes['nodes']:,} nodes, {nodes['errors']:,} planted errors)"]
    lines += [
        _share("precision", nodes["precision"]),
        _share("  of rounds flagged blindly", nodes["chance"]),
        _share("recall", nodes["recall"]),
        _share("  of errors that made a group wrong", nodes["recall_of_consequence"]),
        _share("  of errors that the run mended", nodes["recall_of_mended"]),
        _share("type right, of errors found", nodes["type_agreed"]),
        *_by_type(nodes["by_type"]),
    ]
    lines += [
        "",
        f"Links ({links['links']:,} links, {links['pairs']:,} pairs of an error and a group it made wrong)",
    ]
    lines += [
        _share("precision", links["precision"]),
        _share("recall", links["recall"]),
        _share("  of groups called incorrect", links["recall_where_incorrect"]),
        *_by_type(links["by_type"]),
        "",
        f"Earliest association ({earliest['runs']:,} runs with a link and a planted error of consequence)",
        f"  {'median distance':<36}{_plain(earliest['median_rounds'])} rounds",
        f"  {'mean distance':<36}{_plain(earliest['mean_rounds'])} rounds",
        _share("exact", earliest["exact"]),
        _share(f"within {NEAR_ROUNDS} rounds", earliest["near"]),
        f"  links without such an error in {earliest['only_linked']:,} runs, "
        f"errors without a link in {earliest['only_planted']:,}",
    ]
    return "\n".join(lines)


def tables_of(slug: str, validity: Validity) -> list[Table]:
    """Failure nodes and links against what was planted: as a whole, then by type."""
    nodes, links = validity.report["nodes"], validity.report["links"]
    whole = Table(
        f"Validity of the failure nodes and links of {slug}",
        ["What", "Share", "Of"],
        [
            [name, *_cells(estimate)]
            for name, estimate in (
                ("Precision of failure nodes", nodes["precision"]),
                ("The same of rounds flagged blindly", nodes["chance"]),
                ("Recall of planted errors", nodes["recall"]),
                ("The same of errors that made a group wrong", nodes["recall_of_consequence"]),
                ("Type right, of the errors found", nodes["type_agreed"]),
                ("Precision of links", links["precision"]),
                ("Recall of errors and the groups they made wrong", links["recall"]),
                ("The same where Stage 1 calls the group incorrect", links["recall_where_incorrect"]),
            )
        ],
        [f"Judged by {Outside('; '.join(judge.text for judge in validity.judges) or 'nobody yet')}."],
    )
    by_type = Table(
        f"Validity by type of {slug}",
        ["Type", "Planted", "Nodes", "Recall", "Precision", "Recall of links", "Precision of links"],
        [
            [
                TYPE_NAMES[kind],
                f"{nodes['by_type'][kind]['recall'].n:,}",
                f"{nodes['by_type'][kind]['precision'].n:,}",
                *(_cells(found[kind][name])[0] for found in (nodes["by_type"], links["by_type"]) for name in _BOTH),
            ]
            for kind in TYPES
        ],
        [
            "Recall is by a node of any type, precision by nodes of that very type. A dash stands where there is "
            "nothing to take a share of. 95% intervals take tasks as clusters."
        ],
    )
    return [whole, by_type]


def _cells(estimate: Estimate) -> list[str]:
    if isinstance(estimate.point, Undefined):
        return ["–", f"{estimate.n:,}"]
    ends = estimate.interval
    told = "" if isinstance(ends, Undefined) else f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"
    return [f"{100 * estimate.point:.1f}%{told}", f"{estimate.n:,}"]


def _by_type(by_type: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    rows = [
        f"  {TYPE_NAMES[kind]:<28}{_estimate(by_type[kind]['recall']):<36}{_estimate(by_type[kind]['precision'])}"
        for kind in TYPES
    ]
    return ["", f"  {'by type':<28}{'recall':<36}precision", *rows]


def _row(head: str, cells: Sequence[object]) -> str:
    return f"  {head:<4}" + "".join(f"{cell!s:>10}" for cell in cells)


def _share(term: str, estimate: Estimate) -> str:
    return f"  {term:<36}{_estimate(estimate)}"


def _estimate(estimate: Estimate) -> str:
    if isinstance(estimate.point, Undefined):
        return f"undefined: {estimate.point.reason}"
    ends = estimate.interval
    told = "" if isinstance(ends, Undefined) else f" [{ends[0]:.3f}, {ends[1]:.3f}]"
    return f"{estimate.point:.3f}{told} of {estimate.n:,}"


def _plain(value: Any) -> str:
    return f"undefined ({value.reason})" if isinstance(value, Undefined) else f"{value:.1f}"
