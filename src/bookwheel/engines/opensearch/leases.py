"""Leases: who may write which collections, until when; a dead holder loses his by himself."""

from __future__ import annotations

import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from bookwheel.engines.opensearch import state
from bookwheel.engines.opensearch.state import Data, Tables
from bookwheel.errors import BookwheelError, Conflict

SECONDS = 30.0
"""A lease is lost after so long without being renewed. The clocks of indexers must agree better."""
_SPARE_SECONDS = 10.0
"""So much of it must be left where a change is sent off: that may take a while to arrive."""
EVERY = "*"
"""Stands for all collections, those included that there are not yet."""


class Lease:
    """The right of one engine to write some collections."""

    def __init__(self, tables: Tables, *, clock: Callable[[], float] = time.time) -> None:
        self._tables = tables
        self._clock = clock
        self._owner = uuid.uuid4().hex
        self._names: tuple[str, ...] = ()
        self._wanted: tuple[str, ...] = ()
        self._until = 0.0
        self._ending = threading.Event()
        self._renewing: threading.Thread | None = None

    @property
    def held(self) -> bool:
        return bool(self._names)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The collections that are this engine's to write; None for all of them."""
        return None if EVERY in self._names else self._names

    def covers(self, collection: str) -> bool:
        """Tell whether a collection is this engine's to write."""
        return EVERY in self._names or collection in self._names

    def is_anybodys(self) -> bool:
        """Tell whether anybody writes just now."""
        leases = self._tables.read(state.COUNTERS).get("leases", {})
        return any(each["until"] > self._clock() for each in leases.values())

    def others(self, counters: Data) -> dict[str, str]:
        """Return who else writes just now, by collection, as the table of counters has it."""
        now = self._clock()
        return {
            name: str(each["who"])
            for name, each in counters.get("leases", {}).items()
            if each["until"] > now and each["owner"] != self._owner
        }

    def abandoned(self, counters: Data) -> list[str]:
        """Return the collections whose writer has left something for the next one to finish."""
        now = self._clock()
        leases = counters.get("leases", {})
        return sorted(name for name, each in leases.items() if each["until"] <= now)

    def acquire(self, collections: Iterable[str] | None) -> dict[str, int]:
        """Take the lease; return from which generation on a dead holder left each one unfinished.

        Where that one held all collections, so does this engine until `settle`: nobody else may
        write what is being finished. Raises Conflict naming who has it.
        """
        names = (EVERY,) if collections is None else tuple(dict.fromkeys(collections))
        until = self._clock() + SECONDS
        unfinished = self._tables.change(
            state.COUNTERS, lambda data: self._take(data, names, until)
        )
        self._wanted, self._until = names, until
        self._names = (EVERY,) if EVERY in unfinished else names
        self._ending.clear()
        self._renewing = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._renewing.start()
        return unfinished

    def _take(self, counters: Data, names: tuple[str, ...], until: float) -> dict[str, int]:
        leases: Data = counters.setdefault("leases", {})
        now = self._clock()
        unfinished = {}
        for name, lease in list(leases.items()):
            if not _meet(name, names) or lease["owner"] == self._owner:
                continue
            if lease["until"] > now:
                raise _conflict(name, lease)
            unfinished[name] = int(lease["began"])
            del leases[name]
        began = min([counters.get("generation", 0), *unfinished.values()])
        self._enter(leases, (EVERY,) if EVERY in unfinished else names, began, until)
        return unfinished

    def _enter(self, leases: Data, names: tuple[str, ...], began: int, until: float) -> None:
        mine = {"owner": self._owner, "who": _who(), "until": until, "began": began}
        leases.update(dict.fromkeys(names, mine))

    def settle(self) -> None:
        """Hold no more than was asked for, now that nothing is unfinished."""

        def alter(counters: Data) -> None:
            self.check(counters)
            self._drop(counters)
            generation = counters.get("generation", 0)
            self._enter(counters["leases"], self._wanted, generation, until)

        until = self._clock() + SECONDS
        self._tables.change(state.COUNTERS, alter)
        self._names, self._until = self._wanted, until

    def hold(self) -> None:
        """Raise Conflict unless the lease is ours for as long as a change takes to arrive.

        Whoever was stopped for a while, and goes on, must not change what is another's by now.
        """
        if self._clock() > self._until - _SPARE_SECONDS:
            self._prolong()

    def advance(self, counters: Data) -> None:
        """Note that all is finished that was begun under this lease."""
        for each in self._mine(counters).values():
            each["began"] = counters.get("generation", 0)

    def check(self, counters: Data) -> None:
        """Raise Conflict unless the lease is still ours, by the table that is about to change."""
        if not counters:
            raise Conflict(
                "The index was deleted while it was being written.",
                hint="Run it again: it is made anew.",
            )
        leases = counters.get("leases", {})
        for name in self._names:
            if leases.get(name, {}).get("owner") != self._owner:
                raise Conflict(
                    "Another indexer has taken over: this one did not answer for too long.",
                    hint="Nothing is lost. Run it again when the other one is done.",
                )

    def release(self, *, is_finished: bool = True) -> None:
        """Give the lease back; what was not finished is the next holder's to finish."""
        self._ending.set()
        if self._renewing is not None:
            self._renewing.join()
            self._renewing = None
        if self._names:
            self._names = ()
            self._tables.change(state.COUNTERS, self._drop if is_finished else self._abandon)

    def _mine(self, counters: Data) -> Data:
        leases: Data = counters.get("leases", {})
        return {name: each for name, each in leases.items() if each["owner"] == self._owner}

    def _drop(self, counters: Data) -> None:
        for name in self._mine(counters):
            del counters["leases"][name]

    def _abandon(self, counters: Data) -> None:
        """Leave the lease as a dead holder does, though for no longer than until now."""
        for each in self._mine(counters).values():
            each.update(owner="", until=0.0)

    def _renew(self) -> None:
        while not self._ending.wait(SECONDS / 3):
            try:
                self._prolong()
            except BookwheelError:
                continue  # tried again: if it is lost for good, the next change is refused

    def _prolong(self) -> None:
        def alter(counters: Data) -> None:
            self.check(counters)
            for each in self._mine(counters).values():
                each["until"] = until

        until = self._clock() + SECONDS
        self._tables.change(state.COUNTERS, alter)
        self._until = until


def finished(counters: Data) -> int:
    """Return the generation up to which no holder of any lease has anything left to write."""
    began = [int(each["began"]) for each in counters.get("leases", {}).values()]
    return min([int(counters.get("generation", 0)), *began])


def _meet(name: str, names: tuple[str, ...]) -> bool:
    return EVERY in (name, *names) or name in names


def _who() -> str:
    return f"pid {os.getpid()} on {platform.node()}"


def _conflict(name: str, lease: dict[str, Any]) -> Conflict:
    what = "this index" if name == EVERY else f"the collection {name}"
    return Conflict(
        f"Another process ({lease['who']}) is writing {what}.",
        hint="Search works meanwhile. Wait for it to finish, or stop it.",
    )
