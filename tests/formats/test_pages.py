from lseval.domain.trajectory import PageRecord
from lseval.formats.pages import PageCollector


def test_windows_of_one_url_are_joined_in_the_order_read():
    pages = PageCollector()
    pages.add("https://one.example/a", "first", title="One")
    pages.add("https://two.example/", "other")
    pages.add("https://one.example/a", "second", title="Ignored")
    assert pages.records() == (
        PageRecord("https://one.example/a", "first\n\nsecond", title="One"),
        PageRecord("https://two.example/", "other"),
    )


def test_text_read_before_is_not_repeated():
    pages = PageCollector()
    for text in ("first", "second", "first"):
        pages.add("https://one.example/", text)
    assert pages.records()[0].text == "first\n\nsecond"


def test_urls_that_differ_in_the_fragment_are_one_page_under_the_first():
    pages = PageCollector()
    pages.add("https://one.example/#top", "first")
    pages.add("https://one.example/", "second")
    pages.add("https://one.example/?q=1", "another page")
    assert [page.url for page in pages.records()] == ["https://one.example/#top", "https://one.example/?q=1"]


def test_a_success_outweighs_failures_before_and_after_it():
    pages = PageCollector()
    pages.add("https://one.example/", "wall", outcome="walled")
    pages.add("https://one.example/", "text")
    pages.add("https://one.example/", "", outcome="unavailable")
    assert pages.records() == (PageRecord("https://one.example/", "text"),)


def test_page_never_read_has_the_last_outcome_and_no_text():
    pages = PageCollector()
    pages.add("https://one.example/", "", outcome="unavailable")
    pages.add("https://one.example/", "Please log in", outcome="walled")
    assert pages.records() == (PageRecord("https://one.example/", "", outcome="walled"),)


def test_empty_url_is_no_page():
    pages = PageCollector()
    pages.add("  ", "text")
    assert pages.records() == ()


def test_a_window_that_stands_in_a_longer_one_is_not_repeated() -> None:
    collector = PageCollector()
    for text in ("was opened in 1962", "The ferry was opened in 1962.", "It is 840 m long."):
        collector.add("https://ferries.example/aldis", text)
    assert collector.records()[0].text == "The ferry was opened in 1962.\n\nIt is 840 m long."
