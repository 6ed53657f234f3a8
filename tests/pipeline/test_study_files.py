"""Study files as they are read and checked."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from lseval.pipeline.study_files.errors import StudyFileError
from lseval.pipeline.study_files.positions import line_numbers
from lseval.pipeline.study_files.reading import read_study_file, read_study_text
from lseval.pipeline.study_files.schema import StudyFile
from lseval.pipeline.study_files.writing import toml_of

HEAD = '[study]\nslug = "s1"\n'
MODEL = '[[models]]\nname = "a"\nbase_url = "http://127.0.0.1:8001/v1"\nmodel = "m"\n'
EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.toml"))


def _problems(text: str, folder: Path | None = None) -> list[tuple[int | None, str, str]]:
    with pytest.raises(StudyFileError) as caught:
        read_study_text(text, "f.toml", folder)
    return [(problem.line, problem.field, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "line", "field", "told"),
    [
        ("[study]\nslug = ", 2, "", "is not TOML"),
        ("", None, "study", "is missing"),
        ('[study]\nname = "x"\n', 1, "study.slug", "is missing"),
        ('[study]\nslug = "S 1"\n', 2, "study.slug", "must match pattern"),
        (HEAD + "[controls]\n\niteration = 3\n", 5, "controls.iteration", "did you mean iterations?"),
        (HEAD + "[controls]\niterations = 1.5\n", 4, "controls.iterations", "must be a whole number"),
        (HEAD + "[controls]\nsearch_results = 11\n", 4, "controls.search_results", "less than or equal to 10"),
        (HEAD + "[controls]\nread_chars = 10\nread_chars_cap = 5\n", 3, "controls", "must not be above"),
        (HEAD + "[serch]\n", 3, "serch", "did you mean search?"),
        (HEAD + '[search]\nprovider = "google"\n', 4, "search.provider", "must be 'searxng', 'brave'"),
        (HEAD + '[search]\nprovider = "brave"\n', 3, "search", "key_env is missing"),
        (HEAD + MODEL + "sampling = {n = 2}\n", 7, "models[1].sampling", "n is set by the program"),
        (HEAD + MODEL + "sampling = {t = 1979-05-27}\n", 7, "models[1].sampling", "t is a date"),
        (HEAD + MODEL + "price = {input_usd_per_mtok = 1}\n", 7, "models[1].price.output_usd_per_mtok", "missing"),
        (HEAD + MODEL + 'key_env = "MY KEY"\n', 7, "models[1].key_env", "name of an environment variable"),
        (HEAD + MODEL + MODEL, 8, "models[2].name", "'a' is there already"),
        (HEAD + '[[models]]\nname = "a"\nmodel = "m"\n', 3, "models[1]", "base_url is missing"),
        (
            HEAD + '[judges.stage2]\nbase_url = "http://h/v1"\nmodel = "m"\n',
            3,
            "judges.stage2",
            "did you mean stage2_",
        ),
        (HEAD + '[[tasks]]\nkey = "t"\nquestion = " "\n', 5, "tasks[1].question", "must not be blank"),
        (HEAD + 'tasks_file = "t.jsonl"\n', 3, "study.tasks_file", "no file can be read from here"),
        (HEAD + '[[tasks]]\nkey = "t\\u0000"\nquestion = "q"\n', 4, "tasks[1].key", "NUL"),
    ],
)
def test_a_problem_names_line_and_field(text: str, line: int | None, field: str, told: str) -> None:
    found = _problems(text)
    assert [(number, name) for number, name, _ in found] == [(line, field)]
    assert told in found[0][2]


def test_all_problems_are_told_at_once() -> None:
    found = _problems(HEAD + '[controls]\niterations = "a"\nwatchdog_s = -1\n' + MODEL + "timeout = 3\n")
    assert [line for line, _, _ in found] == [4, 5, 10]


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "abc"',
        'key_env = "sk-proj-1234567890abcdefghij"',
        'sampling = {token = "x"}',
        'sampling = {user = "sk-1234567890abcdefghij"}',
        'sampling = {user = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zB1dF"}',
    ],
)
def test_a_secret_is_refused_and_never_repeated(line: str) -> None:
    found = _problems(HEAD + MODEL + line + "\n")
    assert found[0][0] == 7
    assert "key_env" in found[0][2]
    value = line.split('"')[1]
    assert len(value) < 5 or value not in str(found)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    found = _problems(HEAD + MODEL.replace("//", "//user:hunter2@"))
    assert "hunter2" not in str(found)
    assert "key_env" in found[0][2]


def test_the_defaults_are_the_papers_controls() -> None:
    controls = read_study_text(HEAD).controls.controls
    assert (controls.iterations, controls.early_stopping, controls.llm_timeout_s) == (120, "generate", 600.0)
    assert (controls.search_results, controls.read_chars, controls.read_chars_cap) == (10, 3_000, 5_000)
    assert (controls.search_connect_s, controls.search_read_s) == (10.0, 20.0)


def test_prices_are_exact_however_they_are_written() -> None:
    text = (
        HEAD
        + MODEL
        + 'price = {input_usd_per_mtok = 0.1, cached_usd_per_mtok = "0.025", output_usd_per_mtok = 10}\n'
    )
    price = read_study_text(text).models[0].price
    assert price is not None
    assert price.price.input_usd_per_mtok == Decimal("0.1")
    assert price.price.cached_usd_per_mtok == Decimal("0.025")
    assert price.price.output_usd_per_mtok == 10


def _study_with(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    path = folder / "study.toml"
    path.write_text(HEAD + f'tasks_file = "{name}"\n', encoding="utf-8")
    return path


def test_tasks_come_from_jsonl_or_csv(tmp_path: Path) -> None:
    jsonl = b'{"key": "a", "question": "Q?", "rubric": {"required_count": 2}}\n\n{"key": "b", "question": "R?"}\n'
    csv = 'key,question,gold,rubric\na,Q?,,"{""required_count"": 2}"\nb,R?,,\n'.encode("utf-8-sig")
    read = [read_study_file(_study_with(tmp_path, *given)).tasks for given in (("t.jsonl", jsonl), ("t.csv", csv))]
    assert read[0] == read[1]
    assert [(task.key, task.question) for task in read[0]] == [("a", "Q?"), ("b", "R?")]
    assert read[0][0].rubric is not None
    assert read[0][0].rubric.required_count == 2


@pytest.mark.parametrize(
    ("name", "content", "line", "told"),
    [
        ("t.jsonl", b'{"key": "a", "question": "Q"}\n{"key": ', 2, "not JSON"),
        ("t.jsonl", b'{"key": "a", "question": "Q"}\n{"key": "b"}', 2, "is missing"),
        ("t.jsonl", b"[1]", 1, "must be"),
        ("t.jsonl", b'{"key": "a", "question": "Q", "topics": ""}', 1, "did you mean topic?"),
        ("t.csv", b"key,question\na,Q\nb\n", 3, "another number of columns"),
        ("t.csv", b"key,question\na,\xff\n", 2, "not UTF-8"),
        ("t.csv", b'key,question,rubric\na,Q,"{"\n', 2, "not JSON"),
        ("t.txt", b"", None, "must be a .jsonl or a .csv file"),
    ],
)
def test_a_problem_in_a_file_of_tasks_names_its_line(
    tmp_path: Path, name: str, content: bytes, line: int | None, told: str
) -> None:
    with pytest.raises(StudyFileError) as caught:
        read_study_file(_study_with(tmp_path, name, content))
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == (name, line)
    assert told in caught.value.problems[0].message


def test_a_file_of_tasks_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(HEAD + 'tasks_file = "gone.jsonl"\n', encoding="utf-8")
    with pytest.raises(StudyFileError, match="cannot be read"):
        read_study_file(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_in_the_docs_are_good(path: Path) -> None:
    found = read_study_file(path)
    assert read_study_text(toml_of(found)) == found


def test_lines_are_found_in_every_kind_of_toml() -> None:
    text = '''# first
a.b = 1
"q.r" = [
  1, # one
  "]#",
  { x = 2, y = """
three"""}, 
]
[t.'u v']
w = "\\"#" # comment
[[l]]
[[l.m]]
n = 1
[[l]]
  [l.o]
  p = \'\'\'
[not.a.table]
\'\'\'
z = 2'''
    tomllib.loads(text)
    lines = line_numbers(text)
    wanted: dict[tuple[str | int, ...], int] = {
        ("a", "b"): 2,
        ("q.r",): 3,
        ("q.r", 0): 4,
        ("q.r", 1): 5,
        ("q.r", 2, "x"): 6,
        ("q.r", 2, "y"): 6,
        ("t", "u v"): 9,
        ("t", "u v", "w"): 10,
        ("l", 0): 11,
        ("l", 0, "m", 0, "n"): 13,
        ("l", 1): 14,
        ("l", 1, "o", "p"): 16,
        ("l", 1, "o", "z"): 19,
    }
    assert {path: lines.get(path) for path in wanted} == wanted
    assert ("not",) not in lines


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    found = {path} if path else set()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found |= _paths(inner, (*path, key))
    return found


_JSON = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(min_size=1), _JSON, max_size=4))
def test_every_value_of_a_toml_text_has_a_line(data: dict[str, Any]) -> None:
    text = tomli_w.dumps(data)
    lines = line_numbers(text)
    assert _paths(tomllib.loads(text)) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


_STORABLE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)
_SAMPLING = st.dictionaries(
    st.sampled_from(["temperature", "seed", "stop", "extra"]),
    st.booleans() | st.integers(-9, 2**40) | st.floats(-9, 9) | _STORABLE | st.lists(_STORABLE, max_size=2),
    max_size=2,
)
_NAME = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip)
_DOLLARS = st.decimals(0, 1000, places=6).map(str)
_PRICE = st.fixed_dictionaries({"input_usd_per_mtok": _DOLLARS, "output_usd_per_mtok": _DOLLARS})
_ENDPOINT = {"base_url": st.just("https://h.example/v1"), "model": _NAME}
_OPTIONAL = {
    "key_env": st.just("A_KEY"),
    "sampling": _SAMPLING,
    "timeout_s": st.floats(1, 900),
    "price": _PRICE,
    "concurrency": st.integers(1, 64),
}
_TASK = st.fixed_dictionaries(
    {"question": _NAME},
    optional={
        "topic": _STORABLE,
        "gold": _NAME,
        "rubric": st.fixed_dictionaries({"required_count": st.integers(1, 9), "constraints": st.lists(_NAME)}),
    },
)
_FILE = st.fixed_dictionaries(
    {
        "study": st.fixed_dictionaries(
            {"slug": st.just("s1")}, optional={"name": _NAME, "link_policy": st.just("either")}
        )
    },
    optional={
        "controls": st.fixed_dictionaries({}, optional={"iterations": st.integers(1, 200)}),
        "search": st.just({"provider": "brave", "key_env": "K", "price_usd_per_call": "0.005"}),
        "judges": st.dictionaries(
            st.sampled_from(["stage1", "rubric"]), st.fixed_dictionaries(_ENDPOINT, optional=_OPTIONAL)
        ),
        "budget": st.fixed_dictionaries({}, optional={"usd": _DOLLARS, "calls": st.integers(0, 10**9)}),
        "audit": st.just({"tasks": 5}),
        "models": st.lists(st.fixed_dictionaries(_ENDPOINT, optional=_OPTIONAL), max_size=3),
        "tasks": st.lists(_TASK, max_size=3),
    },
)


@settings(max_examples=150, deadline=None)
@given(_FILE)
def test_a_study_file_written_and_read_is_the_same(data: dict[str, Any]) -> None:
    for number, model in enumerate(data.get("models", [])):
        model["name"] = f"m{number}"
    for number, task in enumerate(data.get("tasks", [])):
        task["key"] = f"t{number}"
    file = StudyFile.model_validate(data)
    text = toml_of(file)
    assert StudyFile.model_validate(tomllib.loads(text)) == file
