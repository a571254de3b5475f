"""A pool of worker processes for work that may crash, hang or devour memory.

It knows nothing of documents: a handler is named by "package.module:function", tasks and results
are plain values, and every task has exactly one outcome whatever becomes of the process it ran in.
"""

from __future__ import annotations

import itertools
import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bookwheel.errors import Internal
from bookwheel.indexing.worker_child import encode, is_trouble
from bookwheel.indexing.worker_process import (
    Batch,
    Clock,
    GarbledError,
    WorkerProcess,
    reap,
)

if TYPE_CHECKING:
    from bookwheel.indexing.kept_worker import KeptWorker

logger = logging.getLogger(__name__)

MB = 1_000_000
STARTS_IN_VAIN = 3
# What Rust, C++ and Python print before they abort for want of memory.
MEMORY_CRIES = (b"memory allocation of", b"bad_alloc", b"out of memory", b"MemoryError")

Kind = Literal["crash", "timeout", "memory", "error"]


class Limits(NamedTuple):
    """What one worker may use, and how tasks are gathered for it."""

    batch_tasks: int = 32
    batch_bytes: int = MB
    base_seconds: float = 10.0
    seconds_per_mb: float = 2.0
    most_seconds: float = 60.0
    start_seconds: float = 60.0
    memory_bytes: int = 2 << 30
    message_bytes: int = 512 * MB
    recycle_tasks: int = 5_000
    recycle_bytes: int = 500 * MB

    def allow_seconds(self, weight: int) -> float:
        return min(self.most_seconds, self.base_seconds + self.seconds_per_mb * weight / MB)


class Task(NamedTuple):
    """One call of the handler; `weight` is the size in bytes of what it will read."""

    key: int
    payload: tuple[Any, ...]
    weight: int = 0


class Failure(NamedTuple):
    """Why a task has no result; `detail` may quote the document, so it is not yet SafeText."""

    kind: Kind
    detail: str


class Outcome(NamedTuple):
    """What became of a task: a result, or a failure."""

    task: Task
    result: Any
    failure: Failure | None


def _gather(tasks: Iterable[Task], limits: Limits) -> Iterator[Batch]:
    batch: list[Task] = []
    weight = 0
    for task in tasks:
        if batch and weight + task.weight >= limits.batch_bytes:
            yield tuple(batch)
            batch, weight = [], 0
        batch.append(task)
        weight += task.weight
        if len(batch) >= limits.batch_tasks:
            yield tuple(batch)
            batch, weight = [], 0
    if batch:
        yield tuple(batch)


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _diagnose(code: int, errors: bytes) -> Failure:
    if code >= 0:
        return Failure("crash", f"the worker exited with code {code}")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    starved = code == -signal.SIGABRT and any(cry in errors for cry in MEMORY_CRIES)
    return Failure("memory" if starved else "crash", f"the worker was killed by {name}")


class WorkerPool:
    """Runs tasks in worker processes; drive it from one thread, which must outlive its use.

    (Linux ends a worker with the thread that started it, not only with the whole process.)
    """

    def __init__(
        self,
        handler: str,
        setup: tuple[Any, ...] = (),
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        kept: KeptWorker | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._greeting = encode((handler, setup))
        self._workers = workers or min(4, count_cores())
        self._limits = limits or Limits()
        self._kept = kept
        self._clock = clock
        self._children: list[WorkerProcess] = []
        self._leaving: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.PollSelector()
        self._pending: deque[Batch] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._starts_in_vain = 0
        self._running = False
        self._closed = False

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every worker, but for one that is kept; those at work are killed."""
        self._closed = True
        for child in list(self._children):
            if self._kept is not None and self._kept.keep(child):
                self._let_go_of(child)
        self._dismiss_all()

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield one outcome per task in the order of completion, taking tasks as room appears."""
        if self._running:
            raise Internal("A worker pool was asked for a second run during its first.")
        self._running = True
        finished = False
        try:
            self._forget_dead()
            batches = _gather(tasks, self._limits)
            while self._feed(batches):
                self._wait()
                self._feed(batches)
                while self._outcomes:
                    yield self._outcomes.popleft()
            finished = True
        finally:
            self._running = False
            if not finished:
                self._dismiss_all()

    def _feed(self, batches: Iterator[Batch]) -> bool:
        """Hand out batches while there is room; tell whether any work is left."""
        if self._closed:
            raise Internal("A worker pool was used after it was closed.")
        while self._pending or self._refill(batches):
            child = self._choose(self._pending[0])
            if child is None:
                break
            child.assign(self._pending.popleft())
            self._watch_writing(child)
        return bool(self._pending) or any(child.batches for child in self._children)

    def _refill(self, batches: Iterator[Batch]) -> bool:
        self._pending.extend(itertools.islice(batches, 1))
        return bool(self._pending)

    def _choose(self, batch: Batch) -> WorkerProcess | None:
        staying = [child for child in self._children if not child.retiring]
        for child in staying:
            if not child.batches:
                return child
        for child in staying:
            if child.accepts(batch):
                return child
        return self._start_child() if len(staying) < self._workers else None

    def _start_child(self) -> WorkerProcess:
        self._leaving = [process for process in self._leaving if process.poll() is None]
        child = self._kept.take(self._limits) if self._kept is not None else None
        try:
            child = child or WorkerProcess(self._limits, self._clock)
        except OSError as error:
            raise Internal(f"A worker process could not be started: {error}") from error
        child.greet(self._greeting)
        self._children.append(child)
        self._selector.register(child.reader, selectors.EVENT_READ, child)
        self._watch_writing(child)
        return child

    def _watch_writing(self, child: WorkerProcess) -> None:
        watched = child.writer in self._selector.get_map()
        if child.outbox and not watched:
            self._selector.register(child.writer, selectors.EVENT_WRITE, child)
        elif watched and not child.outbox:
            self._selector.unregister(child.writer)

    def _wait(self) -> None:
        """Move bytes as they come, then end the workers whose time is up.

        In this order: a reply that lay in the pipe while the parent was busy is not late.
        """
        deadlines = [child.deadline for child in self._children if child.batches]
        pause = max(0.0, min(deadlines) - self._clock())
        for key, _ in self._selector.select(pause):
            child: WorkerProcess = key.data
            if child not in self._children:
                continue
            if key.fileobj is child.writer:
                child.flush()
                self._watch_writing(child)
            else:
                self._listen(child)
        now = self._clock()
        for child in list(self._children):
            if child.batches and child.deadline <= now and not child.grant_time():
                child.process.kill()
                self._lose(child, Failure("timeout", "no answer within the time allowed"))

    def _listen(self, child: WorkerProcess) -> None:
        try:
            for message in child.receive():
                self._take(child, message)
        except EOFError:
            # It closed its pipe, so it is at its end already: killing cannot change the exit code
            # and makes sure that the wait is short.
            child.process.kill()
            self._lose(child, _diagnose(child.process.wait(), child.read_errors()))
        except GarbledError as error:
            child.process.kill()
            self._lose(child, Failure("crash", f"the worker {error}"))
        if child.retiring and not child.batches and child in self._children:
            self._part_with(child)

    def _take(self, child: WorkerProcess, message: Any) -> None:
        match message:
            case ("ready",) if not child.ready:
                child.ready = True
                child.note_start()
                self._starts_in_vain = 0
            case ("failed", _, str(detail), str(trace)) if not child.ready:
                logger.error("A worker could not set up its handler.\n%s", trace)
                raise Internal(f"A worker process could not be set up: {detail}")
            case (int(resident), list(results), dict(failures)) if (
                child.batches
                and len(results) == len(child.batches[0])
                and all(map(is_trouble, failures.values()))
            ):
                self._settle(child, results, failures)
                child.resident = resident
                child.retiring |= resident > self._limits.recycle_bytes
            case _:
                raise GarbledError("sent a reply to no question")
        child.note_progress()

    def _settle(self, child: WorkerProcess, results: list[Any], failures: dict[Any, Any]) -> None:
        batch = child.batches.popleft()
        child.note_start()
        child.done += len(batch)
        child.retiring |= child.done >= self._limits.recycle_tasks
        for index, (task, result) in enumerate(zip(batch, results, strict=True)):
            if index not in failures:
                self._outcomes.append(Outcome(task, result, None))
                continue
            kind, detail, trace = failures[index]
            logger.debug("Task %d failed: %s\n%s", task.key, detail, trace)
            if kind == "memory":
                child.retiring = True
                if len(batch) > 1:
                    # Its neighbours may have used up the room: it has another try alone.
                    self._pending.appendleft((task,))
                    continue
            self._outcomes.append(Outcome(task, None, Failure(kind, detail)))

    def _lose(self, child: WorkerProcess, failure: Failure) -> None:
        """Let a dead or hopeless worker go and see to the batches it held."""
        logger.info("%s; it said: %r", failure.detail, child.read_errors())
        self._part_with(child)
        if not child.ready:
            self._starts_in_vain += 1
            if self._starts_in_vain >= STARTS_IN_VAIN:
                raise Internal(f"Worker processes end before they start: {failure.detail}.")
        elif child.batches:
            suspects = child.batches.popleft()
            if len(suspects) == 1:
                self._outcomes.append(Outcome(suspects[0], None, failure))
            else:
                child.batches.extendleft((task,) for task in suspects)
        self._pending.extendleft(child.batches)

    def _part_with(self, child: WorkerProcess) -> None:
        """Close a worker's pipes, at which it ends by itself, and leave it to be reaped."""
        self._let_go_of(child)
        child.close()
        self._leaving.append(child.process)

    def _let_go_of(self, child: WorkerProcess) -> None:
        self._children.remove(child)
        for pipe in (child.reader, child.writer):
            if pipe in self._selector.get_map():
                self._selector.unregister(pipe)

    def _forget_dead(self) -> None:
        for child in list(self._children):
            if child.process.poll() is not None:
                self._part_with(child)

    def _dismiss_all(self) -> None:
        self._pending.clear()
        self._outcomes.clear()
        for child in list(self._children):
            if child.batches or not child.ready:
                child.process.kill()
            self._part_with(child)
        self._leaving = [process for process in self._leaving if not reap(process)]
