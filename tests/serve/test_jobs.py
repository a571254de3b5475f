"""Folders that are asked for: done by whichever server may write, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bookwheel.indexing.pipeline import Progress
from bookwheel.library import Library
from bookwheel.model import Job, JobState, Priority
from bookwheel.serve import background
from tests.conftest import Shelf, find
from tests.serve.conftest import PATIENCE
from tests.serve.test_background import indexing, until

HIGH = Priority.HIGH


def ended(library: Library, job: Job) -> Job:
    """Return a job when it is finished."""
    until(lambda: found(library, job).is_finished)
    return found(library, job)


def found(library: Library, job: Job) -> Job:
    now = library.jobs.find(job.number)
    assert now is not None
    return now


@contextmanager
def server(shelf: Shelf) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server of a shelf as another process, which is killed in the end."""
    words = ("serve", shelf.folder, "--index", shelf.place / "index", "--http", "127.0.0.1:0")
    process = subprocess.Popen(
        [sys.executable, "-m", "bookwheel", *map(str, words)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "BOOKWHEEL_WORKERS": "1", "BOOKWHEEL_EMBEDDER": "none"},
    )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)


@pytest.mark.requirement("R-023")
def test_the_thread_that_indexes_does_what_is_asked_for(shelf: Shelf) -> None:
    shelf.put("a/x.md", "zebra")
    shelf.put("b/x.md", "zebra")
    with indexing(shelf) as thread, shelf.open() as library:
        assert thread.ready.wait(PATIENCE)
        shelf.put("a/x.md", "okapi")  # looks as before: only who reads all anew sees it
        shelf.put("b/x.md", "okapi")

        job = ended(library, library.jobs.ask("notes", "a", full=True))

        assert (job.state, job.counts.indexed) == (JobState.DONE, 1)
        assert find(library, "okapi") == ["a/x.md"]


@pytest.mark.requirement("R-023")
def test_what_is_urgent_interrupts_the_scan_at_the_start(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LOOK_SECONDS", 0.0)
    shelf.put("urgent/x.md", "zebra")
    shelf.update()
    for number in range(400):
        shelf.put(f"{number:03}.md", "giraffe")
    shelf.put("urgent/x.md", "okapi")
    jobs: list[Job] = []
    told: list[int] = []

    class Asked(background.Indexing):
        def _note_progress(self, progress: Progress) -> None:
            told.append(progress.total)
            if not jobs:
                with shelf.open() as other:
                    jobs.append(other.jobs.ask("notes", "urgent", full=True, priority=HIGH))

    made = Asked(shelf.open)
    made.start()
    assert made.ready.wait(PATIENCE)
    assert made.stop()
    with shelf.open() as library:
        job = found(library, jobs[0])
        assert (job.state, job.counts.indexed) == (JobState.DONE, 1)
        assert find(library, "okapi") == ["urgent/x.md"]
        assert library.states()[0].documents == 401

    whole, part, rest = dict.fromkeys(told)
    assert (whole, part) == (400, 1)
    assert 0 < rest < 400


@pytest.mark.requirement("R-023")
def test_a_process_that_only_reads_has_another_do_it(shelf: Shelf) -> None:
    for number in range(20):
        shelf.put(f"{number}.md", "zebra")
    with server(shelf) as process, shelf.open() as library:
        until(lambda: library.exists and library.is_indexed)
        shelf.put("0.md", "okapi")

        job = ended(library, library.jobs.ask("notes", full=True))

        assert job.owner == process.pid
        assert job.counts.indexed == 20
        assert find(library, "okapi") == ["0.md"]


@pytest.mark.requirement("R-023")
def test_of_two_servers_the_one_that_is_left_does_it(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()
    with server(shelf) as one, server(shelf) as other, shelf.open() as library:
        owners: set[int | None] = set()
        for process in (one, other):
            job = ended(library, library.jobs.ask("notes", full=True))
            assert job.state is JobState.DONE
            owners.add(job.owner)
            kill(process)
        assert owners <= {one.pid, other.pid}
        waiting = library.jobs.ask("notes", full=True)
        with indexing(shelf):
            assert ended(library, waiting).owner == os.getpid()


@pytest.mark.requirement("R-023")
def test_a_job_whose_server_is_killed_is_finished_by_the_next(shelf: Shelf) -> None:
    for number in range(600):
        shelf.put(f"{number:03}.md", f"# Title {number}\n\n" + "zebra giraffe okapi " * 500)
    with shelf.open() as library:
        with server(shelf) as process:
            until(lambda: library.exists and library.is_indexed)
            first = library.jobs.ask("notes", full=True, priority=Priority.LOW)
            until(lambda: found(library, first).counts.done > 0)
            kill(process)
        cut_off = found(library, first)
        assert cut_off.state is JobState.WAITING
        assert 0 < cut_off.counts.done < 600
        assert len(find(library, "zebra")) == 10

        with server(shelf):
            job = ended(library, first)

        assert (job.state, job.counts.indexed) == (JobState.DONE, 600)
        assert job.attempts == 2


def test_a_change_while_vectors_are_made_does_not_end_the_thread(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = threading.Semaphore(0)

    def embed(library: Library, **_: object) -> int:
        with library.writing():
            rounds.release()
        return 1

    monkeypatch.setattr(Library, "embed", embed)
    monkeypatch.setattr(Library, "is_embedded", False)
    shelf.put("a.md", "zebra")

    with indexing(shelf) as thread, shelf.open() as reader:
        assert rounds.acquire(timeout=PATIENCE)
        assert rounds.acquire(timeout=PATIENCE)
        shelf.put("new.md", "giraffe")
        until(lambda: thread.has_failed or find(reader, "giraffe"))
        assert not thread.has_failed
