"""Keys of providers: taken from the environment at the moment of a call, by the name that the settings state."""

from __future__ import annotations

from collections.abc import Mapping

from lseval.providers.errors import AccessRefusedError


def key_from(environ: Mapping[str, str], name: str, endpoint: str) -> str:
    """The key in the environment variable `name`; empty where no name is given.

    Raises AccessRefusedError, which names the variable and never its value, where it is missing, empty or cannot
    stand in a header.
    """
    if not name:
        return ""
    key = environ.get(name, "").strip()
    if not key:
        raise AccessRefusedError(
            f"The environment variable {name}, which holds the key of {endpoint}, is not set. "
            "Set it where the program runs, and run the same command again."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AccessRefusedError(
            f"The environment variable {name}, which holds the key of {endpoint}, has characters "
            "that no header can carry. Set it again."
        )
    return key


def without_key(text: str, key: str) -> str:
    """The text with the key blotted out: some servers repeat it in their complaints."""
    return text.replace(key, "[key]") if key else text
