"""A lean client of the protocol over HTTP, for load: one connection that stays open, no SDK.

Speaks both eras as full clients do: with a handshake and a session, or with each request telling
its version and its client. Answers are read to their end, as JSON or as a stream of events.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

SESSIONS, MODERN = "2025-11-25", "2026-07-28"
"""The protocol versions of the two eras."""
_LARGEST = 1 << 24
_END = b"\r\n0\r\n\r\n"
_ABOUT = {"name": "bench", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _ABOUT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Answer(NamedTuple):
    """An answer as it came: status, head in lower case, body without the marks of its parts."""

    status: int
    head: bytes
    body: bytes

    def message(self) -> Any:
        """Return the last JSON message of the body."""
        if b"text/event-stream" not in self.head:
            return json.loads(self.body)
        lines = [line for line in self.body.splitlines() if line.startswith(b"data: {")]
        return json.loads(lines[-1].removeprefix(b"data: "))


class Client:
    """One client of one server in one era."""

    def __init__(self, url: str, era: str = SESSIONS) -> None:
        place = urlsplit(url)
        self._host, self._port = place.hostname or "", place.port or 80
        self._era = era
        self._last = 0
        self._head = (
            f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {era}\r\n"
        )

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(
            self._host, self._port, limit=_LARGEST
        )
        if self._era == SESSIONS:
            await self._shake_hands()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def _shake_hands(self) -> None:
        about = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": _ABOUT}
        answer = await self.request("initialize", about)
        lines = answer.head.split(b"\r\n")
        named = (line for line in lines if line.startswith(b"mcp-session-id:"))
        self._head += f"Mcp-Session-Id: {next(named).partition(b':')[2].strip().decode()}\r\n"
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def ask(self, method: str, params: dict[str, Any]) -> tuple[int, Answer]:
        """Send a request; return the number that it was given, and the answer."""
        answer = await self.request(method, params)
        return self._last, answer

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[int, Answer]:
        """Call a tool; return the number that the request was given, and the answer."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments})

    async def request(self, method: str, params: dict[str, Any]) -> Answer:
        """Send one request and read its answer."""
        self._last += 1
        head = ""
        if self._era == MODERN:
            params = {**params, "_meta": _META}
            head = f"Mcp-Method: {method}\r\n"
            name = params.get("name", params.get("uri"))
            head += f"Mcp-Name: {name}\r\n" if name else ""
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        return await self._post(message, head)

    async def _post(self, message: dict[str, Any], head: str = "") -> Answer:
        body = json.dumps(message).encode()
        self._writer.write(f"{self._head}{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return await self._read()

    async def _read(self) -> Answer:
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in head:
            return Answer(status, head, await self._reader.readuntil(_END))
        _, _, rest = head.partition(b"content-length:")
        return Answer(status, head, await self._reader.readexactly(int(rest.split()[0] or 0)))
