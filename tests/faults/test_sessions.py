"""Sessions that are opened, closed and refused by the thousand leave nothing in the server."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path

import pytest

from tests.conftest import Shelf
from tests.faults.serving import Server, serving
from tests.faults.sizes import PropertyRecorder, size

_HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "crowd", "version": "1"},
        },
    }
)
_STRANGER = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
_TYPES = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "Mcp-Protocol-Version": "2025-11-25",
}


def send(connection: http.client.HTTPConnection, method: str, body: str, session: str = "") -> int:
    """Send a request of a session; return the status of its answer."""
    headers = {**_TYPES, **({"Mcp-Session-Id": session} if session else {})}
    connection.request(method, "/mcp", body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def open_session(connection: http.client.HTTPConnection) -> str:
    """Shake hands; return the name of the session."""
    connection.request("POST", "/mcp", _HELLO, _TYPES)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return answer.headers["Mcp-Session-Id"]


def memory(server: Server) -> int:
    """Return the kilobytes of a server's memory that no file backs."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    assert found
    return int(found[1])


def come_and_go(server: Server, number: int) -> None:
    """Open and close as many sessions, and ask as often in one that never was."""
    connection = server.connect()
    for _ in range(number):
        session = open_session(connection)
        assert send(connection, "DELETE", "", session) in (200, 204)
        assert send(connection, "POST", _STRANGER, session) == 404
    connection.close()


@pytest.mark.timeout(300)
def test_t09_more_sessions_than_there_may_be_come_and_go_one_after_the_other(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\nzebra")
    shelf.update()
    with serving(shelf) as server:
        come_and_go(server, 1_050)
        assert server.find("zebra") == ["a.md"]
        assert "Traceback" not in server.said


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_t09_ten_thousand_sessions_leave_no_memory_behind(
    shelf: Shelf, record_property: PropertyRecorder
) -> None:
    sessions = size("SESSIONS", 10_000)
    shelf.put("a.md", "# A\n\nzebra")
    shelf.update()
    with serving(shelf) as server:
        come_and_go(server, sessions // 5)
        before = memory(server)
        come_and_go(server, sessions)
        grown = memory(server) - before
        assert "Traceback" not in server.said
    assert grown < 5_000
    record_property(
        "figure",
        f"{sessions:,} sessions opened and closed, and as many refused: {grown / 1000:+.1f} MB",
    )
