"""The two embedded Stage 2 judges: what each flags, skips and ties to a round, and that they differ."""

from __future__ import annotations

import pytest

from lseval.domain.consensus import consensus, retained_links
from lseval.domain.evidence import (
    CallUnderAudit,
    ClaimCheck,
    EvidencePage,
    GroupUnderAudit,
    JudgementDraft,
    Quotation,
    RoundUnderAudit,
)
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.error_types import type_of_group
from lseval.judging.embedded.stage1 import verify_group
from lseval.judging.embedded.stage2 import judge_round_a, judge_round_b

QUESTION = "Which places show the history of the local trade? Give year and town."
RUBRIC = RubricRecord(2)
MUSEUM = (
    "The Harbour Museum opened on 12 May 1987 in the old customs house in Esbjerg, Denmark. It holds about 4,200 "
    "objects. Admission costs 85 kroner for adults. In 2019 it received 61,300 visitors. "
) * 5
PAGES = (EvidencePage("museum", "https://museum.example/", MUSEUM),)
WINDY = "Weather in Jutland is windy. " * 40


def group(number: int, title: str, text: str, **fields: str) -> GroupUnderAudit:
    verdict = verify_group(QUESTION, RUBRIC, title, text, fields, PAGES)
    return GroupUnderAudit(number, title, text, verdict.label, verdict.claims, fields)


RIGHT = group(1, "Harbour Museum", "The Harbour Museum opened in 1987 in Esbjerg.")
WRONG_YEAR = group(1, "Harbour Museum", "The Harbour Museum opened in 1992 in Esbjerg.")
INVENTED = group(2, "Fishing Pavilion", "Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind.")


def read(number: int, observation: str, text: str = "", name: str = "read_page") -> RoundUnderAudit:
    return RoundUnderAudit(number, text, (CallUnderAudit(name, {"url": "https://museum.example/"}, observation),))


def say(number: int, text: str) -> RoundUnderAudit:
    return RoundUnderAudit(number, text, ())


def a(round_: RoundUnderAudit, *groups: GroupUnderAudit) -> JudgementDraft:
    return judge_round_a(QUESTION, RUBRIC, groups, round_)


def b(
    round_: RoundUnderAudit, *groups: GroupUnderAudit, earlier: tuple[RoundUnderAudit, ...] = ()
) -> JudgementDraft:
    return judge_round_b(QUESTION, RUBRIC, groups, round_, earlier)


def test_groups_of_these_tests_have_the_labels_they_are_named_for() -> None:
    assert (RIGHT.label, WRONG_YEAR.label, INVENTED.label) == ("C", "I", "I")


def test_a_flags_a_round_whose_observation_contradicts_the_answer() -> None:
    judgement = a(read(1, MUSEUM), WRONG_YEAR, INVENTED)
    assert (judgement.verdict, judgement.error_type, judgement.groups) == ("error", "temporal_error", (1,))
    assert "12 May 1987" in judgement.explanation


def test_a_accepts_a_round_whose_observation_bears_the_answer_out() -> None:
    judgement = a(read(1, MUSEUM), RIGHT)
    assert (judgement.verdict, judgement.error_type, judgement.groups) == ("non_error", "", (1,))


def test_a_flags_words_that_the_observation_contradicts_whatever_the_answer_says() -> None:
    judgement = a(read(1, MUSEUM, text="The page says that the Harbour Museum opened in 1992."), RIGHT)
    assert (judgement.verdict, judgement.error_type) == ("error", "temporal_error")


def test_a_flags_words_of_the_answer_that_the_observation_lacks() -> None:
    judgement = a(
        read(1, WINDY, text="The Fishing Pavilion opened in 1978 and was designed by Ole Vind."), INVENTED
    )
    assert (judgement.verdict, judgement.groups) == ("error", (2,))
    assert judgement.error_type == "source_not_supporting"


def test_a_calls_a_thin_observation_insufficient() -> None:
    judgement = a(read(1, "Title: Skagen", text="The Fishing Pavilion opened in 1978, says Ole Vind."), INVENTED)
    assert (judgement.verdict, judgement.error_type) == ("error", "insufficient_evidence")


def test_a_calls_a_failed_page_a_source_quality_error() -> None:
    judgement = a(
        read(1, "Error 404: not found", text="The Fishing Pavilion opened in 1978, says Ole Vind."), INVENTED
    )
    assert (judgement.verdict, judgement.error_type) == ("error", "source_quality_error")


def test_a_does_not_blame_a_listing_for_what_it_leaves_out() -> None:
    listing = read(1, "1. Fishing Pavilion, Skagen. https://pavilion.example", name="web_search")
    assert a(listing, INVENTED).verdict == "non_error"


def test_a_flags_an_answers_facts_stated_without_any_observation() -> None:
    judgement = a(say(1, "The Harbour Museum opened in 1992."), WRONG_YEAR, INVENTED)
    assert (judgement.verdict, judgement.error_type, judgement.groups) == ("error", "insufficient_evidence", (1,))


@pytest.mark.parametrize(
    "round_",
    [
        say(1, ""),
        say(1, "Let me think about 1992."),
        read(1, ""),
        read(1, WINDY),
        say(1, "The sky is blue in 1900."),
    ],
)
def test_a_skips_a_round_with_nothing_to_check(round_: RoundUnderAudit) -> None:
    judgement = a(round_, WRONG_YEAR, INVENTED)
    assert (judgement.verdict, judgement.groups) == ("skipped", ())
    assert judgement.explanation


def test_a_accepts_words_that_an_earlier_observation_bears_out() -> None:
    told = read(2, WINDY, text="The Harbour Museum opened in 1987 in Esbjerg.")
    assert judge_round_a(QUESTION, RUBRIC, (RIGHT,), told).verdict == "error"
    assert judge_round_a(QUESTION, RUBRIC, (RIGHT,), told, (read(1, MUSEUM),)).verdict == "skipped"
    wrong = say(2, "The Harbour Museum opened in 1992.")
    judgement = judge_round_a(QUESTION, RUBRIC, (WRONG_YEAR,), wrong, (read(1, MUSEUM),))
    assert (judgement.verdict, judgement.groups) == ("error", (1,))
    assert "nothing observed so far" in judgement.explanation


def test_a_does_not_hold_another_pages_figure_against_what_the_cited_page_bears_out() -> None:
    older = read(1, "The Harbour Museum opened in 1986, says the directory. " + WINDY)
    assert a(older, RIGHT).verdict == "non_error"
    assert a(older, WRONG_YEAR).verdict == "error"


def test_a_calls_a_namesakes_page_a_wrong_entity() -> None:
    namesake = read(1, "The Fishing Hall in Ribe opened in 1978. Do not confuse it with Fishing Pavilion. " + WINDY)
    judgement = a(namesake, INVENTED)
    assert (judgement.verdict, judgement.error_type, judgement.groups) == ("error", "wrong_entity", (2,))


def test_a_flags_an_observation_that_breaks_a_condition() -> None:
    rubric = RubricRecord(2, constraints=("It opened before 1980.",))
    late = GroupUnderAudit(1, "Harbour Museum", "The Harbour Museum is in Esbjerg.", "I")
    judgement = judge_round_a(QUESTION, rubric, (late,), read(1, MUSEUM))
    assert (judgement.verdict, judgement.error_type, judgement.groups) == ("error", "temporal_error", (1,))
    fits = RubricRecord(2, constraints=("It opened before 1990.",))
    assert judge_round_a(QUESTION, fits, (late,), read(1, MUSEUM)).verdict == "non_error"


def test_b_traces_the_groups_words_and_not_the_conditions() -> None:
    broken = ClaimCheck("condition: It has submarines, periscopes and torpedoes.", "contradicted")
    kept = GroupUnderAudit(1, "Harbour Museum", "It opened in 1987 in Esbjerg.", "I", (broken,))
    assert b(say(1, "Submarines, periscopes and torpedoes."), kept).verdict == "non_error"
    assert b(say(1, "The Harbour Museum opened in 1987 in Esbjerg."), kept).verdict == "error"


def test_b_traces_an_incorrect_groups_content_to_the_round_that_holds_it() -> None:
    judgement = b(read(1, "Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind."), RIGHT, INVENTED)
    assert (judgement.verdict, judgement.groups) == ("error", (2,))
    assert judgement.error_type == "wrong_entity"  # Stage 1's first failed claim is the title itself


def test_b_takes_its_type_from_stage_1_and_not_from_the_round() -> None:
    judgement = b(say(1, "The Harbour Museum opened in 1992 in Esbjerg."), WRONG_YEAR)
    assert (judgement.verdict, judgement.error_type) == ("error", "temporal_error")


def test_b_blames_only_the_round_where_the_content_came_in() -> None:
    first = read(1, "Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind.")
    again = say(2, "The Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind.")
    assert b(again, INVENTED).verdict == "error"
    assert b(again, INVENTED, earlier=(first,)).verdict == "non_error"
    assert b(first, INVENTED, earlier=(read(3, WINDY),)).verdict == "error"


def test_b_looks_through_listings_that_no_judge_sees() -> None:
    listing = read(1, "Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind.", name="web_search")
    assert b(read(2, "Fishing Pavilion, Skagen, 1978, Ole Vind."), INVENTED, earlier=(listing,)).verdict == "error"


def test_b_has_nothing_to_trace_without_an_incorrect_group() -> None:
    assert b(read(1, MUSEUM), RIGHT).verdict == "non_error"
    unverifiable = GroupUnderAudit(3, "Harbour Museum", "Opened in 1987", "U")
    assert b(read(1, MUSEUM), unverifiable).verdict == "non_error"


def test_b_skips_a_round_without_words() -> None:
    assert b(RoundUnderAudit(1, " ", (CallUnderAudit("read_page", {}, ""),)), INVENTED).verdict == "skipped"


def test_the_judges_look_at_different_evidence() -> None:
    # The right page contradicts the answer and holds none of the invented content: only A has a reason to object.
    right_page = read(1, "The Fishing Pavilion opened in 1954. " + WINDY)
    assert (a(right_page, INVENTED).verdict, b(right_page, INVENTED).verdict) == ("error", "non_error")
    # A poor page bears the invented content out: A has no reason to object, B finds where it came in.
    poor_page = read(1, "Fishing Pavilion in Skagen opened in 1978, designed by Ole Vind. " + WINDY)
    assert (a(poor_page, INVENTED).verdict, b(poor_page, INVENTED).verdict) == ("non_error", "error")


def test_where_both_object_there_is_a_typed_failure_node_with_its_link() -> None:
    round_ = read(2, MUSEUM, text="The Harbour Museum opened in 1992 in Esbjerg.")
    judgement_a, judgement_b = a(round_, WRONG_YEAR, INVENTED), b(round_, WRONG_YEAR, INVENTED)
    agreed = consensus(judgement_a, judgement_b)
    assert (agreed.verdict, agreed.error_type, agreed.is_type_agreed) == ("error", "temporal_error", True)
    assert retained_links(judgement_a, judgement_b, {1, 2}) == (1,)


def failed(claim: str, told: str = "", status: str = "contradicted") -> ClaimCheck:
    return ClaimCheck(claim, status, Quotation("p", told, 0, len(told)) if told else None)


GOOD = GroupUnderAudit(9, "Other Place", "Other Place", "C", (ClaimCheck("Opened: 1954", "supported"),))


@pytest.mark.parametrize(
    ("title", "check", "rubric", "expected"),
    [
        ("Other Place", failed("Opened: 1990", "1991"), RUBRIC, ErrorType.GROUPING_ERROR),
        (
            "Museum",
            failed("City: X"),
            RubricRecord(1, required_fields=("price",)),
            ErrorType.MISSING_REQUIRED_FIELD,
        ),
        ("Museum", failed("Opened: 1954", "opened 1990"), RUBRIC, ErrorType.MAPPING_ERROR),
        ("Museum", failed("Opened: 1990", "opened 1991"), RUBRIC, ErrorType.TEMPORAL_ERROR),
        ("Museum", failed("It has 20 halls", "has 30 halls"), RUBRIC, ErrorType.SOURCE_NOT_SUPPORTING),
        (
            "Museum",
            failed("It has 20 large halls", "has 12 large halls"),
            RubricRecord(1, constraints=("at least 20 large halls",)),
            ErrorType.CONSTRAINT_VIOLATION,
        ),
        ("Museum", failed("Museum", status="not_found"), RUBRIC, ErrorType.WRONG_ENTITY),
        ("Museum", failed("City: Skagen", status="not_found"), RUBRIC, ErrorType.SCOPE_ERROR),
        ("Museum", failed("condition: It is free."), RUBRIC, ErrorType.CONSTRAINT_VIOLATION),
        ("Museum", failed("condition on the place: It is in Ribe."), RUBRIC, ErrorType.SCOPE_ERROR),
        ("Museum", failed("condition on the time: It opened before 1950."), RUBRIC, ErrorType.TEMPORAL_ERROR),
        ("Museum", failed("It is old", status="not_found"), RUBRIC, ErrorType.SOURCE_NOT_SUPPORTING),
    ],
)
def test_type_of_a_groups_fault(title: str, check: ClaimCheck, rubric: RubricRecord, expected: ErrorType) -> None:
    faulty = GroupUnderAudit(1, title, "Museum", "I", (check,))
    assert type_of_group(faulty, (faulty, GOOD), (CallUnderAudit("read_page", {}, WINDY),), rubric) is expected


def test_type_of_a_group_known_only_from_a_listing_is_insufficient_evidence() -> None:
    faulty = GroupUnderAudit(1, "Museum", "Museum", "I", (failed("It is old", status="not_found"),))
    listing = (CallUnderAudit("web_search", {}, WINDY),)
    assert type_of_group(faulty, (faulty,), listing, RUBRIC) is ErrorType.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("piece", ["\x00", "[a](", "漢字", "1 ", "Aa of ", "A: b\n", "\ud800 x 1. "])
@pytest.mark.timeout(60)
def test_hostile_rounds_get_a_verdict(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    hostile = GroupUnderAudit(1, text[:500], text, "I", (ClaimCheck(text, "not_found"),), {text[:40]: text})
    round_ = RoundUnderAudit(1, text, (CallUnderAudit("read_page", {"u": text, "n": None}, text),))
    verdicts = {a(round_, hostile, RIGHT).verdict, b(round_, hostile, RIGHT, earlier=(round_, round_)).verdict}
    assert verdicts <= {"error", "non_error", "skipped"}


def test_response_without_groups_gives_no_error() -> None:
    assert a(read(1, MUSEUM)).verdict == "skipped"
    assert b(read(1, MUSEUM)).verdict == "non_error"
