import pytest

from lseval.domain.trajectory import ReferenceRecord
from tests.formats.samples import read_one, who_and_when_row

CODE = "Run this:\n```python\nprint('Sample')\n```"


def generated(*entries):
    row = who_and_when_row()
    row["history"] = [{"name": name, "role": "user", "content": content} for name, content in entries]
    return row


def hand_crafted(*entries):
    row = who_and_when_row()
    row["history"] = [{"role": "human", "content": "Which river?"}]
    row["history"] += [{"role": role, "content": content} for role, content in entries]
    return row | {"mistake_step": "1", "mistake_agent": "Orchestrator", "mistake_type": "wrong_reasoning"}


def record_of(tmp_path, row):
    result = read_one(tmp_path / "1.json", row)
    assert result.error == "", result.message
    return result.record


def test_every_entry_of_the_agents_is_a_turn_with_its_index(tmp_path):
    record = record_of(tmp_path, who_and_when_row())
    assert [(turn.source_step, turn.agent) for turn in record.turns] == [
        (0, "River_Expert"),
        (1, "Computer_terminal"),
        (2, "Check_Expert"),
        (3, "Check_Expert"),
    ]
    assert record.references == (ReferenceRecord(0, "River_Expert", "", "It printed a constant.", "who_and_when"),)
    assert record.model_name == "who-and-when/algorithm-generated"
    assert (record.task_key, record.gold_answer) == ("q1", "Example")
    assert record.metadata["subset"] == "algorithm-generated"
    assert record.metadata["is_correct"] is False


def test_terminal_is_a_call_with_the_code_before_it(tmp_path):
    record = record_of(tmp_path, who_and_when_row())
    (call,) = record.turns[1].tool_calls
    assert (call.name, call.arguments, call.is_error) == ("Computer_terminal", {"code": "print('Sample')\n"}, False)
    assert call.observation == "exitcode: 0 (execution succeeded)\nSample"
    assert record.turns[1].text == ""


@pytest.mark.parametrize(
    ("agent", "output", "is_error"),
    [
        ("Computer_terminal", "exitcode: 1 (execution failed)\nCode output: boom", True),
        ("Computer_terminal", "exitcode: 124 (execution failed)", True),
        ("Computer_terminal", "There is no code from the last 1 message for me to execute.", False),
        ("ComputerTerminal", "The script ran, then exited with Unix exit code: 2\nIts output was:", True),
        ("FileSurfer", "File surfer encountered an error decoding JSON arguments", True),
    ],
)
def test_failed_execution_is_an_error(tmp_path, agent, output, is_error):
    record = record_of(tmp_path, generated(("A", CODE), (agent, output)))
    assert record.turns[1].tool_calls[0].is_error is is_error


@pytest.mark.parametrize(
    ("entries", "answer"),
    [
        ([("A", "It is the Sample."), ("B", "TERMINATE")], "It is the Sample."),
        ([("A", "It is the Sample.\n\nTERMINATE")], "It is the Sample."),
        ([("A", "It is the Sample."), ("B", "**TERMINATE**"), ("A", "TERMINATE")], "It is the Sample."),
        ([("A", "It is:\n```\nSample\n```"), ("B", "TERMINATE")], "It is:\n```\nSample\n```"),
        (
            [("A", "It is the Sample."), ("Computer_terminal", "There is no code; say TERMINATE")],
            "It is the Sample.",
        ),
        ([("A", CODE)], ""),
        ([("A", "It is the Sample."), ("B", CODE), ("Computer_terminal", "exitcode: 0 (ok)\nSample")], ""),
        ([("A", "Address: bing: x\nTitle: x\nViewport position: page 1\n=====\nlisting")], ""),
        ([("B", "TERMINATE")], ""),
    ],
)
def test_generated_runs_answer_is_the_last_statement_unless_the_run_was_cut_off(tmp_path, entries, answer):
    record = record_of(tmp_path, generated(*entries))
    assert record.final_answer == answer
    assert ("the run ended without a final answer" in record.warnings) is (not answer)
    assert len(record.turns) == len(entries)


def test_hand_crafted_run_has_its_roles_as_agents_and_its_printed_answer(tmp_path):
    log = "Error processing publish message\nTraceback\nFINAL ANSWER: The\nSample\nSCENARIO.PY COMPLETE !#!#"
    row = hand_crafted(
        ("Orchestrator (thought)", "Initial plan"),
        ("Orchestrator (-> WebSurfer)", "Search."),
        (
            "WebSurfer",
            f"It is\n<Image>\n{log}",
        ),
    )
    record = record_of(tmp_path, row)
    assert [(turn.source_step, turn.agent) for turn in record.turns] == [
        (1, "Orchestrator"),
        (2, "Orchestrator"),
        (3, "WebSurfer"),
    ]
    assert record.model_name == "who-and-when/hand-crafted"
    assert record.final_answer == "The\nSample"
    # What the framework printed is no part of what the surfer saw.
    assert record.turns[2].tool_calls[0].observation == "It is\n<Image>"
    assert record.metadata["closing_log"] == log
    assert record.references[0].error_type == "wrong_reasoning"


def test_hand_crafted_run_that_crashed_has_no_answer(tmp_path):
    row = hand_crafted(
        ("Orchestrator (thought)", "Plan\nTraceback (most recent call last):\nSCENARIO.PY EXITED WITH CODE: 1")
    )
    record = record_of(tmp_path, row)
    assert record.final_answer == ""
    assert record.turns[0].text == "Plan"


def test_surfers_page_is_recorded(tmp_path):
    seen = (
        "I clicked 'River'.\n\nHere is a screenshot of [River](https://one.example/). The viewport shows 9% of the "
        "webpage, and is positioned at the top of the page.\nAutomatic OCR of the page screenshot has detected the "
        "following text:\n\nThe Example.\n<Image>"
    )
    record = record_of(tmp_path, hand_crafted(("Orchestrator (thought)", "Plan"), ("WebSurfer", seen)))
    assert [(page.url, page.title, page.text) for page in record.pages] == [
        ("https://one.example/", "River", "The Example.")
    ]
    assert record.turns[1].text == "I clicked 'River'."
    assert record.turns[1].tool_calls[0].name == "open_page"


@pytest.mark.parametrize("step", ["9", "-1", "first", None, 1.5, True, "9" * 5000])
def test_step_that_is_none_of_the_history_gives_a_warning_and_no_reference(tmp_path, step):
    record = record_of(tmp_path, who_and_when_row() | {"mistake_step": step})
    assert record.references == ()
    assert any("is no step of the history" in warning for warning in record.warnings)


def test_agent_other_than_the_steps_is_kept_with_a_warning(tmp_path):
    record = record_of(tmp_path, who_and_when_row() | {"mistake_agent": "Check_Expert"})
    assert record.references[0].agent == "Check_Expert"
    assert record.warnings == ("mistake_agent: Check_Expert is named, but step 0 is River_Expert's",)
