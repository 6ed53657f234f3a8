"""A study file saved, saved again, and refused where runs stand in its way."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from lseval.errors import ConflictError, InputError
from lseval.models import Call, Phase, Study
from lseval.pipeline import study_settings
from lseval.pipeline.import_runs import import_run
from lseval.pipeline.study_files.reading import read_study_text
from lseval.pipeline.study_files.saving import check_study, save_study
from lseval.pipeline.study_files.writing import study_file_of, study_toml
from tests.factories import make_record, make_run, make_study

pytestmark = pytest.mark.django_db

TEXT = """
[study]
slug = "s1"
name = "Ferries"
link_policy = "either"

[controls]
iterations = 40
llm_timeout_s = 300

[search]
provider = "searxng"
base_url = "http://127.0.0.1:8888"
price_usd_per_call = 0.005

[judges.stage1]
base_url = "https://judge.example/v1"
model = "judge"
key_env = "JUDGE_KEY"
timeout_s = 60
price = { input_usd_per_mtok = 2, output_usd_per_mtok = 8 }

[budget]
usd = 12.5

[providers]
allow = ["http://127.0.0.1:8888"]

[[models]]
name = "m1"
family = "m"
base_url = "https://models.example/v1"
model = "m-1"
sampling = { temperature = 0.6 }
price = { input_usd_per_mtok = 1.25, cached_usd_per_mtok = 0.125, output_usd_per_mtok = 10 }

[[tasks]]
key = "t1"
question = "Which two ferries of t1 opened before 1975?"
topic = "transport"
rubric = { required_count = 2, constraints = ["opened before 1975"] }
"""


def _save(text: str = TEXT) -> Study:
    return save_study(read_study_text(text)).study


def _collect(study: Study) -> None:
    import_run(study, make_record(), source_format="collected")


def test_the_same_file_twice_changes_nothing() -> None:
    first = save_study(read_study_text(TEXT))
    assert (first.is_new, first.new_tasks, first.new_models) == (True, ("t1",), ("m1",))
    study = Study.objects.get(slug="s1")
    before = (study.settings, list(study.tasks.values()), list(study.models.values()))
    again = save_study(read_study_text(TEXT))
    assert not again.is_new
    assert [again.new_tasks, again.changed_tasks, again.new_models, again.changed_models] == [()] * 4
    assert again.changed_settings == ()
    study.refresh_from_db()
    assert (study.settings, list(study.tasks.values()), list(study.models.values())) == before


def test_checking_changes_nothing() -> None:
    assert check_study(read_study_text(TEXT)).is_new
    assert not Study.objects.exists()


def test_settings_come_back_with_their_types() -> None:
    study = _save()
    model = study.models.get()
    assert study_settings.controls_of(study).iterations == 40
    assert study_settings.budget_of(study).usd == Decimal("12.5")
    assert study_settings.allow_of(study) == ("http://127.0.0.1:8888",)
    assert study_settings.search_settings_of(study).price_usd_per_call == Decimal("0.005")
    endpoint = study_settings.endpoint_of(model)
    assert (endpoint.model, endpoint.sampling, endpoint.timeout_s) == ("m-1", {"temperature": 0.6}, 300)
    price = study_settings.price_of(model)
    assert price is not None
    assert price.cached_usd_per_mtok == Decimal("0.125")
    judge = study_settings.judge_endpoint_of(study, "stage1")
    assert judge is not None
    assert (judge.key_env, judge.timeout_s) == ("JUDGE_KEY", 60)
    assert study_settings.judge_endpoint_of(study, "stage2_a") is None


def test_a_study_without_settings_has_the_papers_controls_and_cannot_collect() -> None:
    study = make_run(make_study("s1")).study
    assert study_settings.controls_of(study).iterations == 120
    with pytest.raises(InputError, match="no search engine"):
        study_settings.search_settings_of(study)
    with pytest.raises(InputError, match="has no endpoint"):
        study_settings.endpoint_of(study.models.get())


def test_settings_that_were_spoiled_are_told_by_name() -> None:
    study = make_study()
    study.settings = {"controls": {"iterations": "many"}}
    with pytest.raises(InputError, match=r"controls of study s1 cannot be used: iterations"):
        study_settings.controls_of(study)


def test_tasks_and_models_are_added_and_never_removed() -> None:
    _save()
    text = TEXT.replace('name = "m1"', 'name = "m2"').replace('key = "t1"', 'key = "t2"')
    saved = save_study(read_study_text(text))
    assert (saved.new_tasks, saved.kept_tasks) == (("t2",), ("t1",))
    assert (saved.new_models, saved.kept_models) == (("m2",), ("m1",))


def test_controls_may_change_until_collecting_has_begun() -> None:
    study = _save()
    changed = read_study_text(TEXT.replace("iterations = 40", "iterations = 41"))
    assert save_study(changed).changed_settings == ("controls",)
    _collect(study)
    with pytest.raises(ConflictError, match="iterations from 41 to 40"):
        _save()
    study.refresh_from_db()
    assert study.settings["controls"]["iterations"] == 41
    assert save_study(changed).changed_settings == ()


def test_controls_may_not_change_between_the_calls_of_a_run() -> None:
    study = _save()
    Call.objects.create(study=study, phase=Phase.COLLECTION, digest="d", provider="p", request={}, reply={})
    with pytest.raises(ConflictError, match="Collecting has begun"):
        _save(TEXT.replace("iterations = 40", "iterations = 41"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("opened before 1975?", "opened before 1976?", "its question cannot change"),
        ("required_count = 2", "required_count = 3", "its rubric cannot change"),
        ("temperature = 0.6", "temperature = 0.7", r"\(sampling\)"),
        ('model = "m-1"', 'model = "m-2"', r"\(model\)"),
    ],
)
def test_what_runs_were_made_under_stays(old: str, new: str, told: str) -> None:
    study = _save()
    _collect(study)
    with pytest.raises(ConflictError, match=told):
        _save(TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("models.example", "elsewhere.example"), ("1.25", "1.5"), ("12.5", "20.75"), ("transport", "ships")],
)
def test_what_no_run_depends_on_may_change(old: str, new: str) -> None:
    study = _save()
    _collect(study)
    before = study_toml(study)
    changed = study_toml(_save(TEXT.replace(old, new)))
    assert new in changed
    assert before != changed


def test_an_imported_run_does_not_fix_the_controls() -> None:
    study = make_run(make_study("s1")).study
    text = TEXT[: TEXT.index("rubric = {")]
    assert save_study(read_study_text(text)).study == study


def test_what_a_tasks_entry_leaves_out_stays() -> None:
    study = _save()
    text = TEXT[: TEXT.index("topic = ")] + 'language = "en"\n'
    assert save_study(read_study_text(text)).changed_tasks == ("t1",)
    task = study.tasks.get()
    assert (task.topic, task.language, task.rubric["required_count"]) == ("transport", "en", 2)


def test_settings_of_others_are_left_alone() -> None:
    study = make_study("s1")
    study.settings = {"something_else": 1}
    study.save()
    assert _save().settings["something_else"] == 1


def test_a_study_written_as_a_file_makes_the_same_study() -> None:
    study = _save()
    text = study_toml(study)
    assert read_study_text(text) == study_file_of(study) == read_study_text(TEXT)
    study.delete()
    assert study_toml(_save(text)) == text


def test_a_model_of_imported_runs_is_named_and_left_out() -> None:
    text = study_toml(make_run(make_study("s1")).study)
    assert text.startswith("# m1: its runs were imported")
    assert read_study_text(text).models == []


def test_a_file_of_the_sandbox_without_tasks_gets_those_of_its_world(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('[study]\nslug = "s1"\n[sandbox]\nseed = 3\ntasks = 4\n', encoding="utf-8")
    call_command("create_study", path, stdout=StringIO())
    study = Study.objects.get()
    assert study.tasks.count() == 4
    assert all(task.rubric["required_count"] >= 1 for task in study.tasks.all())
    call_command("create_study", path, stdout=(again := StringIO()))
    assert again.getvalue() == "study s1: there already\n"


def test_the_command_makes_checks_and_shows(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    out = StringIO()
    call_command("create_study", path, "--check", stdout=out)
    assert "Nothing was changed" in out.getvalue()
    assert not Study.objects.exists()
    call_command("create_study", path, stdout=out)
    assert "new models: 1 (m1)" in out.getvalue()
    shown = StringIO()
    call_command("show_study", "s1", "--toml", stdout=shown)
    assert read_study_text(shown.getvalue()).study.slug == "s1"
    path.write_text(TEXT + "surplus = 1\n", encoding="utf-8")
    with pytest.raises(CommandError, match=r"study\.toml, line 42: tasks\[1\]\.surplus: .*\n.*Nothing was changed"):
        call_command("create_study", path)
