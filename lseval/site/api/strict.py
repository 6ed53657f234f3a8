"""What every view of the API is built on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from lseval.query_parameters import require_known
from lseval.site.api.asked import Parameter, read_asked
from lseval.site.api.schema import ANY_OBJECT, Described


class ReadableJson(JSONRenderer):
    """JSON, set out in lines for a browser.

    REST framework's browsable pages hold scripts and styles in their HTML, which our content security policy
    refuses; what can be asked for is on the page of the API instead.
    """

    def get_indent(self, accepted_media_type: str, renderer_context: Mapping[str, Any]) -> int | None:
        request = renderer_context.get("request")
        if request is not None and "text/html" in request.headers.get("accept", ""):
            return 2
        return super().get_indent(accepted_media_type, renderer_context)


class StrictView(APIView):
    """A view that refuses every query parameter that it does not know.

    `operation`, `tag` and `about` name it in the OpenAPI document (`about`: the docstring where empty), `asked` are
    its parameters, `path_choices` the words that a part of its path may be.
    """

    schema = Described()
    renderer_classes = [ReadableJson]
    operation: str = ""
    tag: str = "studies"
    about: str = ""
    asked: Sequence[Parameter] = ()
    path_choices: Mapping[str, Sequence[str]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        require_known(request.query_params, [parameter.name for parameter in self.asked])

    def given(self, request: Request) -> dict[str, Any]:
        """The values of the parameters; raises InputError for those that cannot be read."""
        return read_asked(request.query_params, self.asked)

    def answer(self) -> Any:
        """What a good answer holds, for the document: a serializer, or status (and content type) to one."""
        return ANY_OBJECT
