"""A small contract whose tools do what tests need, and servers of it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import pytest
from starlette.routing import BaseRoute

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import INVALID_PARAMS, Arguments, Contract, Reply, RpcError, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError
from bookwheel.library import Library
from bookwheel.safety.token_file import TokenFile
from bookwheel.serve.calls import Calls
from bookwheel.serve.changes import ChangeBell
from bookwheel.serve.guard import Rules, make_rules
from bookwheel.serve.http import bind, make_app, make_uvicorn
from bookwheel.serve.limits import RateLimit
from bookwheel.serve.mcp import DocumentServer
from bookwheel.telemetry.metrics import Metrics
from tests.conftest import Shelf

PATIENCE = 20
SECRET = "a secret of the inside"


class Echo(Arguments):
    word: str


class Nothing(Arguments):
    pass


def echo(_: Work, arguments: Echo) -> Reply:
    return Reply(arguments.word, {"word": arguments.word}, results=1)


def refuse(_: Work, __: Nothing) -> Reply:
    raise RpcError(INVALID_PARAMS, "Not so.", {"why": "because"})


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    return Reply(error.message, is_error=True)


def crash_while_shaping(_: BookwheelError, __: dict[str, Any]) -> Reply:
    raise RuntimeError(SECRET)


def fail(_: Work, __: Nothing) -> Reply:
    raise RuntimeError(SECRET)


ECHO = Tool("echo", "Echo", "Say it again.", Echo, echo)
SMALL = Contract(
    "small",
    (ECHO, Tool("refuse", "Refuse", "Refuse.", Nothing, refuse)),
    shape_error,
    resources=True,
    usage="Say it with echo.",
)
CRASHING = Contract("crashing", (Tool("fail", "", "", Nothing, fail),), crash_while_shaping)
OFFERED = Offered(listed=(SMALL,), callable=(SMALL, CRASHING))


def within(main: Callable[[], Awaitable[None]], seconds: float = PATIENCE) -> None:
    """Run an async test, which must end in time."""

    async def bounded() -> None:
        with anyio.fail_after(seconds):
            await main()

    anyio.run(bounded)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    shelf = Shelf(tmp_path_factory.mktemp("served"))
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.")
    shelf.update()
    with shelf.open() as opened:
        yield opened


@pytest.fixture(scope="session")
def calls(library: Library) -> Iterator[Calls]:
    made = Calls(library)
    yield made
    made.close()


@pytest.fixture
def server(calls: Calls) -> DocumentServer:
    return DocumentServer(calls, OFFERED)


class Answer(NamedTuple):
    """An HTTP answer, read whole."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


class Site(NamedTuple):
    """A server that listens on this machine."""

    port: int
    bell: ChangeBell

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | Iterator[bytes] | None = None, **headers: str
    ) -> Answer:
        """Send a request; an underscore in a header's name stands for a hyphen."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def post(self, message: Any, path: str = "/mcp", **headers: str) -> Answer:
        """Post a JSON value, or bytes as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.ask("POST", path, body, **{"Content_Type": "application/json", **headers})


@contextmanager
def serving(
    servers: dict[str, DocumentServer],
    *,
    token: str | None = None,
    limit: int = 0,
    ready: bool = True,
    trusted_proxies: str | None = None,
    site: Callable[[Rules], Sequence[BaseRoute]] = lambda _: (),
    tokens: TokenFile | None = None,
    base_path: str = "",
    metrics: Metrics | None = None,
    window: float = 60,
    clock: Callable[[], float] = lambda: 1000.0,
) -> Iterator[Site]:
    """Serve over HTTP on a free port of this machine."""
    bell = ChangeBell()
    with bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        rules = make_rules("127.0.0.1", port, others="docs.example", token=token, tokens=tokens)
        app = make_app(
            servers,
            rules=rules,
            limit=RateLimit(limit, window, clock=clock),
            bell=bell,
            state=lambda: {"status": "ok", "ready": ready},
            figures=partial(anyio.to_thread.run_sync, metrics.write) if metrics else None,
            count=metrics.count_refusal if metrics else lambda reason: None,
            base_path=base_path,
            site=site(rules),
        )
        uvicorn = make_uvicorn(app, trusted_proxies)
        thread = threading.Thread(target=lambda: anyio.run(_run, uvicorn, listening))
        thread.start()
        try:
            yield Site(port, bell)
        finally:
            uvicorn.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def _run(uvicorn: Any, listening: Any) -> None:
    await uvicorn.serve(sockets=[listening])
