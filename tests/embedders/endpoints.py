"""A real HTTP server that answers /v1/embeddings as each test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What the server sends back."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    trickle: float = 0
    """Seconds between single bytes."""


class Asked(NamedTuple):
    """What the server was asked."""

    path: str
    key: str | None
    body: dict[str, Any]


Behaviour = Callable[[Asked], Answer]


class Service(NamedTuple):
    """A running server and what it has been asked so far."""

    url: str
    asked: list[Asked]


def vectors(rows: list[list[float]], *, backwards: bool = False) -> Answer:
    """Return rows as an endpoint would, perhaps in another order."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Answer(json.dumps({"data": data[::-1] if backwards else data}).encode())


@contextmanager
def serving(behave: Behaviour) -> Iterator[Service]:
    """Run a server whose every answer comes from a function."""
    asked: list[Asked] = []
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(Asked(self.path, self.headers["Authorization"], body))
            self.give(behave(asked[-1]))

        def give(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers:
                self.send_header(name, value)
            self.end_headers()
            step = 1 if answer.trickle else len(answer.body) or 1
            for at in range(0, len(answer.body), step):
                try:
                    self.wfile.write(answer.body[at : at + step])
                except OSError:
                    return
                if answer.trickle and ended.wait(answer.trickle):
                    return

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield Service(f"http://127.0.0.1:{server.server_port}/v1", asked)
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
