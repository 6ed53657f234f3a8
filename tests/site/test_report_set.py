"""`manage.py report`: the whole set of files, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agreement.charts import CONTENT_TYPES
from lseval.models import Study, Verdict
from lseval.site import report_set
from lseval.site.figures.catalog import FIGURES
from lseval.site.report_manifest import data_digests
from lseval.site.tables.catalog import TABLES
from lseval.site.tables.rendering import FORMATS
from tests.factories import make_run, make_study
from tests.site.building import make_world

pytestmark = pytest.mark.django_db


def _report(slug: str, out: Path, **options: object) -> None:
    call_command("report", slug, out=out, json=True, resamples=50, **options)


def test_every_table_and_figure_is_there_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_world()
    out = tmp_path / "new" / "report"
    _report("s1", out)
    for key in TABLES:
        for ending in FORMATS:
            assert (out / f"tables/table-{key}.{ending}").stat().st_size > 0
    for spec in FIGURES.values():
        for ending in (*CONTENT_TYPES, "csv", "json"):
            assert (out / f"figures/{spec.file_name}.{ending}").stat().st_size > 0
    assert (out / "figures/figure-a3.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures/figure-a3.pdf").read_bytes().startswith(b"%PDF")
    assert [path.name for path in out.parent.iterdir()] == ["report"]
    assert json.loads(capsys.readouterr().out)["study"]["slug"] == "s1"


def test_index_has_no_script_and_only_relative_links_that_lead_somewhere(tmp_path: Path) -> None:
    make_world()
    _report("s1", tmp_path / "report")
    page = (tmp_path / "report/index.html").read_text()
    assert "<script" not in page
    assert " style=" not in page
    links = re.findall(r'(?:href|src)="([^"#]+)"', page)
    assert len(links) > 100
    for link in links:
        assert (tmp_path / "report" / link).is_file(), link


def test_manifest_holds_the_hash_of_every_file_and_what_the_numbers_rest_on(tmp_path: Path) -> None:
    world = make_world()
    make_run(world.study, "t9", metadata={"prompt_version": "v0", "prompt_digest": "ab"})
    _report("s1", tmp_path / "report")
    manifest = json.loads((tmp_path / "report/manifest.json").read_text())
    files = {
        str(path.relative_to(tmp_path / "report")) for path in (tmp_path / "report").rglob("*") if path.is_file()
    }
    assert set(manifest["files"]) == files - {"manifest.json"}
    for name, entry in manifest["files"].items():
        body = (tmp_path / "report" / name).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    assert manifest["statistics"] == {"resamples": 50, "seed": 12345, "level": 0.95, "unit": "task"}
    assert manifest["judges"]["stage_1"][0]["name"] == "test"
    assert {"verify.1", "audit_a.1", "agent.v1"} <= set(manifest["prompts"])
    assert manifest["prompts_of_runs"] == [
        {"version": None, "sha256": None, "runs": 1},
        {"version": "v0", "sha256": "ab", "runs": 1},
    ]
    assert manifest["data"]["verdicts"]["rows"] == 2
    assert manifest["audits"][0]["seed"] == 1
    assert manifest["versions"]["python"]
    assert all(identity["holds"] for identity in manifest["identities"])


def test_data_digests_are_the_same_for_the_same_study_and_differ_with_one_label() -> None:
    first, second = make_world("s1"), make_world("s2")
    assert data_digests(first.study) == data_digests(second.study)
    Verdict.objects.filter(group__run=second.run, label="I").update(label="U")
    one, other = data_digests(first.study), data_digests(second.study)
    assert {kind for kind in one if one[kind] != other[kind]} == {"verdicts"}


def test_methods_hold_the_studys_own_numbers(tmp_path: Path) -> None:
    make_world()
    _report("s1", tmp_path / "report")
    text = (tmp_path / "report/methods.md").read_text()
    assert "The study holds 1 run of 1 model on 1 task" in text
    assert "50 resamples of whole tasks (seed 12345)" in text
    assert "the controls they were made under are not known" in text


def test_empty_study_has_a_report_too(tmp_path: Path) -> None:
    make_study("bare")
    _report("bare", tmp_path / "report")
    table = json.loads((tmp_path / "report/tables/table-2.json").read_text())
    early = table["rows"][-1]["result"]
    assert early["value"] is None
    assert early["undefined"] == "no run has a link"


def test_earlier_report_is_replaced_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    make_study("bare")
    out = tmp_path / "report"
    _report("bare", out)
    (out / "old.txt").write_text("from before")
    _report("bare", out)
    assert not (out / "old.txt").exists()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("mine")
    with pytest.raises(CommandError, match="holds something else than a report"):
        _report("bare", other)
    assert (other / "chapter.txt").read_text() == "mine"
    with pytest.raises(CommandError, match="is a file"):
        _report("bare", other / "chapter.txt")


def test_full_disk_leaves_nothing_behind_and_keeps_the_earlier_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study("bare")
    out = tmp_path / "report"
    _report("bare", out)
    before = (out / "manifest.json").read_bytes()

    def full(path: Path, content: str | bytes) -> dict:
        if path.name == "figure-a5.png":
            raise OSError(28, "No space left on device")
        return saved(path, content)

    saved = report_set._save
    monkeypatch.setattr(report_set, "_save", full)
    with pytest.raises(CommandError, match=r"No space left on device\. Nothing of it was kept"):
        _report("bare", out)
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert (out / "manifest.json").read_bytes() == before


def test_names_from_outside_become_markup_in_no_file(tmp_path: Path) -> None:
    world = make_world()
    world.study.models.update(name="<img src=x> & | [a](b) \\input{x} %", family="=cmd()")
    _report("s1", tmp_path / "report")
    out = tmp_path / "report"
    assert "<img src=x>" not in (out / "index.html").read_text()
    assert r"\<img src=x\> \& \| \[a\](b) \\input{x} %" in (out / "tables/table-1.md").read_text()
    assert r"\textbackslash{}input\{x\} \%" in (out / "tables/table-1.tex").read_text()
    assert "'=cmd()" in (out / "tables/table-a2.csv").read_text()
    assert Study.objects.get(slug="s1").models.get().family == "=cmd()"
