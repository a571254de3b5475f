"""From the thread that indexes to the clients: a bell rung for each change, heard in the loop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bookwheel.serve.mcp import DocumentServer


class ChangeBell:
    """Rung from any thread; whoever listens in the event loop hears several rings as one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Say that documents changed; before anyone listens there is no one to tell."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._event.set)

    async def notify(self, servers: Sequence[DocumentServer]) -> None:
        """Tell the servers' clients of each change, for ever."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._event.wait()
            self._event.clear()
            for server in servers:
                await server.notify_changed()


@contextmanager
def stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when the process is asked to end."""
    loop = asyncio.get_running_loop()
    kinds = (signal.SIGTERM, signal.SIGINT)
    for kind in kinds:
        loop.add_signal_handler(kind, stop)
    try:
        yield
    finally:
        for kind in kinds:
            loop.remove_signal_handler(kind)
