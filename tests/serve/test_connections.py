"""Connections that nobody speaks on are let go of; those that wait for an answer are not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.serve import connections
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from tests.serve.conftest import ECHO, PATIENCE, SMALL, Echo, Site, serving

HEAD = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\n"


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.5)


@pytest.fixture
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture
def site(calls: Calls, go_on: threading.Event) -> Iterator[Site]:
    def wait(_: Work, arguments: Echo) -> Reply:
        assert go_on.wait(PATIENCE)
        return Reply(arguments.word, results=1)

    waiting = SMALL._replace(tools=(ECHO, Tool("wait", "Wait", "Wait.", Echo, wait)))
    with serving({"/mcp": DocumentServer(calls, Offered((waiting,), (waiting,)))}) as made:
        yield made


def fall_silent(site: Site, said: str) -> bytes:
    """Begin a request, and return what comes until the connection is closed."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE) as connection:
        connection.sendall(said.replace("PORT", str(site.port)).encode())
        try:
            return connection.recv(100)
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize("said", ["", "POST /mcp HT", HEAD, HEAD + "Content-Length: 9\r\n\r\n{"])
def test_f18_who_begins_a_request_and_falls_silent_is_let_go_of(site: Site, said: str) -> None:
    assert fall_silent(site, said) == b""


def test_f18_who_waits_for_an_answer_is_not_let_go_of(site: Site, go_on: threading.Event) -> None:
    call: dict[str, Any] = {"name": "wait", "arguments": {"word": "zebra"}}
    answers: list[bytes] = []

    def ask() -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answers.append(site.post(message).body)

    asking = threading.Thread(target=ask)
    asking.start()
    assert fall_silent(site, HEAD) == b""  # as long a silence as that is not too long for the other
    go_on.set()
    asking.join(PATIENCE)
    assert b"zebra" in answers[0]
