"""Where calls run: a few threads of their own around one library that is only read."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any, TypeVar

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.tool import INTERNAL_ERROR, INVALID_PARAMS, Reply, RpcError
from bookwheel.errors import BookwheelError, IndexUnusable, Internal
from bookwheel.library import Library

THREADS = 8
FIRST_INDEX_SECONDS = 5.0
"""So long after the start, calls wait for folders that are indexed for the first time."""
CLOSING_SECONDS = 0.5

_Answer = TypeVar("_Answer")


class Calls:
    """Runs calls in threads that live as long as the server: each keeps its own connection."""

    def __init__(
        self,
        library: Library,
        *,
        ready: threading.Event | None = None,
        progress: Callable[[], str] = lambda: "",
        patience: float = FIRST_INDEX_SECONDS,
    ) -> None:
        self.library = library
        self._ready = ready
        self._progress = progress
        self._deadline = time.monotonic() + patience
        self._threads = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="bookwheel-call")
        self._running: set[futures.Future[Any]] = set()

    async def run(self, function: Callable[[], _Answer]) -> _Answer:
        """Run a function in a thread; one that has not begun when its caller leaves never does."""
        future = self._threads.submit(function)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    def call_tool(self, offered: Offered, name: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool in this thread, after the first documents are there to be found."""
        if not self.wait_for_index():
            return Reply(self._wait_text(), is_error=True)
        return call(self.library, offered, name, arguments)

    def read(self, function: Callable[[Library], _Answer]) -> _Answer:
        """Read the library in this thread; what goes wrong is a JSON-RPC error."""
        if not self.wait_for_index():
            raise RpcError(INTERNAL_ERROR, self._wait_text())
        try:
            return function(self.library)
        except BookwheelError as error:
            inner = isinstance(error, IndexUnusable | Internal)
            message = "The index cannot be read at the moment." if inner else error.message
            raise RpcError(INTERNAL_ERROR if inner else INVALID_PARAMS, message) from error

    def _wait_text(self) -> str:
        return f"The documents are being indexed{self._progress()}. Ask again in a few seconds."

    def wait_for_index(self) -> bool:
        """Give the first indexing some time; tell whether there is an index to read."""
        if self._ready is None or self._ready.is_set():
            return True
        patience = max(0.0, self._deadline - time.monotonic())
        return self._ready.wait(patience) or self.library.exists

    def close(self) -> None:
        """Let running calls end for a moment, then take no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        futures.wait(list(self._running), timeout=CLOSING_SECONDS)
