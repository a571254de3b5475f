"""The queue of jobs, whichever engine keeps it: who comes first, who joins whom, what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from bookwheel.engines import queueing
from bookwheel.engines.base import JobQueue, WritableEngine
from bookwheel.engines.embedded import database
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import Conflict, Forbidden
from bookwheel.model import Counts, Job, JobState, Priority
from tests.engines.conftest import ENGINES, Make

FOLDERS = st.lists(st.sampled_from("abc"), max_size=3).map("/".join)


def ask(
    queue: JobQueue,
    folder: str = "",
    *,
    collection: str = "notes",
    full: bool = False,
    priority: Priority = Priority.NORMAL,
) -> tuple[Job, bool]:
    return queue.add(collection, folder, full=full, priority=priority)


def drain(queue: JobQueue) -> list[Job]:
    """Run all jobs and return them in their order."""
    done = []
    while job := queue.take():
        queue.start(job.number)
        queue.finish(job.number, Counts(indexed=1))
        done.append(job)
    return done


@pytest.fixture
def writing(engine: WritableEngine) -> JobQueue:
    engine.begin_writing()
    return engine.queue


@pytest.mark.requirement("R-023")
@pytest.mark.parametrize("make", ENGINES)
@limits(max_examples=25)
@given(priorities=st.lists(st.sampled_from(Priority), max_size=8))
def test_of_the_highest_priority_the_oldest_comes_first(
    make: Make, priorities: list[Priority], tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine = make(tmp_path_factory.mktemp("queue"))
    engine.begin_writing()
    asked = [
        ask(engine.queue, f"folder{number}", priority=each)[0].number
        for number, each in enumerate(priorities)
    ]

    done = [job.number for job in drain(engine.queue)]

    assert done == sorted(asked, key=lambda number: (-priorities[asked.index(number)], number))
    assert engine.queue.jobs() == []
    engine.close()


@pytest.mark.requirement("R-020")
@pytest.mark.parametrize("make", ENGINES)
@limits(max_examples=40)
@given(first=FOLDERS, second=FOLDERS)
def test_a_folder_that_holds_another_or_lies_in_it_is_the_same_job(
    make: Make, first: str, second: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine = make(tmp_path_factory.mktemp("queue"))
    engine.begin_writing()
    one, is_ours = ask(engine.queue, first)
    other, is_theirs = ask(engine.queue, second)
    elsewhere = ask(engine.queue, second, collection="papers")

    above = Path("/", first), Path("/", second)
    overlap = above[0].is_relative_to(above[1]) or above[1].is_relative_to(above[0])
    assert is_ours
    assert is_theirs is not overlap
    assert (other.number == one.number) is overlap
    assert elsewhere[1]
    engine.close()


def test_asking_needs_no_writer_lock(engine: WritableEngine, make: Make, tmp_path: Path) -> None:
    other = make(tmp_path)
    other.begin_writing()

    job, is_ours = ask(engine.queue, "a", full=True, priority=Priority.HIGH)

    assert is_ours
    assert other.queue.take() == job == engine.queue.job(job.number)
    assert (job.folder, job.full, job.priority) == ("a", True, Priority.HIGH)
    assert (job.state, job.counts, job.is_asked) == (JobState.WAITING, Counts(), True)
    other.close()


def test_how_far_a_job_is_can_be_seen_by_all(
    engine: WritableEngine, make: Make, tmp_path: Path
) -> None:
    other = make(tmp_path)
    job, _ = ask(other.queue)
    engine.begin_writing()
    taken = engine.queue.take()
    assert taken
    engine.queue.start(taken.number)
    engine.queue.note(taken.number, Counts(1, 2, 3, 4, 5))

    (seen,) = other.queue.jobs()
    assert (seen.state, seen.counts) == (JobState.RUNNING, Counts(1, 2, 3, 4, 5))
    assert seen.owner
    assert seen.started_at
    engine.queue.finish(job.number, Counts(6, 5, 4, 3, 2), error="No such thing.")

    ended = other.queue.job(job.number)
    assert ended
    assert (ended.state, ended.error, ended.is_finished) == (
        JobState.FAILED,
        "No such thing.",
        True,
    )
    assert ended.counts == Counts(6, 5, 4, 3, 2)
    assert other.queue.jobs() == []
    other.close()


@pytest.mark.requirement("R-021")
def test_what_runs_of_its_own_accord_is_joined_once(writing: JobQueue) -> None:
    (own,) = writing.plan([("notes", "")], full=False)
    writing.start(own.number)

    joined, is_ours = ask(writing)
    second, is_theirs = ask(writing)

    assert (joined.number, is_ours) == (own.number, True)
    assert (second.number, is_theirs) == (own.number, False)
    writing.finish(own.number, Counts(indexed=7))
    ended = writing.job(own.number)
    assert ended
    assert ended.counts.indexed == 7


@pytest.mark.parametrize(
    ("folder", "full", "priority"),
    [("a", False, Priority.NORMAL), ("", True, Priority.NORMAL), ("", False, Priority.HIGH)],
    ids=["a part", "more", "sooner"],
)
def test_who_wants_something_else_has_a_job_of_his_own(
    folder: str, full: bool, priority: Priority, writing: JobQueue
) -> None:
    (own,) = writing.plan([("notes", "")], full=False)

    job, is_ours = ask(writing, folder, full=full, priority=priority)

    assert is_ours
    assert job.number != own.number


@pytest.mark.requirement("R-021")
def test_what_was_asked_for_just_before_is_done_by_the_scan_that_begins(writing: JobQueue) -> None:
    whole, _ = ask(writing)
    part, _ = ask(writing, "a", collection="papers")

    planned = writing.plan([("notes", ""), ("papers", "")], full=False)

    assert planned[0].number == whole.number
    assert planned[1].number != part.number


def test_what_nobody_asked_for_leaves_no_trace(writing: JobQueue) -> None:
    first, second = writing.plan([("notes", ""), ("papers", "")], full=False)
    writing.finish(first.number, Counts(indexed=1))
    writing.release()

    assert writing.job(first.number) is writing.job(second.number) is None


@pytest.mark.requirement("R-023")
def test_a_job_left_behind_is_run_again_but_not_for_ever(writing: JobQueue) -> None:
    left, _ = ask(writing)
    for _ in range(queueing.MOST_ATTEMPTS):
        taken = writing.take()
        assert taken
        assert taken.number == left.number
        writing.start(taken.number)

    assert writing.take() is None
    given_up = writing.job(left.number)
    assert given_up
    assert given_up.state is JobState.FAILED
    assert "too often" in given_up.error


def test_who_lays_a_job_down_on_purpose_may_do_so_any_number_of_times(writing: JobQueue) -> None:
    left, _ = ask(writing)
    for _ in range(queueing.MOST_ATTEMPTS + 1):
        taken = writing.take()
        assert taken
        assert taken.number == left.number
        writing.start(taken.number)
        writing.release()


def test_finished_jobs_are_forgotten_in_time(
    writing: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queueing, "MOST_FINISHED", 2)
    numbers = [ask(writing, each)[0].number for each in "abcd"]
    drain(writing)

    assert [writing.job(number) is None for number in numbers] == [True, True, False, False]


def test_a_flood_of_jobs_is_refused(writing: JobQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "MOST_WAITING", 2)
    ask(writing, "a")
    ask(writing, "b")

    with pytest.raises(Conflict, match="2 folders wait"):
        ask(writing, "c")


def test_where_there_is_no_index_yet_nothing_can_be_asked(make: Make, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="is being made"):
        ask(make(tmp_path).queue)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[WritableEngine]:
    engine = EmbeddedEngine(tmp_path / "catalog.db")
    engine.begin_writing()
    engine.end_writing()
    yield engine
    engine.close()


def test_on_read_only_media_the_refusal_says_so(
    on_disk: WritableEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere

    with pytest.raises(Forbidden, match="may only read the index"):
        ask(on_disk.queue)


def test_an_index_that_is_held_for_long_is_busy(
    on_disk: WritableEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = database.connect_writer

    def impatient(place: database.IndexFiles) -> apsw.Connection:
        made = connect(place)
        made.set_busy_timeout(1)
        return made

    monkeypatch.setattr(database, "connect_writer", impatient)
    with closing(apsw.Connection(str(tmp_path / "catalog.db"))) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(Conflict, match="busy"):
            ask(on_disk.queue)
