"""One answer group on a page of its own: the response, the verdict, its evidence, and what the judges were told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import Http404

from lseval.judging.replies import MENDED, Unusable
from lseval.judging.stage1 import CUT, QUOTATION_DROPPED, UNQUOTED
from lseval.models import JobKind, Page, Phase, Run, SecondVerdict, Study, Verdict
from lseval.pipeline.jobs import is_open
from lseval.pipeline.judges import is_embedded
from lseval.site.selectors.evidence_shown import EvidenceShown, evidence_shown
from lseval.site.selectors.groups import GroupShown, group_of
from lseval.site.selectors.judge_calls import JudgeCall, judge_calls_of
from lseval.site.selectors.judges import JudgeName

AROUND: Final = 2_000
"""Characters of the response shown on either side of the group."""

MOST_OF_A_GROUP: Final = 20_000

FLAG_WORDS: Final[dict[str, str]] = {
    MENDED: "The reply's form was mended before it could be read; what it says was not touched.",
    CUT: "The cited pages did not fit, so the judge was shown their best passages only.",
    QUOTATION_DROPPED: "A quotation that does not stand on the page was dropped.",
    UNQUOTED: "The judge decided a claim without quoting the page.",
}
"""What each flag of a verdict says."""

CODE_WORDS: Final[dict[str, str]] = {
    Unusable.REFUSED: "the judge refused to answer",
    Unusable.EMPTY: "the judge's reply was empty",
    Unusable.TRUNCATED: "the judge's reply broke off",
    Unusable.NO_JSON: "the judge's reply was not in the form asked for",
    Unusable.AMBIGUOUS: "the judge gave two answers in one reply",
    Unusable.INVALID: "the judge's reply did not fit what was asked",
    Unusable.UNREACHABLE: "the judge could not be reached",
    Unusable.TOO_LONG: "the question was too long for the judge",
}
"""Why a group is unjudged, by the verdict's code."""


@dataclass(frozen=True, slots=True)
class OpinionShown:
    """What a judge says of the group. `code_words` says why it gave no label, where it gave none."""

    label: str
    reason: str
    judge: JudgeName
    flags: list[str]
    code_words: str
    repeat: int


@dataclass(frozen=True, slots=True)
class GroupPage:
    """The page of one group.

    `before`, `own` and `after` are the response around the group's extent. `outdated` counts pages whose text is
    not what the judge was given. `is_waiting` says that its verdict is being asked for anew.
    """

    run: Run
    group: GroupShown
    before: str
    own: str
    after: str
    is_cut: bool
    opinion: OpinionShown | None
    second: OpinionShown | None
    evidence: list[EvidenceShown]
    outdated: int
    calls: list[JudgeCall]
    previous: int | None
    next: int | None
    is_waiting: bool
    is_embedded: bool

    @property
    def judges(self) -> list[JudgeName]:
        """Who gave the verdict."""
        return [self.opinion.judge] if self.opinion else []

    @property
    def do_judges_agree(self) -> bool | None:
        """Whether both judges give the same label; None where one of them gave none."""
        if self.opinion is None or self.second is None or "unjudged" in (self.opinion.label, self.second.label):
            return None
        return self.opinion.label == self.second.label


def group_page_of(study: Study, run_id: int, number: int) -> GroupPage:
    """The group of that number; raises Http404 where the study has no such run or group."""
    run = Run.objects.filter(study=study, pk=run_id).select_related("task", "model", "study").first()
    shown = group_of(run, number) if run is not None else None
    if run is None or shown is None:
        raise Http404("no such group")
    start, end = run.answer_groups.values_list("start", "end").get(number=number)
    first, last = max(0, start - AROUND), end + AROUND
    text = run.final_answer
    verdict = Verdict.objects.filter(group_id=shown.id).first()
    second = SecondVerdict.objects.filter(group_id=shown.id).first()
    evidence = evidence_shown(shown.sources, shown.claims)
    numbers = run.answer_groups.values_list("number", flat=True)
    return GroupPage(
        run=run,
        group=shown,
        before=text[first:start],
        own=text[start : min(end, start + MOST_OF_A_GROUP)],
        after=text[end:last] if end - start <= MOST_OF_A_GROUP else "",
        is_cut=first > 0 or last < len(text),
        opinion=_opinion(verdict),
        second=_opinion(second),
        evidence=evidence,
        outdated=_outdated(verdict),
        calls=judge_calls_of(run, Phase.STAGE_1, [f"stage1:G{number}", f"stage1_second:G{number}"]),
        previous=numbers.filter(number__lt=number).order_by("-number").first(),
        next=numbers.filter(number__gt=number).order_by("number").first(),
        is_waiting=is_open(JobKind.VERIFY, run.pk),
        is_embedded=is_embedded(study, "stage1"),
    )


def _opinion(found: Verdict | SecondVerdict | None) -> OpinionShown | None:
    if found is None:
        return None
    return OpinionShown(
        label=found.label,
        reason=found.reason,
        judge=JudgeName(found.judge, found.judge_version),
        flags=[FLAG_WORDS.get(flag, str(flag).replace("_", " ")) for flag in found.flags],
        code_words=CODE_WORDS.get(found.code, found.code.replace("_", " ")) if found.code else "",
        repeat=found.repeat,
    )


def _outdated(verdict: Verdict | None) -> int:
    """How many of the pages that the judge was given have another text by now, or are gone."""
    if verdict is None or not verdict.pages:
        return 0
    now = dict(Page.objects.filter(pk__in=[page["id"] for page in verdict.pages]).values_list("pk", "text_digest"))
    return sum(now.get(page["id"]) != page["digest"] for page in verdict.pages)
