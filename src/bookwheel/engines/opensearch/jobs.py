"""The queue of jobs: one table in the cluster, so that every change of it is one step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bookwheel.engines import queueing
from bookwheel.engines.opensearch import state
from bookwheel.engines.opensearch.state import Data, Tables
from bookwheel.errors import Conflict
from bookwheel.model import Counts, Job, JobState, Priority

_WAITING, _RUNNING = str(JobState.WAITING), str(JobState.RUNNING)
_Entry = dict[str, Any]
_Answer = TypeVar("_Answer")


class JobTable:
    """The jobs of a library; those of the collections that are `ours` may be worked on."""

    def __init__(
        self, tables: Tables, ours: Callable[[str], bool], exists: Callable[[], bool]
    ) -> None:
        self._tables = tables
        self._ours = ours
        self._exists = exists

    # Asking

    def add(
        self, collection: str, folder: str, *, full: bool, priority: Priority
    ) -> tuple[Job, bool]:
        """Ask for a folder; return its job and whether it is the caller's own.

        What is running of its own accord, or about to, is joined where it does the same.
        Somebody else's job that covers a part of the folder, or all of it, is returned instead.
        """
        if not self._exists():  # only whoever holds the lease may make it
            raise Conflict("The index is being made.", hint="Ask again in a few seconds.")
        return self._change(lambda data: _add(data, collection, folder, full, priority))

    def _change(self, alter: Callable[[Data], _Answer]) -> _Answer:
        return self._tables.change(state.JOBS, alter)

    # Working: only between begin_writing and end_writing

    def plan(self, places: Sequence[tuple[str, str]], *, full: bool) -> list[Job]:
        """Return a job for each collection and folder that is about to be indexed.

        A job that waits for just that is taken over: its caller gets these counts.
        """

        def alter(data: Data) -> list[Job]:
            self._release(data)
            return [_plan(data, *place, full) for place in places]

        return self._change(alter)

    def take(self) -> Job | None:
        """Return the job that is to be run next: of the highest priority the oldest."""

        def alter(data: Data) -> Job | None:
            self._release(data)
            for each in self._mine(data):
                if each["attempts"] >= queueing.MOST_ATTEMPTS:
                    each.update(state="failed", finished_at=time.time(), error=queueing.GIVEN_UP)
            waiting = [
                each for each in self._mine(data) if each["asked"] and each["state"] == _WAITING
            ]
            waiting.sort(key=lambda each: (-each["priority"], each["number"]))
            return _job(waiting[0]) if waiting else None

        return self._change(alter)

    def start(self, number: int) -> None:
        """Note that this process begins with a job."""

        def begin(each: _Entry) -> None:
            each.update(state=_RUNNING, owner=os.getpid(), started_at=time.time())
            each["attempts"] += 1

        self._alter(number, begin)

    def note(self, number: int, counts: Counts) -> None:
        """Note how far a job is."""
        self._alter(number, lambda each: each.update(counts=list(counts)))

    def finish(self, number: int, counts: Counts, *, error: str = "") -> None:
        """Note that a job is done, or why it failed; what nobody asked for is forgotten."""
        ended = JobState.FAILED if error else JobState.DONE

        def alter(data: Data) -> None:
            for each in _all(data):
                if each["number"] == number:
                    each.update(counts=list(counts), state=str(ended), error=error)
                    each["finished_at"] = time.time()
            data["jobs"] = [
                each for each in _all(data) if each["number"] != number or each["asked"]
            ]
            _forget_old(data)

        self._change(alter)

    def release(self) -> None:
        """Leave what was begun for later: it was interrupted on purpose."""

        def alter(data: Data) -> None:
            self._release(data)
            for each in self._mine(data):
                each["attempts"] = 0

        self._change(alter)

    def _mine(self, data: Data) -> list[_Entry]:
        return [each for each in _open(data) if self._ours(each["collection"])]

    def _release(self, data: Data) -> None:
        """Take what seems to run, of the collections that are ours, for what was left behind."""
        dropped = [each["number"] for each in self._mine(data) if not each["asked"]]
        data["jobs"] = [each for each in _all(data) if each["number"] not in dropped]
        for each in self._mine(data):
            each["state"] = _WAITING

    def _alter(self, number: int, alter: Callable[[_Entry], None]) -> None:
        def change(data: Data) -> None:
            for each in _all(data):
                if each["number"] == number:
                    alter(each)

        self._change(change)

    # Looking

    def job(self, number: int) -> Job | None:
        """Return a job, or nothing if it is long finished or never was."""
        found = [each for each in _all(self._tables.read(state.JOBS)) if each["number"] == number]
        return _job(found[0]) if found else None

    def jobs(self) -> list[Job]:
        """Return the jobs that are not finished, in the order in which they come."""
        found = _open(self._tables.read(state.JOBS))
        found.sort(key=lambda each: (each["state"] == _WAITING, -each["priority"], each["number"]))
        return [_job(each) for each in found]


def _all(data: Data) -> list[_Entry]:
    jobs: list[_Entry] = data.setdefault("jobs", [])
    return jobs


def _open(data: Data) -> list[_Entry]:
    return [each for each in _all(data) if each["state"] in (_WAITING, _RUNNING)]


def _forget_old(data: Data) -> None:
    closed = [each for each in _all(data) if each["state"] not in (_WAITING, _RUNNING)]
    closed.sort(key=lambda each: -each["finished_at"])
    old = {each["number"] for each in closed[queueing.MOST_FINISHED :]}
    data["jobs"] = [each for each in _all(data) if each["number"] not in old]


def _job(entry: _Entry) -> Job:
    return Job(
        entry["number"],
        entry["collection"],
        entry["folder"],
        entry["full"],
        Priority(entry["priority"]),
        JobState(entry["state"]),
        entry["asked"],
        Counts(*entry["counts"]),
        entry["error"],
        entry["owner"],
        entry["attempts"],
        entry["asked_at"],
        entry["started_at"],
    )


def _add(
    data: Data, collection: str, folder: str, full: bool, priority: Priority
) -> tuple[Job, bool]:
    unfinished = [each for each in _open(data) if each["collection"] == collection]
    unfinished.sort(key=lambda each: int(each["number"]))
    for each in unfinished:
        if each["asked"] and queueing.overlap(each["folder"], folder):
            return _job(each), False
    for each in unfinished:
        is_soon = each["state"] == _RUNNING or priority < Priority.HIGH
        is_same = not each["asked"] and each["folder"] == folder
        if is_same and is_soon and (each["full"] or not full):
            each.update(asked=True, asked_at=time.time())
            return _job(each), True
    queueing.refuse_flood(len(_open(data)))
    return _insert(data, collection, folder, full, priority, is_asked=True), True


def _insert(
    data: Data, collection: str, folder: str, full: bool, priority: Priority, *, is_asked: bool
) -> Job:
    data["last"] = data.get("last", 0) + 1
    entry = {
        "number": data["last"],
        "collection": collection,
        "folder": folder,
        "full": full,
        "priority": int(priority),
        "state": _WAITING,
        "asked": is_asked,
        "counts": list(Counts()),
        "error": "",
        "owner": None,
        "attempts": 0,
        "asked_at": time.time(),
        "started_at": None,
        "finished_at": None,
    }
    _all(data).append(entry)
    return _job(entry)


def _plan(data: Data, collection: str, folder: str, full: bool) -> Job:
    for each in _open(data):
        is_it = (each["collection"], each["folder"]) == (collection, folder)
        if each["asked"] and each["state"] == _WAITING and is_it and each["full"] <= full:
            return _job(each)
    return _insert(data, collection, folder, full, Priority.NORMAL, is_asked=False)
