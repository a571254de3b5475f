"""Where calls run: a few threads of their own around one library that is only read.

Each call is counted, bounded in time, and refused at once when too many are under way.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bookwheel.contracts.dispatch import Offered, call, mask, refuse, too_late
from bookwheel.contracts.tool import INTERNAL_ERROR, INVALID_PARAMS, TOO_OFTEN, Reply, RpcError
from bookwheel.contracts.work import Cancelled, Report, Work
from bookwheel.errors import BookwheelError, IndexUnusable, Internal, RateLimited, TimedOut
from bookwheel.library import Library
from bookwheel.query import EVERYTHING, Scope
from bookwheel.safety.stopping import Stopped, stopping_when
from bookwheel.serve.accounts import Accounts, NoRoom
from bookwheel.serve.callers import CURRENT, Caller, places_of
from bookwheel.serve.limits import ToolLimits
from bookwheel.telemetry.calls import OK, UNKNOWN_TOOL, Witness
from bookwheel.telemetry.logs import log_call
from bookwheel.view import View

if TYPE_CHECKING:
    from bookwheel.llm.sampling import Sample
    from bookwheel.serve.readers import Order, Readers

THREADS = 8
WAITING_THREADS = 4
"""So many calls may wait for a model at once, beside those that only read."""
FIRST_INDEX_SECONDS = 2.0
"""So long after the start, calls wait for folders that are indexed for the first time."""
CLOSING_SECONDS = 0.5
LATE_SECONDS = 1.0
_BEHIND = (
    "The index cannot be brought up to date just now, so what changed lately may be missing; the "
    "server's log says why."
)
"""How much later than its time is over a call that does not stop by itself is left alone."""
_LOOK_SECONDS = 0.25
_SOON_SECONDS = 0.02
_MANY = 4
"""So many calls at once are more than one core should answer."""

_Answer = TypeVar("_Answer")
_Progress = Callable[[], tuple[int, int] | None]


class Hearing(NamedTuple):
    """What a tool can say to whoever called it, before its answer."""

    report: Report | None = None
    """Without it nobody hears of the call before its end."""
    sample: Callable[[Work], Sample] | None = None
    """Makes the way to the client's own model for one call."""
    written: bool = False
    """Whether the reply is wanted as it goes out."""


UNHEARD = Hearing()


class Starting(Internal):
    """There is nothing to read yet: the folders are being indexed for the first time."""


class Calls:
    """Runs calls in threads that live as long as the server: each keeps its own connection."""

    def __init__(
        self,
        library: Library,
        *,
        ready: threading.Event | None = None,
        progress: _Progress = lambda: None,
        has_failed: Callable[[], bool] = lambda: False,
        is_behind: Callable[[], bool] = lambda: False,
        readers: Readers | None = None,
        patience: float = FIRST_INDEX_SECONDS,
        limits: ToolLimits | None = None,
        witnesses: Sequence[Witness] = (log_call,),
    ) -> None:
        self.library = library
        self._ready = ready
        self._progress = progress
        self._has_failed = has_failed
        self._is_behind = is_behind
        self._readers = readers
        self._deadline = time.monotonic() + patience
        settings = library.settings
        self._accounts = Accounts(limits or ToolLimits(()), witnesses, settings["max_calls"])
        self._seconds: int = settings["call_seconds"]
        self._threads = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="bookwheel-call")
        self._waiting = futures.ThreadPoolExecutor(WAITING_THREADS, "bookwheel-wait")
        self._running: set[futures.Future[Any]] = set()

    @property
    def under_way(self) -> int:
        """How many calls are at work or wait for a thread."""
        return self._accounts.under_way

    @property
    def is_full(self) -> bool:
        """Whether a call that comes now is refused."""
        return self._accounts.is_full

    def view(self) -> View:
        """Return the library as the present caller may see it."""
        return self._view_of(CURRENT.get())

    def _view_of(self, caller: Caller) -> View:
        return self.library if caller.sees_all else self.library.view(self._scope_of(caller))

    def _scope_of(self, caller: Caller) -> Scope:
        if caller.sees_all:
            return EVERYTHING
        return Scope(within=places_of(caller.roots, self.library.collections))

    async def call_tool(
        self, offered: Offered, name: str, arguments: dict[str, Any], hearing: Hearing = UNHEARD
    ) -> Reply:
        """Call a tool, after the first documents are there to be found.

        Where nobody hears of it before its end, another process may do it, if it only reads. What
        changes the index can begin as soon as there is one.
        """
        found = offered.find(name)
        with self._accounts.open(found[1].name if found else UNKNOWN_TOOL, arguments) as account:
            try:
                account.admit()
                reply = await self._call(offered, name, arguments, hearing)
            except RateLimited as error:
                account.note_error(error)
                reply = refuse(offered, name, arguments, error)
            account.note_reply(reply)
        return reply

    async def _call(
        self, offered: Offered, name: str, arguments: dict[str, Any], hearing: Hearing
    ) -> Reply:
        waits = name in offered.waiting()
        # What waits for a model has a time limit of its own for that.
        seconds = self._seconds + (self.library.settings["llm_timeout"] if waits else 0)
        try:
            if hearing.report is None and not offered.changes(name) and not waits:
                written = hearing.written
                reply = await self._call_elsewhere(offered, name, arguments, written=written)
                if reply is not None:
                    return reply
            work = Work(self.view(), report=hearing.report, seconds=seconds)
            work.sample = hearing.sample(work) if hearing.sample is not None else None
            return await self._call_here(offered, name, arguments, work, waits=waits)
        except TimeoutError:
            return refuse(offered, name, arguments, too_late(seconds))

    async def _call_here(
        self, offered: Offered, name: str, arguments: dict[str, Any], work: Work, *, waits: bool
    ) -> Reply:
        changes = offered.changes(name)

        def answer() -> Reply:
            try:
                if not self._wait_for_index(work, or_exists=changes):
                    work.obstacle = Internal(self._wait_text())
            except IndexUnusable as error:
                debug = self.library.settings["debug"]
                work.obstacle = mask(error, "looking for the index", debug=debug)
            work.remark = self.remark
            return call(work, offered, name, arguments)

        return await self._run(answer, work, self._waiting if waits else self._threads)

    async def _call_elsewhere(
        self, offered: Offered, name: str, arguments: dict[str, Any], *, written: bool
    ) -> Reply | None:
        """Let another process call a tool; get such when many calls are at work."""
        if self._readers is None or not (self._ready is None or self._ready.is_set()):
            return None
        if self._readers.are_ready:
            order = self._order(offered, name, arguments)._replace(written=written)
            return await self._readers.call(order, patience=self._seconds + LATE_SECONDS)
        if len(self._running) >= _MANY:
            self._readers.start()
        return None

    def _order(self, offered: Offered, name: str, arguments: dict[str, Any]) -> Order:
        from bookwheel.serve.readers import Order

        scope = self._scope_of(CURRENT.get())
        return Order(offered.choice, name, arguments, self.remark, scope, self._seconds)

    def warm(self) -> None:
        """Begin to load what the first search by meaning needs."""
        try:
            future = self._threads.submit(self.library.warm)
        except RuntimeError:
            return  # it is closing
        self._running.add(future)
        future.add_done_callback(self._running.discard)

    async def look(self, caller: Caller, function: Callable[[View], _Answer]) -> _Answer:
        """Look at the library as a caller sees it, on the server's own behalf."""
        view = self._view_of(caller)
        return await self._run(lambda: function(view), Work(view), self._threads)

    async def read(
        self, method: str, arguments: Mapping[str, Any], function: Callable[[View], _Answer]
    ) -> _Answer:
        """Read the library for a method of the protocol; what goes wrong is a JSON-RPC error."""
        try:
            return await self.ask(method, arguments, function)
        except RateLimited as error:
            data = {"retryAfter": error.retry_after}
            raise RpcError(TOO_OFTEN, error.advice, data) from None
        except (Starting, TimedOut) as error:
            raise RpcError(INTERNAL_ERROR, error.advice) from error
        except (IndexUnusable, Internal) as error:
            masked = mask(error, "reading", debug=self.library.settings["debug"])
            raise RpcError(INTERNAL_ERROR, masked.advice) from error
        except BookwheelError as error:
            raise RpcError(INVALID_PARAMS, error.advice) from error

    async def ask(
        self, what: str, arguments: Mapping[str, Any], function: Callable[[View], _Answer]
    ) -> _Answer:
        """Read what the present caller may see, after there are documents to be found."""
        work = Work(self.view(), seconds=self._seconds)

        def answer() -> _Answer:
            if not self._wait_for_index(work):
                raise Starting(self._wait_text())
            with stopping_when(lambda: work.is_given_up):
                return function(work.library)

        with self._accounts.open(what, arguments) as account:
            account.admit()
            try:
                found = await self._run(answer, work, self._threads)
            except TimeoutError:
                raise too_late(self._seconds) from None
            account.outcome = OK
        return found

    async def _run(
        self, function: Callable[[], _Answer], work: Work, threads: futures.ThreadPoolExecutor
    ) -> _Answer:
        """Run in a thread; when the caller leaves, what has not begun never does, the rest ends.

        The same goes for what takes too long: TimeoutError. NoRoom where the system grants no
        thread, or the server is closing.
        """
        try:  # the thread works for the caller whose request this is
            future = threads.submit(copy_context().run, _timed, function, work)
        except RuntimeError:
            work.cancel()  # it waits in line all the same
            raise NoRoom from None
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        patience = None if work.seconds is None else work.seconds + LATE_SECONDS
        try:
            async with asyncio.timeout(patience):
                return await asyncio.wrap_future(future)
        except (asyncio.CancelledError, TimeoutError):
            work.cancel()
            raise

    def _counts(self) -> tuple[int, int] | None:
        """Return how far indexing is, if it goes on; of files that the present caller may not see
        not even their number."""
        counts = self._progress()
        return counts if counts is None or CURRENT.get().sees_all else (0, 0)

    @property
    def remark(self) -> str:
        """What a search may miss just now; nothing when all is indexed.

        Until the first indexing is done something may be missing, whatever is counted so far.
        """
        counts = self._counts()
        is_first = self._ready is not None and not (self._ready.is_set() or self._has_failed())
        if not is_first and (counts is None or counts[0] >= counts[1] > 0):
            # Who sees but a part is not told of what may be another's.
            return _BEHIND if CURRENT.get().sees_all and self._is_behind() else ""
        return f"Indexing is under way{_so_far(counts)}; more may be found when it is done."

    def _wait_text(self) -> str:
        if self._has_failed():
            return "The documents cannot be indexed now; the server's log says why."
        so_far = _so_far(self._counts())
        return f"The documents are being indexed{so_far}. Ask again in a few seconds."

    def _wait_for_index(self, work: Work, *, or_exists: bool = False) -> bool:
        """Give the first indexing some time; tell whether there is an index to read."""
        if self._ready is None:
            return True
        while not self._ready.is_set():
            if or_exists and self.library.exists:
                return True
            done, total = self._counts() or (0, 0)
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


def _timed(function: Callable[[], _Answer], work: Work) -> _Answer:
    """Call a function; one that stops since its time is over has timed out."""
    try:
        return function()
    except Cancelled:
        raise
    except Stopped:
        if work.is_late:
            raise TimeoutError from None
        raise Cancelled from None


def _so_far(counts: tuple[int, int] | None) -> str:
    return f" ({counts[0]:,} of {counts[1]:,} files so far)" if counts and counts[1] else ""
