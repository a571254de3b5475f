"""A stream that is open when its token is revoked, or ends, is closed and told nothing more."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from bookwheel.safety import token_file
from bookwheel.safety.token_file import TokenFile
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from tests.serve.conftest import OFFERED, PATIENCE, Site, serving, within

End = Callable[[TokenFile, pytest.MonkeyPatch], None]


def revoke(tokens: TokenFile, _: pytest.MonkeyPatch) -> None:
    TokenFile(tokens.file).revoke("ann")


def let_end(_: TokenFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_file, "today", lambda: "2031-12-31")


def replace(tokens: TokenFile, _: pytest.MonkeyPatch) -> None:
    TokenFile(tokens.file).revoke("ann")
    TokenFile(tokens.file).add("ann", [], "", "")


ENDS = pytest.mark.parametrize("end", [revoke, let_end, replace])


def note_opening(http: Any, is_open: anyio.Event) -> None:
    """Note when a client of the old era has opened its stream, some time after the handshake."""

    async def note(response: Any) -> None:
        if response.request.method == "GET" and response.is_success:
            is_open.set()

    http.event_hooks = {"response": [note]}


class Listener:
    """A real client that listens, and takes down what it hears and when its stream ends."""

    def __init__(self, site: Site, secret: str, era: str) -> None:
        self.heard: list[str] = []
        self.is_open, self.told, self.ended = anyio.Event(), anyio.Event(), anyio.Event()
        self._era, self._url = era, f"{site.url}/mcp"
        self._headers = {"Authorization": f"Bearer {secret}"}

    async def run(self) -> None:
        http = create_mcp_http_client(headers=self._headers)
        note_opening(http, self.is_open)
        target = streamable_http_client(self._url, http_client=http)
        async with http, Client(target, mode=self._era, message_handler=self._hear) as client:
            if self._era == "legacy":
                await anyio.sleep_forever()
            with suppress(MCPError, SubscriptionLost):
                async with client.listen(resources_list_changed=True) as news:
                    self.is_open.set()
                    async for each in news:
                        self._note(type(each).__name__)
            self.ended.set()
            await anyio.sleep_forever()

    async def _hear(self, message: Any) -> None:
        if self._era == "legacy":
            self._note(message.method)

    def _note(self, what: str) -> None:
        self.heard.append(what)
        self.told.set()


@ENDS
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_t08_a_client_whose_token_is_no_good_any_more_hears_of_no_change(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str, end: End
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    secrets = [tokens.add("ann", [], "", "2031-12-31"), tokens.add("bob", [], "", "")]

    async def main(site: Site) -> None:
        ann, bob = (Listener(site, secret, era) for secret in secrets)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ann.run)
            tasks.start_soon(bob.run)
            for each in (ann, bob):
                await each.is_open.wait()
            site.bell.ring()
            for each in (ann, bob):
                await each.told.wait()
            ann.heard.clear()
            end(tokens, monkeypatch)
            bob.told = anyio.Event()
            site.bell.ring()
            await bob.told.wait()
            if era == "auto":
                await ann.ended.wait()
            await anyio.sleep(0.2)
            assert ann.heard == []
            tasks.cancel_scope.cancel()

    with serving({"/mcp": DocumentServer(calls, OFFERED)}, tokens=tokens) as site:
        within(lambda: main(site))


@ENDS
def test_t08_the_stream_of_a_session_is_closed_with_its_token(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: End
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    headers = {"Authorization": f"Bearer {tokens.add('ann', [], '', '2031-12-31')}"}
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, tokens=tokens) as site, open_stream(site, headers) as stream:
        site.bell.ring()
        while b"list_changed" not in stream.readline():
            pass
        stream.readline()
        end(tokens, monkeypatch)
        site.bell.ring()
        assert stream.read() == b""  # to its end, which there was none of before


@contextmanager
def open_stream(site: Site, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
    """Open a session as the old era does, and the stream of its notices."""
    both = {**headers, "Accept": "application/json, text/event-stream"}
    client = {"name": "test", "version": "1"}
    version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version}
    session = site.post(begin, **both).headers["mcp-session-id"]
    both["Mcp-Session-Id"] = session
    site.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **both)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", "/mcp", None, both)
        yield connection.getresponse()
