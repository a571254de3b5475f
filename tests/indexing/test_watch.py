"""Following a folder: changes are seen soon, and nothing but changes causes work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from bookwheel.errors import BookwheelError, Conflict, IndexUnusable
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
    looks: list[bool] = []
    unheard: list[int] = []
    pauses: list[int] = []
    times = iter(range(0, 1000, 10))

    def update() -> bool:
        looks.append(len(looks) != 2)  # the third finds nothing
        return looks[-1]

    watch(
        [str(tmp_path)],
        update=update,
        should_stop=lambda: len(looks) >= 4 or len(pauses) >= 20,
        reconcile_seconds=5,
        on_pause=lambda: pauses.append(1),
        on_unheard=lambda: unheard.append(len(looks)),
        clock=lambda: float(next(times)),
    )

    assert looks == [True, True, False, True]
    assert unheard == [2, 4]  # of what changed before it listened nothing could be heard


def test_a_folder_that_is_not_there_yet_and_an_index_in_use_do_not_end_the_watch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def update() -> bool:
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


def test_an_update_that_fails_is_told_of_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    full = IndexUnusable("The disk is full.")
    told: list[BookwheelError] = []

    def update() -> bool:
        raise full

    for on_failure in (told.append, None):
        watch(
            [str(tmp_path)],
            update=update,
            should_stop=partial(next, iter((False, False)), True),
            reconcile_seconds=0,
            on_failure=on_failure,
        )

    assert told == [full]
    assert [record.getMessage() for record in caplog.records] == [
        "update failed: The disk is full."
    ]


class PanicException(BaseException):
    """What a panic of a library in Rust looks like from Python."""


@pytest.mark.parametrize(
    "death", [OSError("no watches left"), RuntimeError("inotify is gone"), PanicException("a lock")]
)
def test_f11_a_listener_that_dies_is_told_of_once_and_replaced(
    shelf: Shelf,
    death: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The third one lives: what it alone can hear of, it hears of."""
    listeners: list[int] = []

    def listen(*paths: str, **options: Any) -> Iterator[Any]:
        listeners.append(len(listeners))
        if len(listeners) == 1:
            yield set()
        if len(listeners) < 3:
            raise death
        yield from real(*paths, **options)

    real = watchfiles.watch
    monkeypatch.setattr(watchfiles, "watch", listen)
    shelf.put("a.md", "zebra")
    with (
        caplog.at_level("INFO", logger="bookwheel.indexing.watch"),
        watched(shelf, reconcile_seconds=1) as changes,
    ):
        shelf.put("b.md", "otter")
        assert changes.wait_for(lambda: shelf.find("otter") == ["b.md"])
        assert changes.wait_for(lambda: len(listeners) >= 3)
    assert [record.getMessage() for record in caplog.records] == [
        f"changes are found by looking through folders, not at once: {death}",
        "changes are heard of at once again",
    ]


def test_f11_other_failures_of_a_listener_are_not_taken_for_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listen(*_: str, **__: Any) -> Iterator[Any]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(watchfiles, "watch", listen)
    with pytest.raises(KeyboardInterrupt):
        watch(
            [str(tmp_path)],
            update=lambda: False,
            should_stop=lambda: False,
            reconcile_seconds=1,
        )


def test_f11_a_folder_that_comes_or_is_made_anew_is_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First there is none; then one, which is replaced by another while nobody listens."""
    heard_in: list[tuple[str, ...]] = []
    folder, other = tmp_path / "notes", tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("zebra", encoding="utf-8")
    updates: list[int] = []

    def listen(*paths: str, **options: Any) -> Iterator[Any]:
        heard_in.append(paths)
        stop = options["stop_event"]
        while not stop.is_set():
            yield set()

    def update() -> bool:
        updates.append(len(heard_in))
        if len(heard_in) == 1:
            folder.mkdir()
        elif len(heard_in) == 2 and other.exists():
            folder.rmdir()
            other.rename(folder)
        return True

    monkeypatch.setattr(watchfiles, "watch", listen)
    watch(
        [str(folder)],
        update=update,
        should_stop=lambda: len(updates) == 4,
        reconcile_seconds=0,
    )
    assert heard_in == [(), (str(folder),), (str(folder),)]
    assert updates == [1, 2, 3, 3]


def test_an_index_that_others_write_all_the_time_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happens to the index is no news, but time goes on meanwhile."""
    own = str(tmp_path / "store")
    pauses: list[int] = []
    updates: list[int] = []

    def update() -> bool:
        updates.append(1)
        return True

    def write(self: object, *_: object) -> set[tuple[int, str]]:
        return {(1, f"{own}/catalog.db-wal")}

    class Notify:
        watch = write

        def __init__(self, *_: object) -> None: ...
        def __enter__(self) -> Notify:
            return self

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("watchfiles.main.RustNotify", Notify)
    with pytest.raises(StopIteration):
        watch(
            [str(tmp_path)],
            update=update,
            should_stop=lambda: False,
            reconcile_seconds=3600,
            own_paths=[own],
            on_pause=lambda: pauses.append(1) if len(pauses) < 5 else next(iter(())),
        )
    assert (len(pauses), len(updates)) == (5, 1)
