"""What ends a run without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lseval.errors import LsevalError

if TYPE_CHECKING:
    from lseval.agent.run import AgentRun


class AgentFailedError(LsevalError):
    """A provider refuses for good, so the run cannot go on; it is no run, and its cell stays open.

    `cause_code` is the provider error's code; `partial` is what there was until then.
    """

    code = "agent_failed"

    def __init__(self, message: str, cause_code: str, partial: AgentRun) -> None:
        super().__init__(message)
        self.cause_code = cause_code
        self.partial = partial


class ToolError(LsevalError):
    """A tool call that cannot be carried out; the message is what the model is told."""

    code = "tool_error"
