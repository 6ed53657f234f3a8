"""A hostile snapshot in a real browser (X01): nothing of it runs, and nothing is asked for from outside."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, expect

from lseval.domain.web import FetchedPage, Hop
from lseval.models import Page, PageSource, Role
from lseval.pipeline.snapshots import save_page
from lseval.providers.extract import extract
from tests.browser.conftest import Watched
from tests.factories import make_run, make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = b"""<!doctype html><html><head><title>Ferry</title><base href="http://evil.example/">
<meta http-equiv="refresh" content="0;url=http://evil.example/refresh">
<link rel="stylesheet" href="http://evil.example/style.css">
<style>@import url(http://evil.example/import.css);</style>
<script src="http://evil.example/script.js"></script>
<script>document.title = "owned"; top.name = "owned"</script></head>
<body onload="alert(1)" background="http://evil.example/back.png">
<h1 onclick="alert(2)" style="background: url(http://evil.example/style.png)">Lake Aldis ferry</h1>
<p>The ferry opened in 1962. ![beacon](http://evil.example/beacon.png)</p>
<img src="http://evil.example/image.png" srcset="http://evil.example/set.png 2x" onerror="alert(3)" alt="x">
<svg onload="alert(4)"><image href="http://evil.example/svg.png"/><script>alert(5)</script></svg>
<iframe src="http://evil.example/frame" srcdoc="<script>alert(6)</script>"></iframe>
<form action="http://evil.example/form"><input name="q" autofocus onfocus="alert(7)"><button>Send</button></form>
<object data="http://evil.example/object"></object><embed src="http://evil.example/embed">
<video src="http://evil.example/video" poster="http://evil.example/poster" autoplay></video>
<a href="javascript:alert(8)">one link</a>
<a href="http://evil.example/" ping="http://evil.example/ping">two links</a>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(9)&gt;">
</body></html>"""


def test_hostile_snapshot_neither_runs_nor_loads_anything(context: BrowserContext, live_server) -> None:
    study = make_study()
    make_run(study)
    make_user("lead", study, Role.LEAD)
    found = extract(HOSTILE, "text/html")
    save_page(
        study,
        FetchedPage(
            "http://evil.example/ferry",
            found.outcome,
            title=found.title,
            text=found.text,
            content=HOSTILE,
            final_url="http://evil.example/ferry",
            status=200,
            detail="said the server",
            hops=(
                Hop("http://evil.example/", "192.0.2.7", 302),
                Hop("http://evil.example/" + "ferry" * 40, "192.0.2.7", 200),
            ),
            headers={"server": "nginx", "x-long": "abcdefghij" * 30},
            flags=("mislabelled_encoding", "instructions_in_page"),
            content_type="text/html",
            sniffed_type=found.sniffed_type,
            decoder=found.decoder,
            decoder_source="guess",
        ),
        PageSource.FETCHED,
    )
    page = context.new_page()
    watched = Watched(page, live_server.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (watched.complaints.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(f"{live_server.url}/login/")
    page.locator("input[name=username]").fill("lead")
    page.locator("input[name=password]").fill("pw")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    pk = Page.objects.get(source=PageSource.FETCHED).pk
    page.goto(f"{live_server.url}/studies/s1/pages/{pk}/")
    expect(page.locator("#snapshot")).to_contain_text("The ferry opened in 1962.")
    expect(page.locator("#snapshot")).to_contain_text("two links")
    page.get_by_text("Layout of the page").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("Lake Aldis ferry")
    for link in ("one link", "two links"):
        frame.get_by_text(link).click()
    page.wait_for_load_state("networkidle")
    assert page.title().startswith("Ferry")
    assert page.evaluate("window.name") == ""
    assert (
        frame.locator("script, img, svg, iframe, form, input, object, embed, video, style, link, [href]").count()
        == 0
    )
    assert any(url.endswith("/layout/") for url in asked)
    assert [url for url in asked if not url.startswith(live_server.url)] == []
    found_by_axe = Axe().run(page)
    assert found_by_axe.violations_count == 0, found_by_axe.generate_report()
    page.get_by_text("Headers").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        narrow = Axe().run(page)
        assert narrow.violations_count == 0, narrow.generate_report()
    assert watched.complaints == []
