"""A client that acts only upon what it is told."""

from __future__ import annotations

from typing import Any

import anyio

from tests.clients.assistant import PATIENCE, Assistant
from tests.clients.handbook import addresses


class Listener:
    """A client that is told of changes, and waits for the next without asking for anything."""

    def __init__(self, assistant: Assistant, heard: list[Any]) -> None:
        self.assistant = assistant
        self._heard = heard
        self._known = 0

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Wait until more is heard than was before; tell whether it was."""

        async def listen() -> bool:
            with anyio.move_on_after(seconds):
                while len(self._heard) <= self._known:
                    await anyio.sleep(0.02)
            return len(self._heard) > self._known

        return self.assistant.run(listen)

    def see(self, expected: dict[str, tuple[str, str]]) -> None:
        """Ask upon each notification, and only then, until all is as expected."""
        while True:
            assert self.wait()
            self._known = len(self._heard)
            if self._state() == (expected, sorted(expected)):
                return

    def _state(self) -> tuple[dict[str, tuple[str, str]], list[str]]:
        """Return title and description of each resource, and what a search for zebras finds."""
        listed = {
            entry["uri"]: (entry["title"], entry["description"])
            for entry in self.assistant.resources()
        }
        found = addresses(self.assistant.call("search_documents", query="zebra").text)
        return listed, sorted(found)
