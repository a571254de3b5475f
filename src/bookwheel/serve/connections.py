"""Connections over HTTP: no more than the process can hold, and none that nobody speaks on."""

from __future__ import annotations

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

AT_ONCE = 16
"""So many connections are taken before any of them is looked at."""
WAITING = 1024
"""So many wait in the system to be taken."""
SILENT_SECONDS = 30.0
_RESERVED = 160
"""Descriptors that are kept for the index, the audit, processes that answer, and those at once."""
_FEWEST = 16
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


def count_connections() -> int:
    """Return how many connections may be open at a time, by the descriptors there may be."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if soft == resource.RLIM_INFINITY else max(_FEWEST, soft - _RESERVED)


class Connection(H11Protocol):
    """One connection: refused where there are too many, closed when a request never ends."""

    _watching: asyncio.TimerHandle | None = None
    _heard = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its parent
        """Take a connection, or refuse it at once."""
        super().connection_made(transport)
        if len(self.connections) > count_connections():
            transport.write(_FULL)
            transport.close()
            return
        self._heard = self.loop.time()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Note that something came."""
        self._heard = self.loop.time()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._watching is not None:
            self._watching.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Close a connection whose client has begun a request, or none, and says nothing more."""
        silent = self.loop.time() - self._heard
        if silent >= SILENT_SECONDS and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.transport.abort()
            return
        self._watching = self.loop.call_later(max(1.0, SILENT_SECONDS - silent), self._watch)
