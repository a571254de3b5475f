"""The client's own model, in both eras of the protocol: asked in between, or by a second call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent import futures
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bookwheel.contracts.work import Asked, Work
from bookwheel.errors import Upstream
from bookwheel.llm.base import Message
from bookwheel.llm.sampling import Sample

_LOOK_SECONDS = 0.25
_REQUEST = "model"
"""What our request is called among those that a client answers by calling again."""


def make_sample(
    ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, timeout: float
) -> Callable[[Work], Sample] | None:
    """Return how a call asks its client's model; None where the client does not offer it."""
    offered = ctx.session.client_capabilities
    if offered is None or offered.sampling is None:
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answers = params.input_responses
        return lambda _: partial(_take_answer, answers)
    if not ctx.session.can_send_request:
        return None
    loop = asyncio.get_running_loop()

    def sample(work: Work, messages: Sequence[Message], max_tokens: int) -> object:
        sending = _send(ctx, _request(messages, max_tokens), timeout)
        waiting = asyncio.run_coroutine_threadsafe(sending, loop)
        try:
            while not futures.wait([waiting], _LOOK_SECONDS).done:
                work.go_on()
            return waiting.result()
        finally:
            waiting.cancel()

    return lambda work: partial(sample, work)


def ask_again(asked: Asked) -> types.InputRequiredResult:
    """Return what tells a client to ask its model and to call again with the answer."""
    request = _request(asked.messages, asked.max_tokens)
    return types.InputRequiredResult(input_requests={_REQUEST: request})


def _take_answer(
    answers: types.InputResponses | None, messages: Sequence[Message], max_tokens: int
) -> object:
    if not answers or _REQUEST not in answers:
        raise Asked(messages, max_tokens)
    return _text(answers[_REQUEST])


async def _send(
    ctx: ServerRequestContext[Any, Any], request: types.CreateMessageRequest, timeout: float
) -> object:
    """Ask in between, on the way of the call itself; nothing that the client says gets further."""
    way = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        with anyio.fail_after(timeout):
            answer = await ctx.session.send_request(
                request, types.CreateMessageResult, metadata=way
            )
    except TimeoutError:
        raise Upstream(
            f"The client's model did not answer within {timeout:g} s.",
            hint="Its user may have to agree first. llm_timeout says how long that may take.",
        ) from None
    except MCPError:
        raise Upstream(
            "The client did not let its model answer.",
            hint="Its user may have refused. llm_url names a model that needs no consent.",
        ) from None
    except ValidationError:
        return None
    return _text(answer)


def _text(answer: object) -> object:
    """Return the text of an answer; something else where it holds none."""
    content = getattr(answer, "content", None)
    return content.text if isinstance(content, types.TextContent) else content


def _request(messages: Sequence[Message], max_tokens: int) -> types.CreateMessageRequest:
    system = "\n\n".join(each.text for each in messages if each.role == "system")
    said = [
        types.SamplingMessage(role="user", content=types.TextContent(type="text", text=each.text))
        for each in messages
        if each.role == "user"
    ]
    params = types.CreateMessageRequestParams(
        messages=said, system_prompt=system or None, max_tokens=max_tokens, temperature=0
    )
    return types.CreateMessageRequest(params=params)
