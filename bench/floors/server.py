"""The floor of a server: the SDK's low-level one with three tools that answer nothing.

`python -m bench.floors.server` speaks over standard input and output, `... http` over HTTP at a
free port that it prints. Nothing of Bookwheel is imported.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server

NAMES = ("first", "second", "third")
_SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}


async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
    """Answer which tools there are."""
    tools = [types.Tool(name=name, input_schema=_SCHEMA) for name in NAMES]
    return types.ListToolsResult(tools=tools)


async def call_tool(_: Any, __: types.CallToolRequestParams) -> types.CallToolResult:
    """Answer nothing."""
    return types.CallToolResult(content=[types.TextContent(type="text", text="")])


def make_server() -> Server[Any]:
    """Return the server; like ours it knows the schemas without listing its tools each time."""
    return Server(
        "floor",
        get_tool_input_schema=lambda _: _SCHEMA,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio() -> None:
    """Serve one client on standard input and output."""
    from mcp.server.stdio import stdio_server

    server = make_server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http() -> None:
    """Serve full clients over HTTP as the SDK does by itself: sessions, and streams of events."""
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = StreamableHTTPSessionManager(make_server())

    class Endpoint:
        """A class, since a plain function would be taken for one that answers itself."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    app = Starlette(routes=[Route("/mcp", Endpoint())], lifespan=lambda _: manager.run())
    config = uvicorn.Config(app, access_log=False, log_config=None, lifespan="on", ws="none")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as uvicorn by itself
        print(f"serving http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    anyio.run(serve_http if sys.argv[1:] == ["http"] else serve_stdio)
