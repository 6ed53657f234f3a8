"""The whole run at once: with which round an incorrect group's content came in."""

from __future__ import annotations

from lseval.domain.evidence import CallUnderAudit, GroupUnderAudit, RoundUnderAudit
from lseval.judging.embedded.stage2 import trace_all_at_once

WRONG = GroupUnderAudit(1, "Orsa Dam", "Orsa Dam is 91 m high and was completed in 1958.", "I")
RIGHT = GroupUnderAudit(2, "Kelm Dam", "Kelm Dam is 84 m high and was completed in 1964.", "C")


def read(number: int, observation: str) -> RoundUnderAudit:
    return RoundUnderAudit(number, "", (CallUnderAudit("read_page", {"page": number}, observation),))


ROUNDS = [
    read(1, "Kelm Dam is 84 m high and was completed in 1964."),
    read(2, "Orsa is a town."),
    read(3, "Orsa Dam is 91 m high and was completed in 1958."),
    read(4, "Orsa Dam is 91 m high and was completed in 1958."),
]


def test_the_round_with_most_new_content_comes_first() -> None:
    order = trace_all_at_once("Which dams are there?", [WRONG, RIGHT], ROUNDS)
    assert order[0] == 3
    assert 4 not in order, "nothing new came in with what was read before"


def test_content_of_correct_groups_is_not_followed() -> None:
    assert trace_all_at_once("Which dams are there?", [RIGHT], ROUNDS) == ()


def test_of_equal_rounds_the_earlier_one_comes_first() -> None:
    twins = [read(7, "1958"), read(9, "Nothing."), read(8, "1958")]
    assert trace_all_at_once("?", [GroupUnderAudit(1, "", "1958", "I")], twins) == (7,)


def test_run_without_rounds_gives_none() -> None:
    assert trace_all_at_once("?", [WRONG], []) == ()
