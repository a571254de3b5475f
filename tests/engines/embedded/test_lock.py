"""The writer lock: one holder, named to the others, and none when the holder is dead."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bookwheel.engines.embedded.lock import WriterLock
from bookwheel.errors import Conflict
from tests.conftest import opened_below
from tests.engines.drafts import draft, fill, found, problems
from tests.engines.embedded.scenes import ROOT, engine_in


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Give another process that holds the lock of the index in a folder."""
    command = [sys.executable, "-m", "tests.engines.embedded.scenes", "hold", str(folder)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{process.pid}\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_writer_is_told_who_writes_and_readers_go_on(tmp_path: Path) -> None:
    engine = engine_in(tmp_path)
    fill(engine, draft("a.md", "walrus"))
    with holder(tmp_path) as other:
        with pytest.raises(Conflict) as refusal:
            engine.begin_writing()
        assert refusal.value.message == (
            f"Another process (pid {other.pid}) is writing this index."
        )
        assert found(engine, "walrus") == ["a.md"]
    engine.close()


def test_f07_the_lock_of_a_killed_writer_is_free_at_once(tmp_path: Path) -> None:
    engine = engine_in(tmp_path)
    with holder(tmp_path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        fill(engine, draft("a.md", "walrus"))
    assert (found(engine, "walrus"), problems(engine)) == (["a.md"], [])
    engine.close()


def test_the_file_names_its_holder_and_not_a_former_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "catalog.db.lock"
    path.parent.mkdir()
    path.write_text("99999999 and some rubbish\n", encoding="utf-8")
    lock = WriterLock(path)
    lock.acquire()
    lock.acquire()
    assert path.read_text(encoding="utf-8") == f"{os.getpid()}\n"
    assert lock.held
    lock.release()
    lock.release()
    assert not lock.held


def test_two_locks_of_one_process_exclude_each_other_too(tmp_path: Path) -> None:
    first, second = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    first.acquire()
    with pytest.raises(Conflict):
        second.acquire()
    assert not second.held
    first.release()
    second.acquire()
    second.release()


def test_a_lock_that_could_not_be_taken_leaves_no_descriptor_open(tmp_path: Path) -> None:
    first, second = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    first.acquire()
    before = opened_below(tmp_path)
    for _ in range(5):
        with pytest.raises(Conflict):
            second.acquire()
    assert opened_below(tmp_path) == before
    first.release()


def test_a_lock_whose_file_takes_no_text_holds_without_a_name() -> None:
    lock = WriterLock(Path("/dev/full"))
    lock.acquire()
    assert lock.held
    lock.release()


def test_a_writer_waits_a_moment_for_who_only_looks_whether_anybody_writes(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    looker = os.open(path, os.O_RDONLY)
    fcntl.flock(looker, fcntl.LOCK_SH)
    lock = WriterLock(path, sleep=lambda seconds: os.close(looker))
    lock.acquire()
    assert lock.held
    lock.release()


def test_a_writer_does_not_wait_for_ever_for_who_only_looks(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open() as looker:
        fcntl.flock(looker, fcntl.LOCK_SH)
        lock = WriterLock(path, sleep=lambda seconds: None)
        with pytest.raises(Conflict):
            lock.acquire()
        assert not lock.held
