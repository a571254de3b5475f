"""Handlers for the tests of the worker pool: each does to its process what its name says."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from bookwheel.indexing.worker_child import HEADER

Act = Callable[..., object]


def make_echo(*setup: object) -> Act:
    return lambda *payload: (*setup, *payload)


def make_process_name() -> Act:
    return lambda *payload: os.getpid()


def make_collector() -> Act:
    return lambda _: (gc.get_threshold()[0], gc.get_freeze_count() > 0)


class Knot:
    """What only the garbage collector can let go of."""

    living: ClassVar[WeakSet[Knot]] = WeakSet()

    def __init__(self) -> None:
        self.itself = self
        self.living.add(self)


def make_knots() -> Act:
    """Leave a knot behind with each task; tell how many there are."""
    return lambda *payload: (Knot(), len(Knot.living))[1]


def make_stretch() -> Act:
    return lambda data, times: data * times


def make_troublemaker(place: str) -> Act:
    """Obey the name of a trouble; answer any other payload with itself."""

    def obey(name: str, *rest: Any) -> object:
        return TROUBLES[name](place, *rest) if name in TROUBLES else name

    return obey


def make_dead_at_start(code: int) -> Act:
    os._exit(code)


def make_failure(message: str) -> Act:
    raise ValueError(message)


def make_mark(path: str) -> Act:
    """Leave a mark at start, to show that a worker was started at all."""
    Path(path).touch()
    return lambda *payload: payload


class NotPlain:
    """A value that must not cross the pipe."""


class Evil:
    """A value whose unpickling would create a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, int]]:
        return os.open, (self.path, os.O_CREAT | os.O_WRONLY)


def _say(body: bytes) -> None:
    os.write(int(sys.argv[2]), HEADER.pack(len(body)) + body)


def segfault(place: str) -> object:
    return ctypes.string_at(0)


def kill_itself(place: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(place: str) -> None:
    os._exit(7)


def abort(place: str) -> None:
    os.abort()


def abort_like_rust(place: str) -> None:
    os.write(2, b"memory allocation of 17179869184 bytes failed\n")
    os.abort()


def hang(place: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    time.sleep(3_600)


def spin(place: str) -> None:
    while True:
        pass


def plod(place: str) -> str:
    """Work half a second of CPU as one does whom others keep from the processor."""
    begun = time.process_time()
    while time.process_time() < begun + 0.5:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass
        time.sleep(0.1)
    return "plodded"


def hog(place: str) -> int:
    return len([bytearray(64 << 20) for _ in range(1_000)])


def ask_too_much(place: str) -> int:
    return len(bytearray(1 << 40))


def recurse(place: str) -> object:
    return recurse(place)


def exit_politely(place: str) -> None:
    sys.exit("enough")


def panic(place: str) -> None:
    raise BaseException("a Rust panic is no Exception")


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raise_mute(place: str) -> None:
    raise MuteError


def raise_long(place: str) -> None:
    raise ValueError("x" * 10_000_000)


def give_unpicklable(place: str) -> object:
    return [1, NotPlain()]


def give_nested(place: str) -> object:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return value


def send_evil(place: str) -> None:
    _say(pickle.dumps(Evil(place)))
    time.sleep(3_600)


def send_noise(place: str) -> None:
    _say(b"\x80\x05noise")
    time.sleep(3_600)


def send_wrong_shape(place: str) -> None:
    _say(pickle.dumps((0, [None], {0: "no failure"})))
    time.sleep(3_600)


def announce_too_much(place: str) -> None:
    os.write(int(sys.argv[2]), HEADER.pack(1 << 62))
    time.sleep(3_600)


def stop_half_way(place: str) -> None:
    os.write(int(sys.argv[2]), HEADER.pack(1_000) + b"half")
    os._exit(0)


def chatter(place: str) -> str:
    for _ in range(200):
        os.write(1, b"out" * 1_000)
        os.write(2, b"err" * 1_000)
    return "said"


def report_confinement(place: str) -> tuple[bool, int, list[str]]:
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return ignored, sum(1 for _ in Path("/proc/self/fd").iterdir()), sys.path


TROUBLES: dict[str, Act] = {
    act.__name__: act
    for act in (
        segfault,
        kill_itself,
        leave,
        abort,
        abort_like_rust,
        hang,
        spin,
        plod,
        hog,
        ask_too_much,
        recurse,
        exit_politely,
        panic,
        raise_mute,
        raise_long,
        give_unpicklable,
        give_nested,
        send_evil,
        send_noise,
        send_wrong_shape,
        announce_too_much,
        stop_half_way,
        chatter,
        report_confinement,
    )
}
