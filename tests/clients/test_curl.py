"""What people type: curl at the address of `pages`, one JSON-RPC message after the other."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.assistant import http_server
from tests.conftest import Shelf
from tests.serve.conftest import Answer

PATIENCE = 20
BASE = ("--silent", "--show-error", "--noproxy", "*", "--include")
JSON = ("--header", "Content-Type: application/json")
PLAIN = ("--header", "Accept: application/json")
SEARCH = """
{
  "jsonrpc": "2.0",
  "id": "unique-id",
  "method": "tools/call",
  "params": {
    "name": "search_docs",
    "arguments": {
      "query": "rate limiting"
    }
  }
}
"""
PING = '{"jsonrpc": "2.0", "id": 9, "method": "ping"}'
PONG = {"jsonrpc": "2.0", "id": 9, "result": {}}


def curl(*words: str) -> list[Answer]:
    """Run curl once; give the answers to all its requests."""
    done = subprocess.run(
        ["curl", *BASE, *words],
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    answers, rest = [], done.stdout
    while rest:
        head, rest = rest.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        length = int(headers.get("content-length", "0"))
        answers.append(Answer(int(first.split()[1]), headers, rest[:length]))
        rest = rest[length:]
    return answers


def post(address: str, body: str, *words: str) -> Answer:
    """Post one message."""
    (answer,) = curl(*JSON, *words, "--data-binary", body, address)
    return answer


def request(method: str, number: int | str = 1, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def call(tool: str, **arguments: Any) -> str:
    return request("tools/call", name=tool, arguments=arguments)


def text_of(answer: Answer) -> str:
    """Return the text of a tool's answer, which is one block and nothing else."""
    text: str = answer.value["result"]["content"][0]["text"]
    assert answer.status == 200
    assert answer.value["result"]["content"] == [{"type": "text", "text": text}]
    assert "structuredContent" not in answer.value["result"]
    return text


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("handbook"))
    shelf.put("index.md", "# Welcome\n\nStart here.\n")
    shelf.put("configuration.md", "# Configuration\n\nRate limiting is set by two variables.\n")
    shelf.put(
        "api/endpoints.md",
        "# API Endpoints\n\n## GET /llms.txt\n\nThe index.\n\n## Limits\n\nNo rate limiting.\n",
    )
    shelf.update()
    return shelf


@pytest.fixture(scope="module")
def address(handbook: Shelf) -> Iterator[str]:
    """Serve `pages` alone; give its address."""
    where = (handbook.folder, "--index", handbook.place / "index")
    with http_server(*where, "--toolsets", "pages") as site:
        yield f"{site}/mcp"


@pytest.mark.requirement("P-001", "P-002")
def test_a_search_on_its_own_gets_one_json_answer(address: str) -> None:
    answer = post(address, SEARCH, *PLAIN)

    text = text_of(answer)
    assert answer.headers["content-type"] == "application/json"
    assert (answer.value["jsonrpc"], answer.value["id"]) == ("2.0", "unique-id")
    assert text.startswith("Found 2 results:\n\n1. ")
    assert "api/endpoints.md (score: " in text


def test_a_page_or_some_of_its_sections_is_read(address: str) -> None:
    page = post(address, call("get_doc_page", path="api/endpoints.md"))
    part = post(address, call("get_doc_page", path="api/endpoints.md", sections=["Limits"]))

    assert text_of(page).startswith("# API Endpoints\n\n## GET /llms.txt\n")
    assert text_of(part).strip() == "## Limits\n\nNo rate limiting."


def test_pages_are_listed(address: str) -> None:
    assert text_of(post(address, call("list_doc_pages"))) == (
        "Documentation Pages:\n\n- api/endpoints.md\n- configuration.md\n- index.md"
    )


@pytest.mark.requirement("P-004")
@pytest.mark.parametrize("number", [1, 0, "1", "unique-id", ""])
def test_an_answer_has_the_id_of_its_request(address: str, number: int | str) -> None:
    answer = post(address, request("ping", number))

    assert answer.value == {"jsonrpc": "2.0", "id": number, "result": {}}
    assert type(answer.value["id"]) is type(number)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
@pytest.mark.requirement("P-007", "X-016")
def test_a_handshake_of_any_age_tells_of_tools_and_nothing_else(address: str, version: str) -> None:
    client = {"name": "curl", "version": "1"}
    hello = request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)

    result = post(address, hello, *PLAIN).value["result"]

    assert (result["protocolVersion"], result["serverInfo"]["name"]) == (version, "bookwheel")
    assert result["serverInfo"]["version"]
    assert result["capabilities"] == {"tools": {}}


@pytest.mark.requirement("P-005")
def test_a_notification_is_accepted_and_not_answered(address: str) -> None:
    answer = post(address, '{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.requirement("P-006")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_another_content_type_is_refused(address: str, kind: str) -> None:
    (answer,) = curl("--header", f"Content-Type: {kind}", "--data-binary", SEARCH, address)

    assert answer.status == 415


def refuse(address: str, body: str) -> Answer:
    """Return the error that a message gets, after which the connection must still be good."""
    again = (*BASE, *JSON, "--data-binary", PING, address)
    refused, served = curl(*JSON, "--data-binary", body, address, "--next", *again)
    assert refused.value["error"]["message"]
    assert (served.status, served.value) == (200, PONG)
    return refused


def error_of(answer: Answer) -> tuple[int, int | str | None, int]:
    return answer.status, answer.value["id"], answer.value["error"]["code"]


@pytest.mark.requirement("P-042", "P-050")
@pytest.mark.parametrize("body", ["{bad", "", '{"jsonrpc": "2.0", "id": 1, "method": "ping"'])
def test_what_is_not_json_is_a_parse_error(address: str, body: str) -> None:
    assert error_of(refuse(address, body)) == (400, None, -32700)


@pytest.mark.requirement("P-043", "P-050")
@pytest.mark.parametrize(
    ("body", "number"),
    [
        ('{"jsonrpc": "2.0", "id": 7}', 7),
        ('{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a"),
        ('{"id": 7, "method": "ping"}', 7),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None),
        (f"[{PING}]", None),
        ("[]", None),
        ('"ping"', None),
    ],
)
def test_what_is_no_request_is_an_invalid_one(
    address: str, body: str, number: int | str | None
) -> None:
    assert error_of(refuse(address, body)) == (400, number, -32600)


@pytest.mark.requirement("P-044", "P-050")
def test_a_method_nobody_knows_is_not_found(address: str) -> None:
    assert error_of(refuse(address, request("no/such"))) == (200, 1, -32601)


@pytest.mark.requirement("P-008")
@pytest.mark.parametrize(
    "body", [request("resources/list"), request("resources/read", uri="docs://index.md")]
)
def test_there_are_no_resources(address: str, body: str) -> None:
    assert error_of(refuse(address, body)) == (200, 1, -32601)


@pytest.mark.requirement("P-045", "P-050")
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (request("tools/call"), "name"),
        (request("tools/call", name="search_docs", arguments=["zebra"]), "arguments"),
        (call("search_doc", query="zebra"), "Did you mean 'search_docs'?"),
        (call("search_docs"), "'query'"),
        (call("search_docs", query="zebra", limit="many"), "'limit'"),
        (call("search_docs", query="zebra", limt=3), "did you mean 'limit'?"),
    ],
)
def test_wrong_parameters_are_named(address: str, body: str, says: str) -> None:
    refused = refuse(address, body)

    assert error_of(refused) == (200, 1, -32602)
    assert says in refused.value["error"]["message"]


@pytest.mark.requirement("P-048")
@pytest.mark.parametrize(
    ("body", "data"),
    [
        (call("get_doc_page", path="api/endpoint.md"), {"path": "api/endpoint.md"}),
        (call("get_doc_page", path="../secret.md"), {"path": "../secret.md"}),
        (call("search_docs", query="zebra", limit=0), {"query": "zebra"}),
    ],
)
def test_the_data_of_an_error_tell_what_it_was_about(address: str, body: str, data: Any) -> None:
    assert refuse(address, body).value["error"]["data"] == data


@pytest.mark.requirement("P-048", "P-038")
def test_who_asks_too_often_is_told_when_to_ask_again(handbook: Shelf) -> None:
    where = (handbook.folder, "--index", handbook.place / "index", "--toolsets", "pages")
    limits = {"MCP_RATE_LIMIT_REQUESTS": "2", "MCP_RATE_LIMIT_WINDOW": "600"}
    with http_server(*where, **limits) as site:
        served = [post(f"{site}/mcp", SEARCH).status for _ in range(2)]
        refused = post(f"{site}/mcp", SEARCH)

    wait = refused.value["error"]["data"]["retryAfter"]
    assert served == [200, 200]
    assert error_of(refused) == (429, "unique-id", -32000)
    assert refused.value["error"]["message"] == "Rate limit exceeded"
    assert 60 < wait <= 600
    assert refused.headers["retry-after"] == str(wait)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Host: evil.example", 421),
        ("Origin: http://evil.example", 403),
        ("Origin: null", 403),
    ],
)
def test_what_another_site_makes_a_browser_send_is_refused(
    address: str, header: str, status: int
) -> None:
    assert post(address, SEARCH, "--header", header).status == status
