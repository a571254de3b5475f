"""The state of the index, and what to give to assistants so that they find this server."""

from __future__ import annotations

import json
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from bookwheel.serve.api_answers import show_status
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.web import base_of

_NAME = "bookwheel"


class Client(NamedTuple):
    """How one kind of client is told of the server."""

    name: str
    text: str


async def show_state(pages: Pages, request: Request) -> Response:
    """Show collections, what could not be read, and how clients connect."""
    web = pages.web
    status = await web.ask(
        request, lambda library: show_status(library, state=web.state(), toolsets=web.toolsets)
    )
    address = f"{request.url.scheme}://{request.url.netloc}{base_of(request)}/mcp"
    clients = describe_clients(address, has_token=web.rules.asks) if web.toolsets else []
    values = {"status": status, "clients": clients, "mcp": address}
    return pages.show(request, "status.html", values)


def describe_clients(address: str, *, has_token: bool) -> list[Client]:
    """Return what common clients are told; the token stands for itself."""
    server: dict[str, object] = {"type": "http", "url": address}
    if has_token:
        server["headers"] = {"Authorization": "Bearer TOKEN"}
    header = ' --header "Authorization: Bearer TOKEN"' if has_token else ""
    named = {_NAME: server}
    return [
        Client("Claude Code", f"claude mcp add --transport http {_NAME} {address}{header}"),
        Client("Cursor, Claude and others", _pretty({"mcpServers": named})),
        Client("VS Code", _pretty({"servers": named})),
    ]


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2)
