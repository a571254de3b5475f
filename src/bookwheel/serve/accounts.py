"""Keeping account of calls: who may begin one, and what is told of it when it has ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from bookwheel.contracts.tool import TOO_OFTEN, Reply, RpcError
from bookwheel.contracts.work import Asked, Cancelled
from bookwheel.errors import BookwheelError, RateLimited
from bookwheel.serve.callers import CURRENT
from bookwheel.serve.limits import ToolLimits
from bookwheel.telemetry.calls import BUSY, CANCELLED, OK, EndedCall, Witness

ASKED = "asked"
"""The outcome of a call that is to be made again, with what the client's model says."""


class NoRoom(RateLimited):
    """There is more to do than the server can take, whoever asks for it."""

    def __init__(self) -> None:
        super().__init__("The server has more to do than it can take.", retry_after=1)


class Account:
    """What is known of a call as it goes on."""

    def __init__(self, caller: str, tool: str, limits: ToolLimits, *, is_full: bool) -> None:
        self.outcome = "error"
        self.results: int | None = None
        self._caller = caller
        self._tool = tool
        self._limits = limits
        self._is_full = is_full

    def admit(self) -> None:
        """Raise RateLimited if there is no room, or the caller has called the tool too often."""
        if self._is_full:
            raise NoRoom
        self._limits.take(self._caller, self._tool)

    def note_reply(self, reply: Reply) -> None:
        """Take down how a tool answered."""
        self.results = reply.results
        if self.outcome != BUSY:
            self.outcome = (reply.code or self.outcome) if reply.is_error else OK

    def note_error(self, error: BaseException) -> None:
        """Take down by what a call ended instead of a reply, or before it was refused."""
        if self.outcome == BUSY:
            return
        if isinstance(error, NoRoom):
            self.outcome = BUSY
        elif isinstance(error, RpcError):
            limited = error.code == TOO_OFTEN
            self.outcome = RateLimited.code if limited else f"error {error.code}"
        elif isinstance(error, BookwheelError):
            self.outcome = error.code
        elif isinstance(error, Asked):
            self.outcome = ASKED
        elif isinstance(error, (Cancelled, asyncio.CancelledError)):
            self.outcome = CANCELLED


class Accounts:
    """Counts the calls under way, and tells the witnesses of each that has ended."""

    def __init__(self, limits: ToolLimits, witnesses: Sequence[Witness], room: int) -> None:
        self._limits = limits
        self._witnesses = witnesses
        self._room = room
        self.under_way = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one call more."""
        return self.under_way >= self._room

    @contextmanager
    def open(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[Account]:
        """Count a call of the present caller while it is under way."""
        caller, started = CURRENT.get().name, time.monotonic()
        account = Account(caller, tool, self._limits, is_full=self.is_full)
        self.under_way += 1
        try:
            yield account
        except BaseException as error:
            account.note_error(error)
            raise
        finally:
            self.under_way -= 1
            seconds = time.monotonic() - started
            ended = EndedCall(caller, tool, arguments, account.outcome, account.results, seconds)
            for witness in self._witnesses:
                witness(ended)
