"""One worker process: its two pipes, the batches it has been given, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import SEEK_END, BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from bookwheel.indexing import worker_child
from bookwheel.indexing.pieces import KeptFile, KeptPieces
from bookwheel.indexing.worker_child import HEADER, decode, encode

if TYPE_CHECKING:
    from bookwheel.indexing.worker import Limits, Task
if sys.platform == "linux":
    import fcntl

PIPE_BYTES = 1 << 20  # as much as Linux grants without privilege
EXIT_SECONDS = 2.0
ERROR_TAIL_BYTES = 4_000
LONG_MESSAGE_BYTES = 8 << 20
MOST_PATIENCE = 6
"""How many times its seconds a batch may take that others keep from the processor."""
LEAST_SHARE = 0.05
"""A worker that gets less of the processor is taken to hang, not to be kept from it."""

Clock = Callable[[], float]
Batch = tuple["Task", ...]


class GarbledError(Exception):
    """A worker said something that is not a reply."""


def weigh(batch: Batch) -> int:
    """Return how many bytes the tasks of a batch will read."""
    return sum(task.weight for task in batch)


class WorkerProcess:
    """One worker process, as its parent sees it."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.batches: deque[Batch] = deque()
        self.ready = False
        self.retiring = False
        self.done = 0
        self.resident = 0
        """The bytes of memory that it last said it had."""
        self.outbox: deque[memoryview] = deque()
        self.limits = limits
        self.deadline = 0.0
        self._clock = clock
        self._began = 0.0
        self._spent_before = 0.0
        self._message: IO[bytes] = BytesIO()
        self._missing = HEADER.size
        self._in_body = False
        self._thread = threading.get_ident()
        self._start()

    @property
    def is_ours(self) -> bool:
        """Tell whether this thread started it: Linux ends it together with the one that did."""
        return self._thread == threading.get_ident()

    def greet(self, greeting: memoryview) -> None:
        """Tell it what to do with its tasks; until it is ready, nothing is held against them."""
        self.ready = False
        self.deadline = self._clock() + self.limits.start_seconds
        self.outbox.append(greeting)
        self.flush()

    def lay_down(self, seconds: int) -> bool:
        """Let it rest; it ends by itself unless it is greeted within so many seconds.

        Tell whether it heard.
        """
        self.outbox.append(encode((seconds,)))
        self.flush()
        return not self.outbox

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
            self.process = _launch(task_fd, reply_fd, self._errors.fileno(), self.limits)
            self._pipes = ours.pop_all()

    def accepts(self, batch: Batch) -> bool:
        """Tell whether a batch may wait here behind another: only if neither is long."""
        light = self.limits.batch_bytes
        return len(self.batches) == 1 and max(weigh(batch), weigh(self.batches[0])) < light

    def assign(self, batch: Batch) -> None:
        self.batches.append(batch)
        if len(self.batches) == 1:
            self.note_start()
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

    def note_start(self) -> None:
        """Start the clocks of the first batch, if there is one: of the wall and of its CPU."""
        self._began = self._clock()
        self._spent_before = cpu_seconds(self.process.pid)
        self.note_progress()

    def grant_time(self) -> bool:
        """Tell whether the first batch, though late, gets more time, and give it.

        Its seconds are meant for a free processor: where others keep a worker from it, a sound file
        must not be taken for one that nobody can read. One that does nothing gets no more.
        """
        if not self.ready:
            return False
        allowed = self.limits.allow_seconds(weigh(self.batches[0]))
        took = self._clock() - self._began
        spent = cpu_seconds(self.process.pid) - self._spent_before
        if spent < LEAST_SHARE * took or spent >= allowed or took >= MOST_PATIENCE * allowed:
            return False
        self.deadline = self._clock() + allowed / 2
        return True

    def note_progress(self) -> None:
        """Start the clock of the first batch anew.

        Bytes that move show a worker that lives, and the parent may have come late to move them.
        """
        if self.ready and self.batches:
            self.deadline = self._clock() + self.limits.allow_seconds(weigh(self.batches[0]))

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
                self._message = _make_room(self._missing)
            else:
                self._missing = HEADER.size
                value = self._read_body(whole, whole.seek(0, SEEK_END))
                del whole
                yield value
                del value
        if data is not None:
            raise EOFError

    def _read_header(self, header: bytes) -> int:
        length: int = HEADER.unpack(header)[0]
        if not 0 < length <= self.limits.message_bytes:
            raise GarbledError(f"sent a reply of {length:,} bytes")
        return length

    def _read_body(self, body: IO[bytes], length: int) -> Any:
        body.seek(0)
        file = KeptFile(body)
        try:
            return _with_pieces(decode(body), file, length)
        except Exception as error:  # noqa: BLE001 - hostile pickles raise anything
            reason = str(error)[: worker_child.DETAIL_CHARACTERS]
            raise GarbledError(f"sent a reply that is no plain value: {reason}") from None

    def read_errors(self) -> bytes:
        """Return the end of what the worker wrote to its standard error."""
        descriptor = self._errors.fileno()
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, ERROR_TAIL_BYTES, max(0, size - ERROR_TAIL_BYTES))

    def close(self) -> None:
        self.outbox.clear()
        self._message.close()
        self._pipes.close()


def cpu_seconds(process: int) -> float:
    """Return how much CPU a process has had; 0 where the system does not tell, or it is gone."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    user, system = about.rpartition(")")[2].split()[11:13]  # its name may hold anything
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _make_room(length: int) -> IO[bytes]:
    """Return where a message of this length is gathered: a long one not in memory."""
    if length <= LONG_MESSAGE_BYTES:
        return BytesIO()
    return TemporaryFile(prefix="bookwheel-")


def _with_pieces(value: Any, file: KeptFile, length: int) -> Any:
    """Return a reply, each result of it that was sent in pieces being what reads them.

    They are the end of the message.
    """
    match value:
        case (int(), list(results), dict(), dict(sizes)):
            start = length - sum(map(sum, sizes.values()))
            for index, each in sizes.items():
                results[index] = KeptPieces(file, start, each, decode)
                start += sum(each)
            return value[:3]
        case _:
            return value


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


def reap(process: subprocess.Popen[bytes]) -> bool:
    """Wait until a process has ended, and kill one that will not; tell whether it did."""
    for _ in range(2):
        try:
            process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        else:
            return True
    return False  # stuck in the kernel, on a dead network drive say: not worth waiting for
