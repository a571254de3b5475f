"""Work that is given up while it is under way: whoever does it asks here whether to go on.

A thread does one piece of work at a time. What reads the index looks between its steps, so that
neither a call whose client has left nor one that takes too long is worked at any further.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(Exception):
    """Nobody waits for this work any more."""


class _Thread(threading.local):
    should_stop: Callable[[], bool] | None = None


_thread = _Thread()


@contextmanager
def stopping_when(should_stop: Callable[[], bool]) -> Iterator[None]:
    """Let what this thread does be given up as soon as a function says so."""
    before, _thread.should_stop = _thread.should_stop, should_stop
    try:
        yield
    finally:
        _thread.should_stop = before


def is_stopped() -> bool:
    """Tell whether this thread's work is given up."""
    should_stop = _thread.should_stop
    return should_stop is not None and should_stop()


def go_on() -> None:
    """Raise Stopped if this thread's work is given up."""
    if is_stopped():
        raise Stopped
