"""Whatever stands in place of a part of a row, reading gives a run or a typed error, and nothing else."""

import copy

import pytest

from lseval.domain.trajectory import RunRecord
from lseval.formats import FORMATS, ReadError
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


@pytest.mark.parametrize("name", FORMATS)
def test_any_value_in_any_place_gives_a_run_or_a_typed_error(tmp_path, name):
    row = ROWS[name]()
    read_row = FORMATS[name].row_reader(tmp_path / "rows.jsonl", None)
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
