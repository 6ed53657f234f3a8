"""The types that judge A reads from what a round observed: for each, a page that shows it and a near miss."""

from __future__ import annotations

import pytest

from lseval.domain.evidence import CallUnderAudit, ClaimCheck, GroupUnderAudit, Quotation, RoundUnderAudit
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.error_types import joins_two, type_of_group
from lseval.judging.embedded.observed_types import disowns_itself, is_about
from lseval.judging.embedded.passages import page_index
from lseval.judging.embedded.stage2 import judge_round_a, judge_round_b

QUESTION = "Which ferries cross the sound? Give what each asks for."
RUBRIC = RubricRecord(2, ("The ferry runs in Nordsund.",), required_fields=("hull length", "deck length"))
LONG = "The crew paints the railings every spring and sells coffee below deck. " * 12


def incorrect(title: str = "MF Sund", number: int = 1, **fields: str) -> GroupUnderAudit:
    told = fields or {"hull length": "64 m", "deck length": "51 m"}
    words = {name.replace("_", " "): value for name, value in told.items()}
    text = f"{title}: " + "; ".join(f"{name}: {value}" for name, value in words.items())
    return GroupUnderAudit(number, title, text, "I", fields=words)


def read(observation: str, text: str = "", number: int = 1, name: str = "read_page") -> RoundUnderAudit:
    return RoundUnderAudit(number, text, (CallUnderAudit(name, {}, observation),))


def type_of(
    round_: RoundUnderAudit, *groups: GroupUnderAudit, rubric: RubricRecord = RUBRIC, earlier=()
) -> tuple[str, str]:
    judgement = judge_round_a(QUESTION, rubric, groups, round_, earlier)
    return judgement.verdict, judgement.error_type


EXCHANGED = f"MF Sund is a ferry in Nordsund.\nIts hull length is 51 m. Its deck length is 64 m.\n{LONG}"
IN_PLACE = f"MF Sund is a ferry in Nordsund.\nIts hull length is 70 m. Its deck length is 55 m.\n{LONG}"
WHOLE = f"The fleet has five ferries, among them MF Sund.\nTogether they have a hull length of 64 m.\n{LONG}"
OTHERS = f"MF Sund is a ferry in Nordsund.\nMF Vig has a hull length of 64 m.\n{LONG}"


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (EXCHANGED, ErrorType.MAPPING_ERROR),
        (IN_PLACE, ErrorType.SOURCE_NOT_SUPPORTING),
        (WHOLE, ErrorType.SCOPE_ERROR),
        (WHOLE.replace("Together they have", "MF Sund has"), ErrorType.SOURCE_NOT_SUPPORTING),
        (f"{IN_PLACE}\nCompiled by machine; we cannot vouch for its data.", ErrorType.SOURCE_QUALITY_ERROR),
        (f"{IN_PLACE}\nThe Guarantee is a boat with data on board.", ErrorType.SOURCE_NOT_SUPPORTING),
    ],
)
def test_a_page_shows_how_a_value_went_wrong(observation: str, expected: ErrorType) -> None:
    assert type_of(read(observation), incorrect()) == ("error", expected.value)


def test_a_field_called_total_is_no_scope_error() -> None:
    rubric = RubricRecord(2, required_fields=("total length", "deck length"))
    stated = incorrect(total_length="64 m", deck_length="51 m")
    page = f"MF Sund is a ferry in Nordsund.\nIts total length is 64 m. Its deck length is 55 m.\n{LONG}"
    assert type_of(read(page), stated, rubric=rubric) == ("error", "source_not_supporting")
    fleet = page.replace("Its total length is 64 m. Its", "The fleet has a total of 64 m of hull. Its")
    assert type_of(read(fleet), incorrect(hull="64 m", deck_length="51 m"), rubric=rubric) == (
        "error",
        "scope_error",
    )


def test_a_value_told_only_of_another_group_is_a_mapping_error() -> None:
    other = GroupUnderAudit(2, "MF Vig", "MF Vig: hull length: 64 m", "C")
    assert type_of(read(OTHERS), incorrect(), other) == ("error", "mapping_error")
    assert type_of(read(OTHERS), incorrect()) == ("error", "source_not_supporting")


def test_a_values_name_may_stand_after_it_or_at_the_head_of_its_column() -> None:
    after = f"MF Sund sails in Nordsund.\nIt has 51 m of hull length, 64 m of deck length.\n{LONG}"
    assert type_of(read(after), incorrect()) == ("error", "mapping_error")
    table = (
        "| Ferry | Hull length | Deck length |\n|---|---|---|\n| MF Sund | 51 m | 64 m |\n| MF Vig | 40 m | 33 m |"
    )
    assert type_of(read(f"{table}\n\n{LONG}"), incorrect()) == ("error", "mapping_error")


def test_a_page_on_a_namesake_is_a_wrong_entity_and_one_on_another_place_a_scope_error() -> None:
    away = "Not in Nordsund but an hour from Nordsund"
    namesake = f"MF Sund is a ferry. It is not to be confused with MF Sund in Nordsund.\n{LONG}"
    assert type_of(read(namesake), incorrect()) == ("error", "wrong_entity")
    assert type_of(read(f"MF Sund is a ferry. {away}.\n{LONG}"), incorrect()) == ("error", "scope_error")


def test_a_group_that_joins_two_names_is_a_grouping_error() -> None:
    joined = incorrect("MF Sund and MF Vig")
    assert type_of(read(IN_PLACE), joined) == ("error", "grouping_error")
    whole = IN_PLACE.replace("MF Sund is", "MF Sund and MF Vig is")
    assert type_of(read(whole), joined) == ("error", "source_not_supporting")


@pytest.mark.parametrize(
    ("title", "page", "expected"),
    [
        ("Old Mill / New Mill", "The Old Mill burned down.", True),
        ("Old Mill / New Mill", "The Salt Mill burned down.", False),
        ("Salt & Pepper House", "Salt is sold in the Pepper House.", False),
        ("Old Mill and New Mill", "Old Mill and New Mill are one works.", False),
    ],
)
def test_a_title_is_two_names_where_the_page_has_one_of_them_and_never_both(title, page, expected) -> None:
    assert joins_two(title, [page_index(page)]) is expected


def test_a_field_that_is_left_out_and_was_read_is_a_missing_field() -> None:
    rubric = RubricRecord(2, required_fields=("hull length", "home port"))
    bare = incorrect(hull_length="64 m")
    page = f"MF Sund is a ferry in Nordsund.\nIts hull length is 64 m. Its home port is Vig.\n{LONG}"
    assert type_of(read(page), bare, rubric=rubric) == ("error", "missing_required_field")
    untold = page.replace("Its home port is Vig.", "")
    assert type_of(read(untold), bare, rubric=rubric) == ("non_error", "")
    correct = GroupUnderAudit(1, bare.title, bare.text, "C", fields=bare.fields)
    assert type_of(read(page), correct, rubric=rubric) == ("non_error", "")


def test_what_was_read_before_types_what_is_said_later() -> None:
    listing = "1. MF Vig timetable\nhttps://vig.example"
    words = "For MF Sund, the hull length is 64 m, the deck length 51 m, the harbour Ostvig, the builder Rask."
    said = read(listing, words, 3, "web_search")
    assert type_of(said, incorrect()) == ("error", "insufficient_evidence")
    off_point = read(f"MF Vig sails.\n{LONG}")
    assert type_of(said, incorrect(), earlier=(off_point,)) == ("error", "insufficient_evidence")
    assert type_of(said, incorrect(), earlier=(read(IN_PLACE),)) == ("error", "source_not_supporting")
    assert type_of(said, incorrect(), earlier=(read(WHOLE),)) == ("error", "scope_error")


def test_another_amount_is_a_violation_only_where_it_breaks_the_condition() -> None:
    at_least = RubricRecord(2, ("The ferry has a hull length of at least 60 m.",), required_fields=("hull length",))
    stated = incorrect(hull_length="64 m")
    breaks = f"MF Sund is a ferry.\nThe hull length of MF Sund is 40 m.\n{LONG}"
    keeps = breaks.replace("40 m", "90 m")
    assert type_of(read(breaks), stated, rubric=at_least) == ("error", "constraint_violation")
    assert type_of(read(keeps), stated, rubric=at_least) == ("error", "source_not_supporting")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("No guarantee is given that the information is accurate.", True),
        ("This text was translated automatically.", True),
        ("All entries are user-generated content.", True),
        ("We do not sell your data.", False),
        ("The museum guarantees that the facts are correct.", False),
        ("No claim was made on the estate.", False),
    ],
)
def test_a_page_that_says_nobody_vouches_for_it(words: str, expected: bool) -> None:
    assert disowns_itself(page_index(words)) is expected


def test_a_page_is_about_what_its_beginning_names_or_what_it_names_often() -> None:
    listed = (
        "\n".join(f"Entry {number} of the register is a boat." for number in range(20)) + "\nMF Sund is listed."
    )
    assert not is_about("MF Sund", page_index(listed))
    assert is_about("MF Sund", page_index("MF Sund\n" + listed))
    assert is_about("MF Sund", page_index(listed + "\nMF Sund sails daily.\nMF Sund rests on Sunday."))


def test_b_reads_a_namesake_from_stage_1s_quotation() -> None:
    told = "It is not to be confused with MF Sund in Nordsund."
    kept = ClaimCheck(
        "condition on the place: It runs in Nordsund.", "contradicted", Quotation("1", told, 0, len(told))
    )
    faulty = GroupUnderAudit(1, "MF Sund", "MF Sund: hull length: 64 m; deck length: 51 m", "I", (kept,))
    calls = (CallUnderAudit("read_page", {}, LONG),)
    assert type_of_group(faulty, (faulty,), calls, RUBRIC) is ErrorType.WRONG_ENTITY
    unquoted = GroupUnderAudit(1, faulty.title, faulty.text, "I", (ClaimCheck(kept.claim, "contradicted"),))
    assert type_of_group(unquoted, (unquoted,), calls, RUBRIC) is ErrorType.SCOPE_ERROR


def test_both_judges_name_a_group_of_two_a_grouping_error() -> None:
    joined = incorrect("MF Sund and MF Vig")
    round_ = read(f"{IN_PLACE}\nMF Vig has a hull of 64 m and a deck of 51 m.")
    assert judge_round_a(QUESTION, RUBRIC, (joined,), round_).error_type == "grouping_error"
    assert judge_round_b(QUESTION, RUBRIC, (joined,), round_).error_type == "grouping_error"
