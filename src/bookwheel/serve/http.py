"""Serving over HTTP: the routes, the listening socket, and the end of it all."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bookwheel.errors import BadRequest, RateLimited
from bookwheel.serve.callers import shown_state
from bookwheel.serve.changes import ChangeBell, stopping_on_signals
from bookwheel.serve.connections import AT_ONCE, WAITING, Connection
from bookwheel.serve.guard import OPEN_PATHS, Count, Guard, Rules, refuse
from bookwheel.serve.headers import SecureHeaders
from bookwheel.serve.limits import RateLimit
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.mcp_route import McpRoute

log = logging.getLogger(__name__)

GRACE_SECONDS = 1

State = Callable[[], dict[str, Any]]
"""Tells whether there is something to search, as `ready`, and how far indexing is."""

Figures = Callable[[], Awaitable[tuple[bytes, str]]]
"""Gives the metrics, and of what type they are."""


def make_app(
    servers: Mapping[str, DocumentServer],
    *,
    rules: Rules,
    limit: RateLimit,
    bell: ChangeBell,
    state: State,
    site: Sequence[BaseRoute] = (),
    figures: Figures | None = None,
    count: Count = lambda reason: None,
    base_path: str = "",
) -> ASGIApp:
    """Return the application: each server at its path, and for probes whether it lives and serves.

    /healthz answers for as long as the process lives, /readyz once the folders were indexed. The
    routes of the site come last, since they take all that is left.
    """
    entries: list[Callable[[], AbstractAsyncContextManager[None]]] = []
    routes: list[BaseRoute] = [
        Route("/healthz", partial(_say_alive, state)),
        Route("/readyz", partial(_say_ready, state)),
        *([Route("/metrics", partial(_say_figures, figures))] if figures else []),
    ]
    for path, server in servers.items():
        full, plain = server.make_endpoints()
        entries += [full.run, plain.run]
        asked = server.methods
        route = McpRoute(
            full.app, plain.app, limit, asked.waiting, count, refuse=asked.refuse_at_once
        )
        routes.append(Route(path, route))

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
    guarded = SecureHeaders(Guard(app, rules, count))
    return _below(base_path, guarded) if base_path else guarded


def _below(base: str, app: ASGIApp) -> ASGIApp:
    """Return an application that answers below a path alone; probes find it at the top too."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        path = scope["path"]
        if path == base or path.startswith(base + "/"):
            scope = {**scope, "root_path": base}
            scope["path"] = path if path != base else base + "/"
        elif path not in OPEN_PATHS:
            scope = {**scope, "root_path": base, "path": base + "/mcp/nothing"}
        await app(scope, receive, send)

    return answer


async def _say_figures(figures: Figures, _: Request) -> Response:
    try:
        body, kind = await figures()
    except RateLimited as error:
        refused = refuse(503, error.message)
        refused.headers["Retry-After"] = str(error.retry_after)
        return refused
    return Response(body, headers={"Content-Type": kind})


async def _refuse_mcp(_: Request) -> JSONResponse:
    return refuse(404, "Nothing is served at this address.")


async def _say_alive(state: State, _: Request) -> JSONResponse:
    return JSONResponse(shown_state(state()))


async def _say_ready(state: State, _: Request) -> JSONResponse:
    shown = shown_state(state())
    return JSONResponse(shown, 200 if shown["ready"] else 503)


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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let more connections wait than are taken at once, which is one number to asyncio."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(WAITING)


def make_uvicorn(app: ASGIApp, trusted_proxies: str | None = None) -> uvicorn.Server:
    """Return the HTTP server of an application, not yet running."""
    config = uvicorn.Config(
        app,
        http=Connection,
        backlog=AT_ONCE,
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


async def serve_http(app: ASGIApp, listening: socket.socket, trusted_proxies: str | None) -> None:
    """Serve until the process is told to stop."""
    server = make_uvicorn(app, trusted_proxies)

    def stop() -> None:
        # Streams that are cut off by the end are no errors of anyone's.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        server.should_exit = True

    with stopping_on_signals(stop):
        await server.serve(sockets=[listening])
