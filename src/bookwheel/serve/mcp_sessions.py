"""Sessions of full clients over HTTP: the MCP SDK keeps them; plain calls in them go past it."""

from __future__ import annotations

from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

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
from bookwheel.serve.plain_calls import AT_ONCE, MESSAGE, Answer, PlainCalls

MOST_SESSIONS = 1000
"""Sessions at one address, some 36 kB each; those that rest for half an hour are ended."""
_is_at_once: ContextVar[bool] = ContextVar(AT_ONCE, default=False)


class _Transport(StreamableHTTPServerTransport):
    """Gives an answer as one JSON text where nothing comes before it; a stream costs twice."""

    _calls: PlainCalls

    def begin(self, answer: Answer) -> None:
        """Take what answers plain calls."""
        self._calls = PlainCalls(answer)

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
        self._calls.heed(message)
        call = message.as_plain_call() if _is_at_once.get() else None
        takes_json, _ = check_accept_headers(request)
        if call is None or not takes_json:
            await super()._handle_post_request(scope, request, receive, send)
            return
        response = await self._respond(call)
        await response(scope, receive, send)

    async def _respond(self, call: PlainCall) -> Response:
        body = await self._calls.answer(call)
        if body is None and self._terminated:
            text = "Session terminated before the request completed"
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return self._create_error_response(text, status, INTERNAL_ERROR)
        if body is None:
            body = Refusal(REQUEST_CANCELLED, "Request cancelled", call.id).written()
        assert self.mcp_session_id is not None
        headers = {"Content-Type": CONTENT_TYPE_JSON, MCP_SESSION_ID_HEADER: self.mcp_session_id}
        return Response(body, headers=headers)

    async def terminate(self) -> None:
        """End the session, and the calls in it."""
        await super().terminate()
        self._calls.give_up_all()


class Sessions(StreamableHTTPSessionManager):
    """Keeps sessions whose transport looks at each request."""

    def __init__(self, server: Server[Any], answer: Answer) -> None:
        super().__init__(server, max_sessions=MOST_SESSIONS)
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
