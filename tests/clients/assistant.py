"""An assistant for tests: the official MCP client, asked without waiting for coroutines.

    with assisting(shelf.open(), toolset="folder") as assistant:
        assert assistant.call("search_documents", query="zebra").text.startswith("Search results")

In memory it speaks to a server of this process; given a URL or a command, to one of another.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Any, NamedTuple, TypeVar

import anyio
import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.session import SamplingFnT

from bookwheel.library import Library
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.toolsets import choose, load_contracts

PATIENCE = 20.0
LEGACY, MODERN = "legacy", "auto"
"""Modes of the client: the handshake of 2025-11-25 and older, and 2026-07-28."""

_Made = TypeVar("_Made")


class Result(NamedTuple):
    """What a tool answered."""

    text: str
    structured: Any
    is_error: bool

    @property
    def json(self) -> Any:
        """The value that the text holds."""
        return json.loads(self.text)


class Assistant:
    """A connected client; JSON-RPC errors are raised as MCPError."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self._portal = portal
        self.heard: list[str] = []
        """Methods of the notifications that came unasked."""

    def ask(self, method: str, *args: Any, **named: Any) -> Any:
        """Call a method of the client and wait for its answer."""

        async def bounded() -> Any:
            with anyio.fail_after(PATIENCE):
                return await getattr(self.client, method)(*args, **named)

        return self._portal.call(bounded)

    def run(self, function: Callable[[], Awaitable[_Made]]) -> _Made:
        """Run a coroutine function where the client lives."""
        return self._portal.call(function)

    def begin(self, function: Callable[[], Awaitable[_Made]]) -> Future[_Made]:
        """Begin a coroutine function where the client lives, to go on meanwhile."""
        return self._portal.start_task_soon(function)

    def entered(self, manager: AbstractAsyncContextManager[_Made]) -> AbstractContextManager[_Made]:
        """Return an async context manager, such as a subscription, to be entered from here."""
        return self._portal.wrap_async_context_manager(manager)

    def call(self, tool: str, /, **arguments: Any) -> Result:
        """Call a tool; its answer is a single block of text."""
        answer = self.ask("call_tool", tool, arguments)
        (block,) = answer.content
        assert isinstance(block, types.TextContent)
        return Result(block.text, answer.structured_content, answer.is_error)

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as they are on the wire."""
        return [_wire(tool) for tool in self.ask("list_tools").tools]

    def resources(self) -> list[dict[str, Any]]:
        """Return all resources, page after page."""
        found, cursor = [], None
        while True:
            page = self.ask("list_resources", cursor=cursor, cache_mode="bypass")
            found += [_wire(each) for each in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def read(self, uri: str) -> dict[str, Any]:
        """Return the one content of a resource."""
        (content,) = self.ask("read_resource", uri, cache_mode="bypass").contents
        return _wire(content)


def _wire(value: Any) -> dict[str, Any]:
    made: dict[str, Any] = value.model_dump(by_alias=True, exclude_none=True, mode="json")
    return made


@contextmanager
def connected(
    target: DocumentServer | StdioServerParameters | str,
    era: str = MODERN,
    model: SamplingFnT | None = None,
) -> Iterator[Assistant]:
    """Connect to a server in memory, to a command, or to a URL; perhaps with a model to lend."""
    with start_blocking_portal() as portal:
        heard: list[str] = []

        async def hear(message: Any) -> None:
            heard.append(getattr(message, "method", type(message).__name__))

        client = Client(target, mode=era, message_handler=hear, sampling_callback=model)
        with portal.wrap_async_context_manager(client) as entered:
            assistant = Assistant(entered, portal)
            assistant.heard = heard
            yield assistant


@contextmanager
def assisting(
    library: Library,
    toolset: str | None = None,
    era: str = MODERN,
    model: SamplingFnT | None = None,
) -> Iterator[Assistant]:
    """Serve a library in memory, with a choice of toolsets, and connect to it."""
    calls = Calls(library)
    offered = choose(load_contracts(), toolset)
    try:
        with connected(DocumentServer(calls, offered), era, model) as assistant:
            yield assistant
    finally:
        calls.close()


def command(*arguments: object, **environment: str) -> StdioServerParameters:
    """Return how to start `bookwheel serve` with arguments as a process on stdio."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "bookwheel", "serve", *map(str, arguments)],
        env={**os.environ, **environment},
    )


@contextmanager
def http_server(
    *arguments: object, at: str = "127.0.0.1:0", by: Sequence[str] = (), **environment: str
) -> Iterator[str]:
    """Run `bookwheel serve` with arguments over HTTP, started by a command; give its address."""
    words = [*by, sys.executable, "-m", "bookwheel", "serve", *map(str, arguments)]
    process = subprocess.Popen(
        [*words, "--http", at],
        stderr=subprocess.PIPE,
        text=True,
        env={"MCP_RATE_LIMIT_REQUESTS": "0", **os.environ, **environment},
    )
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            found = re.search(r"serving (http://[^/\s]+)", line)
            if found:
                break
        else:
            raise AssertionError(f"the server did not start: {''.join(said)}")
        with _emptied(process):
            yield found[1]
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0
        process.stderr.close()


def failed_start(*arguments: object, **environment: str) -> tuple[int, str]:
    """Run `bookwheel serve` with arguments that cannot do; return its exit code and its words."""
    ended = subprocess.run(
        [sys.executable, "-m", "bookwheel", "serve", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **environment},
    )
    assert ended.stdout == ""
    return ended.returncode, ended.stderr


@contextmanager
def _emptied(process: subprocess.Popen[str]) -> Iterator[None]:
    """Read what a process says, so that it never waits for a reader."""
    import threading

    assert process.stderr is not None
    thread = threading.Thread(target=lambda: list(process.stderr or ()), daemon=True)
    thread.start()
    yield
