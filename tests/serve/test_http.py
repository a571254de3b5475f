"""The server over HTTP: full clients of both eras, bare requests, and what the guard refuses."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BadRequest
from bookwheel.serve.calls import Calls
from bookwheel.serve.guard import LARGEST_BODY, Guard, make_rules, require_safe_address
from bookwheel.serve.http import bind
from bookwheel.serve.mcp import DocumentServer
from tests.serve.conftest import (
    OFFERED,
    PATIENCE,
    SMALL,
    Nothing,
    Site,
    serving,
    shape_error,
    within,
)

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"word": "zebra"}},
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
BOTH = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def site(calls: Calls) -> Iterator[Site]:
    with serving({"/mcp": DocumentServer(calls, OFFERED)}) as made:
        yield made


def error_of(answer: Any) -> tuple[int, Any, int]:
    """Return the HTTP status, the id and the code of an answer."""
    return answer.status, answer.value["id"], answer.value["error"]["code"]


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_full_clients_of_both_eras_call_and_read(site: Site, era: str, version: str) -> None:
    async def main() -> None:
        async with Client(f"{site.url}/mcp", mode=era) as client:
            assert client.protocol_version == version
            result = await client.call_tool("echo", {"word": "zebra"})
            assert result.structured_content == {"word": "zebra"}
            (entry,) = (await client.list_resources()).resources
            assert entry.uri == "docs://zebra.md"

    within(main)


def test_a_full_client_of_the_old_era_hears_of_changes(site: Site) -> None:
    heard: list[str] = []
    told = anyio.Event()

    async def hear(message: Any) -> None:
        heard.append(message.method)
        told.set()

    async def main() -> None:
        async with Client(f"{site.url}/mcp", mode="legacy", message_handler=hear) as client:
            while not told.is_set():  # its stream for notices opens some time after the handshake
                site.bell.ring()
                await client.call_tool("echo", {"word": "zebra"})
        assert set(heard) == {"notifications/resources/list_changed"}

    within(main)


def test_a_full_client_of_the_new_era_hears_of_changes(site: Site) -> None:
    async def main() -> None:
        async with (
            Client(f"{site.url}/mcp") as client,
            client.listen(resources_list_changed=True) as subscription,
        ):
            site.bell.ring()
            assert type(await anext(aiter(subscription))).__name__ == "ResourcesListChanged"

    within(main)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept": "*/*"},
        {"Accept": "application/json"},
        {"Accept": BOTH},
        {"Accept": BOTH, "MCP_Protocol_Version": "2025-11-25"},
    ],
)
def test_a_bare_post_of_a_call_gets_one_json_answer(site: Site, headers: dict[str, str]) -> None:
    answer = site.post(CALL, **headers)

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.value["id"] == 1
    assert answer.value["result"]["structuredContent"] == {"word": "zebra"}


@pytest.mark.parametrize("accept", ["application/json", BOTH])
def test_half_a_character_in_a_call_is_no_hindrance(site: Site, accept: str) -> None:
    halved = json.dumps(CALL).replace("zebra", "a\\ud800b").encode()
    answer = site.post(halved, Accept=accept)

    assert answer.value["result"]["structuredContent"] == {"word": "a\ufffdb"}


def test_a_handshake_opens_a_session(site: Site) -> None:
    answer = site.post(INITIALIZE, Accept=BOTH)

    assert answer.status == 200
    assert answer.headers["mcp-session-id"]


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
def test_a_handshake_of_who_names_no_streams_gets_one_json_answer(site: Site, accept: str) -> None:
    answer = site.post(INITIALIZE, Accept=accept)

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.value["result"]["serverInfo"]["name"] == "bookwheel"
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{bad", (400, None, -32700)),
        (b'{"id":7}', (400, 7, -32600)),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', (400, None, -32600)),
        (b'{"jsonrpc":"2.0","id":7,"method":"nope"}', (200, 7, -32601)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}', (200, 7, -32602)),
    ],
)
def test_errors_have_the_codes_of_json_rpc(site: Site, body: bytes, expected: Any) -> None:
    assert error_of(site.post(body)) == expected


def test_a_response_may_hold_anything_besides(site: Site) -> None:
    assert site.post(b'{"jsonrpc":"2.0","id":7,"result":{},"params":5}').status < 500


def test_another_content_type_is_refused(site: Site) -> None:
    assert site.post(CALL, Content_Type="text/plain").status == 415


@pytest.mark.parametrize("path", ["/mcp", "/nowhere"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "docs.example.evil"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "docs.example", "Origin": "http://docs.example"}, None),
    ],
)
def test_t07_every_route_answers_only_under_its_own_names(
    site: Site, path: str, headers: dict[str, str], status: int | None
) -> None:
    answer = site.ask("GET", path, None, **headers)

    assert (answer.status == status) if status else (answer.status not in (403, 421))


def test_probes_ask_for_the_health_under_any_name(site: Site) -> None:
    assert site.ask("GET", "/healthz", None, Host="10.0.0.7:8080").status == 200


def test_t12_a_body_that_is_too_large_is_refused_however_it_is_sent(site: Site) -> None:
    large = b" " * (LARGEST_BODY + 1)

    assert site.post(large).status == 413
    assert site.ask("POST", "/mcp", iter([large]), Content_Type="application/json").status == 413


def test_health_is_told(site: Site) -> None:
    assert site.ask("GET", "/healthz").value == {"status": "ok", "ready": True}


def test_without_servers_there_is_nothing_at_mcp() -> None:
    with serving({}) as site:
        assert site.post(CALL).status == 404


def test_each_toolset_has_its_own_address(calls: Calls) -> None:
    other = SMALL._replace(name="other", tools=SMALL.tools[1:])
    servers = {
        "/mcp": DocumentServer(calls, Offered((SMALL,), (SMALL,))),
        "/mcp/other": DocumentServer(calls, Offered((other,), (other,), (SMALL,))),
    }
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    with serving(servers) as site:
        names = [
            [tool["name"] for tool in site.post(ask, path).value["result"]["tools"]]
            for path in servers
        ]
        elsewhere = site.post(CALL, "/mcp/other").value["error"]

    assert names == [["echo", "refuse"], ["refuse"]]
    assert elsewhere["data"] == {"tool": "echo", "toolset": "small"}


def test_a_client_that_asks_too_often_is_told_when_to_ask_again(server: DocumentServer) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}

    with serving({"/mcp": server}, limit=2) as site:
        statuses = [site.post(message).status for message in (CALL, notice, CALL)]
        refused = site.post({**CALL, "id": "x"})
        health = site.ask("GET", "/healthz").status

    assert statuses == [200, 202, 200]
    assert error_of(refused) == (429, "x", -32000)
    assert refused.value["error"]["data"] == {"retryAfter": 60}
    assert refused.headers["retry-after"] == "60"
    assert health == 200


def test_t08_a_token_is_asked_for_when_there_is_one(server: DocumentServer) -> None:
    with serving({"/mcp": server}, token="geheim") as site:
        answers = [
            site.post(CALL),
            site.post(CALL, Authorization="Bearer wrong"),
            site.post(CALL, Authorization="geheim"),
            site.post(CALL, Authorization="Bearer geheim"),
            site.ask("GET", "/healthz"),
        ]

    assert [answer.status for answer in answers] == [401, 401, 401, 200, 200]
    assert answers[0].headers["www-authenticate"] == "Bearer"


@pytest.mark.requirement("X-018")
def test_t11_two_requests_of_one_id_in_one_session_are_not_answered_at_once(calls: Calls) -> None:
    begun, end = threading.Event(), threading.Event()

    def wait(_: Work, __: Nothing) -> Reply:
        begun.set()
        assert end.wait(PATIENCE)
        return Reply("done")

    slow = Contract("slow", (Tool("wait", "", "", Nothing, wait),), shape_error)
    call = {**CALL, "params": {"name": "wait"}}
    with serving({"/mcp": DocumentServer(calls, Offered((slow,), (slow,)))}) as site:
        session = site.post(INITIALIZE, Accept=BOTH).headers["mcp-session-id"]
        named = {"Accept": BOTH, "Mcp_Session_Id": session}
        site.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **named)
        first: list[Any] = []
        thread = threading.Thread(target=lambda: first.append(site.post(call, **named)))
        thread.start()
        assert begun.wait(PATIENCE)
        second = site.post(call, **named)
        end.set()
        thread.join(PATIENCE)

    assert error_of(second) == (400, 1, -32600)
    assert b'"text":"done"' in first[0].body


def test_bare_clients_may_use_the_same_id_at_once(site: Site) -> None:
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(site.post(CALL).status)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert answers == [200] * 8


@pytest.mark.requirement("X-037")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "docs.example"])
def test_t08_other_machines_are_let_in_only_with_a_token_or_on_purpose(host: str) -> None:
    with pytest.raises(BadRequest):
        require_safe_address(host, has_token=False, public=False)
    require_safe_address(host, has_token=True, public=False)
    require_safe_address(host, has_token=False, public=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_is_let_in(host: str) -> None:
    require_safe_address(host, has_token=False, public=False)


def test_t07_names_count_with_their_port() -> None:
    rules = make_rules("::1", 8765, others="Docs.example", token=None)

    assert rules.hosts == {
        "127.0.0.1:8765",
        "localhost:8765",
        "[::1]:8765",
        "docs.example",
        "docs.example:8765",
    }


def test_answers_hold_nothing_that_is_not_json(site: Site) -> None:
    odd = {**CALL, "params": {"name": "echo", "arguments": {"word": "ü\u2028\x00"}}}

    assert json.loads(site.post(odd).body)["result"]["content"][0]["text"] == "ü\u2028\x00"


@pytest.mark.parametrize(("ready", "status"), [(True, 200), (False, 503)])
def test_probes_learn_that_the_server_lives_and_whether_there_is_something_to_search(
    calls: Calls, ready: bool, status: int
) -> None:
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, token="geheim", ready=ready) as site:
        alive = site.ask("GET", "/healthz", None, Host="10.0.0.7:8080")
        serves = site.ask("GET", "/readyz", None, Host="10.0.0.7:8080")

    assert (alive.status, serves.status) == (200, status)
    assert serves.value == {"status": "ok", "ready": ready}


@pytest.mark.parametrize(
    ("trusted", "statuses"),
    [
        (None, [200, 429, 429]),  # whatever the header says, it is one address
        ("192.0.2.0/24", [200, 429, 429]),  # the caller is no trusted proxy
        ("192.0.2.1, 127.0.0.0/8", [200, 200, 429]),
    ],
)
def test_t25_forwarded_addresses_count_only_from_trusted_proxies(
    calls: Calls, trusted: str | None, statuses: list[int]
) -> None:
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    chains = ["203.0.113.1", "6.6.6.6, 203.0.113.2, 192.0.2.1", "7.7.7.7, 203.0.113.2"]
    with serving(servers, limit=1, trusted_proxies=trusted) as site:
        seen = [site.post(CALL, X_Forwarded_For=chain).status for chain in chains]

    assert seen == statuses


def test_no_part_of_an_answer_waits_for_the_one_before_to_be_acknowledged() -> None:
    with (
        bind("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_t09_no_session_is_opened_by_anything_but_a_post(site: Site, method: str) -> None:
    answer = site.ask(method, "/mcp", None, Accept=BOTH)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert "mcp-session-id" not in answer.headers


def test_the_content_type_may_be_spelt_in_capitals(site: Site) -> None:
    assert site.post(CALL, Content_Type="Application/JSON; charset=UTF-8").status == 200


def test_within_a_session_only_what_may_be_followed_is_answered_by_a_stream(site: Site) -> None:
    session = site.post(INITIALIZE, Accept=BOTH).headers["mcp-session-id"]
    named = {"Accept": BOTH, "Mcp_Session_Id": session}
    site.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **named)
    call = {"name": "echo", "arguments": {"word": "zebra"}, "_meta": {"progressToken": 7}}
    followed = {**CALL, "params": call}

    at_once, streamed = site.post(CALL, **named), site.post(followed, **named)

    assert at_once.headers["content-type"] == "application/json"
    assert at_once.value["result"]["structuredContent"] == {"word": "zebra"}
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert b'"structuredContent":{"word":"zebra"}' in streamed.body


@pytest.mark.parametrize("accept", ["application/json", BOTH])
def test_whoever_names_a_session_that_has_ended_learns_of_it(site: Site, accept: str) -> None:
    session = site.post(INITIALIZE, Accept=BOTH).headers["mcp-session-id"]
    named = {"Accept": accept, "Mcp_Session_Id": session}

    during = site.post(CALL, **named)
    site.ask("DELETE", "/mcp", None, Accept=BOTH, Mcp_Session_Id=session)
    after = site.post(CALL, **named)

    assert (during.status, during.headers["mcp-session-id"]) == (200, session)
    assert during.value["result"]["structuredContent"] == {"word": "zebra"}
    assert after.status == 404


def test_an_address_of_ours_that_a_client_reached_is_a_name_of_ours() -> None:
    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])

    guard = Guard(app, make_rules("0.0.0.0", 8765, others=None, token=None))

    async def ask(host: str, origin: str | None = None) -> list[int]:
        statuses: list[int] = []

        async def send(message: Any) -> None:
            statuses.append(message.get("status", 0))

        headers = [(b"host", host.encode())]
        headers += [(b"origin", origin.encode())] if origin else []
        scope: dict[str, Any] = {"type": "http", "path": "/mcp", "headers": headers}
        scope["method"] = "GET"
        scope["server"] = ("192.0.2.7", 8765)
        await guard(scope, None, send)  # type: ignore[arg-type] # nothing is received
        return statuses[:1]

    async def main() -> None:
        assert await ask("192.0.2.7:8765") == []
        assert await ask("192.0.2.7:8765", "http://192.0.2.7:8765") == []
        assert await ask("192.0.2.8:8765") == [421]
        assert await ask("192.0.2.7:8765", "http://evil.example") == [403]

    within(main)
    assert reached == ["/mcp", "/mcp"]
