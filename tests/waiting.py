"""Waiting until something is so: the one loop that sleeps, and never without a bound."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE = 0.02


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    """Ask again and again; it is a failure when the time is over."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come about within {seconds:.0f} s"
        time.sleep(_PAUSE)
