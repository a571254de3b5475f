"""A small documentation and its site: alone, beside another collection, and behind a token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any

import pytest

from bookwheel.library import Library
from bookwheel.serve.calls import Calls
from bookwheel.serve.site.routes import make_site_routes
from bookwheel.serve.web import Web
from tests.conftest import Shelf
from tests.serve.conftest import Site, serving

TOKEN = "a long token"
SETUP = """---
title: Setting up
tags: [start]
---
# Setting up

Install the *walrus* on a [dry floor](../floors/dry.md#tiles), see [the API](/api).

![a picture of it](https://pictures.example/walrus.png)

## Install

1. Fetch the walrus.
2. Feed the walrus.

```sh
walrus --feed
walrus --rest
```

## Install

| food | times |
|---|--:|
| fish | 3 |

[gone](missing.md) and [elsewhere](https://walrus.example/) and [mail](mailto:w@example.com)
"""


def fill(shelf: Shelf) -> None:
    """Put a small documentation on a shelf."""
    shelf.put("guides/setup.md", SETUP)
    shelf.put("guides/index.md", "# Guides\n\nHow the walrus is kept.")
    shelf.put("floors/dry.md", "# Dry floors\n\n## Tiles\n\nA walrus likes tiles.")
    shelf.put("api.md", "# API\n\nCall the walrus by its name, 2023.")
    shelf.put("readme.txt", "A walrus\n  <b>keeps</b> its\n\tindents.")
    shelf.put("food.csv", "food,price\nfish,3\nclams,7\n")
    shelf.put("old/news.md", "---\ndate: 2019-03-04\n---\n# News\n\nThe walrus arrived.")
    shelf.put("broken.pdf", b"%PDF-1.4 broken")


def text_of(page: bytes) -> str:
    """Return the words that a page shows."""
    body = page.decode().partition("<body")[2].partition(">")[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@contextmanager
def site_of(library: Library, *, token: str | None = None, **named: Any) -> Iterator[Site]:
    """Serve the site of a library."""
    calls = Calls(library)
    state = named.pop("state", lambda: {"ready": True, "indexing": None})
    toolsets = named.pop("toolsets", {"documents": ("documents_search",)})
    try:
        with serving(
            named.pop("servers", {}),
            token=token,
            site=lambda rules: make_site_routes(
                Web(calls, state=state, toolsets=toolsets, rules=rules)
            ),
            **named,
        ) as site:
            yield site
    finally:
        calls.close()


@pytest.fixture(scope="session")
def documentation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    shelf = Shelf(tmp_path_factory.mktemp("documentation"))
    fill(shelf)
    shelf.update()
    with shelf.open() as library:
        yield library


@pytest.fixture(scope="session")
def site(documentation: Library) -> Iterator[Site]:
    with site_of(documentation) as made:
        yield made


@pytest.fixture(scope="session")
def locked(documentation: Library) -> Iterator[Site]:
    with site_of(documentation, token=TOKEN) as made:
        yield made


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two collections; `papers` may only be previewed."""
    shelf = Shelf(tmp_path_factory.mktemp("pair"))
    fill(shelf)
    papers = shelf.place / "papers"
    papers.mkdir()
    (papers / "tusks.md").write_text("# On tusks\n\nA tusk is long." + " It grows." * 600)
    config = shelf.place / "bookwheel.toml"
    config.write_text(
        "[[collections]]\npath = 'notes'\n[[collections]]\npath = 'papers'\naccess = 'preview'\n"
    )
    from bookwheel.settings import load

    flags = {"index": str(shelf.place / "index"), "workers": 1}
    settings = load(flags, config=str(config), use_start_folder=False, environment={})
    with Library.open(settings) as library:
        library.update()
        with site_of(library) as made:
            yield made
