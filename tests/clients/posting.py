"""A client that knows nothing of MCP: one POST, one answer, on a connection that stays open."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.clients.assistant import PATIENCE


class Answer(NamedTuple):
    """An HTTP answer, read whole."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Poster:
    """Sends requests one after the other over one connection."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def send(
        self, verb: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> Answer:
        """Send a request; an underscore in a header's name stands for a hyphen, None leaves out."""
        named = {name.replace("_", "-"): value for name, value in headers.items() if value}
        self._connection.request(verb, path, body, named)
        answer = self._connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())

    def post(self, message: Any, path: str = "/mcp", **headers: str | None) -> Answer:
        """Post a JSON value, or bytes as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.send("POST", path, body, **{"Content_Type": "application/json", **headers})

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool with nothing said before; return the JSON-RPC answer."""
        params = {"name": tool, "arguments": arguments}
        return self.post(request("tools/call", params), Accept="application/json").json

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool; return its text."""
        (block,) = self.call(tool, **arguments)["result"]["content"]
        assert block["type"] == "text"
        return str(block["text"])


def request(method: str, params: dict[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


@contextmanager
def posting(url: str) -> Iterator[Poster]:
    """Connect to a server, without a proxy."""
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    try:
        yield Poster(connection)
    finally:
        connection.close()
