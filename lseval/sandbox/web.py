"""The made-up web as bytes: what a server would send for each address."""

from __future__ import annotations

import html
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from fpdf import FPDF

from lseval.domain.urls import canonical_key
from lseval.errors import InputError
from lseval.sandbox.kinds import YEAR_NOW
from lseval.sandbox.pages import (
    DEAD,
    DIRECTORY,
    LEAFLET,
    MOVED,
    NEWS,
    OFFICIAL,
    SHELL,
    VISIT,
    WALLED,
    Document,
    PagePlace,
    document_of,
    places_by_url,
    url_of,
)
from lseval.sandbox.world import World

_HTML: Final = "text/html"
_MADE: Final = datetime(YEAR_NOW, 5, 2, tzinfo=UTC)
_MENU: Final = ("Home", "News", "Getting here", "Contact")


@dataclass(frozen=True, slots=True)
class WebResponse:
    """What a server sends: a status, headers and bytes. A redirect has its target in the header `location`."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""


class Web:
    """The web of a world: looks addresses up by their canonical key."""

    def __init__(self, world: World) -> None:
        self._places = {canonical_key(url): place for url, place in places_by_url(world).items()}

    def place_of(self, url: str) -> PagePlace | None:
        """The page at an address, however it is spelled; None where there is none."""
        try:
            return self._places.get(canonical_key(url))
        except InputError:
            return None

    def respond(self, url: str) -> WebResponse:
        """What comes back for an address; 404 for one that no page has."""
        place = self.place_of(url)
        return respond(place) if place else _not_found()


def respond(place: PagePlace) -> WebResponse:
    """What the page's server sends for it."""
    document = document_of(place)
    if place.page == DEAD:
        return _not_found()
    if place.page == WALLED:
        return _walled(place, document)
    if place.page == SHELL:
        return _shell(document)
    if place.page == MOVED:
        return WebResponse(301, {"location": url_of(place.task, OFFICIAL, place.thing)})
    if place.page == LEAFLET:
        return WebResponse(200, {"content-type": "application/pdf"}, pdf_of(document))
    return _page(place, document)


def _page(place: PagePlace, document: Document) -> WebResponse:
    lot = zlib.crc32(place.url.encode()) % 6
    if place.page == VISIT and lot == 0:
        text = f"{document.title}\n\n" + "\n\n".join(document.paragraphs)
        return WebResponse(200, {"content-type": "text/plain"}, text.encode("utf-16"))
    if place.page == NEWS and lot < 3:
        return _encoded(document, "iso-8859-1", in_header=lot != 0)
    if place.page == DIRECTORY and lot == 0:
        return _encoded(document, "shift_jis", in_header=False)
    if place.page == OFFICIAL and lot == 0:
        return _encoded(document, "windows-1252", in_header=True)
    return _encoded(document, "utf-8", in_header=lot % 2 == 0)


def _encoded(document: Document, encoding: str, *, in_header: bool) -> WebResponse:
    meta = "" if in_header else f'<meta charset="{encoding}">'
    kind = f"{_HTML}; charset={encoding}" if in_header else _HTML
    return WebResponse(200, {"content-type": kind}, _markup(document, meta).encode(encoding, "xmlcharrefreplace"))


def _markup(document: Document, meta: str = "") -> str:
    paragraphs = "".join(f"<p>{html.escape(text)}</p>\n" for text in document.paragraphs)
    menu = "".join(f'<li><a href="/{name.lower().replace(" ", "-")}">{name}</a></li>' for name in _MENU)
    heading = html.escape(document.title.partition(" | ")[0])
    return (
        f'<!doctype html>\n<html lang="en"><head>{meta}<title>{html.escape(document.title)}</title></head>\n'
        f"<body><header><nav><ul>{menu}</ul></nav></header>\n"
        f"<main><article><h1>{heading}</h1>\n{paragraphs}{_table(document)}</article></main>\n"
        f"<footer><p>Questions? Write to us.</p></footer></body></html>\n"
    )


def _table(document: Document) -> str:
    if not document.rows:
        return ""
    head, *rows = document.rows
    first = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    rest = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><tr>{first}</tr>\n{rest}</table>\n"


def _walled(place: PagePlace, document: Document) -> WebResponse:
    status = (401, 403, 402)[zlib.crc32(place.url.encode()) % 3]
    told = Document(document.title, ("Please sign in or subscribe to read this article.",))
    return WebResponse(status, {"content-type": f"{_HTML}; charset=utf-8"}, _markup(told).encode())


def _shell(document: Document) -> WebResponse:
    markup = (
        f"<!doctype html><html><head><title>{html.escape(document.title)}</title>"
        '<script src="/static/app.js"></script></head><body><div id="root"></div>'
        "<noscript>You need to enable JavaScript to run this app.</noscript></body></html>"
    )
    return WebResponse(200, {"content-type": f"{_HTML}; charset=utf-8"}, markup.encode())


def _not_found() -> WebResponse:
    body = (
        "<!doctype html><html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>"
    )
    return WebResponse(404, {"content-type": f"{_HTML}; charset=utf-8"}, body.encode())


def pdf_of(document: Document) -> bytes:
    """The document as a PDF file; the same document always gives the same bytes."""
    pdf = FPDF()
    pdf.set_creation_date(_MADE)
    pdf.set_compression(False)
    pdf.set_title(document.title)
    pdf.add_page()
    pdf.set_font("Helvetica", "B", 14)
    pdf.multi_cell(0, 8, document.title, new_x="LMARGIN", new_y="NEXT")
    pdf.set_font("Helvetica", size=11)
    for paragraph in document.paragraphs:
        pdf.multi_cell(0, 6, paragraph, new_x="LMARGIN", new_y="NEXT")
        pdf.ln(2)
    return bytes(pdf.output())
