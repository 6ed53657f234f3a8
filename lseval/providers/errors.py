"""What can go wrong with a provider. Whether to try again is decided by type, never by message text."""

from __future__ import annotations

from typing import ClassVar

from lseval.errors import LsevalError


class ProviderError(LsevalError):
    """A provider gave no usable reply. `is_retryable` says whether the same request may succeed later."""

    code = "provider_error"
    is_retryable: ClassVar[bool] = False


class RateLimitedError(ProviderError):
    """The provider asks for a pause; `retry_after_s` is how long, None where it does not say."""

    code = "rate_limited"
    is_retryable = True

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class UnavailableError(ProviderError):
    """No connection, a connection lost, or a 5xx; `retry_after_s` as the provider asks, None where it does not."""

    code = "unavailable"
    is_retryable = True

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TimedOutError(ProviderError):
    """The reply did not come in time."""

    code = "timed_out"
    is_retryable = True


class MalformedReplyError(ProviderError):
    """A reply came that is not what the interface promises."""

    code = "malformed_reply"
    is_retryable = True


class AccessRefusedError(ProviderError):
    """The key is missing, wrong, or may not do this (401, 403)."""

    code = "access_refused"


class RequestRefusedError(ProviderError):
    """The provider will not take this request as it is (400, 404, 422, a redirect)."""

    code = "request_refused"


class ContextTooLongError(RequestRefusedError):
    """The chat is longer than the model can read."""

    code = "context_too_long"


class OutOfCreditError(ProviderError):
    """The account's quota or credit is used up: waiting does not help, paying does."""

    code = "out_of_credit"


class BudgetSpentError(ProviderError):
    """The study's own budget is spent; raise it and run the same command again."""

    code = "budget_spent"


class BlockedAddressError(ProviderError):
    """An address that may not be dialled; nothing was sent. `providers.allow` in the settings lists exceptions."""

    code = "blocked_address"


class DeferredError(ProviderError):
    """The provider asks for a pause of `retry_after_s` seconds, longer than is worth sitting out.

    The job goes back to the database with the time at which it may go on.
    """

    code = "deferred"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
