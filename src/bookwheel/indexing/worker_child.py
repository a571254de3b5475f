"""What runs inside a worker process: import a handler, answer batches of tasks, keep to limits.

Both directions speak frames: eight bytes of length, then a pickle of plain builtins. Anything that
would need a class or a function to be rebuilt is refused by the writer and by the reader, so that a
process taken over by a hostile document cannot have code run in its parent.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import gc
import importlib
import io
import os
import pickle
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, BinaryIO, NoReturn

from bookwheel.indexing.memory import join_freed_blocks
from bookwheel.indexing.pieces import InPieces

HEADER = struct.Struct("<Q")
DETAIL_CHARACTERS = 300
TRACE_CHARACTERS = 4_000
ERROR_FILE_BYTES = 64 << 20  # a worker has no other file to write
PR_SET_PDEATHSIG = 1  # linux/prctl.h
YOUNG_OBJECTS = 50_000
"""How many more objects there may be before some are looked at for cycles.

A long document makes a million that all live until it is written; at Python's 700 a third of the
time goes into looking at them again and again.
"""

Handler = Callable[..., object]
Trouble = tuple[str, str, str]
"""Kind, detail for people, and a trace for the log."""


class PlainPickler(pickle.Pickler):
    """Writes builtins only; the C pickler asks `reducer_override` about everything else."""

    def reducer_override(self, obj: object) -> NoReturn:
        raise TypeError(f"not a plain value: {type(obj).__module__}.{type(obj).__qualname__}")


class PlainUnpickler(pickle.Unpickler):
    """Reads builtins only: every way to name a class or function leads through `find_class`."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"refused to load {module_name}.{global_name}")


def encode(value: object, rest: Iterable[bytes] = ()) -> memoryview:
    """Frame a plain value, without a second copy of it, and what follows it."""
    buffer = io.BytesIO()
    buffer.write(bytes(HEADER.size))
    PlainPickler(buffer, protocol=5).dump(value)
    for each in rest:
        buffer.write(each)
    frame = buffer.getbuffer()
    HEADER.pack_into(frame, 0, len(frame) - HEADER.size)
    return frame


def decode(body: IO[bytes]) -> Any:
    """Read a frame's body, trusting nothing in it; what may follow the first value is left."""
    return PlainUnpickler(body).load()


def is_trouble(value: Any) -> bool:
    """Tell whether a value read from a frame has the form of a Trouble."""
    match value:
        case ("memory" | "error", str(), str()):
            return True
        case _:
            return False


def main(arguments: Sequence[str]) -> int:
    """Serve the pipe named by the arguments until the parent closes it."""
    task_fd, reply_fd, memory_bytes = map(int, arguments)
    _settle_in(memory_bytes)
    for descriptor in (task_fd, reply_fd):
        os.set_inheritable(descriptor, False)
    try:
        with open(task_fd, "rb") as tasks, open(reply_fd, "wb") as replies:
            return _serve(tasks, replies)
    except BrokenPipeError:
        return 0  # the parent has gone; there is nobody left to tell


def _settle_in(memory_bytes: int) -> None:
    # The parent decides what Ctrl-C means; a worker that also hears it would spray tracebacks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, ERROR_FILE_BYTES)
    join_freed_blocks()
    if sys.platform == "linux":
        # A closed pipe ends a worker that waits for tasks; this ends one that hangs in a parser.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _limit(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(which, (bound, bound))
    except (ValueError, OSError):
        pass  # macOS refuses RLIMIT_AS; the deadline and the recycling by size still hold there


def _serve(tasks: BinaryIO, replies: BinaryIO) -> int:
    handler: Handler | None = None
    while True:
        try:
            message = _receive(tasks)
        except EOFError:
            return 0
        match message:
            case (int(seconds),):
                handler = None  # and what it held open with it
                gc.collect()  # before the next greeting makes all that is there stay
                signal.alarm(seconds)  # nobody may need this process again, or be able to say so
            case (str(name), tuple(setup)):
                signal.alarm(0)
                handler = None
                handler = _take_up(name, setup, replies)
                if handler is None:
                    return 1
            case payloads:
                assert handler is not None, "a greeting comes first"
                _send(replies, _answer(handler, payloads))


def _take_up(name: str, setup: tuple[Any, ...], replies: BinaryIO) -> Handler | None:
    try:
        handler = _make_handler(name, setup)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent reports it
        _send(replies, encode(("failed", *_describe(error))))
        return None
    gc.freeze()  # what was imported is there to stay
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
    _send(replies, encode(("ready",)))
    return handler


def _make_handler(handler: str, setup: tuple[Any, ...]) -> Handler:
    module, _, function = handler.partition(":")
    made: Handler = getattr(importlib.import_module(module), function)(*setup)
    return made


def _answer(handler: Handler, payloads: list[tuple[Any, ...]]) -> memoryview:
    _forget_errors()
    results: list[object] = []
    failures: dict[int, Trouble] = {}
    for index, payload in enumerate(payloads):
        result = None
        try:
            result = handler(*payload)
        except BaseException as error:  # noqa: BLE001 - Rust panics are no Exception, and each
            failures[index] = _describe(error)  # task of a batch must be answered
        results.append(result)
    try:
        return _encode_reply(results, failures)
    except (TypeError, RecursionError, MemoryError, pickle.PicklingError):
        _drop_unsendable(results, failures)
        return _encode_reply(results, failures)


def _encode_reply(results: list[object], failures: dict[int, Trouble]) -> memoryview:
    """Frame results; of one in pieces their sizes, and the pieces after all else."""
    sizes: dict[int, list[int]] = {}
    pieces: list[bytes] = []
    for index, result in enumerate(results):
        if isinstance(result, InPieces):
            made = list(map(_pickled, result.part(0)))
            sizes[index] = list(map(len, made))
            pieces += made
    whole = [None if index in sizes else result for index, result in enumerate(results)]
    return encode((_resident_bytes(), whole, failures, sizes), pieces)


def _pickled(value: object) -> bytes:
    buffer = io.BytesIO()
    PlainPickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def _drop_unsendable(results: list[object], failures: dict[int, Trouble]) -> None:
    for index, result in enumerate(results):
        try:
            encode(list(result.part(0)) if isinstance(result, InPieces) else result)
        except (TypeError, RecursionError, MemoryError, pickle.PicklingError) as error:
            failures[index] = _describe(error)
            results[index] = None


def _describe(error: BaseException) -> Trouble:
    if isinstance(error, MemoryError):
        return "memory", "needs more memory than a worker may have", ""
    try:
        message = str(error)
        trace = "".join(traceback.format_exception(error))
    except Exception as second:  # noqa: BLE001 - a library's own __str__ may raise anything
        message, trace = f"(message lost to {type(second).__name__})", ""
    detail = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return "error", detail[:DETAIL_CHARACTERS], trace[-TRACE_CHARACTERS:]


def _forget_errors() -> None:
    # Standard error is a file of the parent's: emptied here, it stays small and tells of one batch.
    if os.lseek(2, 0, os.SEEK_CUR):
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb", buffering=0) as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0  # ru_maxrss is no substitute: it starts at the parent's and never falls


def _receive(tasks: BinaryIO) -> Any:
    header = tasks.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (length,) = HEADER.unpack(header)
    body = tasks.read(length)
    if len(body) < length:
        raise EOFError
    return decode(io.BytesIO(body))


def _send(replies: BinaryIO, frame: memoryview) -> None:
    replies.write(frame)
    replies.flush()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    atexit._run_exitfuncs()
    # Taking the interpreter apart would keep the parent waiting for tens of milliseconds.
    os._exit(code)
