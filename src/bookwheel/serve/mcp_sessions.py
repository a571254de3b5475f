"""Sessions over HTTP: the SDK's, whose transport looks at each request.

What is answered in one piece gets one JSON text, and a plain call goes straight to the tools: the
SDK takes each answer apart and writes it five times on its way through three tasks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http import (
    CONTENT_TYPE_JSON,
    MCP_SESSION_ID_HEADER,
    REQUEST_CANCELLED,
    StreamableHTTPServerTransport,
    check_accept_headers,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bookwheel.contracts.tool import INTERNAL_ERROR
from bookwheel.serve.callers import caller_of
from bookwheel.serve.envelope import Message, PlainCall, Refusal

AT_ONCE = "bookwheel.at_once"
"""Set in a request's scope when its sender hears nothing before the answer: no stream is needed."""
MESSAGE = "bookwheel.message"
"""Where the scope holds the message that a request brings."""
_GIVE_UP = "notifications/cancelled"
_is_at_once: ContextVar[bool] = ContextVar(AT_ONCE, default=False)

Answer = Callable[[PlainCall], Awaitable[bytes]]
"""Returns the written answer to a call."""


class _Transport(StreamableHTTPServerTransport):
    """Gives an answer as one JSON text where nothing comes before it; a stream costs twice."""

    _answer: Answer
    _under_way: dict[str, anyio.CancelScope]
    """The plain calls by their ids, as texts: some clients give up 7 by the name of "7"."""

    def begin(self, answer: Answer) -> None:
        """Take what answers plain calls."""
        self._answer = answer
        self._under_way = {}

    @property
    def is_json_response_enabled(self) -> bool:
        return _is_at_once.get()

    @is_json_response_enabled.setter
    def is_json_response_enabled(self, _: bool) -> None:
        """Leave it to the request."""

    async def _handle_post_request(
        self, scope: Scope, request: Request, receive: Receive, send: Send
    ) -> None:
        message: Message = scope[MESSAGE]
        if message.method == _GIVE_UP:
            self._give_up(str(message.body.get("params", {}).get("requestId")))
        call = message.as_plain_call() if _is_at_once.get() else None
        takes_json, _ = check_accept_headers(request)
        if call is None or not takes_json:
            await super()._handle_post_request(scope, request, receive, send)
            return
        response = await self._respond(call)
        await response(scope, receive, send)

    async def _respond(self, call: PlainCall) -> Response:
        name = str(call.id)
        with anyio.CancelScope() as answering:
            self._under_way[name] = answering
            try:
                return self._written(await self._answer(call))
            finally:
                del self._under_way[name]  # no two of one id are let in at once
        if self._terminated:
            text = "Session terminated before the request completed"
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return self._create_error_response(text, status, INTERNAL_ERROR)
        return self._written(Refusal(REQUEST_CANCELLED, "Request cancelled", call.id).written())

    def _written(self, body: bytes) -> Response:
        assert self.mcp_session_id is not None
        return Response(
            body,
            headers={
                "Content-Type": CONTENT_TYPE_JSON,
                MCP_SESSION_ID_HEADER: self.mcp_session_id,
            },
        )

    def _give_up(self, name: str) -> None:
        if name in self._under_way:
            self._under_way[name].cancel()

    async def terminate(self) -> None:
        """End the session, and the calls in it."""
        await super().terminate()
        for name in [*self._under_way]:
            self._give_up(name)


class Sessions(StreamableHTTPSessionManager):
    """Keeps sessions whose transport looks at each request."""

    def __init__(self, server: Server[Any], answer: Answer, *, max_sessions: int) -> None:
        super().__init__(server, max_sessions=max_sessions)
        self._answer = answer

    def _admit_session(self, *args: Any) -> StreamableHTTPServerTransport | None:
        # The SDK has no way to choose the class of its transports.
        admitted = super()._admit_session(*args)
        if admitted is not None:
            admitted.__class__ = _Transport
            assert isinstance(admitted, _Transport)
            admitted.begin(self._answer)
        return admitted

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        _is_at_once.set(bool(scope.get(AT_ONCE)))
        # A session is for the caller who began it, and has his rights for as long as it lasts.
        owner = repr(caller_of(scope)) if caller_of(scope).has_token else ""
        if owner:
            access = AccessToken(token="", client_id=owner, scopes=[])
            scope = {**scope, "user": AuthenticatedUser(access)}
        await super().handle_request(scope, receive, send)
