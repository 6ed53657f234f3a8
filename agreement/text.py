"""The report as plain text, for the command line."""

from __future__ import annotations

from typing import Any

from agreement.presenting.labels import COEFFICIENT_NAMES
from agreement.presenting.scores import SCORE_NAMES, STATISTIC_NAMES, score_cell

_BLOCKS = {"auto_h1": "Automatic – H1", "h1_h2": "H1 – H2"}


def report_text(report: dict[str, Any]) -> str:
    """Matrices, coefficients and Table A9's statistics in columns that line up.

    Before the first label it says that there is none and what to do, instead of tables of what is undefined.
    """
    simulated = "SIMULATED labels: no person gave them" if report["is_simulated"] else "people's labels"
    lines = [
        f"study {report['study']}, audit {report['audit']}: {simulated}",
        f"automatic labels by {', '.join(report['judges']) or 'nobody yet'}",
        f"{report['groups']} answer groups of {report['responses']} responses on {report['tasks']} tasks",
    ]
    links, rounds = report["links"]["overall"], report["rounds"]["rounds"]
    labeled = {key: report[key]["n"] for key in _BLOCKS}
    if not any((*labeled.values(), links["n"], links["cannot_tell"], rounds)):
        return "\n".join([*lines, "", _no_labels(report)])
    for key, title in _BLOCKS.items():
        lines += [
            "",
            *(_block_lines(report[key], title) if labeled[key] else [f"{title}: no group has both labels yet"]),
        ]
    lines += ["", f"Link precision: {_link_text(links)}"]
    if rounds:
        lines.append(f"Rounds: {rounds} labeled and settled; --markdown prints their table")
    return "\n".join(lines)


def _no_labels(report: dict[str, Any]) -> str:
    if report["is_simulated"]:
        return "No simulated labels yet: `manage.py import_labels --simulated` brings them in."
    return (
        "No labels yet. H1 and H2 label their queues on the pages, where a lead seats them under Audit; "
        "`manage.py import_labels` brings in labels from a file."
    )


def _link_text(links: dict[str, Any]) -> str:
    if not links["n"]:
        return "no link has been decided yet"
    return f"{links['k']}/{links['n']} {_estimate_text(links['point'], links['wilson'])}"


def _block_lines(block: dict[str, Any], title: str) -> list[str]:
    labels = block["categories"]
    lines = [f"{title} ({block['n']} groups)", "      " + "".join(f"{label:>7}" for label in labels)]
    lines += [
        f"    {label} " + "".join(f"{count:>7}" for count in row)
        for label, row in zip(labels, block["matrix"], strict=True)
    ]
    for name, term in COEFFICIENT_NAMES.items():
        if (found := block["nominal"].get(name)) is not None:
            lines.append(f"  {term:<26}{_estimate_text(found['point'], found['interval'])}")
    pairs = block["score_pairs"]
    lines.append(f"  scores of {pairs['responses']} responses on {pairs['tasks']} tasks")
    lines.append(f"  {'':<14}" + "".join(f"{name:<28}" for name in SCORE_NAMES.values()))
    for statistic, term in STATISTIC_NAMES.items():
        cells = [score_cell(block["scores"][score][statistic], score, statistic) for score in SCORE_NAMES]
        texts = [f"{cell['point']} {cell['interval']}" for cell in cells]
        lines.append(f"  {term:<14}" + "".join(f"{text:<28}" for text in texts))
    return lines


def _estimate_text(point: Any, interval: Any) -> str:
    if isinstance(point, dict):
        return f"undefined: {point['undefined']}"
    if not isinstance(interval, list | tuple):
        return f"{point:.4f}"
    return f"{point:.4f} [{interval[0]:.4f}, {interval[1]:.4f}]"
