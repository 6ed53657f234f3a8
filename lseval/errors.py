"""The errors that the program raises on purpose."""

from __future__ import annotations


class LsevalError(Exception):
    """Base of every error raised on purpose.

    `code` is stable and may be relied on by callers; the message is for people and says what
    happened, to what, and what to do.
    """

    code = "error"


class InputError(LsevalError):
    """Something the user supplied cannot be used."""

    code = "bad_input"


class SettingsError(LsevalError):
    """The program was started with settings that are unsafe or incomplete."""

    code = "bad_settings"


class NotPermittedError(LsevalError):
    """The person may not do this."""

    code = "not_permitted"


class ConflictError(LsevalError):
    """The request contradicts what is already stored."""

    code = "conflict"
