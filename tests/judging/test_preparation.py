"""A language model that makes rubrics and takes responses apart."""

from __future__ import annotations

import json

import pytest

from lseval.domain.chat import ChatReply, ChatRequest, Endpoint
from lseval.judging.preparation import METHOD, Preparer, rubric_record
from lseval.judging.replies import Unusable

RESPONSE = """Here are two dams.

Kelm Dam is 84 m high [1], and Orsa Dam, finished in 1958, stands 91 m tall [2]. I am fairly sure.

[1] https://dams.example/kelm
[2] https://dams.example/orsa"""

KELM = {"title": "Kelm Dam", "begins": "Kelm Dam is 84 m", "ends": "84 m high [1]", "fields": {"height": "84 m"}}
ORSA = {"title": "Orsa Dam", "begins": "Orsa Dam, finished in 1958", "ends": "stands 91 m tall [2]", "fields": {}}


class Model:
    """A model that gives replies in turn."""

    def __init__(self, *replies: object) -> None:
        self.replies = [json.dumps(reply) for reply in replies]
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        return ChatReply(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])


def preparer(model: Model) -> Preparer:
    return Preparer(model, Endpoint("https://judge.example/v1", "reader"))


def test_a_rubric_is_read_and_each_entry_is_kept_once():
    reply = {
        "required_count": 2,
        "constraints": ["over 80 m", "over 80 m", " in the valley "],
        "grouping_rule": "one dam",
        "required_fields": ["height"],
    }
    record = rubric_record(preparer(Model(reply)).rubric("Which two dams?").value)
    assert (record.required_count, record.constraints) == (2, ("over 80 m", "in the valley"))


@pytest.mark.parametrize("count", [0, 101, "2", 2.5, None])
def test_a_rubric_with_an_impossible_count_is_refused(count):
    reply = {"required_count": count, "constraints": [], "grouping_rule": "one", "required_fields": []}
    answer = preparer(Model(reply)).rubric("Which two dams?")
    assert (answer.value, answer.reason) == (None, Unusable.INVALID)


def test_units_are_found_at_their_places_with_what_they_cite():
    grouped, _ = preparer(Model({"units": [KELM, ORSA]})).group("Which dams?", "", RESPONSE)
    assert grouped.method == METHOD
    first, second = grouped.groups
    assert first.text == "Kelm Dam is 84 m high [1]"
    assert RESPONSE[second.start : second.end] == second.text
    assert [cited.url for cited in first.citations] == ["https://dams.example/kelm"]
    assert [cited.url for cited in second.citations] == ["https://dams.example/orsa"]
    assert first.fields == {"height": "84 m"}


@pytest.mark.parametrize(
    "units",
    [[{**KELM, "begins": "Kelm Dam is 85 m"}], [ORSA, KELM], [KELM, KELM], [{**KELM, "ends": "in my opinion"}]],
    ids=["words not there", "out of order", "twice", "no end"],
)
def test_units_that_do_not_stand_in_the_response_are_asked_for_again(units):
    model = Model({"units": units}, {"units": [KELM, ORSA]})
    grouped, answer = preparer(model).group("Which dams?", "", RESPONSE)
    assert len(grouped.groups) == 2
    assert answer.tries == 2


def test_a_response_without_units_has_no_group():
    grouped, _ = preparer(Model({"units": []})).group("Which dams?", "", "I found nothing.")
    assert (grouped.groups, grouped.method) == ((), "none")


def test_without_a_usable_reply_nothing_is_grouped():
    grouped, answer = preparer(Model({"groups": []})).group("Which dams?", "", RESPONSE)
    assert (grouped, answer.reason) == (None, Unusable.INVALID)
