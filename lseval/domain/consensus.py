"""Two judges' opinions of a round made into one: the consensus, and the links that it retains."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from lseval.domain.evidence import JudgementDraft
from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.domain.taxonomy import UNASSIGNED, map_type
from lseval.errors import InputError


class LinkPolicy(StrEnum):
    """Whose naming of a group keeps a link: both judges', or either's."""

    BOTH = "both"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class RoundConsensus:
    """What two judgements come to.

    `verdict` is a `RoundLabel` value, or `unjudged` where a judge gave no opinion. `is_split` marks error against
    non-error, which counts as non-error. Only an error, that is a failure node, has an `error_type`: the code of
    one of the ten, or `unassigned`; it is empty otherwise. `is_type_agreed` says that both judges named that type.
    """

    verdict: str
    is_split: bool = False
    error_type: str = ""
    is_type_agreed: bool = False


def consensus(judgement_a: JudgementDraft, judgement_b: JudgementDraft) -> RoundConsensus:
    """The consensus of two judges on one round.

    Both error: a failure node. Both non-error: non-error. Any skip: skipped. Error against non-error: non-error,
    split. A judge without an opinion leaves the round unjudged, which is neither an error nor a skip. Where the
    types differ judge A's stands; where A's maps to none of the ten the node is unassigned.

    Raises:
        InputError: a verdict is none of error, non_error, skipped, unjudged.
    """
    verdicts = (_known_verdict(judgement_a), _known_verdict(judgement_b))
    if UNJUDGED in verdicts:
        return RoundConsensus(UNJUDGED)
    if RoundLabel.SKIPPED in verdicts:
        return RoundConsensus(RoundLabel.SKIPPED)
    if verdicts != (RoundLabel.ERROR, RoundLabel.ERROR):
        return RoundConsensus(RoundLabel.NON_ERROR, is_split=RoundLabel.ERROR in verdicts)
    type_a, type_b = map_type(judgement_a.error_type), map_type(judgement_b.error_type)
    return RoundConsensus(
        verdict=RoundLabel.ERROR,
        error_type=type_a.value if type_a else UNASSIGNED,
        is_type_agreed=type_a is not None and type_a is type_b,
    )


def _known_verdict(judgement: JudgementDraft) -> str:
    if judgement.verdict == UNJUDGED:
        return UNJUDGED
    try:
        return RoundLabel(judgement.verdict)
    except ValueError:
        raise InputError(
            f"Unknown round verdict {judgement.verdict[:40]!r}: use error, non_error, skipped or {UNJUDGED}."
        ) from None


def retained_links(
    judgement_a: JudgementDraft,
    judgement_b: JudgementDraft,
    incorrect_groups: Collection[int],
    policy: LinkPolicy | str = LinkPolicy.BOTH,
) -> tuple[int, ...]:
    """The numbers of the incorrect groups linked to the round, ascending and distinct.

    Empty unless the two judgements make a failure node. Only groups that Stage 1 calls incorrect are kept, so a
    number that a judge made up never is.

    Raises:
        InputError: the policy is neither `both` nor `either`, or a verdict is unknown.
    """
    try:
        policy = LinkPolicy(policy)
    except ValueError:
        raise InputError(f"Unknown link policy {str(policy)[:40]!r}: use both or either.") from None
    if consensus(judgement_a, judgement_b).verdict != RoundLabel.ERROR:
        return ()
    named_a, named_b = set(judgement_a.groups), set(judgement_b.groups)
    named = named_a & named_b if policy is LinkPolicy.BOTH else named_a | named_b
    return tuple(sorted(named & set(incorrect_groups)))


def earliest_association(linked_rounds: Iterable[int]) -> int | None:
    """The least number among the rounds of a run with a retained link; None where there is none."""
    return min(linked_rounds, default=None)
