"""What is new in an index is told once, whoever made it."""

from __future__ import annotations

import threading

from bookwheel.serve.news import News
from tests.conftest import Shelf


def test_what_another_process_indexed_is_news_too(shelf: Shelf) -> None:
    changes = threading.Semaphore(0)
    shelf.put("a.md", "zebra")
    shelf.update()

    with shelf.open() as library:
        news = News(library, changes.release)
        news.look()
        assert not changes.acquire(blocking=False)
        shelf.put("b.md", "giraffe")
        shelf.update()
        news.tell()
        assert changes.acquire(blocking=False)
        news.tell()
        assert not changes.acquire(blocking=False)
