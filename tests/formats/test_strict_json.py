import json

import pytest

from lseval.errors import InputError
from lseval.formats import strict_json
from lseval.formats.strict_json import MAX_DEPTH, InvalidUtf8Error, JsonError, parse_json, value_count


def code_of(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse_json(data)
    return caught.value.code


def test_ordinary_value_comes_back_without_notes():
    parsed = parse_json('{"a": [1, -2.5, true, null, "é"]}'.encode())
    assert parsed.value == {"a": [1, -2.5, True, None, "é"]}
    assert parsed.notes == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"label": "C", "label": "I"}', "duplicate_key"),
        ('{"label": "C", "label": "C"}', "duplicate_key"),
        ('[{"a": {"b": 1, "c": 2, "b": 3}}]', "duplicate_key"),
        ('{"\\u0061": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "non_finite_number"),
        ('{"a": -Infinity}', "non_finite_number"),
        ('{"a": 1e400}', "non_finite_number"),
        ('{"a": -1e400}', "non_finite_number"),
        ('{"a": 9223372036854775808}', "integer_out_of_range"),
        ('{"a": -9223372036854775809}', "integer_out_of_range"),
        ('{"a": ' + "9" * 5000 + "}", "integer_out_of_range"),
        ("[" * 200_000, "too_deep"),
        ("[" * 200_000 + "]" * 200_000, "too_deep"),
        ('{"a":' * 200_000, "too_deep"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "too_deep"),
        ('{"a": 1,}', "invalid_json"),
        ("{'a': 1}", "invalid_json"),
        ('{"a": 1} {"a": 2}', "invalid_json"),
        ("", "invalid_json"),
    ],
)
def test_j07_and_its_kind_are_refused_with_a_typed_error(text, code):
    assert code_of(text.encode()) == code


@pytest.mark.parametrize("text", ["9223372036854775807", "-9223372036854775808", "1e308", "0", "-0.0"])
def test_numbers_at_the_limits_are_kept(text):
    assert parse_json(text.encode()).value == (float(text) if "." in text or "e" in text else int(text))


def test_nesting_at_the_limit_is_kept():
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    value, depth = parse_json(text.encode()).value, 1
    while value:
        value, depth = value[0], depth + 1
    assert depth == MAX_DEPTH


@pytest.mark.parametrize("text", ['{"a": [{"b": "x\\u0000y"}]}', '{"a": [{"b": "x\x00y"}]}'])
def test_nul_escaped_or_raw_becomes_a_replacement_with_a_note_that_names_the_field(text):
    parsed = parse_json(text.encode())
    assert parsed.value == {"a": [{"b": "x�y"}]}
    assert parsed.notes == ("a[0].b: NUL replaced by U+FFFD",)


def test_lone_surrogates_become_replacements_and_pairs_stay():
    parsed = parse_json(b'["\\ud83d\\ude00", "\\ud83d", "\\ude00x\\u0000"]')
    assert parsed.value == ["\U0001f600", "�", "�x�"]
    assert parsed.notes == (
        "[1]: a lone surrogate replaced by U+FFFD",
        "[2]: NUL and a lone surrogate replaced by U+FFFD",
    )


def test_mended_key_is_noted_and_may_not_become_a_duplicate():
    parsed = parse_json(b'{"k": {"a\\u0000": 1}}')
    assert parsed.value == {"k": {"a�": 1}}
    assert parsed.notes == ("the name of k.a�: NUL replaced by U+FFFD",)
    assert code_of(b'{"a\\u0000": 1, "a\\ud800": 2}') == "duplicate_key"


def test_notes_are_bounded():
    # 20 notes and one line for the other 80.
    parsed = parse_json(b"[" + b",".join([b'"\\u0000"'] * 100) + b"]")
    assert len(parsed.notes) == 21
    assert parsed.notes[-1] == "and 80 more fields mended alike"
    assert parsed.value == ["�"] * 100


def test_byte_order_mark_is_no_part_of_the_text():
    assert parse_json(b"\xef\xbb\xbf[1]").value == [1]


def test_wrong_byte_is_named_by_its_offset():
    with pytest.raises(InvalidUtf8Error) as caught:
        parse_json(b'{"a": "x\xff"}')
    assert caught.value.offset == 8
    assert "byte 8 (0xff)" in str(caught.value)


def test_utf16_without_a_mark_is_guessed_at_in_the_message():
    with pytest.raises(JsonError, match="looks like UTF-16"):
        parse_json('{"a": 1}'.encode("utf-16-le"))


@pytest.mark.parametrize(("text", "is_incomplete"), [("{", True), ('{"a": [1,', True), ('{"a" 1}', False)])
def test_text_that_breaks_off_is_told_from_text_that_is_wrong(text, is_incomplete):
    with pytest.raises(JsonError) as caught:
        parse_json(text.encode())
    assert caught.value.is_incomplete is is_incomplete


def test_number_of_values_is_bounded_before_any_is_made(monkeypatch):
    monkeypatch.setattr(strict_json, "MAX_VALUES", 1000)
    assert code_of(b"[" + b"{}," * 600 + b"{}]") == "too_many_values"
    assert code_of(b"[" + b"1," * 1001 + b"1]") == "too_many_values"
    assert code_of(b"[" + b"{}," * 10_000) == "too_many_values"
    assert len(parse_json(b"[" + b"1," * 900 + b"1]").value) == 901


def test_marks_inside_strings_are_no_values(monkeypatch):
    monkeypatch.setattr(strict_json, "MAX_VALUES", 1000)
    for text in ("," * 5000, "[{" * 5000, '\\",' * 5000, "\\\\" + "," * 5000):
        data = json.dumps({"a": text, "b": [text]}).encode()
        assert parse_json(data).value == {"a": text, "b": [text]}
        assert value_count(data) < 10


def test_string_left_open_is_looked_through_once():
    # Were each escaped quotation mark a new start, this would take minutes.
    assert code_of(b'{"a": "' + b'\\",' * 2_000_000) == "invalid_json"


def test_full_line_of_empty_objects_is_refused():
    assert code_of(b"[" + b"{}," * 5_500_000 + b"{}]") == "too_many_values"


def test_nan_becomes_null_only_where_asked():
    parsed = parse_json(b'{"a": NaN, "b": [Infinity, -Infinity, 1.5]}', nan_as_null=True)
    assert parsed.value == {"a": None, "b": [None, None, 1.5]}
    assert parsed.notes == ("-Infinity, Infinity, NaN read as null, 3 in all",)
    with pytest.raises(InputError):
        parse_json(b"[1e400]", nan_as_null=True)
