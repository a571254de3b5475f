"""Serving over HTTP: the routes, the listening socket, and the end of it all."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bookwheel.errors import BadRequest
from bookwheel.serve.changes import ChangeBell, stopping_on_signals
from bookwheel.serve.guard import Guard, Rules, refuse
from bookwheel.serve.headers import SecureHeaders
from bookwheel.serve.limits import RateLimit
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.mcp_route import McpRoute

log = logging.getLogger(__name__)

GRACE_SECONDS = 1

State = Callable[[], dict[str, Any]]
"""Tells whether there is something to search, as `ready`, and how far indexing is."""


def make_app(
    servers: Mapping[str, DocumentServer],
    *,
    rules: Rules,
    limit: RateLimit,
    bell: ChangeBell,
    state: State,
    site: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Return the application: each server at its path, and for probes whether it lives and serves.

    /healthz answers for as long as the process lives, /readyz once the folders were indexed. The
    routes of the site come last, since they take all that is left.
    """
    entries: list[Callable[[], AbstractAsyncContextManager[None]]] = []
    routes: list[BaseRoute] = [
        Route("/healthz", lambda _: JSONResponse(state())),
        Route("/readyz", lambda _: _say_ready(state())),
    ]
    for path, server in servers.items():
        full, plain = server.make_endpoints()
        entries += [full.run, plain.run]
        routes.append(Route(path, McpRoute(full.app, plain.app, limit, server.waiting)))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for enter in entries:
                await stack.enter_async_context(enter())
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(bell.notify, list(servers.values()))
                yield
                tasks.cancel_scope.cancel()

    # A request for tools never gets a page, even where there are no tools.
    every = ["GET", "POST", "DELETE", "PUT", "PATCH"]
    routes += [Route(path, _refuse_mcp, methods=every) for path in ("/mcp", "/mcp/{rest:path}")]
    app = Starlette(routes=[*routes, *site], lifespan=lifespan)
    app.router.redirect_slashes = False
    return SecureHeaders(Guard(app, rules))


async def _refuse_mcp(_: Request) -> JSONResponse:
    return refuse(404, "Nothing is served at this address.")


def _say_ready(state: dict[str, Any]) -> JSONResponse:
    return JSONResponse(state, 200 if state["ready"] else 503)


def bind(host: str, port: int) -> socket.socket:
    """Listen at an address, or say why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
        # Else the second part of an answer waits 40 ms for the first to be acknowledged: asyncio
        # turns that off only for sockets whose protocol is named, and these inherit it.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = str(error.strerror or error).partition(" (while")[0]  # Python adds the address
        hint = "Perhaps a server runs there already; --http HOST:0 takes any free port."
        raise BadRequest(
            f"Cannot listen at {host}:{port}: {reason}.", hint=hint if taken else None
        ) from None


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: its own way raises them again before our files are closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def make_uvicorn(app: ASGIApp, trusted_proxies: str | None = None) -> uvicorn.Server:
    """Return the HTTP server of an application, not yet running."""
    config = uvicorn.Config(
        app,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=trusted_proxies or "",
        server_header=False,
        access_log=False,
        log_config=None,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return _Uvicorn(config)


async def serve_http(
    app: ASGIApp, listening: socket.socket, trusted_proxies: str | None = None
) -> None:
    """Serve until the process is told to stop."""
    server = make_uvicorn(app, trusted_proxies)

    def stop() -> None:
        # Streams that are cut off by the end are no errors of anyone's.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        server.should_exit = True

    with stopping_on_signals(stop):
        await server.serve(sockets=[listening])
