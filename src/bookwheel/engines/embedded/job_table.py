"""The table of jobs: what is to be indexed, by whom it is wanted, and how far it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any

import apsw

from bookwheel.engines import queueing
from bookwheel.engines.embedded import database
from bookwheel.engines.embedded.catalog import decoding
from bookwheel.engines.embedded.database import IndexFiles
from bookwheel.errors import Conflict, Forbidden
from bookwheel.model import Counts, Job, JobState, Priority

_OPEN = "state IN ('waiting', 'running')"
_JOB = (
    'id, collection, folder, "full", priority, state, asked, indexed, skipped, removed, done, '
    "total, error, owner, attempts, asked_at, started_at"
)

Connect = Callable[[], AbstractContextManager[apsw.Connection]]


class JobTable:
    """Reads with `reading`, and changes what only a writer may change in a `transaction`."""

    def __init__(self, place: IndexFiles, reading: Connect, transaction: Connect) -> None:
        self._place = place
        self._reading = reading
        self._transaction = transaction

    # Asking

    def add(
        self, collection: str, folder: str, *, full: bool, priority: Priority
    ) -> tuple[Job, bool]:
        """Ask for a folder; return its job and whether it is the caller's own.

        What is running of its own accord, or about to, is joined where it does the same.
        Somebody else's job that covers a part of the folder, or all of it, is returned instead.
        """
        with closing(self._connect()) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                answer = _add(connection, collection, folder, full, priority)
                connection.execute("COMMIT")
                return answer
            except apsw.BusyError:
                raise Conflict(
                    "The index is busy.", hint="Search works meanwhile. Ask again in a moment."
                ) from None
            except apsw.Error as error:
                raise database.explain(self._place, error) from error

    def _connect(self) -> apsw.Connection:
        path = self._place.database
        if not path.exists():  # only whoever holds the lock may make it
            raise Conflict("The index is being made.", hint="Ask again in a few seconds.")
        if not (os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)):
            raise Forbidden(
                "Nothing can be indexed here: this server may only read the index.",
                hint="Search works. The operator can index elsewhere, or move the index.",
            )
        return database.connect_writer(self._place)

    # Working: only between begin_writing and end_writing

    def plan(self, places: Sequence[tuple[str, str]], *, full: bool) -> list[Job]:
        """Return a job for each collection and folder that is about to be indexed.

        A job that waits for just that is taken over: its caller gets these counts.
        """
        with self._transaction() as connection:
            _release(connection)
            return [_plan(connection, *place, full) for place in places]

    def take(self) -> Job | None:
        """Return the job that is to be run next: of the highest priority the oldest."""
        with self._transaction() as connection:
            _release(connection)
            connection.execute(
                f"UPDATE jobs SET state = 'failed', finished_at = ?, error = ? "
                f"WHERE {_OPEN} AND attempts >= ?",
                (time.time(), queueing.GIVEN_UP, queueing.MOST_ATTEMPTS),
            )
            found = _find(
                connection, "asked AND state = 'waiting' ORDER BY priority DESC, id LIMIT 1"
            )
        return found[0] if found else None

    def start(self, number: int) -> None:
        """Note that this process begins with a job."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'running', owner = ?, started_at = ?, "
                "attempts = attempts + 1 WHERE id = ?",
                (os.getpid(), time.time(), number),
            )

    def note(self, number: int, counts: Counts) -> None:
        """Note how far a job is."""
        with self._transaction() as connection:
            _save_counts(connection, number, counts)

    def finish(self, number: int, counts: Counts, *, error: str = "") -> None:
        """Note that a job is done, or why it failed; what nobody asked for is forgotten."""
        state = JobState.FAILED if error else JobState.DONE
        with self._transaction() as connection:
            _save_counts(connection, number, counts)
            connection.execute(
                "UPDATE jobs SET state = ?, error = ?, finished_at = ? WHERE id = ?",
                (str(state), error, time.time(), number),
            )
            connection.execute("DELETE FROM jobs WHERE id = ? AND NOT asked", (number,))
            connection.execute(
                f"DELETE FROM jobs WHERE NOT {_OPEN} AND id NOT IN (SELECT id FROM jobs "
                f"WHERE NOT {_OPEN} ORDER BY finished_at DESC LIMIT ?)",
                (queueing.MOST_FINISHED,),
            )

    def release(self) -> None:
        """Leave what was begun for later: it was interrupted on purpose."""
        with self._transaction() as connection:
            _release(connection)
            connection.execute("UPDATE jobs SET attempts = 0 WHERE state = 'waiting'")

    # Looking

    def job(self, number: int) -> Job | None:
        """Return a job, or nothing if it is long finished or never was."""
        with self._reading() as connection:
            found = _find(connection, "id = ?", (number,))
        return found[0] if found else None

    def jobs(self) -> list[Job]:
        """Return the jobs that are not finished, in the order in which they come."""
        with self._reading() as connection:
            return _find(connection, f"{_OPEN} ORDER BY state = 'waiting', priority DESC, id")


def _find(connection: apsw.Connection, where: str, values: Sequence[object] = ()) -> list[Job]:
    rows = connection.execute(f"SELECT {_JOB} FROM jobs WHERE {where}", tuple(values))
    with decoding():
        return [_job(*row) for row in rows]


def _job(number: int, collection: str, folder: str, *rest: Any) -> Job:
    full, priority, state, is_asked, *counts = rest[:9]
    return Job(
        number,
        collection,
        folder,
        bool(full),
        Priority(priority),
        JobState(state),
        bool(is_asked),
        Counts(*counts),
        *rest[9:],
    )


def _add(
    connection: apsw.Connection, collection: str, folder: str, full: bool, priority: Priority
) -> tuple[Job, bool]:
    unfinished = _find(connection, f"{_OPEN} AND collection = ? ORDER BY id", (collection,))
    for job in unfinished:
        if job.is_asked and queueing.overlap(job.folder, folder):
            return job, False
    for job in unfinished:
        is_soon = job.state is JobState.RUNNING or priority < Priority.HIGH
        if not job.is_asked and job.folder == folder and is_soon and (job.full or not full):
            connection.execute(
                "UPDATE jobs SET asked = 1, asked_at = ? WHERE id = ?", (time.time(), job.number)
            )
            return job._replace(is_asked=True), True
    queueing.refuse_flood(connection.execute(f"SELECT count(*) FROM jobs WHERE {_OPEN}").get)
    return _insert(connection, collection, folder, full, priority, is_asked=True), True


def _insert(
    connection: apsw.Connection,
    collection: str,
    folder: str,
    full: bool,
    priority: Priority,
    *,
    is_asked: bool,
) -> Job:
    connection.execute(
        'INSERT INTO jobs(collection, folder, "full", priority, state, asked, asked_at) '
        "VALUES(?,?,?,?,'waiting',?,?)",
        (collection, folder, full, int(priority), is_asked, time.time()),
    )
    return _find(connection, "id = ?", (connection.last_insert_rowid(),))[0]


def _plan(connection: apsw.Connection, collection: str, folder: str, full: bool) -> Job:
    wanted = _find(
        connection,
        "asked AND state = 'waiting' AND collection = ? AND folder = ? AND \"full\" <= ?",
        (collection, folder, full),
    )
    if wanted:
        return wanted[0]
    return _insert(connection, collection, folder, full, Priority.NORMAL, is_asked=False)


def _release(connection: apsw.Connection) -> None:
    connection.execute(f"DELETE FROM jobs WHERE {_OPEN} AND NOT asked")
    connection.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'running'")


def _save_counts(connection: apsw.Connection, number: int, counts: Counts) -> None:
    connection.execute(
        "UPDATE jobs SET indexed = ?, skipped = ?, removed = ?, done = ?, total = ? WHERE id = ?",
        (*counts, number),
    )
