"""`manage.py collect` killed in the middle, again and again: each cell ends once and nothing is paid twice."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.pipeline.installation import Installation, an_installation, kill_tree, wait_until
from tests.pipeline.pretend import turn_of, turns_so_far
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM
from tests.providers.loopback import Behaviour, SeenRequest

TURNS = 9
CELLS = 14
THREADS = 4
KILLS = 10


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as made:
        yield made


def slowly(request: SeenRequest) -> Behaviour:
    """An agent's turn that takes a moment, so that calls are under way when the kill comes."""
    messages = request.json()["messages"]
    question = next(message["content"] for message in messages if message["role"] == "user")
    return bad_llm.after(0.03, turn_of(turns_so_far(messages), TURNS, question))


def test_ten_kills_at_random_moments_repeat_no_finished_call(installation: Installation) -> None:
    rng = random.Random(5)
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="killed", tasks=CELLS // 2, models=2)
        lost_before = 0
        for _ in range(KILLS):
            at = len(llm.requests) + rng.randint(2, 11)
            process = installation.start("collect", "killed", "--threads", str(THREADS))
            wait_until(lambda at=at: len(llm.requests) >= at)
            kill_tree(process)
            # A call that was asked and has no row was under way: one in each thread at most.
            lost = len(llm.requests) - chats(installation)
            assert 0 <= lost - lost_before <= THREADS
            lost_before = lost
        told = json.loads(installation.manage("collect", "killed", "--threads", str(THREADS), "--json"))
        asked = [request.body for request in llm.requests]
    assert (told["runs"], told["cells"], told["ended"]) == (CELLS, CELLS, "idle")
    assert installation.count("run") == CELLS
    assert installation.sql("SELECT DISTINCT state FROM lseval_job") == [("done",)]
    # Every reply was paid once more only where its first one was lost with its process.
    assert chats(installation) == CELLS * (TURNS + 1) == len(set(asked))
    assert sum(count - 1 for count in Counter(asked).values()) == lost_before
    assert installation.count("call", "error_code <> ''") == 0
    assert len(asked) < 2 * len(set(asked)), "most of the work survived the kills"
    cost = installation.sql("SELECT sum(cost_usd) FROM lseval_call")[0][0]
    assert cost * 1_000_000 == 150 * CELLS * (TURNS + 1)
    attempts = installation.sql("SELECT run_id, count(*) FROM lseval_attempt GROUP BY run_id")
    claims = installation.sql("SELECT r.id, j.claim FROM lseval_run r JOIN lseval_job j USING (task_id, model_id)")
    assert dict(attempts) == dict(claims)
    assert max(dict(attempts).values()) > 1


def chats(installation: Installation) -> int:
    return installation.count("call", "kind = 'chat'")


def test_ctrl_c_ends_in_good_order_and_leaves_nothing_held(installation: Installation) -> None:
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="stopped", tasks=6)
        process = installation.start("collect", "stopped", "--threads", "3", log="stopped.log")
        wait_until(lambda: len(llm.requests) >= 10)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 1
        asked = len(llm.requests)
        mine = "study_id = (SELECT id FROM lseval_study WHERE slug = 'stopped')"
        assert installation.count("call", f"{mine} AND kind = 'chat'") == asked, "every call under way was kept"
        assert installation.count("job", f"{mine} AND state = 'claimed'") == 0
        assert "run the same command again" in (installation.folder / "stopped.log").read_text().lower()
        installation.manage("collect", "stopped", "--threads", "3")
        assert len(llm.requests) == 6 * (TURNS + 1)
    assert installation.count("run", mine) == 6


def test_postgresql_restarted_in_the_middle_loses_and_doubles_nothing(installation: Installation) -> None:
    """K07."""
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="restarted", tasks=8)
        process = installation.start("collect", "restarted", "--threads", "4", log="restarted.log")
        for number in (12, 40):
            wait_until(lambda number=number: len(llm.requests) >= number)
            installation.server.stop()
            installation.server.ensure_running()
        assert process.wait(120) == 0, (installation.folder / "restarted.log").read_text()[-3000:]
        asked = Counter(request.body for request in llm.requests)
    mine = "study_id = (SELECT id FROM lseval_study WHERE slug = 'restarted')"
    assert installation.count("run", mine) == 8
    assert installation.count("call", f"{mine} AND kind = 'chat'") == 8 * (TURNS + 1)
    assert set(asked.values()) == {1}


def test_a_job_that_crashes_its_process_is_parked_and_the_rest_finish(installation: Installation) -> None:
    """K06."""
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="crashing", tasks=5)
        installation.environ["LSEVAL_PRETEND_CRASH"] = "number 2"
        codes = []
        try:
            for _ in range(4):
                process = installation.start("collect", "crashing", "--threads", "2")
                codes.append(process.wait(120))
        finally:
            del installation.environ["LSEVAL_PRETEND_CRASH"]
    # Twice it takes the pool down with it, then only a process of its own; after that nobody tries it.
    assert codes == [-signal.SIGSEGV, -signal.SIGSEGV, 1, 1]
    mine = "study_id = (SELECT id FROM lseval_study WHERE slug = 'crashing')"
    assert installation.count("run", mine) == 4
    parked = installation.sql(f"SELECT state, error_code FROM lseval_job WHERE {mine} AND state <> 'done'")
    assert parked == [("parked", "worker_lost")]
