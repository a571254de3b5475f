"""What there is to tell: a call that has ended, and the figures of an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

OK = "ok"
CANCELLED = "cancelled"
BUSY = "busy"
"""The server had no room for it."""
API, PAGE = "api", "page"
"""Stand for what is read over HTTP by programs and by people, in the place of a tool."""
UNKNOWN_TOOL = "(unknown)"
"""Stands for a name that no tool has: a client's words are no label."""


class EndedCall(NamedTuple):
    """Who called what, how it ended, and how long it took."""

    caller: str
    """The name of a token, the address of a peer, or `stdio`."""
    tool: str
    """The name of a tool of ours, or of a method of the protocol, or what stands for the site."""
    arguments: Mapping[str, Any]
    outcome: str
    """`ok`, `cancelled`, `busy`, the code of an error, or `error` and the number of JSON-RPC."""
    results: int | None
    seconds: float

    @property
    def is_of_tool(self) -> bool:
        """Tell a call of a tool from what else there is to read: methods have a `/`."""
        return "/" not in self.tool and self.tool not in (API, PAGE)


Witness = Callable[[EndedCall], None]
"""Takes note of calls."""


class IndexFigures(NamedTuple):
    """What there is to count of an index."""

    documents: int
    """Documents that can be found."""
    failures: int
    """Files that could not be read."""
    chunks: int
    bytes: int
    """What the index takes on the disk."""
    generation: int
    """The number of its last change."""
    lag: int | None
    """Seconds since all folders were last looked through."""
