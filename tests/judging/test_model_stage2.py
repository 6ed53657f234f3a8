"""Language models as the two judges of a round."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lseval.domain.chat import ChatReply, ChatRequest, Endpoint
from lseval.domain.consensus import consensus
from lseval.domain.evidence import CallUnderAudit, ClaimCheck, GroupUnderAudit, RoundUnderAudit
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.replies import Unusable
from lseval.judging.round_shown import GROUPS_ROOM, groups_shown
from lseval.judging.stage2 import GROUPS_CUT, GROUPS_DROPPED, RESPONSE_CUT, RESPONSE_ROOM, ROUND_CUT, Stage2Judge

ENDPOINT = Endpoint("https://judge.example/v1", "judge-2")
RUBRIC = RubricRecord(2, ("at least 80 m high",), "one dam each", ("year",))
GROUPS = (
    GroupUnderAudit(1, "Kelm Dam", "Kelm Dam, 84 m, 1964", "C"),
    GroupUnderAudit(2, "Orsa Dam", "Orsa Dam, 91 m, 1958", "I", (ClaimCheck("91 m", "contradicted", note="19 m"),)),
)
ROUND = RoundUnderAudit(
    4, "Orsa Dam is 91 m high.", (CallUnderAudit("read_page", {"page_id": "p2"}, "Orsa Dam. Height 19 m."),)
)


class Model:
    """A model that always says the same."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        return ChatReply(self.reply)


def says(verdict: str = "error", kind: str = "mapping_error", groups=(2,), **more: object) -> str:
    return json.dumps({"verdict": verdict, "type": kind, "groups": list(groups), "explanation": "19 m", **more})


def judge(reply: str, role="A", round_=ROUND):
    model = Model(reply)
    return Stage2Judge(role, model, ENDPOINT).judge("Which dams?", RUBRIC, "The response.", GROUPS, round_), model


def test_an_error_has_its_type_and_groups():
    draft, _ = judge(says())
    assert (draft.verdict, draft.error_type, draft.groups) == ("error", "mapping_error", (2,))


def test_groups_that_the_response_does_not_have_are_dropped_and_flagged():
    draft, _ = judge(says(groups=(2, 2, 9)))
    assert draft.groups == (2,)
    assert GROUPS_DROPPED in draft.flags


def test_a_round_without_error_ties_no_group_and_has_no_type():
    draft, _ = judge(says("Non-error"))
    assert (draft.verdict, draft.error_type, draft.groups) == ("non_error", "", ())


def test_an_unknown_type_stays_in_the_judges_words_and_comes_out_unassigned():
    draft, _ = judge(says(kind="bad vibes"))
    assert draft.error_type == "bad vibes"
    assert consensus(draft, draft).error_type == "unassigned"


@pytest.mark.parametrize("reply", [says("maybe"), says(score=3), "", '{"verdict": "err', says() + says("skipped")])
def test_an_unusable_reply_leaves_the_round_unjudged_after_three_tries(reply):
    draft, model = judge(reply)
    assert draft.verdict == "unjudged"
    assert draft.code in Unusable
    assert len(model.asked) == 3
    assert consensus(draft, draft).verdict == "unjudged"


@pytest.mark.parametrize("role", ["A", "B"])
def test_each_judge_is_told_everything_but_in_its_own_way(role):
    _, model = judge(says(), role)
    system, user = model.asked[0].messages
    for words in (
        "Which dams?",
        "at least 80 m high",
        "The response.",
        "verdict I: Orsa",
        "(19 m)",
        "Height 19 m.",
    ):
        assert words in user.content
    assert all(kind.value in system.content for kind in ErrorType)
    assert (user.content.index("Height 19 m.") < user.content.index("Which dams?")) == (role == "B")


def test_the_two_prompts_are_different_versions():
    a, b = (Stage2Judge(role, Model(""), ENDPOINT).version for role in ("A", "B"))
    assert a != b


def test_a_long_observation_is_cut_to_what_concerns_the_groups():
    filler = "\n".join(f"Entry {number} of the register." for number in range(5_000))
    call = CallUnderAudit("read_page", {}, f"{filler}\nOrsa Dam. Height 19 m.\n{filler}")
    draft, model = judge(says(), round_=RoundUnderAudit(4, "", (call,)))
    assert ROUND_CUT in draft.flags
    assert "Height 19 m." in model.asked[0].messages[-1].content
    assert len(model.asked[0].messages[-1].content) < 50_000


def test_a_response_that_is_shown_in_part_is_flagged():
    model = Model(says())
    whole = "One line of the answer.\n" * RESPONSE_ROOM
    draft = Stage2Judge("A", model, ENDPOINT).judge("Which dams?", RUBRIC, whole, GROUPS, ROUND)
    assert RESPONSE_CUT in draft.flags
    assert ROUND_CUT not in draft.flags
    assert len(model.asked[0].messages[-1].content) < 2 * RESPONSE_ROOM
    assert judge(says())[0].flags == ()


def many_groups(count: int, label: str = "C") -> list[GroupUnderAudit]:
    said = "It stands in a valley of its own, which takes some words to say. " * 3
    texts = ((number, f"Weir {number}, entry {number} of the register. {said}") for number in range(1, count))
    return [GroupUnderAudit(number, f"Weir {number}", text, label) for number, text in texts]


@pytest.mark.parametrize("role", ["A", "B"])
def test_of_many_groups_those_that_relate_to_the_round_are_shown_whole_and_the_cut_is_flagged(role):
    groups = [*many_groups(3_000), GroupUnderAudit(3_000, "Orsa Dam", "Orsa Dam, 91 m, 1958", "I")]
    model = Model(says(groups=(3_000, 17)))
    draft = Stage2Judge(role, model, ENDPOINT).judge("Which dams?", RUBRIC, "The response.", groups, ROUND)
    sent = model.asked[0].messages[-1].content
    assert "Group 3000, verdict I: Orsa Dam, 91 m, 1958" in sent
    shown = sent.count("verdict C: Weir")
    assert 0 < shown < 200
    assert sent.count("which takes some words to say.") == 3 * shown  # no group is cut in two
    assert f"[{shown + 1} of 3000 groups are shown" in sent
    assert len(sent) < GROUPS_ROOM + 5_000
    assert draft.flags[:2] == (GROUPS_CUT, f"groups_shown_{shown + 1}_of_3000")
    is_17_shown = "Group 17," in sent
    assert draft.groups == ((17, 3_000) if is_17_shown else (3_000,))
    assert (GROUPS_DROPPED in draft.flags) is not is_17_shown


def test_groups_that_fit_are_all_shown_without_a_flag():
    shown = groups_shown(GROUPS, ROUND)
    assert (shown.groups, shown.is_cut) == (GROUPS, False)
    assert groups_shown((), ROUND).text == "The response supplies no answer group."


def test_of_groups_that_relate_alike_the_incorrect_come_first():
    groups = [
        *many_groups(400),
        *(replace(group, number=group.number + 400, label="I") for group in many_groups(40)),
    ]
    shown = groups_shown(groups, RoundUnderAudit(1, "Nothing of it.", ()), 3_000)
    assert shown.is_cut
    assert {group.label for group in shown.groups} == {"I"}


def test_one_group_longer_than_the_room_is_shown_by_what_relates_to_the_round():
    filler = "\n".join(f"Entry {number} of the register." for number in range(4_000))
    long = GroupUnderAudit(1, "Register", f"{filler}\nOrsa Dam. Height 19 m.\n{filler}", "I")
    shown = groups_shown((long,), ROUND)
    assert shown.is_cut
    assert "Height 19 m." in shown.text
    assert len(shown.text) < GROUPS_ROOM + 200


def test_long_words_and_arguments_of_a_round_are_cut_and_flagged():
    call = CallUnderAudit("write_file", {"content": "x" * 300_000}, "written")
    written = RoundUnderAudit(4, "I think of the valley. " * 20_000 + "Orsa Dam is 91 m high.", (call, call))
    draft, model = judge(says(), round_=written)
    assert ROUND_CUT in draft.flags
    assert "Orsa Dam is 91 m high." in model.asked[0].messages[-1].content
    assert len(model.asked[0].messages[-1].content) < 35_000
