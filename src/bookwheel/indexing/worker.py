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
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from io import BytesIO
from tempfile import TemporaryFile
from typing import Any, Literal, NamedTuple

from bookwheel.errors import Internal
from bookwheel.indexing import worker_child
from bookwheel.indexing.worker_child import HEADER, decode, encode, is_trouble

if sys.platform == "linux":
    import fcntl

logger = logging.getLogger(__name__)

MB = 1_000_000
PIPE_BYTES = 1 << 20  # as much as Linux grants without privilege
STARTS_IN_VAIN = 3
EXIT_SECONDS = 2.0
ERROR_TAIL_BYTES = 4_000
# What Rust, C++ and Python print before they abort for want of memory.
MEMORY_CRIES = (b"memory allocation of", b"bad_alloc", b"out of memory", b"MemoryError")

Clock = Callable[[], float]
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


class _GarbledError(Exception):
    """A worker said something that is not a reply."""


_Batch = tuple[Task, ...]


def _weigh(batch: _Batch) -> int:
    return sum(task.weight for task in batch)


def _gather(tasks: Iterable[Task], limits: Limits) -> Iterator[_Batch]:
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


class _Child:
    """One worker process, its two pipes, and the batches it has been given."""

    def __init__(self, greeting: memoryview, limits: Limits, clock: Clock) -> None:
        self.batches: deque[_Batch] = deque()
        self.ready = False
        self.retiring = False
        self.done = 0
        self.outbox: deque[memoryview] = deque()
        self._limits = limits
        self._clock = clock
        self._message = BytesIO()
        self._missing = HEADER.size
        self._in_body = False
        self._start()
        self.deadline = clock() + limits.start_seconds
        self.outbox.append(greeting)
        self.flush()

    def _start(self) -> None:
        with ExitStack() as theirs, ExitStack() as ours:
            task_fd, writer_fd = os.pipe()
            theirs.callback(os.close, task_fd)
            self.writer = ours.enter_context(open(writer_fd, "wb", buffering=0))
            reader_fd, reply_fd = os.pipe()
            theirs.callback(os.close, reply_fd)
            self.reader = ours.enter_context(open(reader_fd, "rb", buffering=0))
            # A file, since a full pipe would stop a talkative worker while the parent is busy.
            self._errors = ours.enter_context(TemporaryFile())
            for descriptor in (writer_fd, reader_fd):
                os.set_blocking(descriptor, False)
                _widen(descriptor)
            self.process = _launch(task_fd, reply_fd, self._errors.fileno(), self._limits)
            self._pipes = ours.pop_all()

    def accepts(self, batch: _Batch) -> bool:
        """Tell whether a batch may wait here behind another: only if neither is long."""
        light = self._limits.batch_bytes
        return len(self.batches) == 1 and max(_weigh(batch), _weigh(self.batches[0])) < light

    def assign(self, batch: _Batch) -> None:
        self.batches.append(batch)
        if len(self.batches) == 1:
            self.note_progress()
        self.outbox.append(encode([task.payload for task in batch]))
        self.flush()

    def flush(self) -> None:
        """Write what the pipe takes."""
        while self.outbox:
            try:
                written = self.writer.write(self.outbox[0])
            except BrokenPipeError:
                self.outbox.clear()  # the reader's end of file will tell the rest
                return
            if not written:
                return
            self.note_progress()
            if written == len(self.outbox[0]):
                self.outbox.popleft()
            else:
                self.outbox[0] = self.outbox[0][written:]

    def note_progress(self) -> None:
        """Start the clock of the first batch anew.

        Bytes that move show a worker that lives, and the parent may have come late to move them.
        """
        if self.ready and self.batches:
            self.deadline = self._clock() + self._limits.allow_seconds(_weigh(self.batches[0]))

    def receive(self) -> Iterator[Any]:
        """Yield the messages that are here; raise EOFError when there can be no more."""
        while data := self.reader.read(min(self._missing, PIPE_BYTES)):
            self.note_progress()
            self._message.write(data)
            self._missing -= len(data)
            if self._missing:
                continue
            # Let go of at once: the message of a large document is larger than the document.
            whole, self._message = self._message, BytesIO()
            whole.seek(0)
            self._in_body = not self._in_body
            if self._in_body:
                self._missing = self._read_header(whole.read())
            else:
                self._missing = HEADER.size
                value = self._read_body(whole)
                whole.close()
                yield value
                del value
        if data is not None:
            raise EOFError

    def _read_header(self, header: bytes) -> int:
        length: int = HEADER.unpack(header)[0]
        if not 0 < length <= self._limits.message_bytes:
            raise _GarbledError(f"sent a reply of {length:,} bytes")
        return length

    def _read_body(self, body: BytesIO) -> Any:
        try:
            return decode(body)
        except Exception as error:  # noqa: BLE001 - hostile pickles raise anything
            reason = str(error)[: worker_child.DETAIL_CHARACTERS]
            raise _GarbledError(f"sent a reply that is no plain value: {reason}") from None

    def read_errors(self) -> bytes:
        """Return the end of what the worker wrote to its standard error."""
        descriptor = self._errors.fileno()
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, ERROR_TAIL_BYTES, max(0, size - ERROR_TAIL_BYTES))

    def close(self) -> None:
        self.outbox.clear()
        self._pipes.close()


def _widen(descriptor: int) -> None:
    if sys.platform == "linux":
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # the user's share of pipe memory is spent; a small pipe is only slower


def _launch(task_fd: int, reply_fd: int, error_fd: int, limits: Limits) -> subprocess.Popen[bytes]:
    # -P: the working directory may be a folder of documents, and must not be imported from.
    # A session of its own: Ctrl-C and Ctrl-Z reach the parent only, and no terminal is in reach.
    command = [sys.executable, "-P", "-m", worker_child.__name__]
    return subprocess.Popen(
        [*command, str(task_fd), str(reply_fd), str(limits.memory_bytes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=error_fd,
        pass_fds=(task_fd, reply_fd),
        start_new_session=True,
    )


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


def _reap(process: subprocess.Popen[bytes]) -> bool:
    for _ in range(2):
        try:
            process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        else:
            return True
    return False  # stuck in the kernel, on a dead network drive say: not worth waiting for


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
        clock: Clock = time.monotonic,
    ) -> None:
        self._greeting = encode((handler, setup))
        self._workers = workers or min(4, count_cores())
        self._limits = limits or Limits()
        self._clock = clock
        self._children: list[_Child] = []
        self._leaving: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.PollSelector()
        self._pending: deque[_Batch] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._starts_in_vain = 0
        self._running = False
        self._closed = False

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every worker; those at work are killed."""
        self._closed = True
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

    def _feed(self, batches: Iterator[_Batch]) -> bool:
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

    def _refill(self, batches: Iterator[_Batch]) -> bool:
        self._pending.extend(itertools.islice(batches, 1))
        return bool(self._pending)

    def _choose(self, batch: _Batch) -> _Child | None:
        staying = [child for child in self._children if not child.retiring]
        for child in staying:
            if not child.batches:
                return child
        for child in staying:
            if child.accepts(batch):
                return child
        return self._start_child() if len(staying) < self._workers else None

    def _start_child(self) -> _Child:
        self._leaving = [process for process in self._leaving if process.poll() is None]
        try:
            child = _Child(self._greeting, self._limits, self._clock)
        except OSError as error:
            raise Internal(f"A worker process could not be started: {error}") from error
        self._children.append(child)
        self._selector.register(child.reader, selectors.EVENT_READ, child)
        self._watch_writing(child)
        return child

    def _watch_writing(self, child: _Child) -> None:
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
            child: _Child = key.data
            if child not in self._children:
                continue
            if key.fileobj is child.writer:
                child.flush()
                self._watch_writing(child)
            else:
                self._listen(child)
        now = self._clock()
        for child in list(self._children):
            if child.batches and child.deadline <= now:
                child.process.kill()
                self._lose(child, Failure("timeout", "no answer within the time allowed"))

    def _listen(self, child: _Child) -> None:
        try:
            for message in child.receive():
                self._take(child, message)
        except EOFError:
            # It closed its pipe, so it is at its end already: killing cannot change the exit code
            # and makes sure that the wait is short.
            child.process.kill()
            self._lose(child, _diagnose(child.process.wait(), child.read_errors()))
        except _GarbledError as error:
            child.process.kill()
            self._lose(child, Failure("crash", f"the worker {error}"))
        if child.retiring and not child.batches and child in self._children:
            self._part_with(child)

    def _take(self, child: _Child, message: Any) -> None:
        match message:
            case ("ready",) if not child.ready:
                child.ready = True
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
                child.retiring |= resident > self._limits.recycle_bytes
            case _:
                raise _GarbledError("sent a reply to no question")
        child.note_progress()

    def _settle(self, child: _Child, results: list[Any], failures: dict[Any, Any]) -> None:
        batch = child.batches.popleft()
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

    def _lose(self, child: _Child, failure: Failure) -> None:
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

    def _part_with(self, child: _Child) -> None:
        """Close a worker's pipes, at which it ends by itself, and leave it to be reaped."""
        self._children.remove(child)
        for pipe in (child.reader, child.writer):
            if pipe in self._selector.get_map():
                self._selector.unregister(pipe)
        child.close()
        self._leaving.append(child.process)

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
        self._leaving = [process for process in self._leaving if not _reap(process)]
