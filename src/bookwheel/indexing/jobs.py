"""Indexing that other processes can follow: each folder under way is a job in the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from bookwheel.errors import Busy, Forbidden
from bookwheel.model import Collection, Counts, Job, JobState, Priority
from bookwheel.query import Scope

if TYPE_CHECKING:
    from bookwheel.engines.base import JobQueue, WritableEngine
    from bookwheel.indexing.pipeline import Report, Updater

_NOTE_SECONDS = 0.5


class Jobs:
    """The jobs of an index, as far as a caller may know of them."""

    def __init__(self, store: WritableEngine, scope: Scope) -> None:
        self._store = store
        self._within = scope.within

    def covers(self, collection: str, folder: str) -> bool:
        """Tell whether the caller may see a whole folder."""
        return self._within is None or any(
            name == collection and (not above or f"{folder}/".startswith(f"{above}/"))
            for name, above in self._within
        )

    def ask(
        self,
        collection: str,
        folder: str = "",
        *,
        full: bool = False,
        priority: Priority = Priority.NORMAL,
    ) -> Job:
        """Ask whoever writes the index to bring a collection or a folder in it up to date.

        Raises Busy where another caller's job is about the same files.
        """
        if not self.covers(collection, folder):
            raise Forbidden("This folder is not yours to index.")
        job, is_ours = self._store.queue.add(collection, folder, full=full, priority=priority)
        if not is_ours:
            raise busy(self._as_it_is(job))
        return job

    def find(self, number: int) -> Job | None:
        """Return a job; None if it is not remembered any more."""
        job = self._store.queue.job(number) if self._store.exists else None
        return self._as_it_is(job) if job and self.covers(job.collection, job.folder) else None

    def unfinished(self) -> list[Job]:
        """Return the jobs that are not finished, in the order in which they come."""
        jobs = self._store.queue.jobs() if self._store.exists else []
        return [self._as_it_is(job) for job in jobs if self.covers(job.collection, job.folder)]

    def _as_it_is(self, job: Job) -> Job:
        """Return a job whose process died as what it is: waiting for another one."""
        if job.state is JobState.RUNNING and not self._store.is_written:
            return job._replace(state=JobState.WAITING)
        return job


def busy(job: Job) -> Busy:
    """Return what a caller is told whose folder is another caller's job already."""
    counts = job.counts
    verb = "is being indexed" if job.state is JobState.RUNNING else "waits to be indexed"
    so_far = f" ({counts.done:,} of {counts.total:,} files read)" if counts.total else ""
    return Busy(
        f"This folder, or a part of it, {verb} for another call{so_far}.",
        hint="Search works meanwhile. Call again later to see how far it is.",
        progress={"status": str(job.state), **counts._asdict()},
    )


class Record:
    """Writes down how far the job under way is, now and then."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue
        self._job: Job | None = None
        self._noted_at = 0.0
        self._total = 0

    def begin(self, job: Job) -> None:
        """Take up a job."""
        self._queue.start(job.number)
        self._job, self._noted_at, self._total = job, time.monotonic(), 0

    def note(self, counts: Counts) -> None:
        """Take what was counted so far."""
        is_news = counts.total != self._total or time.monotonic() - self._noted_at >= _NOTE_SECONDS
        self._total = counts.total
        if self._job is not None and is_news:
            self._noted_at = time.monotonic()
            self._queue.note(self._job.number, _with_earlier(self._job, counts))

    def end(self, report: Report) -> None:
        """Lay the job down."""
        assert self._job is not None
        error = " ".join(report.problems) if report.failed else ""
        counts = _with_earlier(self._job, report.counts(self._total, self._total))
        self._queue.finish(self._job.number, counts, error=error)
        self._job = None


def _with_earlier(job: Job, counts: Counts) -> Counts:
    """Add what was done before the job was interrupted; what it indexed then is no news now."""
    if job.full:  # begun anew
        return counts
    before = job.counts
    return counts._replace(
        indexed=before.indexed + counts.indexed,
        skipped=max(0, counts.skipped - before.indexed),
        removed=before.removed + counts.removed,
    )


def run_jobs(
    queue: JobQueue,
    jobs: Iterable[Job],
    collections: Mapping[str, Collection],
    updater: Updater,
    record: Record,
    *,
    full: bool = False,
    accept_empty: bool = False,
    should_stop: Callable[[], bool],
) -> list[Report]:
    """Run jobs one after the other; what is not finished when told to stop waits for later."""
    reports = []
    is_interrupted = False
    for job in jobs:
        if job.collection not in collections:
            queue.finish(job.number, job.counts, error="Its folder is no longer allowed.")
            continue
        record.begin(job)
        report = updater.update(
            collections[job.collection],
            job.folder,
            full=full or job.full,
            accept_empty=accept_empty,
        )
        reports.append(report)
        if should_stop():
            is_interrupted = True
        else:
            record.end(report)
    if is_interrupted:
        queue.release()
    return reports
