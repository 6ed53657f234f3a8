"""The sandbox as a provider: what the pipeline finds under the name `sandbox` in the setting LSEVAL_PROVIDERS."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lseval.domain.chat import Chat, ChatReply, ChatRequest
from lseval.domain.web import Fetch, Search
from lseval.models import EvaluatedModel, Job, JobKind, Study
from lseval.pipeline.study_settings import model_settings_of, sandbox_settings_of
from lseval.providers.errors import DeferredError
from lseval.sandbox.fetching import fetcher
from lseval.sandbox.model import SimulatedModel
from lseval.sandbox.profiles import Profile, profile_of
from lseval.sandbox.search import index_of
from lseval.sandbox.web import Web
from lseval.sandbox.world import World, make_world


def world_of(study: Study) -> World:
    """The made-up world that a study is set in."""
    given = sandbox_settings_of(study)
    return make_world(given.seed, given.tasks)


def tasks_of(seed: int, tasks: int) -> list[dict[str, Any]]:
    """The tasks of a made-up world, as a study file's tasks are written."""
    return [
        {
            "key": task.key,
            "question": task.question,
            "topic": task.kind.topic,
            "language": "en",
            "rubric": task.rubric,
        }
        for task in make_world(seed, tasks).tasks
    ]


def profile_for(model: EvaluatedModel) -> Profile:
    """The skill profile of a simulated model of a study."""
    return profile_of(model.name, model_settings_of(model).profile)


def chat_of(study: Study, model: EvaluatedModel) -> Chat:
    """A simulated model of the study, whose server now and then turns a job away on its first claim."""
    simulated = SimulatedModel(world_of(study), profile_for(model))

    def chat(request: ChatRequest) -> ChatReply:
        if simulated.is_busy(request) and _is_first_claim(model, simulated.task_of(request).key):
            raise DeferredError("The simulated model's server is busy; it will take the run up again.", 0.0)
        return simulated.reply(request)

    return chat


def _is_first_claim(model: EvaluatedModel, task_key: str) -> bool:
    jobs = Job.objects.filter(model=model, task__key=task_key, kind=JobKind.COLLECT)
    return jobs.filter(claim=1).exists()


def search_of(study: Study) -> Search:
    """Search over the study's made-up web."""
    return index_of(world_of(study)).search


def fetch_of(study: Study) -> Fetch:
    """Fetches from the study's made-up web."""
    return fetcher(_web(world_of(study)))


@lru_cache(maxsize=2)
def _web(world: World) -> Web:
    return Web(world)
