import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.errors import InputError
from lseval.formats.lines import open_binary, read_document, read_lines


def lines_of(data: bytes, max_bytes: int = 10):
    return list(read_lines(io.BytesIO(data), max_bytes))


def test_line_ends_are_no_part_of_a_line_and_offsets_count_them():
    lines = lines_of(b"ab\r\ncd\n\nef")
    assert [(line.number, line.data, line.offset, line.end) for line in lines] == [
        (1, b"ab", 0, 4),
        (2, b"cd", 4, 7),
        (3, b"", 7, 8),
        (4, b"ef", 8, 10),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize(("length", "is_kept"), [(10, True), (11, False), (12, False), (13, False), (500, False)])
def test_limit_counts_the_line_without_its_end(end, length, is_kept):
    lines = lines_of(b"x" * length + end + (b"next\n" if end else b""))
    assert lines[0].data == (b"x" * length if is_kept else None)
    assert lines[0].end == length + len(end)
    assert [line.data for line in lines[1:]] == ([b"next"] if end else [])


@given(st.lists(st.binary(max_size=14).filter(lambda line: b"\n" not in line and b"\r" not in line)))
def test_every_line_is_given_once_whatever_their_lengths(contents):
    data = b"".join(line + b"\n" for line in contents)
    lines = lines_of(data, max_bytes=7)
    assert [line.data for line in lines] == [line if len(line) <= 7 else None for line in contents]
    assert [line.number for line in lines] == list(range(1, len(contents) + 1))
    assert [line.end - line.offset for line in lines] == [len(line) + 1 for line in contents]


def test_i01_utf16_and_utf32_marks_are_refused_with_file_and_line(tmp_path):
    for encoding in ("utf-16", "utf-32", "utf-16-be"):
        path = tmp_path / f"{encoding}.jsonl"
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        path.write_bytes((mark + '{"a": 1}').encode(encoding))
        with pytest.raises(InputError, match=r"UTF-(16|32) text; save it as UTF-8") as caught:
            open_binary(path)
        assert caught.value.code == "unsupported_encoding"
        assert f"{path}:1:" in str(caught.value)


def test_document_over_the_limit_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "big.json"
    path.write_bytes(b" " * 2**20)
    assert len(read_document(path, 2**20)) == 2**20
    with pytest.raises(InputError, match=r"more than 0\.5 MiB; write one run a line") as caught:
        read_document(path, 2**19)
    assert caught.value.code == "file_too_large"


def test_missing_file_is_a_typed_error_that_names_it(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read: No such file") as caught:
        open_binary(tmp_path / "none.jsonl")
    assert caught.value.code == "unreadable_file"
