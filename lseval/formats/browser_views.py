"""What the browsing agents of multi-agent runs report, as tool calls and pages.

A WebSurfer says in a sentence what it did, then what its browser shows:

    I clicked 'Details'.

    Here is a screenshot of [title](url). The viewport shows 8% of the webpage, and is positioned 56% down ...
    The following metadata was extracted from the webpage: ...
    Automatic OCR of the page screenshot has detected the following text: ...

A text browser, which others use for pages and files, gives a head and a window of text:

    Address: https://example.org/
    Title: Example
    Viewport position: Showing page 2 of 3.
    =======================
    ...
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lseval.domain.labels import PageOutcome
from lseval.formats.fields import DraftCall
from lseval.formats.pages import PageCollector, outcome_of_text

# Title and URL are bounded so that hostile text cannot make the search take quadratic time.
_SCREENSHOT = re.compile(
    r"Here is a screenshot of \[(?P<title>[^\n]{0,500}?)\]\((?P<url>\S{0,10000})\)\. "
    r"The viewport shows \d+% of the webpage, and is positioned (?P<position>[^\n]*?)\.?(?:\n|\Z)"
)
_METADATA = "The following metadata was extracted from the webpage:"
_OCR = "Automatic OCR of the page screenshot has detected the following text:"
_IMAGE = "\n<Image>"
_WINDOW = re.compile(
    r"\AAddress: (?P<url>[^\n]*)\n(?:Title: (?P<title>[^\n]*)\n)?(?:You previously visited[^\n]*\n)?"
    r"Viewport position: (?P<position>[^\n]*)\n=+\n(?P<text>.*)\Z",
    re.DOTALL,
)
_TYPED = re.compile(r"I typed '(.*)' into (.*?)\.?\Z", re.DOTALL)
_SEARCH_PAGE = re.compile(r"https?://(www\.)?(bing|google|duckduckgo)\.com/(\w+/)?search\?")
_TEXT_SEARCH = "bing:"
_WALL_TITLE = re.compile(r"just a moment|attention required|access denied|captcha|are you a robot", re.IGNORECASE)
_MISSING_TITLE = re.compile(r"\s*(error )?404\b|\s*(page )?not found", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BrowserView:
    """A report taken apart. What it does not hold is empty.

    `action` is the sentence on what was done; `head` and `text` are what the page's metadata and the window on
    it show; `observation` is all that came back.
    """

    observation: str
    action: str = ""
    url: str = ""
    title: str = ""
    position: str = ""
    head: str = ""
    text: str = ""

    @property
    def is_web_page(self) -> bool:
        """Whether it shows a page of the web, and not a search engine's listing, a file or an error page."""
        return self.url.startswith(("http://", "https://")) and not _SEARCH_PAGE.match(self.url)


def parse_surfer_report(content: str) -> BrowserView:
    """The parts of a WebSurfer's message; one without a screenshot is all observation."""
    match = _SCREENSHOT.search(content)
    if not match:
        return BrowserView(content.strip())
    shown = content[match.end() :].partition(_IMAGE)[0]
    head, _, text = shown.partition(_OCR)
    return BrowserView(
        observation=content[match.start() :].partition(_IMAGE)[0].strip(),
        action=content[: match.start()].strip(),
        url=match["url"],
        title=match["title"].strip(),
        position=match["position"].strip(),
        head=head.replace(_METADATA, "").strip(),
        text=text.strip(),
    )


def parse_text_window(content: str) -> BrowserView | None:
    """The parts of a text browser's output, or None where `content` is something else."""
    match = _WINDOW.match(content)
    if not match:
        return None
    return BrowserView(
        observation=content,
        url=match["url"].strip(),
        title=(match["title"] or "").strip(),
        position=match["position"].strip(),
        text=match["text"].strip(),
    )


def surfer_call(view: BrowserView, agent: str) -> DraftCall:
    """A WebSurfer's report as a tool call: a search, a page opened or read on, or an extraction.

    What was typed into a search box is a `web_search`, an address typed or a link clicked an `open_page`,
    scrolling and going back a `read_page`, an answer without a page an `extract`. Filling in any other form
    keeps the agent's own name. The place in the page is among the arguments, since scrolling twice is no repeat.
    """
    name, query = agent, ""
    typed = _TYPED.match(view.action)
    if typed and "address bar" in typed[2]:
        name = "open_page"
    elif typed:
        if "search bar" in typed[2] or _SEARCH_PAGE.match(view.url):
            name, query = "web_search", typed[1]
    elif view.action.startswith("I clicked the browser back button"):
        name = "read_page"
    elif view.action.startswith(("I clicked", "I visited")):
        name = "open_page"
    else:
        name = "read_page" if view.action else "extract"
    stated = {"query": query, "action": view.action, "url": view.url, "position": view.position}
    arguments = {key: value for key, value in stated.items() if value}
    return DraftCall(name, agent, arguments, view.observation, is_error=view.url.startswith("chrome-error:"))


def window_call(view: BrowserView, agent: str) -> DraftCall:
    """A text browser's output as a tool call: a `web_search`, a `read_page`, or the agent's own for a file."""
    if view.url.startswith(_TEXT_SEARCH):
        query = view.url.removeprefix(_TEXT_SEARCH).strip()
        return DraftCall("web_search", agent, {"query": query, "position": view.position}, view.observation)
    name = "read_page" if view.is_web_page else agent
    is_error = bool(_MISSING_TITLE.match(view.title))
    return DraftCall(name, agent, {"url": view.url, "position": view.position}, view.observation, is_error)


def add_page(pages: PageCollector, view: BrowserView) -> None:
    """Record the page that a view shows, where it is a page of the web."""
    if not view.is_web_page:
        return
    if _WALL_TITLE.search(view.title):
        outcome = PageOutcome.WALLED.value
    elif _MISSING_TITLE.match(view.title):
        outcome = PageOutcome.NOT_FOUND.value
    else:
        outcome = outcome_of_text(view.head + view.text)
    for text in (view.head, view.text):
        pages.add(view.url, text, title=view.title, outcome=outcome)
