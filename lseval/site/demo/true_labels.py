"""What a perfect labeler would say of each item of a demo's audit, from what was planted in its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from annotation.models import Item, ItemKind
from lseval.domain.labels import LinkLabel, RoundLabel
from lseval.models import Round, Study
from lseval.sandbox.models import GroupTruth, InjectedError


def true_labels(study: Study) -> Callable[[Item], str | None]:
    """The right label of an item; None where the truth of its run is not known.

    A round is an error where a planted error enters or is stated in it, skipped where a pre-skip rule sets it
    aside, and else non-error. A link corresponds where a planted error of its round made its group wrong.
    """
    groups = {
        (run, number): label
        for run, number, label in GroupTruth.objects.filter(truth__run__study=study).values_list(
            "truth_id", "number", "label"
        )
    }
    planted: dict[tuple[int, int], set[int]] = defaultdict(set)
    found = InjectedError.objects.filter(truth__run__study=study)
    for run, entered, stated, made_wrong in found.values_list(
        "truth_id", "round_number", "stated_round_number", "group_numbers"
    ):
        for number in {entered, stated}:
            planted[run, number].update(made_wrong)
    skipped = set(Round.objects.filter(run__study=study).exclude(skip_reason="").values_list("pk", flat=True))

    def label(item: Item) -> str | None:
        if item.kind == ItemKind.GROUP:
            return groups.get((item.run_id, item.group.number)) if item.group else None
        if item.round is None:
            return None
        place = (item.run_id, item.round.number)
        if item.kind == ItemKind.LINK and item.group is not None:
            is_so = item.group.number in planted.get(place, ())
            return LinkLabel.CORRESPONDS if is_so else LinkLabel.DOES_NOT
        if place in planted:
            return RoundLabel.ERROR
        return RoundLabel.SKIPPED if item.round_id in skipped else RoundLabel.NON_ERROR

    return label
