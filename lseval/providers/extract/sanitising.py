"""A page's markup made fit to be looked at: nothing in it runs, and nothing is loaded from anywhere."""

from __future__ import annotations

from typing import Final

import nh3

from lseval.providers.extract.decoding import decode
from lseval.providers.extract.html import DEEPEST
from lseval.providers.extract.plain_html import nesting
from lseval.providers.extract.sniffing import HTML, media_type, sniff
from lseval.providers.extract.word_sets import words

_TAGS: Final = words(
    "a abbr address article aside b blockquote br caption cite code col colgroup dd del details dfn div dl dt em "
    "figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd li main mark nav ol p pre q s samp section "
    "small span strong sub summary sup table tbody td tfoot th thead time tr u ul var wbr"
)
_CONTENT_GOES_TOO: Final = words(
    "script style template noscript title svg math iframe object embed canvas audio video textarea select"
)
_ATTRIBUTES: Final = {
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start"},
    "time": {"datetime"},
    "*": {"dir", "lang"},
}


def sanitise(content: bytes, content_type: str) -> str:
    """The page's markup with nothing left but structure and words: no address, no image, no style, no form.

    Empty where the bytes are no HTML, or where the markup nests too deep to be made fit in reasonable time; show
    the plain text then.
    """
    if sniff(content, media_type(content_type)) != HTML:
        return ""
    markup = decode(content, content_type, HTML).text
    if nesting(markup) > DEEPEST:
        return ""
    return nh3.clean(
        markup,
        tags=set(_TAGS),
        clean_content_tags=set(_CONTENT_GOES_TOO),
        attributes=_ATTRIBUTES,
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )
