"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lseval.errors import LsevalError


class NotWrittenError(LsevalError):
    """A file could not be written whole, for a full disk or another reason; what was there before still is."""

    code = "not_written"


def write_whole(path: Path, pieces: Iterable[str]) -> int:
    """Write the pieces beside `path` and move them there once all are on the disk; returns their number.

    Raises `NotWrittenError` where that fails. Then, and where `pieces` raises, nothing new is left behind, and what
    was at `path` before is untouched.
    """
    made: Path | None = None
    try:
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            made = Path(file.name)
            count = 0
            for piece in pieces:
                file.write(piece.encode())
                count += 1
            file.flush()
            os.fsync(file.fileno())
        made.chmod(0o666 & ~_umask())
        made.replace(path)
    except BaseException as error:
        if made is not None:
            made.unlink(missing_ok=True)
        if isinstance(error, OSError):
            why = error.strerror or error
            raise NotWrittenError(
                f"{path} could not be written: {why}. What was there before is still there."
            ) from error
        raise
    return count


def _umask() -> int:
    """The process's mask for new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
