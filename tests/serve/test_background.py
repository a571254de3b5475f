"""The thread that keeps the index fresh: what it tells, what it waits for, how it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bookwheel.serve.background import Indexing
from bookwheel.serve.calls import Calls
from tests.conftest import Shelf, find
from tests.serve.conftest import OFFERED, PATIENCE


@contextmanager
def indexing(shelf: Shelf, **options: Any) -> Iterator[Indexing]:
    made = Indexing(shelf.open, **options)
    made.start()
    try:
        yield made
    finally:
        assert made.stop()


def test_folders_are_indexed_and_then_followed(shelf: Shelf) -> None:
    changes = threading.Semaphore(0)
    shelf.put("a.md", "zebra")

    with indexing(shelf, on_change=changes.release) as thread, shelf.open() as reader:
        assert thread.ready.wait(PATIENCE)
        assert changes.acquire(timeout=PATIENCE)
        assert find(reader, "zebra") == ["a.md"]
        shelf.put("b.md", "giraffe")
        assert changes.acquire(timeout=PATIENCE)
        assert find(reader, "giraffe") == ["b.md"]


def test_what_did_not_change_is_no_news(shelf: Shelf) -> None:
    changes = threading.Semaphore(0)
    shelf.put("a.md", "zebra")
    shelf.update()

    with indexing(shelf, on_change=changes.release) as thread:
        assert thread.ready.wait(PATIENCE)

    assert not changes.acquire(blocking=False)


def test_while_another_process_writes_it_waits_quietly_and_searches_go_on(shelf: Shelf) -> None:
    changes = threading.Semaphore(0)
    shelf.put("a.md", "zebra")
    shelf.update()
    shelf.put("b.md", "giraffe")

    with shelf.open() as other, shelf.open() as reader:
        with other.writing(), indexing(shelf, busy_seconds=0.01) as waiting:
            assert waiting.ready.wait(PATIENCE)
            assert find(reader, "zebra") == ["a.md"]
            assert find(reader, "giraffe") == []
        with indexing(shelf, on_change=changes.release):
            assert changes.acquire(timeout=PATIENCE)
        assert find(reader, "giraffe") == ["b.md"]


def test_it_stops_while_it_waits(shelf: Shelf) -> None:
    with shelf.open() as other, other.writing(), indexing(shelf, busy_seconds=3600):
        pass


def test_a_call_before_there_is_an_index_says_so(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    with shelf.open() as library:
        calls = Calls(library, ready=threading.Event(), progress=lambda: " (1 of 2)", patience=0.01)
        reply = calls.call_tool(OFFERED, "echo", {"word": "x"})
        calls.close()

    assert reply.is_error
    assert reply.text == ("The documents are being indexed (1 of 2). Ask again in a few seconds.")


def test_progress_is_told_while_files_are_read(shelf: Shelf) -> None:
    seen: list[dict[str, Any]] = []
    shelf.put("a.md", "zebra")
    made = Indexing(shelf.open, on_change=lambda: seen.append(made.describe()))
    made.start()
    assert made.ready.wait(PATIENCE)
    assert made.stop()

    assert seen[0] == {"status": "ok", "ready": True, "indexing": None}
