"""Clients of loopback servers, which only an allow-list lets through."""

from __future__ import annotations

from typing import Any

from lseval.domain.chat import ChatRequest, Endpoint, Message
from lseval.providers.addresses import Allowed
from lseval.providers.llm import OpenAIChat
from lseval.providers.transport import GuardedHttp
from tests.providers.loopback import LoopbackServer

KEY = "sk-never-to-be-seen-4711"
ENVIRON = {"SOME_KEY": KEY}


def http_for(*servers: LoopbackServer, **options: Any) -> GuardedHttp:
    return GuardedHttp(Allowed.of(server.origin for server in servers), **options)


def chat_for(*servers: LoopbackServer) -> OpenAIChat:
    return OpenAIChat(http_for(*servers), environ=ENVIRON)


def request_to(base_url: str, *messages: Message, timeout_s: float = 20.0, **fields: Any) -> ChatRequest:
    """A request of one question, with a key."""
    endpoint = Endpoint(base_url, "some-model", "SOME_KEY", fields.pop("sampling", {}), timeout_s)
    return ChatRequest(endpoint, messages or (Message("user", "What is the capital of France?"),), **fields)
