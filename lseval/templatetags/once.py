"""Parts of a page that say the same again and again, rendered once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.urls import get_script_prefix
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

MOST_KEPT: Final = 2_000
"""So many renderings a part keeps, each for other values."""


class OnceNode(template.Node):
    """See `once`."""

    def __init__(self, given: Mapping[str, FilterExpression], body: NodeList) -> None:
        self._given, self._body = given, body
        self._rendered: dict[tuple[Any, ...], SafeString] = {}

    def render(self, context: Context) -> SafeString:
        values = {name: value.resolve(context) for name, value in self._given.items()}
        # Words that are safe as they are, and the same words that are not, are not the same. Addresses within the
        # body begin with what the server says that the site's begin with.
        key = (get_script_prefix(), *((type(value), value) for value in values.values()))
        rendered = self._rendered.get(key)
        if rendered is None:
            rendered = mark_safe(self._body.render(context.new(values)))  # noqa: S308 - it has escaped itself
            if len(self._rendered) >= MOST_KEPT:
                self._rendered.clear()
            self._rendered[key] = rendered
        return rendered


@register.tag
def once(parser: Parser, token: Token) -> OnceNode:
    """`{% once kind=shown.kind %}...{% endonce %}`: rendered once for each set of values, and kept in this process.

    The body sees the named values and nothing else of the page, so it cannot keep what belongs to one request. The
    values can be hashed and do not change: texts, numbers, tuples, frozen dataclasses.
    """
    name, *bits = token.split_contents()
    given = token_kwargs(bits, parser)
    if bits:
        raise template.TemplateSyntaxError(f"{name} takes name=value only, not {bits[0]!r}")
    body = parser.parse((f"end{name}",))
    parser.delete_first_token()
    return OnceNode(given, body)
