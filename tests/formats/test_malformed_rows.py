"""Whatever stands in place of a part of a row, reading gives a run or a typed error, and nothing else."""

import copy
import json

import pytest

from lseval.domain.trajectory import RunRecord
from lseval.formats import FORMATS, ReadError
from lseval.formats.files import Layout, SourceFile
from tests.formats.samples import ROWS

WRONG = (None, True, 3, 2.5, "", "text", [], ["text"], [[]], [{}], {}, {"a": []})


def places_in(value, path=()):
    """The path of every value inside `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places_in(item, (*path, key))


def with_value_at(row, path, value):
    changed = copy.deepcopy(row)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


def reader_of(entry, path):
    """What reads one row: where the format reads files, a file that holds this row alone."""
    if entry.row_reader:
        return entry.row_reader(path, None)

    def read_row(row):
        path.write_text(json.dumps(row), encoding="utf-8")
        results = list(entry.file_reader(SourceFile(path, Layout.LINES, None, 2**20, 2**20)))
        for result in results:
            if isinstance(result.run, ReadError):
                raise result.run
        if not results:
            raise ReadError("the row holds no trace")
        return results[0].run

    return read_row


@pytest.mark.parametrize("name", FORMATS)
def test_any_value_in_any_place_gives_a_run_or_a_typed_error(tmp_path, name):
    row = ROWS[name]()
    read_row = reader_of(FORMATS[name], tmp_path / "rows.jsonl")
    outcomes = {"run": 0, "error": 0}
    for path in places_in(row):
        for value in (*WRONG, ...):
            try:
                record = read_row(with_value_at(row, path, value))
            except ReadError:
                outcomes["error"] += 1
            else:
                assert isinstance(record, RunRecord)
                assert record.task_key.strip(), path
                assert record.question.strip(), path
                assert record.model_name.strip(), path
                outcomes["run"] += 1
    assert outcomes["error"] > 0
    assert outcomes["run"] > 0


@pytest.mark.parametrize("name", FORMATS)
def test_telling_the_format_never_raises(name):
    row = ROWS[name]()
    for path in places_in(row):
        for value in (*WRONG, ...):
            assert FORMATS[name].matches(with_value_at(row, path, value)) in (True, False)
