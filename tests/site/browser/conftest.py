"""Chromium, driven from the tests; it must be there: `make test` installs it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.serve.conftest import Site

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Watched:
    """A page, and what it did that it must never do."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site
        self.dialogs: list[str] = []
        self.foreign: list[str] = []
        self.errors: list[str] = []
        page.on("dialog", self._note_dialog)
        page.on("request", self._note_request)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith(self.site.url):
            self.foreign.append(request.url)

    def open(self, path: str) -> Page:
        """Go to an address of the site."""
        self.page.goto(self.site.url + path)
        return self.page

    def type(self, words: str) -> None:
        """Type into the search box, once it has the focus that the page asks for."""
        expect(self.page.locator("[name=q]")).to_be_focused()
        self.page.keyboard.type(words)


def find_browser() -> str:
    """Return where the browser is; there is no testing pages without one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, f"none of {', '.join(NAMES)} is installed; `make test` installs chromium"
    return found


# For one module only: while it runs, no other loop can in this thread.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # As root, and in containers, chromium cannot make its own sandbox.
        launched = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield launched
        launched.close()


Visit = Callable[..., Watched]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Return what opens a page of a site in a browser of its own, with whatever it likes."""
    contexts = []

    def open_page(site: Site, **wishes: Any) -> Watched:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **wishes})
        context.set_default_timeout(10_000)
        contexts.append(context)
        return Watched(context.new_page(), site)

    yield open_page
    for context in contexts:
        context.close()
