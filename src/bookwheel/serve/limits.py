"""How often one client may ask: so many requests in any window of time."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

_MOST_CLIENTS = 10_000


class RateLimit:
    """Counts the requests of each client in a window that slides with the monotonic clock."""

    def __init__(
        self, requests: int, window: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = requests
        self._window = window
        self._clock = clock
        self._taken: dict[str, deque[float]] = {}

    def take(self, client: str) -> int:
        """Count a request of a client; return 0, or in how many seconds it may ask again."""
        if not self._requests:
            return 0
        now = self._clock()
        taken = self._taken.pop(client, None) or deque()
        while taken and now - taken[0] >= self._window:
            taken.popleft()
        self._taken[client] = taken  # last, so that the first are those that rested longest
        if len(self._taken) > _MOST_CLIENTS:
            del self._taken[next(iter(self._taken))]
        if len(taken) < self._requests:
            taken.append(now)
            return 0
        return max(1, math.ceil(taken[0] + self._window - now))
