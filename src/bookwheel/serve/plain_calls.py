"""The plain calls of one session: each has one answer, and is given up by its id.

They go straight to the tools: the SDK takes each answer apart and writes it five times on its way
through three tasks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from bookwheel.serve.envelope import Message, PlainCall

AT_ONCE = "bookwheel.at_once"
"""Set in a request's scope when its sender hears nothing before the answer: no stream is needed."""
MESSAGE = "bookwheel.message"
"""Where the scope holds the message that a request brings."""
_GIVE_UP = "notifications/cancelled"

Answer = Callable[[PlainCall], Awaitable[bytes]]
"""Returns the written answer to a call."""


class PlainCalls:
    """Those under way."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._under_way: dict[str, anyio.CancelScope] = {}
        """By their ids, as texts: some clients give up 7 by the name of "7"."""

    async def answer(self, call: PlainCall) -> bytes | None:
        """Return the written answer; None for a call that is given up meanwhile."""
        name = str(call.id)
        with anyio.CancelScope() as answering:
            self._under_way[name] = answering
            try:
                return await self._answer(call)
            finally:
                del self._under_way[name]  # no two of one id are let in at once
        return None

    def heed(self, message: Message) -> None:
        """Give up the call that a message names, if it says so."""
        if message.method == _GIVE_UP:
            self._give_up(str(message.body.get("params", {}).get("requestId")))

    def give_up_all(self) -> None:
        """Give up every call under way."""
        for name in [*self._under_way]:
            self._give_up(name)

    def _give_up(self, name: str) -> None:
        if name in self._under_way:
            self._under_way[name].cancel()
