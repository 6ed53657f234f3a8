"""How many audited links hold: correspondence precision, overall and by type, model and judge setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement.stats.proportions import cluster_interval_of, proportion_interval
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import plain, ratio
from lseval.errors import InputError

CORRESPONDS, DOES_NOT, CANNOT_TELL = "corresponds", "does_not", "cannot_tell"


@dataclass(frozen=True, slots=True)
class AuditedLink:
    """A person's label of one link between a round and an incorrect group, with what to break the count down by."""

    task: str
    label: str
    error_type: str = ""
    model: str = ""
    judge_setting: str = ""


def links_report(links: Iterable[AuditedLink], level: float = 0.95) -> dict[str, Any]:
    """Correspondence precision k / n `overall`, `by_type`, `by_model` and `by_judge_setting`; JSON-able.

    k counts the links labelled `corresponds`, n those and `does_not`; `cannot_tell` is counted beside them and is
    in neither. `if_all_hold` and `if_none_hold` say what the precision would be were those decided either way.
    Raises `InputError` for another label.
    """
    links = list(links)
    for link in links:
        if link.label not in (CORRESPONDS, DOES_NOT, CANNOT_TELL):
            raise InputError(
                f"A link of task {link.task} has the label {link.label!r}; "
                f"the labels are {CORRESPONDS}, {DOES_NOT} and {CANNOT_TELL}."
            )
    return {
        "overall": correspondence(links, level),
        "by_type": _split(links, lambda link: link.error_type, level),
        "by_model": _split(links, lambda link: link.model, level),
        "by_judge_setting": _split(links, lambda link: link.judge_setting, level),
    }


def _split(links: Sequence[AuditedLink], key: Callable[[AuditedLink], str], level: float) -> dict[str, Any]:
    found: dict[str, list[AuditedLink]] = {}
    for link in links:
        found.setdefault(key(link), []).append(link)
    return {name: correspondence(found[name], level) for name in sorted(found)}


def correspondence(links: Sequence[AuditedLink], level: float = 0.95) -> dict[str, Any]:
    """One precision with its counts, Wilson's interval, and the one that allows for links of a task being alike."""
    decided = [link for link in links if link.label != CANNOT_TELL]
    unsure = len(links) - len(decided)
    task, n_tasks = task_indices([link.task for link in decided])
    hits = np.array([link.label == CORRESPONDS for link in decided], dtype=np.float64)
    k, n = int(hits.sum()), len(decided)
    return plain(
        {
            "k": k,
            "n": n,
            "cannot_tell": unsure,
            "tasks": n_tasks,
            "point": ratio(k, n, "no link was decided"),
            "wilson": proportion_interval(k, n, "wilson", level),
            "cluster_robust": cluster_interval_of(hits, task, level),
            "if_all_hold": ratio(k + unsure, n + unsure, "no link was labelled"),
            "if_none_hold": ratio(k, n + unsure, "no link was labelled"),
            "level": level,
        }
    )
