"""One MCP address: reads a POST whole, refuses what is no message, and picks the way in.

Full clients get sessions and streams; a bare POST of one request gets one JSON answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from bookwheel.contracts.tool import TOO_OFTEN
from bookwheel.serve.callers import caller_of
from bookwheel.serve.envelope import (
    INVALID_REQUEST,
    Message,
    Refusal,
    find_misnamed,
    read_message,
)
from bookwheel.serve.guard import Count, read_body, refuse
from bookwheel.serve.limits import RateLimit
from bookwheel.serve.mcp import is_modern
from bookwheel.serve.plain_calls import AT_ONCE, MESSAGE

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_BOTH = "application/json, text/event-stream"


Refuse = Callable[[Message], Awaitable[Refusal | None]]
"""Answers a message that is not let in, since the server is full."""


class McpRoute:
    """The ASGI application of one address."""

    def __init__(
        self,
        full: ASGIApp,
        plain: ASGIApp,
        limit: RateLimit,
        waiting: Container[str] = (),
        count: Count = lambda reason: None,
        *,
        refuse: Refuse,
    ) -> None:
        """Take both ways in; `waiting` are tools that may ask their client before they answer."""
        self._refuse = refuse
        self._waiting = waiting
        self._full = full
        self._plain = plain
        self._limit = limit
        self._count = count
        self._in_flight: set[tuple[str, str]] = set()
        """Sessions and ids as texts, as the SDK has them: to it 7 and "7" are one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            app = self._full if _is_of_a_session(scope) else _ONLY_POST
            await app(scope, receive, send)
            return
        read = await self._read(scope, receive)
        if isinstance(read, Response):
            await read(scope, receive, send)
            return
        body, message = read
        headers = Headers(scope=scope)
        at_once = _is_answered_at_once(message, self._waiting)
        # Whoever reads JSON alone can have a session all the same, and must learn of its end.
        keeps_session = at_once and _SESSION in headers
        app = self._full if keeps_session or not wants_plain(headers, message) else self._plain
        reads_both = app is self._plain or keeps_session
        scope = _as_the_sdk_wants(scope, accept=_BOTH if reads_both else None)
        scope[AT_ONCE] = at_once
        scope[MESSAGE] = message
        await self._pass_on(app, scope, _replay(body, receive), send, message)

    async def _read(self, scope: Scope, receive: Receive) -> tuple[bytes, Message] | Response:
        """Return the body and its message, or the answer to what is none."""
        content_type = Headers(scope=scope).get("content-type", "")
        if content_type.partition(";")[0].strip().lower() != "application/json":
            return refuse(415, "Send Content-Type: application/json.")
        body = await read_body(Request(scope, receive))
        if isinstance(body, Response):
            return body
        message = read_message(body)
        if isinstance(message, Refusal):
            return JSONResponse(message.as_json(), 400)
        limited = self._check_limit(scope, message)
        if limited is not None:
            return limited
        refusal = find_misnamed(message) or await self._refuse(message)
        if refusal is not None:
            return JSONResponse(refusal.as_json())
        return message.mended or body, message

    def _check_limit(self, scope: Scope, message: Message) -> Response | None:
        if message.id is None:
            return None
        caller = caller_of(scope)
        wait = self._limit.take(caller.name, caller.rate)
        if not wait:
            return None
        self._count("rate")
        refusal = Refusal(TOO_OFTEN, "Rate limit exceeded", message.id, {"retryAfter": wait})
        return JSONResponse(refusal.as_json(), 429, {"Retry-After": str(wait)})

    async def _pass_on(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, message: Message
    ) -> None:
        session = Headers(scope=scope).get(_SESSION)
        if message.id is None or session is None:
            await app(scope, receive, send)
            return
        key = (session, str(message.id))
        if key in self._in_flight:
            text = "Invalid request: a request with this id is still being answered."
            refusal = Refusal(INVALID_REQUEST, text, message.id)
            await JSONResponse(refusal.as_json(), 400)(scope, receive, send)
            return
        self._in_flight.add(key)
        try:
            await app(scope, receive, send)
        finally:
            self._in_flight.discard(key)


def wants_plain(headers: Headers, message: Message) -> bool:
    """Tell whether a client wants one JSON answer rather than a session or a stream."""
    accept = headers.get("accept", "application/json")
    if "text/event-stream" not in accept and "*/*" not in accept:
        return True
    if _SESSION in headers:
        return False
    if message.method == "initialize":  # a session is for those that can read its streams
        return "text/event-stream" not in accept
    return not is_modern(headers.get(_VERSION))


def _is_answered_at_once(message: Message, waiting: Container[str]) -> bool:
    """Tell whether the sender of a request hears nothing before its answer."""
    if message.id is None or message.method == "initialize":
        return False
    params: dict[str, Any] = message.body.get("params", {})
    meta, name = params.get("_meta"), params.get("name")
    may_hear = isinstance(meta, dict) and "progressToken" in meta
    if message.method == "tools/call" and isinstance(name, str):
        may_hear = may_hear or name in waiting
    return not may_hear


def _is_of_a_session(scope: Scope) -> bool:
    """Tell whether a request is one that streams or ends a session: any other would open one."""
    return scope["method"] in ("GET", "DELETE") and _SESSION in Headers(scope=scope)


_ONLY_POST = refuse(405, "Send a JSON-RPC message by POST.")
_ONLY_POST.headers["Allow"] = "POST"


def _as_the_sdk_wants(scope: Scope, *, accept: str | None) -> Scope:
    """Return the request with its type spelt as the SDK spells it, and perhaps taking more."""
    changed = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=changed)
    headers["content-type"] = "application/json"
    if accept is not None:
        headers["accept"] = accept
    return changed


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read once more, then whatever comes, as the end of the client."""
    given = False

    async def give() -> AsgiMessage:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give
