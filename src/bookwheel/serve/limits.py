"""How often one client may ask: so many requests in any window of time, and so many of a tool."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from bookwheel.contracts.tool import Tool
from bookwheel.errors import BadRequest, RateLimited
from bookwheel.settings import Rate, read_rates

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
        self._counting = threading.Lock()

    def take(self, client: str, rate: Rate | None = None) -> int:
        """Count a request of a client; return 0, or in how many seconds it may ask again.

        A client may have a rate of its own.
        """
        requests, window = rate or (self._requests, self._window)
        if not requests:
            return 0
        with self._counting:
            return self._take(client, requests, window)

    def _take(self, client: str, requests: int, window: float) -> int:
        now = self._clock()
        taken = self._taken.pop(client, None) or deque()
        while taken and now - taken[0] >= window:
            taken.popleft()
        self._taken[client] = taken  # last, so that the first are those that rested longest
        if len(self._taken) > _MOST_CLIENTS:
            del self._taken[next(iter(self._taken))]
        if len(taken) < requests:
            taken.append(now)
            return 0
        return max(1, math.ceil(taken[0] + window - now))


class ToolLimits:
    """How often each client may call each tool that has a limit."""

    def __init__(
        self,
        tools: Iterable[Tool],
        stated: str | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        tools = list(tools)
        own = {tool.name: Rate(tool.per_minute, 60) for tool in tools if tool.per_minute}
        set_apart = read_rates(stated) if stated else {}
        _refuse_unknown(set_apart or {}, [tool.name for tool in tools])
        rates = {} if set_apart is None else {**own, **set_apart}
        self._limits = {name: RateLimit(*rate, clock=clock) for name, rate in rates.items()}

    def take(self, client: str, tool: str) -> None:
        """Count a call of a tool; RateLimited if the client has made too many."""
        limit = self._limits.get(tool)
        wait = limit.take(client) if limit else 0
        if wait:
            raise RateLimited(f"{tool} has been called too often.", retry_after=wait)


def _refuse_unknown(stated: Iterable[str], known: list[str]) -> None:
    for name in stated:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise BadRequest(
                f"A limit is set for the tool {name!r}, which there is not.",
                hint=f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}.",
            )
