"""A web server that answers like a cluster in trouble."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]
WELCOME: Answer = (200, {"version": {"distribution": "opensearch", "number": "3.5.0"}})
NONE: Answer = (404, {"found": False})


class Pretender:
    """Answers each request with what `answer` says; the first one, to `/`, with `welcome`."""

    def __init__(self) -> None:
        self.welcome: Answer = WELCOME
        self.answer: Callable[[str, str, bytes], Answer] = lambda method, path, body: NONE
        self.asked: list[str] = []
        self.keys: list[str | None] = []
        self.port = 0
        self.hold: threading.Event | None = None
        """What an answer waits for."""

    def address(self, login: str = "") -> str:
        return f"opensearch+http://{login}127.0.0.1:{self.port}/zoo"

    def say(self, status: int, kind: str, reason: str = "because") -> None:
        """Answer everything but `/` with one error."""
        error = {"type": kind, "reason": reason, "root_cause": [{"type": kind, "reason": reason}]}
        self.answer = lambda method, path, body: (status, {"error": error, "status": status})


@contextmanager
def pretending() -> Iterator[Pretender]:
    """Run such a server."""
    pretender = Pretender()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pretender.asked.append(f"{self.command} {self.path}")
            pretender.keys.append(self.headers.get("Authorization"))
            if pretender.hold is not None:
                pretender.hold.wait(30)
            is_first = self.path == "/"
            status, answer = (
                pretender.welcome if is_first else pretender.answer(self.command, self.path, body)
            )
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - the names that the base class asks for

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pretender.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield pretender
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
