"""Make the picture of the README: python -m tests.site.browser.screenshot FILE.png."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bookwheel.library import Library
from bookwheel.settings import load
from tests.site.browser.conftest import find_browser
from tests.site.conftest import site_of

DOCS = Path(__file__).parents[3] / "docs"
QUESTION = "parser killed deadline memory"


def main(target: str) -> None:
    """Serve our own docs, ask, and keep what is seen."""
    with tempfile.TemporaryDirectory() as place:
        handbook = Path(place, "handbook")
        shutil.copytree(DOCS, handbook, ignore=shutil.ignore_patterns("decisions", "images"))
        settings = load({"index": f"{place}/index"}, use_start_folder=False, environment={})
        with Library.open(settings, [str(handbook), str(DOCS / "decisions")]) as library:
            library.update()
            library.embed()
            with site_of(library) as site, sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=find_browser(), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": 1120, "height": 640})
                page.goto(site.url)
                page.keyboard.type(QUESTION)
                page.locator("fieldset").first.wait_for()
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=target)
                browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
