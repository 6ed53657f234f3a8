"""Stage 1 on reports of another tool, whose pages were recorded in their runs."""

from __future__ import annotations

import pytest

from lseval.formats import read_runs
from lseval.models import Page, PageSource, Verdict
from lseval.pipeline.evaluation import evaluate
from lseval.pipeline.import_runs import import_run
from tests.factories import make_study
from tests.shared import shared_path

pytestmark = pytest.mark.django_db


def test_groups_pages_and_quotations_of_langgraph_threads() -> None:
    folder = shared_path("data/deerflow_threads")
    study = make_study()
    for path in sorted(folder.rglob("*.json")):
        for row in read_runs(path):
            if row.record is not None:
                import_run(study, row.record, source_format="langgraph")
    evaluate(study, ("1",))
    verdicts = list(Verdict.objects.filter(group__run__study=study))
    assert len(verdicts) > 5
    pages = {page.pk: page for page in Page.objects.filter(study=study)}
    assert {page.source for page in pages.values()} == {PageSource.RECORDED}
    quoted = 0
    for verdict in verdicts:
        cited = [pages[page["id"]] for page in verdict.pages]
        has_readable = any(page.outcome == "ok" and page.text.strip() for page in cited)
        assert (verdict.label == "U") == (not has_readable)
        for claim in verdict.claims:
            if quotation := claim["quotation"]:
                text = pages[quotation["page"]].text
                assert text[quotation["start"] : quotation["end"]] == quotation["text"]
                quoted += 1
    assert quoted > 0
