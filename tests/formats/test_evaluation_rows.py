"""Rows of an evaluation as lines: whatever they hold comes back. I10."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lseval.formats.evaluation_rows import ROW_TYPES, read_row
from lseval.formats.row_files import RowFile, long_cells
from lseval.site.api.exports import (
    row_line,
)
from tests.pipeline.evaluation_import.making import COLUMNS, FORMATS


def test_columns_of_the_files_are_the_values_that_are_read() -> None:
    assert {what: set(columns) for what, columns in COLUMNS.items()} == {
        what: set(row_type.model_fields) for what, row_type in ROW_TYPES.items()
    }


# Any text that the database can hold; the signs that spreadsheets and CSV give a meaning come often.
TEXT = st.text(
    st.one_of(
        st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), st.sampled_from("=+-@'\"\t\r\n,;")
    ),
    max_size=30,
)
FILLED = TEXT.filter(bool)
DIGEST = st.binary(max_size=3).map(lambda data: hashlib.sha256(data).hexdigest())
COUNT = st.integers(0, 2**31 - 1)
NUMBER = st.integers(1, 2**31 - 1)
TIME = st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1))
IDS = st.integers(0, 2**63 - 1)
RUN = {"run_id": IDS, "task_key": FILLED, "model": FILLED}
QUOTATION = st.fixed_dictionaries({"page": IDS, "text": TEXT, "start": COUNT, "end": COUNT})
CLAIM = st.fixed_dictionaries(
    {"claim": TEXT, "status": st.sampled_from(["supported", "contradicted", "not_found"])},
    optional={"note": TEXT, "quotation": st.none() | QUOTATION},
)
EVIDENCE = st.fixed_dictionaries(
    {
        "id": IDS,
        "digest": DIGEST,
        "source": st.sampled_from(["recorded", "fetched", "saved"]) | st.none(),
        "url": st.none() | TEXT,
        "canonical_key": st.none() | TEXT,
        "text_digest": st.none() | DIGEST,
    }
)
OPINION = {
    "judge": TEXT,
    "judge_version": TEXT,
    "judged_at": TIME,
    "flags": st.lists(TEXT, max_size=3),
    "code": TEXT,
}
VERDICT = st.fixed_dictionaries(
    {
        **RUN,
        **OPINION,
        "group_number": NUMBER,
        "title": TEXT,
        "group_text_digest": DIGEST,
        "is_second": st.just(False),
        "label": st.sampled_from(["C", "I", "U", "unjudged"]),
        "reason": FILLED,
        "repeat": COUNT,
        "claims": st.lists(CLAIM, max_size=3),
        "pages": st.lists(EVIDENCE, max_size=3),
    }
)
JUDGEMENT = st.fixed_dictionaries(
    {
        **RUN,
        **OPINION,
        "round_number": NUMBER,
        "round_digest": DIGEST,
        "judge_role": st.sampled_from("AB"),
        "verdict": st.sampled_from(["error", "non_error", "skipped", "unjudged"]),
        "error_type": TEXT,
        "explanation": TEXT,
        "groups": st.lists(NUMBER, max_size=4),
    }
)
PAGE = st.fixed_dictionaries(
    {
        **{
            name: TEXT for name in ("url", "title", "text", "detail", "final_url", "content_type", "content_digest")
        },
        **{name: TEXT.map(lambda text: text[:20]) for name in ("sniffed_type", "decoder", "decoder_source")},
        "page_id": IDS,
        "run_id": st.none(),
        "task_key": st.none(),
        "model": st.none(),
        "source": st.sampled_from(["fetched", "saved"]),
        "canonical_key": TEXT,
        "text_digest": DIGEST,
        "outcome": st.sampled_from(["ok", "empty", "not_found"]),
        "status": st.none() | COUNT,
        "hops": st.lists(st.fixed_dictionaries({"url": TEXT, "address": TEXT, "status": COUNT}), max_size=2),
        "headers": st.dictionaries(TEXT, TEXT, max_size=3),
        "flags": st.lists(TEXT, max_size=2),
        "retrieved_at": st.none() | TIME,
        "content": st.none() | st.binary(max_size=20),
    }
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), file_format=st.sampled_from(FORMATS))
@pytest.mark.parametrize(("what", "strategy"), [("verdicts", VERDICT), ("judgements", JUDGEMENT), ("pages", PAGE)])
def test_i10_any_row_survives_its_line(what: str, strategy: Any, data: Any, file_format: str) -> None:
    rows = [
        {name: values[name] for name in COLUMNS[what]}
        for values in data.draw(st.lists(strategy, min_size=1, max_size=3))
    ]
    names = list(COLUMNS[what])
    lines = [row_line(names, [row[name] for name in names], file_format) for row in rows]
    with tempfile.TemporaryDirectory() as folder, long_cells():
        path = Path(folder, f"x.{file_format}")
        head = row_line(names, names, "csv") if file_format == "csv" else ""
        path.write_bytes((head + "".join(lines)).encode())
        file = RowFile(path)
        found = list(file.rows())
        again = list(file.at([(raw.line, raw.offset, raw.end) for raw in found]))
        assert again == found
        read = [read_row(what, raw, is_csv=file.is_csv).model_dump(exclude_unset=True) for raw in found]
    assert read == [{name: as_told(value) for name, value in row.items()} for row in rows]


def as_told(value: Any) -> Any:
    """A time or bytes as a file tells them; everything else as it is."""
    if isinstance(value, bytes):
        return "base64:" + base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value
