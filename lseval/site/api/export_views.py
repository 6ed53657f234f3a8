"""Exports over HTTP: put together on the disk first, so that a file is sent whole, with its rows and digest."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import IO, Any

from django.http import FileResponse, Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.transfers import CONTENT_TYPES
from lseval.models import Study
from lseval.site.api.exports import EXPORTS, FILE_FORMATS, Tally, export_lines
from lseval.site.api.rows import address, results_of
from lseval.site.api.schema import Problem
from lseval.site.api.strict import StrictView
from lseval.whole_files import NotWrittenError


class Exports(StrictView):
    """The files that can be exported, and where each is."""

    tag, operation = "exports", "exports"

    def answer(self) -> Any:
        names = ("what", "format", "url")
        return inline_serializer("ExportName", {name: serializers.CharField() for name in names}, many=True)

    def get(self, request: Request, slug: str) -> Response:
        results_of(request, slug)
        return Response(
            [
                {"what": what, "format": name, "url": address(request, "api_export", slug, what, name)}
                for what in EXPORTS
                for name in FILE_FORMATS
            ]
        )


class OneExport(StrictView):
    """All rows of one kind of the study at one moment, as JSONL or CSV.

    The headers say what was sent: `Content-Length`, `LSEval-Rows` (without the line of names), `LSEval-SHA256` in
    hexadecimal (`Repr-Digest` says the same), and `LSEval-Moment`, the moment that the file shows.
    """

    tag, operation = "exports", "export"
    path_choices = {"what": tuple(EXPORTS), "file_format": FILE_FORMATS}

    def answer(self) -> Any:
        good = {(200, CONTENT_TYPES[name].partition(";")[0]): OpenApiTypes.STR for name in FILE_FORMATS}
        return {**good, 507: OpenApiResponse(Problem, "The server's disk has no room for the file.")}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """The address says which format it is; a program that accepts only that one is not refused."""
        return super().perform_content_negotiation(request, force=True)

    def get(self, request: Request, slug: str, what: str, file_format: str) -> HttpResponseBase:
        access = results_of(request, slug)
        if what not in EXPORTS or file_format not in FILE_FORMATS:
            raise Http404("no such export")
        try:
            file, tally = spooled(access.study, what, file_format)
        except NotWrittenError as error:
            return Response({"code": error.code, "message": str(error)}, status=507)
        name = f"{slug}-{what}.{file_format}"
        response = FileResponse(file, as_attachment=True, filename=name, content_type=CONTENT_TYPES[file_format])
        response["Content-Length"] = tally.size
        response["LSEval-Rows"] = tally.rows
        response["LSEval-SHA256"] = tally.digest.hex()
        response["Repr-Digest"] = f"sha-256=:{base64.b64encode(tally.digest).decode()}:"
        response["LSEval-Moment"] = tally.moment.isoformat()
        return response


def spooled(study: Study, what: str, file_format: str) -> tuple[IO[bytes], Tally]:
    """The whole export in a file without a name, from its beginning, and its tally.

    A slow reader then holds a file and no transaction, and gets nothing rather than half where the disk is full.
    Raises `NotWrittenError` for that.
    """
    told: list[Tally] = []
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        with closing(export_lines(study, what, file_format, told.append)) as lines:
            _write(file, lines)
        file.seek(0)
    except BaseException as error:
        _close(file)
        if isinstance(error, OSError):
            raise NotWrittenError(
                f"The export of {what} could not be put together: {error.strerror or error}. Nothing was sent. "
                "Make room where the server keeps temporary files (TMPDIR), then ask again."
            ) from error
        raise
    return file, told[0]


def _write(file: IO[bytes], lines: Iterator[str]) -> None:
    for line in lines:
        file.write(line.encode())
    file.flush()


def _close(file: IO[bytes]) -> None:
    """Close the file; what is still to be written to a full disk is given up."""
    with suppress(OSError):
        file.close()
