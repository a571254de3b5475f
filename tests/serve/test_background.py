"""The thread that keeps the index fresh: what it tells, what it waits for, how it ends."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.embedded.reader import Reader
from bookwheel.errors import Conflict, IndexUnreachable, IndexUnusable
from bookwheel.library import Library
from bookwheel.model import Collection
from bookwheel.serve import background, news
from bookwheel.serve.background import Indexing
from bookwheel.serve.calls import Calls
from tests.conftest import Shelf, find
from tests.embedders.endpoints import serving, vectors
from tests.serve.conftest import PATIENCE
from tests.waiting import wait_until


@contextmanager
def indexing(shelf: Shelf, **options: Any) -> Iterator[Indexing]:
    made = Indexing(shelf.open, **options)
    made.start()
    try:
        yield made
    finally:
        assert made.stop()


def until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    wait_until(condition, PATIENCE)


def until_told(made: Indexing, status: str, *, ready: bool) -> None:
    """Wait until probes are told this."""

    def is_told() -> bool:
        state = made.describe()
        return (state["status"], state["ready"]) == (status, ready)

    until(is_told)


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


def test_an_index_out_of_reach_is_told_to_probes_until_it_is_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    is_lost = threading.Event()
    generation = vars(Reader)["generation"].fget

    def read(engine: Reader) -> int:
        if is_lost.is_set():
            raise IndexUnreachable("The cluster does not answer.")
        return int(generation(engine))

    monkeypatch.setattr(Reader, "generation", property(read))
    with indexing(shelf) as made:
        assert made.ready.wait(PATIENCE)
        is_lost.set()
        until_told(made, "unreachable", ready=False)
        is_lost.clear()
        until_told(made, "ok", ready=True)


def test_an_index_that_has_lost_a_part_is_out_of_reach_until_it_is_whole_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    is_lost = threading.Event()

    def require(engine: Reader) -> None:
        if is_lost.is_set():
            raise IndexUnreachable("A part of the index is missing.")

    monkeypatch.setattr(Reader, "require_whole", require)
    monkeypatch.setattr(news, "_WHOLE_SECONDS", 0.0)
    with indexing(shelf) as made:
        assert made.ready.wait(PATIENCE)
        until_told(made, "ok", ready=True)
        is_lost.set()
        until_told(made, "unreachable", ready=False)
        is_lost.clear()
        until_told(made, "ok", ready=True)


def test_an_index_that_cannot_be_read_is_told_to_probes_and_once_to_the_log(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    is_closed = threading.Event()

    def require(engine: Reader) -> None:
        if is_closed.is_set():
            raise IndexUnusable("A file may not be read.", hint="Open it.")

    monkeypatch.setattr(Reader, "require_whole", require)
    monkeypatch.setattr(news, "_WHOLE_SECONDS", 0.0)
    with indexing(shelf) as made:
        assert made.ready.wait(PATIENCE)
        until_told(made, "ok", ready=True)
        is_closed.set()
        until_told(made, "unusable", ready=False)
        is_closed.clear()
        until_told(made, "ok", ready=True)

    assert caplog.text.count("cannot be searched: A file may not be read. Open it.") == 1


def test_where_there_is_no_index_nothing_is_ready_to_be_searched(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with indexing(shelf) as made:
        assert made.ready.wait(PATIENCE)
        until_told(made, "ok", ready=True)
        monkeypatch.setattr(Library, "generation", 0)
        monkeypatch.setattr(Library, "exists", False)
        until_told(made, "ok", ready=False)
        monkeypatch.undo()
        until_told(made, "ok", ready=True)


def cut_short(shelf: Shelf) -> None:
    """Damage an index so that nothing in it can be read."""
    database = shelf.place / "index" / "catalog.db"
    os.truncate(database, database.stat().st_size // 2)


def are_aside(shelf: Shelf, number: int) -> bool:
    """Tell whether so many indexes were set aside."""
    return len(list((shelf.place / "index").glob("catalog.db.damaged-*"))) == number


def test_a_damaged_index_is_told_to_probes_until_it_is_mended(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    monkeypatch.setattr(background, "_MEND_SECONDS", 0.05)
    with indexing(shelf) as made:
        until_told(made, "ok", ready=True)
        away = shelf.folder.rename(shelf.place / "away")
        cut_short(shelf)
        made.look_at_index()
        until_told(made, "damaged", ready=False)
        until(lambda: "there is no folder" in caplog.text)
        until_told(made, "damaged", ready=False)
        away.rename(shelf.folder)
        until_told(made, "ok", ready=True)
    assert shelf.find("zebra") == ["a.md"]
    assert are_aside(shelf, 1)


def test_what_a_question_took_for_damage_is_no_more_once_a_look_finds_nothing(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with indexing(shelf) as made:
        until_told(made, "ok", ready=True)
        made.look_at_index()
        until_told(made, "ok", ready=True)
    assert are_aside(shelf, 0)


def test_an_index_that_was_mended_and_is_damaged_again_is_mended_at_once(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with indexing(shelf) as made:
        for number in (1, 2, 3):
            until_told(made, "ok", ready=True)
            cut_short(shelf)
            made.look_at_index()
            until(partial(are_aside, shelf, number))
        until_told(made, "ok", ready=True)
    assert shelf.find("zebra") == ["a.md"]


def test_an_index_on_a_disk_that_goes_on_failing_is_mended_less_and_less_often(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    times: list[float] = []

    def repair(library: Library, **_: object) -> list[str]:
        times.append(time.monotonic())
        return ["mended"]

    monkeypatch.setattr(Library, "repair", repair)
    with indexing(shelf) as made:

        def is_mended_often() -> bool:
            made.look_at_index()
            return len(times) > 3

        until(is_mended_often)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[1] >= 1
    assert gaps[2] >= 2


@pytest.mark.parametrize("loss", ["damaged", "deleted"])
def test_while_an_index_is_made_anew_nothing_is_ready_and_answers_say_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    database = shelf.place / "index" / "catalog.db"
    is_let = threading.Event()
    declare = EmbeddedEngine.declare

    def declare_late(engine: EmbeddedEngine, collections: Iterable[Collection]) -> None:
        is_let.wait(PATIENCE)
        declare(engine, collections)

    with indexing(shelf) as made, shelf.open() as library:
        until_told(made, "ok", ready=True)
        calls = Calls(library, ready=made.ready, progress=made.count, patience=0.0)
        assert calls.remark == ""
        monkeypatch.setattr(EmbeddedEngine, "declare", declare_late)
        if loss == "damaged":
            cut_short(shelf)
            made.look_at_index()
        else:
            shutil.rmtree(database.parent)
        until_told(made, "ok", ready=False)
        until(lambda: database.exists() and not library.states())
        assert "Indexing is under way" in calls.remark
        is_let.set()
        until_told(made, "ok", ready=True)
        assert calls.remark == ""
        assert find(library, "zebra") == ["a.md"]
        calls.close()


def is_done(work: Callable[[], object]) -> bool:
    """Do what only one process at a time may do; tell whether it was let."""
    try:
        work()
    except Conflict:
        return False
    return True


def test_an_index_that_another_process_makes_anew_is_ready_when_that_is_done(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with indexing(shelf) as made:
        until_told(made, "ok", ready=True)
        other = EmbeddedEngine(shelf.place / "index" / "catalog.db")
        assert other.generation
        until(partial(is_done, other.set_aside))
        until(partial(is_done, other.begin_writing))
        try:
            until_told(made, "ok", ready=False)
        finally:
            other.close()
        until_told(made, "ok", ready=True)
    assert shelf.find("zebra") == ["a.md"]


def test_an_index_that_leaves_a_question_unanswered_is_out_of_reach_meanwhile(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    answers = threading.Event()
    answers.set()
    generation = vars(Reader)["generation"].fget

    def read(engine: Reader) -> int:
        answers.wait(PATIENCE)
        return int(generation(engine))

    monkeypatch.setattr(Reader, "generation", property(read))
    monkeypatch.setattr(news, "_SLOW_SECONDS", 0.05)
    with indexing(shelf) as made:
        assert made.ready.wait(PATIENCE)
        answers.clear()
        until_told(made, "unreachable", ready=False)
        answers.set()
        until_told(made, "ok", ready=True)


def test_two_servers_of_one_folder_both_tell_of_a_change(shelf: Shelf) -> None:
    one, other = threading.Semaphore(0), threading.Semaphore(0)
    shelf.put("a.md", "zebra")
    shelf.update()

    with (
        indexing(shelf, on_change=one.release) as first,
        indexing(shelf, on_change=other.release) as second,
    ):
        assert first.ready.wait(PATIENCE)
        assert second.ready.wait(PATIENCE)
        shelf.put("b.md", "giraffe")
        assert one.acquire(timeout=PATIENCE)
        assert other.acquire(timeout=PATIENCE)


def test_it_stops_while_it_waits(shelf: Shelf) -> None:
    with shelf.open() as other, other.writing(), indexing(shelf, busy_seconds=3600):
        pass


def test_progress_is_told_while_files_are_read(shelf: Shelf) -> None:
    seen: list[dict[str, Any]] = []
    shelf.put("a.md", "zebra")
    made = Indexing(shelf.open, on_change=lambda: seen.append(made.describe()))
    made.start()
    assert made.ready.wait(PATIENCE)
    assert made.stop()

    lag = seen[0].pop("lag_seconds")
    assert seen[0] == {"status": "ok", "ready": True, "indexing": None}
    assert lag in range(60)


class PanicException(BaseException):
    """What a panic of a library in Rust looks like from Python."""


@pytest.mark.parametrize(
    "failure",
    [RuntimeError("a defect"), IndexUnusable("no room"), PanicException("a lock is poisoned")],
)
def test_f11_a_failure_is_logged_and_tried_again_later(
    shelf: Shelf,
    failure: BaseException,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelf.put("a.md", "zebra")
    monkeypatch.setattr(background, "_FAILED_SECONDS", 0.05)
    failures = [failure, failure]

    def open_library() -> Library:
        if failures:
            raise failures.pop()
        return shelf.open()

    caplog.set_level(logging.INFO)
    made = Indexing(open_library)
    made.start()
    assert made.ready.wait(PATIENCE)
    assert made.stop()

    assert str(failure) in caplog.text
    assert shelf.find("zebra") == ["a.md"]


def test_f15_a_server_whose_folder_goes_says_that_it_is_behind_until_it_is_back(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.put("a.md", "zebra")
    caplog.set_level(logging.INFO)
    made = Indexing(lambda: shelf.open(reconcile_seconds="1"))
    made.start()
    until_told(made, "ok", ready=True)

    away = shelf.folder.rename(shelf.place / "away")
    until_told(made, "behind", ready=True)
    assert shelf.find("zebra") == ["a.md"]
    (away / "b.md").write_text("quagga", encoding="utf-8")
    away.rename(shelf.folder)
    until_told(made, "ok", ready=True)
    until(lambda: shelf.find("quagga") == ["b.md"])
    assert made.stop()

    said = [record.getMessage() for record in caplog.records]
    assert len([each for each in said if each.startswith("changes are not indexed: notes: ")]) == 1
    assert said.count("changes are indexed again") == 1


def test_while_another_process_indexes_it_says_so_and_hears_of_its_changes(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    heard = threading.Event()
    made = Indexing(shelf.open, on_change=heard.set, busy_seconds=3600)
    with shelf.open() as other, other.writing() as engine:
        made.start()
        until(lambda: made.count() == (0, 0))
        engine.remove("notes", ["a.md"])
        engine.commit()
        assert heard.wait(PATIENCE)
    assert made.describe()["indexing"] == {"done": 0, "total": 0}
    assert made.stop()


def test_an_index_that_cannot_be_made_is_told_of(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    (shelf.place / "file").write_text("in the way")
    cache = {"index": None, "cache_root": str(shelf.place / "file")}
    made = Indexing(lambda: shelf.open(**cache))
    made.start()
    until(lambda: made.has_failed)
    assert made.stop()

    assert made.describe()["status"] == "failed"
    assert "cannot be made" in caplog.text


def test_another_model_that_is_met_by_a_new_document_reads_the_old_ones_too(shelf: Shelf) -> None:
    row = [1.0, 0.0]
    shelf.put("a.md", "zebra")
    with serving(lambda asked: vectors([row] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        made = Indexing(lambda: shelf.open(**flags))
        made.start()
        try:
            until_read(shelf, flags)
            row.append(0.0)
            shelf.put("b.md", "giraffe")
            until_read(shelf, flags)
        finally:
            assert made.stop()


def until_read(shelf: Shelf, flags: dict[str, str]) -> None:
    """Wait until all documents have vectors of the model as it is now."""
    with shelf.open(**flags) as library:
        until(lambda: library.exists and library.is_embedded_by_this_model)
