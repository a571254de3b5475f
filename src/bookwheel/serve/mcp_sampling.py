"""The client's own model, asked through the MCP SDK as either era of the protocol has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bookwheel.contracts.work import Work
from bookwheel.llm.base import Message
from bookwheel.llm.sampling import Sample
from bookwheel.serve.sampling import ask_in_between, refused, take_answers


def make_sample(
    ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, timeout: float
) -> Callable[[Work], Sample] | None:
    """Return how a call asks its client's model; None where the client does not offer it."""
    offered = ctx.session.client_capabilities
    if offered is None or offered.sampling is None:
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answers = params.input_responses or {}
        return take_answers({name: _text(answer) for name, answer in answers.items()})
    if not ctx.session.can_send_request:
        return None
    way = ServerMessageMetadata(related_request_id=ctx.request_id)  # that of the call itself

    async def ask(messages: Sequence[Message], max_tokens: int) -> object:
        request = write_request(messages, max_tokens)
        try:
            answer = await ctx.session.send_request(
                request, types.CreateMessageResult, metadata=way
            )
        except MCPError:
            raise refused() from None
        except ValidationError:
            return None
        return _text(answer)

    return ask_in_between(ask, timeout)


def _text(answer: object) -> object:
    """Return the text of an answer; something else where it holds none."""
    content = getattr(answer, "content", None)
    return content.text if isinstance(content, types.TextContent) else content


def write_request(messages: Sequence[Message], max_tokens: int) -> types.CreateMessageRequest:
    """Return what the client's model is asked."""
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
