import pytest

from lseval.domain.trajectory import PageRecord
from lseval.formats.browser_views import (
    add_page,
    parse_surfer_report,
    parse_text_window,
    surfer_call,
    window_call,
)
from lseval.formats.pages import PageCollector

TOP = "at the top of the page"
LOWER = "20% down from the top of the page"


def report(
    action="I clicked 'Details'.",
    title="Rivers",
    url="https://one.example/a_(b)",
    position=TOP,
):
    return (
        f"{action}\n\nHere is a screenshot of [{title}]({url}). The viewport shows 8% of the webpage, and is "
        f"positioned {position}.\nThe following metadata was extracted from the webpage:\n\n"
        '{"description": "All rivers"}\n\nAutomatic OCR of the page screenshot has detected the following text:\n\n'
        "The Example.\n<Image>\nTraceback"
    )


def test_report_is_taken_apart():
    view = parse_surfer_report(report(title="Rivers [EU] (2024)", position="56% down from the top of the page"))
    assert view.action == "I clicked 'Details'."
    assert (view.title, view.url) == ("Rivers [EU] (2024)", "https://one.example/a_(b)")
    assert view.position == "56% down from the top of the page"
    assert (view.head, view.text) == ('{"description": "All rivers"}', "The Example.")
    assert view.observation.startswith("Here is a screenshot of [Rivers")
    assert view.observation.endswith("The Example.")


@pytest.mark.parametrize(
    ("action", "url", "name"),
    [
        ("I typed 'rivers' into '0 characters out of 2000'.", "https://www.bing.com/search?q=rivers", "web_search"),
        ("I typed 'rivers' into the browser search bar.", "https://www.bing.com/search?q=rivers", "web_search"),
        ("I typed 'https://one.example/' into the browser address bar.", "https://one.example/", "open_page"),
        ("I typed 'Hartford' into 'From*'.", "https://one.example/form", "WebSurfer"),
        ("I clicked 'Details'.", "https://one.example/", "open_page"),
        ("I clicked the control.", "https://one.example/", "open_page"),
        ("I clicked the browser back button.", "https://one.example/", "read_page"),
        ("I scrolled down one page in the browser.", "https://one.example/", "read_page"),
    ],
)
def test_action_says_which_tool_was_used(action, url, name):
    call = surfer_call(parse_surfer_report(report(action, url=url)), "WebSurfer")
    assert (call.name, call.original_name, call.is_error) == (name, "WebSurfer", False)
    assert call.arguments["action"] == action
    assert call.arguments.get("query") == ("rivers" if name == "web_search" else None)


def test_answer_without_a_screenshot_is_an_extraction():
    call = surfer_call(parse_surfer_report("The page says that it is the Example."), "WebSurfer")
    assert (call.name, call.arguments) == ("extract", {})
    assert call.observation == "The page says that it is the Example."


def test_scrolling_on_is_no_repeat_of_the_call_before():
    action = "I scrolled down one page in the browser."
    first, second = (
        surfer_call(parse_surfer_report(report(action, position=at)), "WebSurfer") for at in (TOP, LOWER)
    )
    assert first.arguments != second.arguments


def test_browsers_error_page_is_an_error_and_no_page():
    view = parse_surfer_report(report(url="chrome-error://chromewebdata/"))
    pages = PageCollector()
    add_page(pages, view)
    assert surfer_call(view, "WebSurfer").is_error
    assert pages.records() == ()


def test_page_joins_its_head_and_its_windows_without_repeating_the_head():
    pages = PageCollector()
    add_page(pages, parse_surfer_report(report(position=TOP)))
    add_page(pages, parse_surfer_report(report(position=LOWER).replace("Example.", "Sample.")))
    (page,) = pages.records()
    assert page.text == '{"description": "All rivers"}\n\nThe Example.\n\nThe Sample.'


@pytest.mark.parametrize(
    ("title", "url", "expected"),
    [
        ("Just a moment...", "https://one.example/", ("walled", "")),
        ("Radware Bot Manager Captcha", "https://one.example/", ("walled", "")),
        ("404 - Page", "https://one.example/", ("not_found", "")),
        ("rivers - Search", "https://www.bing.com/search?q=rivers", None),
        ("Download", "data:text/html;base64,AAAA", None),
    ],
)
def test_walls_missing_pages_and_listings_give_no_text(title, url, expected):
    pages = PageCollector()
    add_page(pages, parse_surfer_report(report(title=title, url=url)))
    assert [(page.outcome, page.text) for page in pages.records()] == ([expected] if expected else [])


def window(address="https://one.example/", title="Title: Rivers\n", position="Showing page 2 of 3."):
    return (
        f"Address: {address}\n{title}You previously visited this page 9 seconds ago.\n"
        f"Viewport position: {position}\n=======================\nThe Example.\n"
    )


def test_text_window_of_a_page_is_a_reading_with_its_place():
    view = parse_text_window(window())
    call = window_call(view, "Web_Expert")
    assert (call.name, call.original_name) == ("read_page", "Web_Expert")
    assert call.arguments == {"url": "https://one.example/", "position": "Showing page 2 of 3."}
    pages = PageCollector()
    add_page(pages, view)
    assert pages.records() == (PageRecord("https://one.example/", "The Example.", title="Rivers"),)


def test_text_window_of_a_search_or_a_file_is_no_page():
    search = window_call(parse_text_window(window("bing: longest river")), "Web_Expert")
    assert (search.name, search.arguments["query"]) == ("web_search", "longest river")
    listing = window_call(parse_text_window(window("file:///data/rivers.csv", title="")), "FileSurfer")
    assert (listing.name, listing.is_error) == ("FileSurfer", False)
    missing = window_call(parse_text_window(window("file:///none.csv", title="Title: Error 404\n")), "FileSurfer")
    assert missing.is_error
    pages = PageCollector()
    for address in ("bing: longest river", "file:///data/rivers.csv"):
        add_page(pages, parse_text_window(window(address)))
    assert pages.records() == ()


def test_words_that_mention_an_address_are_no_window():
    assert parse_text_window("The page is:\n" + window()) is None


def test_hostile_report_is_taken_apart_in_linear_time():
    # Every opening could be a screenshot's; an unbounded pattern would try each against all that follows.
    text = "Here is a screenshot of [](" * 40_000
    assert parse_surfer_report(text).observation == text
