"""A server as its operator runs it: log, audit, metrics, tokens and probes of one real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bookwheel.safety.token_file import TokenFile
from bookwheel.telemetry.verify import verify
from tests.clients.assistant import command, connected, failed_start, http_server
from tests.clients.posting import posting, request
from tests.conftest import Shelf

BOTH = "application/json, text/event-stream"


def audit_of(shelf: Shelf) -> Path:
    return shelf.place / "index" / "catalog.db.audit.jsonl"


def entries(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]


@pytest.mark.requirement("R-067")
def test_a_server_over_http_is_seen_through(shelf: Shelf) -> None:
    shelf.put("it/hosts.md", "# Hosts\n\nThe server zebra.")
    shelf.put("hr/pay.md", "# Pay\n\nAnn earns much.")
    shelf.update()
    tokens = TokenFile(shelf.place / "tokens.json")
    part, whole = tokens.add("it", ["notes/it"], "", ""), tokens.add("boss", [], "", "")
    call = request("tools/call", {"name": "search_docs", "arguments": {"query": "ann zebra"}})
    index = shelf.place / "index"
    named = {"BOOKWHEEL_TOKENS": str(tokens.file), "BOOKWHEEL_BASE_PATH": "/team"}
    with (
        http_server(shelf.folder, "--index", index, "--log-format", "json", **named) as url,
        posting(url) as poster,
    ):
        while poster.send("GET", "/readyz").status != 200:
            pass
        refused = poster.post(call, "/team/mcp")
        one = poster.post(call, "/team/mcp", Authorization=f"Bearer {part}", Accept=BOTH)
        both = poster.post(call, "/team/mcp", Authorization=f"Bearer {whole}", Accept=BOTH)
        ready = poster.send("GET", "/readyz").json
        figures = poster.send("GET", "/team/metrics", Authorization=f"Bearer {whole}")
        hidden = poster.send("GET", "/team/metrics", Authorization=f"Bearer {part}").status

    assert (refused.status, hidden) == (401, 403)
    assert b"hosts.md" in one.body
    assert b"pay.md" not in one.body
    assert b"pay.md" in both.body
    assert ready["ready"]
    assert ready["lag_seconds"] >= 0
    assert "indexing" not in ready
    assert figures.headers["content-type"].startswith("text/plain")
    text = figures.body.decode()
    assert 'bookwheel_calls_total{outcome="ok",tool="search_docs"} 2.0' in text
    assert 'bookwheel_refusals_total{reason="token"} 1.0' in text
    assert "bookwheel_index_documents 2.0" in text
    told = entries(audit_of(shelf))
    assert [(each["caller"], each["tool"], each["outcome"]) for each in told] == [
        ("it", "search_docs", "ok"),
        ("boss", "search_docs", "ok"),
    ]
    assert verify(audit_of(shelf)) == (2, [])


@pytest.mark.requirement("R-068")
def test_a_server_over_stdio_is_audited_as_its_operator_wants(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    audit = shelf.place / "log" / "audit.jsonl"
    how = command(
        shelf.folder,
        "--index",
        shelf.place / "index",
        BOOKWHEEL_AUDIT=str(audit),
        BOOKWHEEL_AUDIT_KEY=str(shelf.place / "secret"),
        BOOKWHEEL_AUDIT_QUERIES="none",
    )
    with connected(how) as assistant:
        assistant.call("documents_search", query="canary\nzebra")
        assistant.read("docs://zebra.md")

    assert [(each["caller"], each["tool"]) for each in entries(audit)] == [
        ("stdio", "documents_search"),
        ("stdio", "resources/read"),
    ]
    assert "canary" not in audit.read_text()
    assert verify(audit, shelf.place / "secret") == (2, [])
    assert not audit_of(shelf).exists()


@pytest.mark.requirement("P-076")
def test_the_log_tells_requests_searches_and_how_long_the_index_took(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    words = [sys.executable, "-m", "bookwheel", "serve", str(shelf.folder), "--log-format", "json"]
    shake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        request("tools/call", {"name": "search_docs"}, 0),
        request("initialize", shake),
        request("tools/call", {"name": "search_docs", "arguments": {"query": "zebra"}}, 2),
    ]
    process = subprocess.Popen(
        [*words, "--index", str(shelf.place / "index")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin
        assert process.stdout
        for each in lines:
            process.stdin.write(json.dumps(each) + "\n")
            process.stdin.flush()
            process.stdout.readline()
        assert process.stderr
        logged = []
        for line in process.stderr:
            logged.append(json.loads(line))
            if {"index", "search_docs"} <= {e.get("event", e.get("tool")) for e in logged}:
                break
        process.stdin.close()

    calls = [(each.get("method"), each.get("tool"), each.get("results")) for each in logged]
    assert ("initialize", None, None) in calls
    assert ("tools/call", None, None) in calls  # before the handshake
    assert ("tools/call", "search_docs", 1) in calls
    events = {each["event"]: each["seconds"] for each in logged if "event" in each}
    assert set(events) == {"open", "index"}


def test_an_audit_that_was_asked_for_and_cannot_be_written_ends_the_start(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    (shelf.place / "file").write_text("")
    place = shelf.place / "file" / "audit"

    code, said = failed_start(shelf.folder, BOOKWHEEL_AUDIT=str(place))

    assert code == 2
    assert f"The audit {place} cannot be written" in said


def test_a_wrong_limit_ends_the_start(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")

    code, said = failed_start(shelf.folder, BOOKWHEEL_TOOL_LIMITS="search_dogs=3/minute")

    assert code == 2
    assert "Did you mean 'search_docs'?" in said


def test_t06_the_audit_is_no_document_and_no_news(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebra")
    how = command(shelf.folder, "--index", shelf.folder / "index", "--toolsets", "all")
    with connected(how) as assistant:
        for _ in range(3):
            assistant.call("search_docs", query="zebra")
        listed = assistant.call("list_doc_pages").text

    assert (shelf.folder / "index" / "catalog.db.audit.jsonl").exists()
    assert listed.splitlines()[2:] == ["- zebra.md"]
