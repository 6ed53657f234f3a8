"""What is exported of an evaluation is imported back without loss, or refused with a reason: I10."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as live
from django.core.management import CommandError, call_command

from lseval.formats.evaluation_rows import ROW_TYPES
from lseval.models import (
    AnswerGroup,
    FailureNode,
    Judgement,
    Link,
    Page,
    PageContent,
    RoundConsensus,
    Study,
    Verdict,
)
from lseval.pipeline.evaluation import stage_counts
from lseval.pipeline.evaluation_import import import_evaluation
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, REPLACED
from lseval.pipeline.stage1 import runs_to_verify
from lseval.pipeline.stage2 import runs_to_audit
from lseval.site.demo.build import build_demo
from lseval.site.tables.catalog import TABLES
from tests.pipeline.evaluation_import.making import (
    FORMATS,
    LONG_AGO,
    audits_of,
    edit,
    export_all,
    labels_of,
    make_evaluated,
    make_twin,
    place_of_fetched,
    plain,
    put,
    reports_of,
    rows_of,
    tables_of,
    written,
)
from tests.sandbox.test_demo import TINY

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("file_format", FORMATS)
def test_twin_of_an_evaluated_study_equals_it(tmp_path: Path, file_format: str) -> None:
    study = make_evaluated()
    folder = export_all(study, tmp_path / "out", file_format)
    twin = make_twin(folder)
    told = StringIO()
    call_command("import_evaluation", "two", str(folder), stdout=told)
    for what in ROW_TYPES:
        assert plain(twin, what) == plain(study, what), what
        assert rows_of(twin, what), what
    assert written(twin, "runs") == written(study, "runs")
    assert set(Verdict.objects.values_list("judged_at", flat=True)) == {LONG_AGO}
    assert set(Judgement.objects.values_list("judged_at", flat=True)) == {LONG_AGO}
    for model, of_study in (
        (RoundConsensus, "round__run__study"),
        (FailureNode, "run__study"),
        (Link, "run__study"),
    ):
        values = {
            RoundConsensus: ("round__run__task__key", "round__number", "verdict", "is_split"),
            FailureNode: ("run__task__key", "round__number", "error_type", "is_type_agreed"),
            Link: ("run__task__key", "round__number", "group__number"),
        }[model]
        one, two = (
            sorted(model._default_manager.filter(**{of_study: each}).values_list(*values)) for each in (study, twin)
        )
        assert one == two
        assert one
    # Five evaluable rounds, two failure nodes in the first run and one in the other; one link.
    assert (FailureNode.objects.filter(run__study=twin).count(), Link.objects.filter(run__study=twin).count()) == (
        3,
        1,
    )
    counts = {
        (line.split()[0], " ".join(line.split()[1:-1])): int(line.split()[-1])
        for line in told.getvalue().splitlines()[1:]
    }
    assert counts[("verdicts", "added")] == 4
    assert counts[("judgements", "added")] == 12
    assert counts[("links", "already there")] == 1


def test_tables_of_the_twin_equal_those_of_the_study(tmp_path: Path) -> None:
    study = make_evaluated()
    folder = export_all(study, tmp_path / "out")
    twin = make_twin(folder)
    import_evaluation(twin, [folder])
    one, two = tables_of(study), tables_of(twin)
    assert two == one
    for file_format in FORMATS:
        again = export_all(study, tmp_path / f"again-{file_format}", file_format)
        report = import_evaluation(twin, [again])
        assert {outcome for _, outcome in +report.rows} == {KEPT}


class TestWhatIsThere:
    def test_second_import_writes_nothing(self, twin: Study, folder: Path) -> None:
        import_evaluation(twin, [folder])
        before = [
            list(model.objects.order_by("pk").values()) for model in (Page, Verdict, Judgement, Link, FailureNode)
        ]
        report = import_evaluation(twin, [folder], replace=True)
        assert {outcome for _, outcome in +report.rows} == {KEPT}
        assert before == [
            list(model.objects.order_by("pk").values()) for model in (Page, Verdict, Judgement, Link, FailureNode)
        ]

    @pytest.mark.parametrize("file_format", FORMATS)
    def test_own_export_is_there_already(self, study: Study, tmp_path: Path, file_format: str) -> None:
        report = import_evaluation(study, [export_all(study, tmp_path / "own", file_format)], replace=True)
        assert {outcome for _, outcome in +report.rows} == {KEPT}

    @pytest.mark.parametrize("file_format", FORMATS)
    def test_mark_at_the_beginning_names_of_downloads_and_foreign_line_ends_do_not_matter(
        self, study: Study, twin: Study, tmp_path: Path, file_format: str
    ) -> None:
        for what in ROW_TYPES:
            text = written(study, what, file_format)
            text = text.replace("\n", "\r\n") if file_format == "jsonl" else text
            (tmp_path / f"s-{what}.{file_format}").write_bytes(("\ufeff" + text).encode())
        assert not import_evaluation(twin, [tmp_path]).problems
        for what in ROW_TYPES:
            assert plain(twin, what) == plain(study, what)

    def test_verdict_that_differs_is_kept_or_replaced_and_stage_2_forgotten(
        self, twin: Study, folder: Path
    ) -> None:
        import_evaluation(twin, [folder])
        kept = Verdict.objects.get(group__run__study=twin, group__run__task__key="=t1", group__number=2)
        path = edit(folder / "verdicts.jsonl", put(label="C", reason="seen again"), 1)
        report = import_evaluation(twin, [path])
        [problem] = report.problems
        assert "verdicts.jsonl:2: answer group 2 has another verdict here, I by a judge; it was kept" in problem
        assert Verdict.objects.get(pk=kept.pk).label == "I"
        report = import_evaluation(twin, [path], replace=True)
        assert +report.rows == {("verdicts", REPLACED): 1, ("verdicts", KEPT): 3}
        assert report.forgotten == 1
        run = kept.group.run
        assert Verdict.objects.get(group=kept.group).reason == "seen again"
        assert Verdict.objects.get(group=kept.group).judged_at == LONG_AGO
        assert not Judgement.objects.filter(round__run=run).exists()
        assert not Link.objects.filter(run=run).exists()
        assert Judgement.objects.filter(round__run__study=twin).count() == 2

    def test_same_verdict_of_another_time_is_there_and_takes_the_time_only_when_told(
        self, twin: Study, folder: Path
    ) -> None:
        import_evaluation(twin, [folder])
        later = "2026-05-01T10:00:00.000001+02:00"
        path = edit(folder / "verdicts.jsonl", put(judged_at=later))
        assert +import_evaluation(twin, [path]).rows == {("verdicts", KEPT): 4}
        assert +import_evaluation(twin, [path], replace=True).rows == {
            ("verdicts", REPLACED): 1,
            ("verdicts", KEPT): 3,
        }
        found = Verdict.objects.get(group__run__study=twin, group__run__task__key="=t1", group__number=1)
        assert found.judged_at == datetime.fromisoformat(later)
        assert Judgement.objects.filter(round__run__study=twin).count() == 12

    def test_judgement_that_differs_is_kept_or_replaced_with_what_follows(self, twin: Study, folder: Path) -> None:
        import_evaluation(twin, [folder])
        path = edit(folder / "judgements.jsonl", put(verdict="non_error", groups=[], error_type=""))
        [problem] = import_evaluation(twin, [path]).problems
        assert "judgements.jsonl:1: round 1 has another judgement of judge A here" in problem
        assert Link.objects.filter(run__study=twin).count() == 1
        report = import_evaluation(twin, [path], replace=True)
        assert report.rows["judgements", REPLACED] == 1
        assert not Link.objects.filter(run__study=twin).exists()
        found = RoundConsensus.objects.get(round__run__study=twin, round__run__task__key="=t1", round__number=1)
        assert (found.verdict, found.is_split) == ("non_error", True)

    def test_page_that_differs_is_kept_or_replaced(self, twin: Study, folder: Path) -> None:
        import_evaluation(twin, [folder])
        path = folder / "pages.jsonl"
        place = place_of_fetched(folder)
        text = "The Lake Borun ferry 渡し船 opened in 1979."
        edit(path, put(text=text, text_digest=hashlib.sha256(text.encode()).hexdigest()), place)
        before = Page.objects.get(study=twin, source="fetched")
        [problem] = import_evaluation(twin, [path]).problems
        assert "which differs in text, text_digest; it was kept" in problem
        report = import_evaluation(twin, [path], replace=True)
        assert report.rows["pages", REPLACED] == 1
        assert Page.objects.get(pk=before.pk).text == text
        assert bytes(before.content.body) == b"<p>Borun</p>\xff\x00"

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (put(text="changed"), "text_digest is not the SHA-256 of text"),
            (put(content="base64:!"), "in Base64"),
            (put(content="PHA+"), "in Base64"),
            (put(content="base64:PHA+"), "content_digest is not the SHA-256 of content"),
            (put(task_key="=t1", model="m1"), "a page that is recorded names its run"),
            (put(task_key="=t1"), "a page that is recorded names its run"),
            (put(outcome="fine"), "outcome: 'fine' is none of ok"),
            (put(status=-1), "status"),
            (put(hops=[{"address": "x"}]), "hops[0].url: is missing"),
        ],
    )
    def test_page_at_fault_is_refused_and_the_others_are_stored(
        self, twin: Study, folder: Path, change: Any, told: str
    ) -> None:
        place = place_of_fetched(folder)
        report = import_evaluation(twin, [edit(folder / "pages.jsonl", change, place)])
        [problem] = report.problems
        assert problem.startswith(f"pages.jsonl:{place + 1}: ")
        assert told in problem
        assert report.rows["pages", ADDED] == 1

    def test_verdict_on_a_text_that_was_replaced_since_comes_back_as_such(
        self, study: Study, tmp_path: Path
    ) -> None:
        text = "Rewritten."
        Page.objects.filter(study=study, source="fetched").update(
            text=text, text_digest=hashlib.sha256(text.encode()).hexdigest()
        )
        folder = export_all(study, tmp_path / "later")
        twin = make_twin(folder)
        assert not import_evaluation(twin, [folder]).problems
        assert plain(twin, "verdicts") == plain(study, "verdicts")

    def test_round_that_no_judge_sees_here_takes_no_judgement(self, twin: Study, folder: Path) -> None:
        twin.runs.get(task__key="=t1").rounds.filter(number=3).update(skip_reason="duplicate")
        report = import_evaluation(twin, [folder])
        assert "round 3 is set aside here before any judge sees it (duplicate)" in report.problems[0]


class TestAnswers:
    @pytest.fixture
    def by_model(self, study: Study) -> Study:
        """A study whose response a model took apart otherwise than rules do, and whose rubric a model read."""
        run = study.runs.get(task__key="=t1")
        run.rubric.origin, run.rubric.prompt_digest, run.rubric.required_count = "m, prompt rubric", "a" * 64, 3
        run.rubric.constraints = ["=opened", "{}"]
        run.rubric.save()
        first = run.answer_groups.get(number=1)
        AnswerGroup.objects.filter(pk=first.pk).update(
            text=first.text + "!", title="=Aldis", fields={"year": "1962"}
        )
        run.grouping_method, run.grouping_origin, run.grouping_digest = "model", "m, prompt grouping", "b" * 64
        run.save()
        return study

    @pytest.mark.parametrize("file_format", FORMATS)
    def test_response_that_a_model_took_apart_comes_back(
        self, by_model: Study, tmp_path: Path, file_format: str
    ) -> None:
        folder = export_all(by_model, tmp_path / "model", file_format)
        twin = make_twin(folder)
        report = import_evaluation(twin, [folder / f"verdicts.{file_format}"])
        assert "answer group 1 has another text here" in report.problems[0]
        report = import_evaluation(twin, [folder])
        assert not report.problems
        assert report.rows["answers", ADDED] == 1
        for what in ROW_TYPES:
            assert plain(twin, what) == plain(by_model, what)
        assert import_evaluation(twin, [folder]).rows["answers", KEPT] == 2

    def test_groups_that_something_rests_on_stay(
        self, twin: Study, folder: Path, by_model: Study, tmp_path: Path
    ) -> None:
        import_evaluation(twin, [folder])
        (tmp_path / "answers.jsonl").write_text(written(by_model, "answers"))
        for is_told in (False, True):
            [problem] = import_evaluation(twin, [tmp_path / "answers.jsonl"], replace=is_told).problems
            assert "verdicts or labels rest on its groups already" in problem
        assert Verdict.objects.filter(group__run__study=twin).count() == 4

    def test_another_rubric_of_a_judged_run_is_taken_only_when_told(self, twin: Study, folder: Path) -> None:
        import_evaluation(twin, [folder])
        path = edit(folder / "answers.jsonl", put(required_count=4))
        [problem] = import_evaluation(twin, [path]).problems
        assert "another required_count here" in problem
        import_evaluation(twin, [path], replace=True)
        assert twin.runs.get(task__key="=t1").rubric.required_count == 4
        assert Verdict.objects.filter(group__run__study=twin).count() == 4


def test_summary_as_json_and_refusals_end_the_command(twin: Study, folder: Path) -> None:
    out = StringIO()
    call_command("import_evaluation", "two", str(folder), "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert (told["study"], told["problems"], told["forgotten"]) == ("two", [], 0)
    assert told["rows"]["verdicts"] == {
        "added": 4, "replaced": 0, "already there": 0, "left out with the rest": 0, "refused": 0,
    }  # fmt: skip
    edit(folder / "links.jsonl", put(group_number=1))
    errors = StringIO()
    with pytest.raises(CommandError, match="rows were refused; nothing was stored"):
        call_command("import_evaluation", "two", str(folder), stdout=StringIO(), stderr=errors)
    assert "links.jsonl:1: round 1 is not linked to answer group 1" in errors.getvalue()


def test_list_of_digests_of_a_folder_can_be_checked(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert {name for _, _, name in (line.partition("  ") for line in lines)} == {
        f"{what}.jsonl" for what in (*ROW_TYPES, "runs", "audits", "labels", "members")
    }
    for line in lines:
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("file_format", FORMATS)
def test_twin_of_a_demo_has_its_rows_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    """The whole way: agents on the sandbox, pages fetched with their bytes, both stages, and a study file."""
    monkeypatch.setattr(live, "ENVIRONMENT", replace(live.ENVIRONMENT, var=tmp_path))
    monkeypatch.setattr(live, "IS_LOCAL", True)
    study = build_demo(TINY).study
    folder = export_all(study, tmp_path / "out", file_format)
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('slug = "tiny"', 'slug = "two"'), encoding="utf-8")
    for command in (
        ["create_study", str(file)],
        ["import_runs", "two", str(folder / "runs.jsonl")],
        ["import_evaluation", "two", str(folder)],
    ):
        call_command(*command, stdout=StringIO())
    twin = Study.objects.get(slug="two")
    for what in ROW_TYPES:
        assert plain(twin, what) == plain(study, what), what
    assert rows_of(twin, "judgements")
    assert (
        PageContent.objects.filter(page__study=twin).count()
        == PageContent.objects.filter(page__study=study).count()
    )
    assert audits_of(twin) == audits_of(study)
    assert labels_of(twin) == labels_of(study)
    assert labels_of(twin)
    assert twin.audits.get().status == "open"
    assert reports_of(twin) == reports_of(study)
    told = [StringIO(), StringIO()]
    for slug, out in zip(("tiny", "two"), told, strict=True):
        call_command("agreement", slug, "--json", "--resamples", "200", stdout=out)
    one, two = (json.loads(out.getvalue()) for out in told)
    assert {**two, "study": "", "people": ""} == {**one, "study": "", "people": ""}
    told = [StringIO(), StringIO()]
    for slug, out in zip(("tiny", "two"), told, strict=True):
        call_command("validity", slug, stdout=out)
    assert told[1].getvalue().replace("two", "tiny") == told[0].getvalue().replace("two", "tiny")
    # Costs come of the ledger, which is no part of the evaluation.
    parts = TABLES.keys() - {"a11"}
    one, two = tables_of(study), tables_of(twin)
    assert {name: two[name] for name in parts} == {name: one[name] for name in parts}
    assert stage_counts(twin) == stage_counts(study)
    # Nothing waits for a judge: what came is as if it had been judged here.
    assert not runs_to_verify(twin)
    assert not runs_to_audit(twin)
