"""What becomes of a job that was not done: it waits again, at once or later, or failed and somebody must look."""

from __future__ import annotations

import logging
from typing import Final

from lseval.agent.errors import AgentFailedError
from lseval.errors import LsevalError
from lseval.pipeline import jobs
from lseval.pipeline.jobs import Claim, LostClaimError
from lseval.pipeline.ledger_store import LedgerUnreachableError, is_connection_lost
from lseval.providers.errors import BudgetSpentError, DeferredError, ProviderError

DONE: Final = "done"
FAILED: Final = "failed"
PUT_OFF: Final = "put off"
BUDGET: Final = "budget spent"
STOPPED: Final = "stopped"
LOST: Final = "lost"

MOST_CLAIMS: Final = 12
"""A job that its providers turned away so often is failed: a person should look at it."""

_FIRST_DEFER_S: Final = 30.0
_LONGEST_DEFER_S: Final = 1_800.0
_REFUSED_ALL: Final = ("access_refused", "out_of_credit", "blocked_address")
"""What an endpoint refuses one job for, it refuses every job of the model, or of the stage, for."""

logger = logging.getLogger(__name__)


class StoppedError(LsevalError):
    """The worker was told to stop; the job waits for the next one."""

    code = "stopped"


def save_outcome(claim: Claim, error: Exception, worked_s: float) -> str:
    """Save what a job's error makes of it; returns the outcome.

    An endpoint that refuses a key fails all waiting jobs like this one, so that the same refusal is not asked for a
    thousand times; a spent budget puts off all jobs of the study.

    Raises:
        LostClaimError: the job is somebody else's by now.
    """
    message = str(error)
    if isinstance(error, LostClaimError):
        return LOST
    if isinstance(error, StoppedError | LedgerUnreachableError) or is_connection_lost(error):
        jobs.release(claim, worked_s)
        return STOPPED
    if isinstance(error, BudgetSpentError):
        jobs.release(claim, worked_s)
        jobs.stop_for_budget(claim.study_id, message)
        return BUDGET
    if isinstance(error, ProviderError) and _may_pass_later(error) and claim.number < MOST_CLAIMS:
        jobs.defer(claim, _delay_s(claim, error), error.code, message, worked_s)
        return PUT_OFF
    code = _code_of(error)
    if code == "unexpected_error":
        logger.error("job %s ended in an error that nobody expected", claim.job_id, exc_info=error)
        message = f"{type(error).__name__}: {message}"
    jobs.fail(claim, code, message, worked_s)
    if code in _REFUSED_ALL:
        jobs.fail_alike(claim, code, message)
    return FAILED


def _may_pass_later(error: ProviderError) -> bool:
    return error.is_retryable or isinstance(error, DeferredError)


def _code_of(error: Exception) -> str:
    if isinstance(error, AgentFailedError):
        return error.cause_code
    return error.code if isinstance(error, LsevalError) else "unexpected_error"


def _delay_s(claim: Claim, error: ProviderError) -> float:
    """How long a job waits after a provider turned it away: as long as it asks, else longer each time."""
    if isinstance(error, DeferredError):
        return max(error.retry_after_s, 0.0)
    return min(_FIRST_DEFER_S * 2.0 ** (claim.number - 1), _LONGEST_DEFER_S)
