"""An answer that goes on, such as a stream of notices, ends when who asked may ask no more."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.lowlevel
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BODY = "http.response.body"


async def answer_while(
    is_let_in: Callable[[], bool], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Let an application answer; before each part of a stream, look whether it may go on.

    A stream that rests says so every few seconds, so it too is closed soon.
    """

    async def send_part(message: Message) -> None:
        is_part = message["type"] == _BODY and message.get("more_body", False)
        if is_part and not is_let_in():
            answering.cancel()
            await anyio.lowlevel.checkpoint()
        await send(message)

    with anyio.CancelScope() as answering:
        await app(scope, receive, send_part)
    if answering.cancelled_caught:
        await send({"type": _BODY, "body": b"", "more_body": False})
