"""A real browser on a real server. Skipped, with the reason, where the machine has no Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session", autouse=True)
def _orm_beside_the_browser() -> Iterator[None]:
    """Playwright runs an event loop in this thread, in which Django refuses its ORM unless told.

    From before the database is made until after it has been emptied for the last time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(scope="session")
def browser(_orm_beside_the_browser: None, django_db_setup: None) -> Iterator[Browser]:
    """Debian's Chromium, headless."""
    if not CHROMIUM:
        pytest.skip("needs a Chromium on this machine: apt-get install chromium, or set CHROMIUM")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(
                executable_path=CHROMIUM, args=[*_ARGUMENTS, *(["--no-sandbox"] if as_root else [])]
            )
        except Error as error:
            pytest.skip(f"the Chromium at {CHROMIUM} does not start: {error.message.splitlines()[0]}")
        yield launched
        launched.close()


class Watched:
    """A page, and whatever went wrong on it: console errors, policy violations, requests to elsewhere."""

    def __init__(self, page: Page, home: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        page.on("request", lambda request: self._request(request.url, home))

    def _console(self, message: object) -> None:
        if message.type in ("error", "warning"):  # type: ignore[attr-defined]
            self.complaints.append(f"{message.type}: {message.text}")  # type: ignore[attr-defined]

    def _request(self, url: str, home: str) -> None:
        if not url.startswith((home, "data:", "blob:")):
            self.complaints.append(f"a request left for {url}")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile, 1280 pixels wide."""
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()
