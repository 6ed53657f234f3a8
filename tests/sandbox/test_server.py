"""Simulated models behind a real HTTP server, asked by the program's own client."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from lseval.agent.schemas import tool_schemas
from lseval.domain.chat import ChatRequest, Endpoint, Message
from lseval.domain.controls import Controls
from lseval.providers.addresses import Allowed
from lseval.providers.errors import RequestRefusedError
from lseval.providers.llm import OpenAIChat
from lseval.providers.transport import GuardedHttp
from lseval.sandbox.model import SimulatedModel
from lseval.sandbox.profiles import PROFILES, profile_of
from lseval.sandbox.server import serving
from lseval.sandbox.world import make_world

WORLD = make_world(31, 4)


def _client(base_url: str) -> OpenAIChat:
    origin = base_url.removesuffix("/v1")
    return OpenAIChat(http=GuardedHttp(Allowed.of((origin,))), environ={})


def _request(base_url: str, text: str, model: str = "Alder-5") -> ChatRequest:
    return ChatRequest(Endpoint(base_url, model), (Message("user", text),), tool_schemas(Controls()))


def test_client_gets_over_http_what_the_model_says_directly() -> None:
    with serving(WORLD) as base_url:
        request = _request(base_url, WORLD.tasks[2].question)
        reply = _client(base_url)(request)
    direct = SimulatedModel(WORLD, profile_of("Alder-5")).reply(request)
    assert reply.text == direct.text
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        (call.name, call.arguments) for call in direct.tool_calls
    ]
    assert reply.usage.input_tokens == direct.usage.input_tokens
    assert reply.usage.cached_tokens == direct.usage.cached_tokens


def test_question_of_another_world_is_refused_over_http() -> None:
    with serving(WORLD) as base_url, pytest.raises(RequestRefusedError):
        _client(base_url)(_request(base_url, "Who was it?"))


def test_models_are_listed_and_other_addresses_are_not_found() -> None:
    with serving(WORLD) as base_url:
        with urllib.request.urlopen(f"{base_url}/models") as answer:
            listed = json.load(answer)
        assert [model["id"] for model in listed["data"]] == [profile.name for profile in PROFILES]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{base_url}/nothing")


def test_broken_request_is_a_400() -> None:
    with serving(WORLD) as base_url:
        asked = urllib.request.Request(f"{base_url}/chat/completions", data=b"{", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(asked)
