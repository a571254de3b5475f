"""The MCP address of a server as a process: bare requests, full clients, what they are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel import __version__
from tests.clients.assistant import LEGACY, MODERN, connected, failed_start, http_server
from tests.clients.handbook import FILLER, HANDBOOK, fill, paths
from tests.clients.posting import Poster, posting, request
from tests.conftest import Shelf

BOTH = "application/json, text/event-stream"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path | str, ...]:
    """The arguments that serve the pages of a small folder, indexed already."""
    shelf = Shelf(tmp_path_factory.mktemp("served"))
    fill(shelf, HANDBOOK).close()
    return shelf.folder, "--index", shelf.place / "index", "--toolsets", "pages"


@pytest.fixture(scope="module")
def url(where: tuple[Path | str, ...]) -> Iterator[str]:
    with http_server(*where) as address:
        yield address


@pytest.fixture
def poster(url: str) -> Iterator[Poster]:
    with posting(url) as made:
        yield made


def told(answer: Any) -> tuple[int, Any, int]:
    """Return the HTTP status, the id and the code of an answer."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["jsonrpc"] == "2.0"
    return answer.status, answer.json["id"], answer.json["error"]["code"]


# -------------------------------------------------------------------------------- answers


@pytest.mark.requirement("P-001", "P-002", "P-004")
def test_a_tools_call_posted_on_its_own_gets_one_json_answer(poster: Poster) -> None:
    message = request(
        "tools/call", {"name": "search_docs", "arguments": {"query": "quokka"}}, id="unique-id"
    )

    answer = poster.post(message, Accept="application/json")

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "mcp-session-id" not in answer.headers
    text = (
        "Found 1 results:\n\n"
        "1. guides/strange name #1?100%.md (score: 85)\n   'Strange · A quokka hides here.'"
    )
    assert answer.json == {
        "jsonrpc": "2.0",
        "id": "unique-id",
        "result": {"content": [{"type": "text", "text": text}], "isError": False},
    }


@pytest.mark.requirement("P-007")
def test_a_bare_initialize_tells_who_answers_and_of_tools_alone(poster: Poster) -> None:
    said = poster.post(request("initialize", HELLO), Accept="application/json").json["result"]

    assert (said["serverInfo"]["name"], said["serverInfo"]["version"]) == (
        "bookwheel",
        __version__,
    )
    assert said["protocolVersion"] == "2025-11-25"
    assert said["capabilities"] == {"tools": {}}


@pytest.mark.requirement("P-003")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_full_clients_are_served_at_the_address_of_bare_ones(
    url: str, poster: Poster, era: str
) -> None:
    with connected(f"{url}/mcp", era) as assistant:
        text = assistant.call("search_docs", query="kestrel").text
        names = [tool["name"] for tool in assistant.tools()]

    assert text == poster.text("search_docs", query="kestrel")
    assert names == ["search_docs", "get_doc_page", "list_doc_pages"]
    hello = poster.post(request("initialize", HELLO), Accept=BOTH)
    assert hello.headers["content-type"].startswith("text/event-stream")
    assert hello.headers["mcp-session-id"]


@pytest.mark.requirement("P-004")
@pytest.mark.parametrize("id_", ["1", 1, 0, -1, "", "ü\u2028 \U0001f98a", 2**53 + 1, "null"])
def test_the_id_of_an_answer_is_that_of_its_request(poster: Poster, id_: str | int) -> None:
    for message in (request("ping", id=id_), request("nope", id=id_)):
        answer = poster.post(message).json
        assert answer["jsonrpc"] == "2.0"
        assert (type(answer["id"]), answer["id"]) == (type(id_), id_)


@pytest.mark.requirement("P-005")
@pytest.mark.parametrize("method", ["notifications/initialized", "tools/list", "nobody/knows"])
def test_a_notification_gets_202_and_nothing_else(poster: Poster, method: str) -> None:
    for accept in (None, "application/json", BOTH):
        answer = poster.post({"jsonrpc": "2.0", "method": method}, Accept=accept)
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.requirement("P-006")
@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        ("text/json; application/json", 415),
        (None, 415),
        ("application/json; charset=utf-8", 200),
    ],
)
def test_a_post_of_another_content_type_is_refused(
    poster: Poster, content_type: str | None, status: int
) -> None:
    assert poster.post(request("ping"), Content_Type=content_type).status == status


# ---------------------------------------------------------------------------------- errors

WRONG: list[tuple[str, Any, tuple[int, Any, int]]] = [
    ("not JSON", b"{bad", (400, None, -32700)),
    ("nothing", b"", (400, None, -32700)),
    ("not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (400, None, -32700)),
    ("half a character", b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', (400, None, -32700)),
    ("no number of JSON", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', (400, None, -32700)),
    ("nested too deep", b"[" * 100_000, (400, None, -32700)),
    ("no method", {"jsonrpc": "2.0", "id": 7}, (400, 7, -32600)),
    ("another jsonrpc", {"jsonrpc": "1.0", "id": "x", "method": "ping"}, (400, "x", -32600)),
    ("no jsonrpc", {"id": 7, "method": "ping"}, (400, 7, -32600)),
    ("an array", [request("ping")], (400, None, -32600)),
    ("an empty array", [], (400, None, -32600)),
    ("a text", "ping", (400, None, -32600)),
    ("null", None, (400, None, -32600)),
    ("an id that is none", request("ping", id=[1]), (400, None, -32600)),
    ("a method that is none", {"jsonrpc": "2.0", "id": 7, "method": 5}, (400, 7, -32600)),
    ("an unknown method", request("nobody/knows", id=7), (200, 7, -32601)),
    ("an empty method", request("", id=7), (200, 7, -32601)),
    ("resources", request("resources/list", id=7), (200, 7, -32601)),
    ("no tool", request("tools/call", {}, id=7), (200, 7, -32602)),
    ("a tool of no name", request("tools/call", {"name": 5}, id=7), (200, 7, -32602)),
    ("an unknown tool", request("tools/call", {"name": "nope"}, id=7), (200, 7, -32602)),
    (
        "arguments that are none",
        request("tools/call", {"name": "search_docs", "arguments": [1]}, id=7),
        (200, 7, -32602),
    ),
    (
        "an argument missing",
        request("tools/call", {"name": "search_docs", "arguments": {}}, id=7),
        (200, 7, -32602),
    ),
    (
        "an argument wrong",
        request("tools/call", {"name": "search_docs", "arguments": {"query": 1}}, id=7),
        (200, 7, -32602),
    ),
    (
        "a page not there",
        request("tools/call", {"name": "get_doc_page", "arguments": {"path": "no.md"}}, id=7),
        (200, 7, -32602),
    ),
    ("a handshake without a word", request("initialize", {}, id=7), (200, 7, -32602)),
]


@pytest.mark.requirement("P-042", "P-043", "P-044", "P-045", "P-050")
@pytest.mark.parametrize(("body", "expected"), [pytest.param(*w[1:], id=w[0]) for w in WRONG])
def test_what_is_wrong_has_the_code_of_json_rpc_and_the_next_request_is_served(
    poster: Poster, body: Any, expected: tuple[int, Any, int]
) -> None:
    answer = poster.post(body)
    following = poster.post(request("ping", id="next"))

    assert told(answer) == expected
    assert following.json == {"jsonrpc": "2.0", "id": "next", "result": {}}


@pytest.mark.requirement("P-050")
def test_a_refused_content_type_or_address_does_not_end_the_connection(poster: Poster) -> None:
    statuses = [
        poster.post(request("ping"), Content_Type="text/plain").status,
        poster.post(request("ping"), path="/nowhere").status,
        poster.post(request("ping"), Origin="http://evil.example").status,
        poster.post(request("ping"), Mcp_Session_Id="never-given", Accept=BOTH).status,
        poster.post(request("ping")).status,
    ]

    assert statuses == [415, 404, 403, 404, 200]


@pytest.mark.requirement("P-048")
def test_the_data_of_an_error_tells_what_it_was_about(poster: Poster) -> None:
    assert poster.call("get_doc_page", path="no/such.md")["error"]["data"] == {"path": "no/such.md"}
    assert poster.call("search_docs", query="zebra", limit=0)["error"]["data"] == {"query": "zebra"}


# ------------------------------------------------------------------------------ environment


@pytest.mark.requirement("P-012", "P-020", "P-048")
def test_the_variables_of_the_contract_are_heeded(shelf: Shelf) -> None:
    text = f"{FILLER} The ocelot. {FILLER}"
    fill(shelf, {f"{n}.md": f"# Page {n}\n\n{text}\n" for n in range(9)}).close()
    where = (shelf.folder, "--index", shelf.place / "index", "--toolsets", "pages")
    variables = {
        "MCP_MAX_SEARCH_RESULTS": "3",
        "MCP_SNIPPET_LENGTH": "60",
        "MCP_RATE_LIMIT_REQUESTS": "2",
        "MCP_RATE_LIMIT_WINDOW": "3600",
    }
    with http_server(*where, **variables) as url, posting(url) as poster:
        usual, most = (poster.text("search_docs", query="ocelot", **n) for n in ({}, {"limit": 9}))
        refused = poster.post(request("ping", id="late"))
        health = poster.send("GET", "/healthz").status

    assert len(paths(usual)) == len(paths(most)) == 3
    assert all(len(found) <= 66 for found in re.findall("'(.*)'", usual))
    assert told(refused) == (429, "late", -32000)
    wait = refused.json["error"]["data"]["retryAfter"]
    assert (type(wait), refused.headers["retry-after"]) == (int, str(wait))
    assert 0 < wait <= 3600
    assert health == 200


@pytest.mark.requirement("P-040")
def test_an_endpoint_that_is_turned_off_is_not_there_and_pages_are(
    where: tuple[Path | str, ...],
) -> None:
    with http_server(*where, MCP_ENABLED="false") as url, posting(url) as poster:
        statuses = [poster.post(request("ping"), path).status for path in ("/mcp", "/mcp/pages")]
        others = [poster.send("GET", path).status for path in ("/healthz", "/", "/llms.txt")]

    assert (statuses, others) == ([404, 404], [200, 200, 200])


@pytest.mark.requirement("P-069")
def test_other_machines_are_let_in_without_a_token_only_if_the_operator_says_so(
    where: tuple[Path | str, ...], poster: Poster
) -> None:
    assert poster.post(request("ping")).status == 200
    code, words = failed_start(*where, "--http", "0.0.0.0:0")
    assert code == 2
    assert "Other machines could read the documents at 0.0.0.0." in words
    with http_server(*where, at="0.0.0.0:0", BOOKWHEEL_PUBLIC="1") as url, posting(url) as open_:
        assert open_.post(request("ping")).status == 200
    with http_server(*where, at="0.0.0.0:0", BOOKWHEEL_TOKEN="geheim") as url, posting(url) as shut:
        assert shut.post(request("ping")).status == 401
        assert shut.post(request("ping"), Authorization="Bearer geheim").status == 200
