"""Why a file, or a row of one, cannot be read as a run."""

from __future__ import annotations

from collections.abc import Sequence

from lseval.errors import InputError


class ReadError(InputError):
    """Base of what can go wrong in reading runs from files."""

    code = "unreadable_row"


class UnreadableFileError(ReadError):
    """The file cannot be opened or read."""

    code = "unreadable_file"


class EmptyFileError(ReadError):
    """The file holds no row."""

    code = "empty_file"


class FileTooLargeError(ReadError):
    """A single JSON document is larger than may be held in memory."""

    code = "file_too_large"


class LineTooLongError(ReadError):
    """A line is longer than may be held in memory."""

    code = "line_too_long"


class UnsupportedEncodingError(ReadError):
    """The file is text in an encoding other than UTF-8."""

    code = "unsupported_encoding"


class JsonArrayError(ReadError):
    """The file is one JSON array where one run a line is asked for."""

    code = "json_array"


class UnknownFormatError(ReadError):
    """The file's content is no run in a known format, or the format's name is not known."""

    code = "unknown_format"


class ArchiveError(ReadError):
    """The archive is damaged, encrypted, or packed in a way that is not read."""

    code = "unreadable_archive"


class UnsafeArchiveError(ArchiveError):
    """The archive holds what no log does: paths that lead out of it, links, too many entries, or far more unpacked
    than packed.
    """

    code = "unsafe_archive"


class UnsupportedVersionError(ReadError):
    """The row is in a version of our format that this program does not read."""

    code = "unsupported_version"


class FieldError(ReadError):
    """A field of the row is at fault; `fields` names each, as `messages[3].content`."""

    code = "invalid_field"

    def __init__(self, message: str, fields: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class MissingFieldError(FieldError):
    """A required field is absent or empty."""

    code = "missing_field"


class UnknownFieldError(FieldError):
    """The row has a field that the format does not."""

    code = "unknown_field"
