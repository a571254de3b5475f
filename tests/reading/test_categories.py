"""Categories of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bookwheel.errors import NotFound
from bookwheel.reading.categories import TOP, pick_category, read_categories
from tests.search.shelf import Shelf

PAGES = {
    "index.md": "# Home",
    "guides/setup.md": "# Setup",
    "guides/deploy.md": "# Deploy",
    "api/index.html": "<title>API</title>",
    "api/with space.md": "# Space",
    "loose.md": "# Loose",
}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """An empty shelf."""
    made = Shelf(tmp_path)
    yield made
    made.close()


def test_headings_and_plain_items_of_the_sidebar_are_the_categories(shelf: Shelf) -> None:
    sidebar = (
        "- [Home](index.md)\n\n# Guides\n\n"
        "- [Setup](guides/setup.md#top)\n* [Deploy](/guides/deploy)\n\n"
        "- **Reference**\n  - [API](api/)\n  - [Space](api/with%20space.md)\n"
        "  - [Elsewhere](https://example.org/loose.md)\n  - [Gone](gone.md)\n  - [Odd](http://[)\n"
    )
    shelf.put(PAGES | {"sidebar.md": sidebar})
    assert read_categories(shelf.engine, "shelf") == {
        TOP: ["index.md", "loose.md"],
        "Guides": ["guides/setup.md", "guides/deploy.md"],
        "Reference": ["api/index.html", "api/with space.md"],
    }


def test_a_page_after_the_items_of_a_group_is_not_one_of_them(shelf: Shelf) -> None:
    sidebar = (
        "## [Manual](index.md)\n\n- Guides\n  - [Setup](guides/setup.md)\n"
        "  - Further\n\t- [Space](<api/with space.md> 'A title')\n"
        "- [Loose](loose.md)\n- Flat\n- [Deploy](guides/deploy.md)\n"
    )
    shelf.put(PAGES | {"sidebar.md": sidebar})
    assert read_categories(shelf.engine, "shelf") == {
        "Guides": ["guides/setup.md"],
        "Further": ["api/with space.md"],
        "Manual": ["loose.md"],
        "Flat": ["guides/deploy.md"],
        "api": ["api/index.html"],
        TOP: ["index.md"],
    }


def test_without_a_sidebar_the_top_folders_are_the_categories(shelf: Shelf) -> None:
    shelf.put(PAGES)
    assert read_categories(shelf.engine, "shelf") == {
        "api": ["api/index.html", "api/with space.md"],
        "guides": ["guides/deploy.md", "guides/setup.md"],
        TOP: ["index.md", "loose.md"],
    }


def test_a_category_is_found_without_regard_to_case_and_a_missing_one_names_those_there_are(
    shelf: Shelf,
) -> None:
    shelf.put(PAGES)
    categories = read_categories(shelf.engine, "shelf")
    assert pick_category(categories, "GUIDES") == ["guides/deploy.md", "guides/setup.md"]
    with pytest.raises(NotFound) as caught:
        pick_category(categories, "guidse")
    assert caught.value.hint == 'There is "guides".'
