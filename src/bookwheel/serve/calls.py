"""Where calls run: a few threads of their own around one library that is only read."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bookwheel.contracts.dispatch import Offered, call, mask
from bookwheel.contracts.tool import INTERNAL_ERROR, INVALID_PARAMS, Reply, RpcError
from bookwheel.contracts.work import Report, Work
from bookwheel.errors import BookwheelError, IndexUnusable, Internal
from bookwheel.library import Library

if TYPE_CHECKING:
    from bookwheel.llm.sampling import Sample
    from bookwheel.serve.readers import Readers

THREADS = 8
WAITING_THREADS = 4
"""So many calls may wait for a model at once, beside those that only read."""
FIRST_INDEX_SECONDS = 2.0
"""So long after the start, calls wait for folders that are indexed for the first time."""
CLOSING_SECONDS = 0.5
_LOOK_SECONDS = 0.25
_SOON_SECONDS = 0.02
_MANY = 4
"""So many calls at once are more than one core should answer."""

_Answer = TypeVar("_Answer")


class Caller(NamedTuple):
    """What a tool can say to whoever called it, before its answer."""

    report: Report | None = None
    """Without it nobody hears of the call before its end."""
    sample: Callable[[Work], Sample] | None = None
    """Makes the way to the client's own model for one call."""


UNHEARD = Caller()


class Starting(Internal):
    """There is nothing to read yet: the folders are being indexed for the first time."""


class Calls:
    """Runs calls in threads that live as long as the server: each keeps its own connection."""

    def __init__(
        self,
        library: Library,
        *,
        ready: threading.Event | None = None,
        progress: Callable[[], tuple[int, int] | None] = lambda: None,
        has_failed: Callable[[], bool] = lambda: False,
        readers: Readers | None = None,
        patience: float = FIRST_INDEX_SECONDS,
    ) -> None:
        self.library = library
        self._ready = ready
        self._progress = progress
        self._has_failed = has_failed
        self._readers = readers
        self._deadline = time.monotonic() + patience
        self._threads = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="bookwheel-call")
        self._waiting = futures.ThreadPoolExecutor(WAITING_THREADS, "bookwheel-wait")
        self._running: set[futures.Future[Any]] = set()

    async def call_tool(
        self, offered: Offered, name: str, arguments: dict[str, Any], caller: Caller = UNHEARD
    ) -> Reply:
        """Call a tool, after the first documents are there to be found.

        Where nobody hears of it before its end, another process may do it, if it only reads. What
        changes the index can begin as soon as there is one.
        """
        changes, waits = offered.changes(name), name in offered.waiting()
        if caller.report is None and not changes and not waits:
            reply = await self._call_elsewhere(offered, name, arguments)
            if reply is not None:
                return reply
        work = Work(self.library, report=caller.report)
        work.sample = caller.sample(work) if caller.sample is not None else None

        def answer() -> Reply:
            if not self._wait_for_index(work, or_exists=changes):
                work.obstacle = Internal(self._wait_text())
            work.remark = self._remark()
            return call(work, offered, name, arguments)

        return await self._run(answer, work, self._waiting if waits else self._threads)

    async def _call_elsewhere(
        self, offered: Offered, name: str, arguments: dict[str, Any]
    ) -> Reply | None:
        """Let another process call a tool; get such when many calls are at work."""
        if self._readers is None or not (self._ready is None or self._ready.is_set()):
            return None
        if self._readers.are_ready:
            return await self._readers.call(offered, name, arguments, self._remark())
        if len(self._running) >= _MANY:
            self._readers.start()
        return None

    def warm(self) -> None:
        """Begin to load what the first search by meaning needs."""
        try:
            future = self._threads.submit(self.library.warm)
        except RuntimeError:
            return  # it is closing
        self._running.add(future)
        future.add_done_callback(self._running.discard)

    async def read(self, function: Callable[[Library], _Answer]) -> _Answer:
        """Read the library; what goes wrong is a JSON-RPC error."""
        try:
            return await self.ask(function)
        except Starting as error:
            raise RpcError(INTERNAL_ERROR, error.message) from error
        except (IndexUnusable, Internal) as error:
            masked = mask(error, "reading", debug=self.library.settings["debug"])
            raise RpcError(INTERNAL_ERROR, masked.advice) from error
        except BookwheelError as error:
            raise RpcError(INVALID_PARAMS, error.advice) from error

    async def ask(self, function: Callable[[Library], _Answer]) -> _Answer:
        """Read the library, after the first documents are there to be found."""
        work = Work(self.library)

        def answer() -> _Answer:
            if not self._wait_for_index(work):
                raise Starting(self._wait_text())
            return function(self.library)

        return await self._run(answer, work, self._threads)

    @property
    def remark(self) -> str:
        """What a search may miss just now; nothing when all is indexed."""
        return self._remark()

    async def _run(
        self, function: Callable[[], _Answer], work: Work, threads: futures.ThreadPoolExecutor
    ) -> _Answer:
        """Run in a thread; when the caller leaves, what has not begun never does, the rest ends."""
        future = threads.submit(function)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            work.cancel()
            raise

    def _remark(self) -> str:
        """Say what a search may miss while the index is being built."""
        counts = self._progress()
        if counts is None or counts[0] >= counts[1] > 0:
            return ""
        return f"Indexing is under way{_so_far(counts)}; more may be found when it is done."

    def _wait_text(self) -> str:
        if self._has_failed():
            return "The documents cannot be indexed now; the server's log says why."
        so_far = _so_far(self._progress())
        return f"The documents are being indexed{so_far}. Ask again in a few seconds."

    def _wait_for_index(self, work: Work, *, or_exists: bool = False) -> bool:
        """Give the first indexing some time; tell whether there is an index to read."""
        if self._ready is None:
            return True
        while not self._ready.is_set():
            if or_exists and self.library.exists:
                return True
            done, total = self._progress() or (0, 0)
            work.advance(done, total, "indexing")
            patience = self._deadline - time.monotonic()
            if patience <= 0 or self._has_failed():
                return self.library.exists
            self._ready.wait(min(patience, _SOON_SECONDS if or_exists else _LOOK_SECONDS))
        return True

    def close(self) -> None:
        """Let running calls end for a moment, then take no more."""
        if self._readers is not None:
            self._readers.close()
        for threads in (self._threads, self._waiting):
            threads.shutdown(wait=False, cancel_futures=True)
        futures.wait(list(self._running), timeout=CLOSING_SECONDS)


def _so_far(counts: tuple[int, int] | None) -> str:
    return f" ({counts[0]:,} of {counts[1]:,} files so far)" if counts and counts[1] else ""
