"""The ten error types and the closed mapping onto them."""

from __future__ import annotations

import pytest

from lseval.domain.taxonomy import UNASSIGNED, ErrorType, map_type


def test_there_are_ten_types_each_defined_and_bordered() -> None:
    assert len(ErrorType) == 10
    assert len({error_type.display_name for error_type in ErrorType}) == 10
    for error_type in ErrorType:
        assert error_type.definition.endswith(".")
        assert error_type.nearest_boundary.endswith(".")
    assert UNASSIGNED not in list(ErrorType)


@pytest.mark.parametrize("error_type", list(ErrorType))
def test_code_and_name_map_to_their_type(error_type: ErrorType) -> None:
    assert map_type(error_type.value) is error_type
    assert map_type(error_type.display_name) is error_type
    assert map_type(f"  {error_type.display_name.upper().replace(' ', '-')}. ") is error_type


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Source does not support the claim", None),
        ("source does not support claim", ErrorType.SOURCE_NOT_SUPPORTING),
        ("date error", ErrorType.TEMPORAL_ERROR),
        ("ＷＲＯＮＧ　ＥＮＴＩＴＹ", ErrorType.WRONG_ENTITY),
        ("证据不足", ErrorType.INSUFFICIENT_EVIDENCE),
    ],
)
def test_only_listed_synonyms_map(words: str, expected: ErrorType | None) -> None:
    assert map_type(words) is expected


@pytest.mark.parametrize(
    "words",
    [
        "",
        "\x00",
        "none",
        "unassigned",
        "error",
        "wrong",
        "wrong entity or temporal error",
        "this is not a wrong entity",
        "wrong_entity" * 100_000,
        "🙂",
    ],
)
def test_other_words_map_to_no_type(words: str) -> None:
    assert map_type(words) is None
