"""A server in a process of its own, as it is treated badly."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import Shelf
from tests.engines.embedded.scenes import ROOT
from tests.waiting import wait_until

PATIENCE = 60.0
_SAID = re.compile(r"serving http://127\.0\.0\.1:(\d+)")


class Server:
    """A server that listens."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

    @property
    def said(self) -> str:
        """All that it wrote so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to it, not yet opened."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def find(self, words: str, connection: http.client.HTTPConnection | None = None) -> list[str]:
        """Return the paths that a search finds."""
        used = connection or self.connect()
        try:
            status, answer = ask(used, "search_docs", {"query": words})
        finally:
            if connection is None:
                used.close()
        assert status == 200, answer
        text = answer["result"]["content"][0]["text"]
        return re.findall(r"^\d+\. (\S+) \(score", text, re.MULTILINE)

    def count(self, figure: str) -> float:
        """Return a figure of those that it keeps."""
        connection = self.connect()
        try:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        return float(text.partition(f"\n{figure} ")[2].split()[0])


def ask(connection: http.client.HTTPConnection, tool: str, arguments: Any) -> tuple[int, Any]:
    """Call a tool by one bare request."""
    params = {"name": tool, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    return answer.status, json.loads(data) if data else {}


@contextmanager
def serving(
    shelf: Shelf, *options: str, before: Sequence[str] = (), **environment: str
) -> Iterator[Server]:
    """Start a server, within another command where one is given, and end it in the end."""
    log = shelf.place / "server.log"
    where = [str(shelf.folder), "--index", str(shelf.place / "index"), "--http", "127.0.0.1:0"]
    words = [sys.executable, "-m", "bookwheel", "serve", *where, "--toolsets", "pages", *options]
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [*before, *words],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env={**os.environ, "MCP_RATE_LIMIT_REQUESTS": "0", **environment},
            cwd=ROOT,
        ) as process,
    ):
        try:
            made = Server(process, 0, log)
            wait_for(lambda: bool(_SAID.search(made.said)) or process.poll() is not None)
            found = _SAID.search(made.said)
            assert found, made.said
            made.port = int(found[1])
            yield made
        finally:
            process.kill()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    wait_until(condition, PATIENCE)
