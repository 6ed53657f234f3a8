"""The hand-written Tarn Lakes data are consistent in itself: runs, pages, citations and truth fit together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lseval.domain.labels import GroupLabel, PageOutcome
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import TOOLS

DATA = Path(__file__).resolve().parents[2] / "bench" / "tarn_lakes"
URL = re.compile(r"https?://[^\s)>\]|,\"]+")
MARKER = re.compile(r"\[(\d+)\]")
REFERENCES = re.compile(r"^(?:#+ )?(?:References|Sources):?$", re.MULTILINE)
LISTED = re.compile(r"^\[(\d+)\].*?(https?://\S+)$", re.MULTILINE)
MATCH = re.compile(r"^Match \d+ of \d+ at (\d+):\n", re.MULTILINE)
READ_CHARS = 3000

Run = dict[str, Any]


def load_runs() -> list[Run]:
    with (DATA / "runs.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_truth() -> dict[str, list[dict[str, str]]]:
    return json.loads((DATA / "truth.json").read_text(encoding="utf-8"))


RUNS = load_runs()
TRUTH = load_truth()


def name_of(run: Run) -> str:
    return f"{run['task']['key']}|{run['model']['name']}"


each_run = pytest.mark.parametrize("run", RUNS, ids=name_of)


def calls_with_results(run: Run) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    calls: dict[str, dict[str, Any]] = {}
    for message in run["messages"]:
        if message["role"] == "assistant":
            calls |= {call["id"]: call for call in message["tool_calls"]}
        else:
            yield calls[message["tool_call_id"]], message


def units_of(run: Run) -> list[tuple[str, list[str]]]:
    """The supplied units of an answer: every unit of the data cites on exactly one line, outside the references."""
    answer = run["final_answer"]
    heading = REFERENCES.search(answer)
    body, tail = (answer[: heading.start()], answer[heading.end() :]) if heading else (answer, "")
    listed = {number: url.rstrip(".") for number, url in LISTED.findall(tail)}
    units = []
    for line in body.splitlines():
        cited = [url.rstrip(".;:") for url in URL.findall(line)]
        cited += [listed[number] for number in MARKER.findall(line) if number in listed]
        if cited:
            units.append((line, cited))
    return units


def pages_of(run: Run) -> dict[str, dict[str, Any]]:
    return {page["url"]: page for page in run["pages"]}


def is_readable(page: dict[str, Any]) -> bool:
    return page["outcome"] == "ok" and bool(page["text"])


def test_each_of_five_models_has_one_run_on_each_of_six_tasks() -> None:
    names = [name_of(run) for run in RUNS]
    assert len(names) == len(set(names)) == 30
    assert len({run["task"]["key"] for run in RUNS}) == 6
    assert len({run["model"]["name"] for run in RUNS}) == 5
    assert len({run["model"]["family"] for run in RUNS}) == 3
    assert all(run["format"] == "lseval-run/1" for run in RUNS)


def test_a_task_is_the_same_in_every_run() -> None:
    tasks = {json.dumps(run["task"], sort_keys=True) for run in RUNS}
    assert len(tasks) == 6
    assert sorted(json.loads(task)["rubric"]["required_count"] for task in tasks) == [1, 2, 3, 3, 4, 5]
    for task in tasks:
        assert 2 <= len(json.loads(task)["rubric"]["constraints"]) <= 5


def test_the_file_stays_below_one_megabyte() -> None:
    assert (DATA / "runs.jsonl").stat().st_size < 1_000_000


def test_every_address_is_on_a_host_reserved_for_examples() -> None:
    for path in DATA.iterdir():
        for url in URL.findall(path.read_text(encoding="utf-8")):
            assert (urlsplit(url).hostname or "").endswith(".example"), url


@each_run
def test_every_call_is_answered_once_and_is_one_of_the_five_tools(run: Run) -> None:
    made = [call["id"] for message in run["messages"] for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in run["messages"] if message["role"] == "tool"]
    assert made == answered
    assert len(set(made)) == len(made)
    assert {call["name"] for call, _ in calls_with_results(run)} <= set(TOOLS)


def urls_by_page_id(run: Run) -> dict[str, str]:
    """The page that each identifier stands for, as `open_page` told it."""
    opened = [result["content"] for call, result in calls_with_results(run) if call["name"] == "open_page"]
    found = (re.match(r"Page identifier: (\S+)\n.*?\nAddress: (\S+)", text, re.DOTALL) for text in opened)
    return {match[1]: match[2] for match in found if match}


@each_run
def test_what_was_read_is_a_literal_window_of_the_page(run: Run) -> None:
    pages = pages_of(run)
    for call, result in calls_with_results(run):
        if result["is_error"] or call["name"] not in {"read_page", "find_in_page", "extract"}:
            continue
        text = pages[urls_by_page_id(run)[call["arguments"]["page_id"]]]["text"]
        if call["name"] == "read_page":
            start = call["arguments"]["offset"]
            end = start + call["arguments"].get("max_chars", READ_CHARS)
            assert result["content"] == text[start:end]
        elif call["name"] == "extract":
            assert all(value in text for value in json.loads(result["content"]).values())
        else:
            needle = call["arguments"]["text"].lower()
            matches = MATCH.split(result["content"])[1:]
            assert bool(matches) == (needle in text.lower())
            for at, context in zip(matches[::2], matches[1::2], strict=True):
                assert text.lower().startswith(needle, int(at))
                assert context.strip() in text


@each_run
def test_a_page_that_a_call_names_is_among_the_pages_of_the_run(run: Run) -> None:
    named = {result["page"]["url"] for _, result in calls_with_results(run) if "page" in result}
    assert named <= set(pages_of(run))
    assert len(pages_of(run)) == len(run["pages"])


@each_run
def test_only_a_page_that_could_be_read_has_text(run: Run) -> None:
    for page in run["pages"]:
        assert PageOutcome(page["outcome"])
        assert bool(page["text"]) == (page["outcome"] == "ok")


def test_a_page_says_the_same_in_every_run() -> None:
    texts: dict[str, set[tuple[str, str]]] = {}
    for run in RUNS:
        for page in run["pages"]:
            texts.setdefault(page["url"], set()).add((page["outcome"], page["text"]))
    assert all(len(versions) == 1 for versions in texts.values())
    assert len(texts) >= 30


@each_run
def test_every_cited_page_is_among_the_pages_and_nothing_else_is_kept(run: Run) -> None:
    cited = {url.rstrip(".;:") for url in URL.findall(run["final_answer"])}
    opened = {call["arguments"]["url"] for call, _ in calls_with_results(run) if call["name"] == "open_page"}
    assert cited | opened == set(pages_of(run))


@each_run
def test_truth_has_one_entry_for_each_supplied_unit(run: Run) -> None:
    assert len(TRUTH[name_of(run)]) == len(units_of(run))


@each_run
def test_labels_agree_with_what_can_be_read(run: Run) -> None:
    for (_, cited), entry in zip(units_of(run), TRUTH[name_of(run)], strict=True):
        readable = any(is_readable(pages_of(run)[url]) for url in cited)
        assert readable == (entry["label"] != GroupLabel.UNVERIFIABLE)


@each_run
def test_a_correct_unit_states_no_number_that_its_page_lacks(run: Run) -> None:
    for (line, cited), entry in zip(units_of(run), TRUTH[name_of(run)], strict=True):
        if entry["label"] != GroupLabel.CORRECT:
            continue
        stated = re.findall(r"\d[\d,]*\d", MARKER.sub("", URL.sub("", line)))
        pages = " ".join(pages_of(run)[url]["text"] for url in cited)
        assert [number for number in stated if number not in pages] == []


def test_truth_names_every_run_and_every_type_of_error() -> None:
    assert set(TRUTH) == {name_of(run) for run in RUNS}
    entries = [entry for units in TRUTH.values() for entry in units]
    for entry in entries:
        assert set(entry) == {"label", "kind"}
        assert (entry["label"] == GroupLabel.CORRECT) == (entry["kind"] == "")
    incorrect = {entry["kind"] for entry in entries if entry["label"] == GroupLabel.INCORRECT}
    assert incorrect == set(ErrorType)
    unverifiable = {entry["kind"] for entry in entries if entry["label"] == GroupLabel.UNVERIFIABLE}
    assert unverifiable == {ErrorType.SOURCE_QUALITY_ERROR}


def test_labels_are_mixed_as_the_readme_says() -> None:
    counts = Counter(entry["label"] for units in TRUTH.values() for entry in units)
    assert counts == {"C": 45, "I": 29, "U": 8}
    readme = " ".join((DATA / "README.md").read_text(encoding="utf-8").split())
    assert "Of 82 answer groups 45 are correct, 29 incorrect and 8 unverifiable" in readme


def test_runs_have_between_four_and_fourteen_turns() -> None:
    turns = [sum(message["role"] == "assistant" for message in run["messages"]) for run in RUNS]
    assert min(turns) >= 4
    assert max(turns) <= 14


def test_the_unusual_runs_are_the_ones_that_the_readme_names() -> None:
    reading = {"read_page", "find_in_page", "extract"}
    assert [name for name, units in TRUTH.items() if not units] == ["museums-sollen|Kestrel-Base"]
    assert [name_of(run) for run in RUNS if run["is_final_only"]] == ["bridges-vellin|Osprey-2-Flash"]
    assert [name_of(run) for run in RUNS if run["attempts"] == 2] == [
        "observatories-harrow|Heron-Mini",
        "standards-iwso|Kestrel-Base",
    ]
    unread = [name_of(run) for run in RUNS if not any(c["name"] in reading for c, _ in calls_with_results(run))]
    assert unread == ["festival-merrow|Osprey-2-Flash"]


def test_one_run_repeats_a_failed_call_and_succeeds() -> None:
    repeated = []
    for run in RUNS:
        failed: set[str] = set()
        for call, result in calls_with_results(run):
            identity = json.dumps([call["name"], call["arguments"]])
            if result["is_error"]:
                failed.add(identity)
            elif identity in failed:
                repeated.append(name_of(run))
    assert repeated == ["bridges-vellin|Osprey-2"]
