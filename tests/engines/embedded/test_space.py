"""Room that removed documents leave is given back to the disk while others search."""

from __future__ import annotations

import random
import string
import threading
from pathlib import Path

import pytest

from bookwheel.engines.embedded import database
from tests.conftest import Shelf, find


def fill(shelf: Shelf, number: int) -> None:
    letters = random.Random(7)
    for each in range(number):
        words = ("".join(letters.choices(string.ascii_lowercase, k=7)) for _ in range(1500))
        shelf.put(f"large-{each}.md", f"# Large {each}\n\n{' '.join(words)}")
    shelf.put("zebra.md", "# Zebra\n\nstripes")


def size(shelf: Shelf) -> int:
    return (shelf.place / "index" / "catalog.db").stat().st_size


@pytest.mark.requirement("R-073")
def test_the_file_shrinks_after_documents_have_gone_while_search_goes_on(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_KEPT_PAGES", 16)
    monkeypatch.setattr(database, "_PAGES_AT_ONCE", 50)
    fill(shelf, 120)
    shelf.update()
    full = size(shelf)
    for each in range(120):
        (shelf.folder / f"large-{each}.md").unlink()
    found: list[list[str]] = []
    end = threading.Event()

    def search() -> None:
        with shelf.open() as library:
            while not end.is_set():
                found.append(find(library, "stripes"))

    thread = threading.Thread(target=search)
    thread.start()
    sizes = [full]
    for _ in range(12):
        shelf.update()
        sizes.append(size(shelf))
    end.set()
    thread.join()

    assert sizes[-1] < full / 3
    assert {tuple(each) for each in found} == {("zebra.md",)}
    with shelf.open() as library:
        assert library.check() == []


def test_a_little_room_is_kept_for_what_comes(shelf: Shelf) -> None:
    fill(shelf, 4)
    shelf.update()
    Path(shelf.folder / "large-1.md").unlink()
    shelf.update()
    full = size(shelf)
    shelf.update()

    assert size(shelf) == full
