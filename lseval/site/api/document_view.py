"""The OpenAPI document over HTTP."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from lseval.site.api.schema import document
from lseval.site.api.strict import StrictView


class Document(StrictView):
    """This API as an OpenAPI 3 document, from which clients can be made."""

    tag, operation = "about", "schema"

    def get(self, request: Request) -> Response:
        return Response(document())
