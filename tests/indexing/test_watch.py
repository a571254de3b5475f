"""Following a folder: changes are seen soon, and nothing but changes causes work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from bookwheel.errors import Conflict
from bookwheel.indexing.pipeline import Report
from bookwheel.indexing.watch import watch
from tests.conftest import Shelf

PATIENCE = 10.0


class Changes:
    """The reports of a library that is being watched, as they come."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self.reports: list[Report] = []

    def add(self, reports: list[Report]) -> None:
        with self._news:
            self.reports += reports
            self._news.notify_all()

    def wait_for(self, condition: Callable[[], bool]) -> bool:
        with self._news:
            return self._news.wait_for(condition, PATIENCE)


@contextmanager
def watched(shelf: Shelf, **flags: object) -> Iterator[Changes]:
    changes, stop = Changes(), threading.Event()

    def follow() -> None:
        with shelf.open(**flags) as library:
            library.watch(on_update=changes.add, should_stop=stop.is_set)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        assert changes.wait_for(lambda: bool(changes.reports))
        yield changes
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_files_that_come_change_move_and_go_are_found_and_lost_soon(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")

    with watched(shelf) as changes, shelf.open() as library:

        def holds(*paths: str) -> bool:
            return [each.path for each in library.list_documents("notes").documents] == [*paths]

        assert changes.wait_for(lambda: holds("a.md"))
        shelf.put("deep/er/b.md", "otter")
        assert changes.wait_for(lambda: holds("a.md", "deep/er/b.md"))
        shelf.put("a.md", "lynx and more")
        assert changes.wait_for(lambda: shelf.find("lynx") == ["a.md"])
        (shelf.folder / "a.md").rename(shelf.folder / "c.md")
        assert changes.wait_for(lambda: holds("c.md", "deep/er/b.md"))
        (shelf.folder / "c.md").unlink()
        assert changes.wait_for(lambda: holds("deep/er/b.md"))


def test_an_index_inside_its_own_folder_does_not_wake_itself(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")

    with watched(shelf, index=str(shelf.folder / "store")) as changes:
        before = len(changes.reports)
        shelf.put("b.md", "otter")
        assert changes.wait_for(lambda: sum(each.indexed for each in changes.reports) == 2)
        shelf.put("c.md", "lynx")
        assert changes.wait_for(lambda: sum(each.indexed for each in changes.reports) == 3)
        # One update at the start, and about one for each file: an index that wakes itself would
        # have made one every fifth of a second.
        assert len(changes.reports) - before <= 6


def test_f11_what_no_event_told_of_is_found_by_looking_through(tmp_path: Path) -> None:
    calls: list[float] = []
    times = iter(range(0, 1000, 10))

    watch(
        [str(tmp_path)],
        update=lambda: calls.append(monotonic()),
        should_stop=lambda: len(calls) >= 3,
        reconcile_seconds=5,
        clock=lambda: float(next(times)),
    )

    assert len(calls) == 3


def test_a_folder_that_is_not_there_yet_and_an_index_in_use_do_not_end_the_watch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def update() -> None:
        calls.append(1)
        raise Conflict("Another process is writing this index.")

    with caplog.at_level("INFO", logger="bookwheel"):
        watch(
            [str(tmp_path / "none")],
            update=update,
            should_stop=lambda: len(calls) >= 2,
            reconcile_seconds=0,
        )

    assert len(calls) == 2
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "left to another process: Another process is writing this index.")
    ] * 2
