"""Every route, under every name and origin, with tokens good and bad."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.safety.token_file import TokenFile
from bookwheel.serve.calls import Calls
from bookwheel.serve.guard import LARGEST_BODY
from bookwheel.serve.mcp import DocumentServer
from bookwheel.telemetry.metrics import Metrics
from tests.serve.conftest import OFFERED, Site, serving
from tests.serve.test_http import CALL

ROUTES = ("/mcp", "/metrics", "/healthz", "/readyz", "/", "/nowhere", "/mcp/", "//mcp")
PROBES = ("/healthz", "/readyz")
OWN_HOSTS = ("127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}", "docs.example")
FOREIGN_HOSTS = (
    "evil.example",
    "docs.example.evil",
    "evil.docs.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil:{port}",
    "127.0.0.1:{port}.evil",
    "docs.example@evil",
    "",
)
OWN_ORIGINS = ("", "http://127.0.0.1:{port}", "https://docs.example", "HTTP://LOCALHOST:{port}")
FOREIGN_ORIGINS = (
    "null",
    "http://evil.example",
    "http://127.0.0.1:1",
    "http://127.0.0.1:{port}.evil.example",
    "file://",
    "http://docs.example:81",
    "docs.example",
)


def metrics() -> Metrics:
    return Metrics("1", lambda: None)


@pytest.fixture(scope="module")
def site(calls: Calls) -> Iterator[Site]:
    with serving({"/mcp": DocumentServer(calls, OFFERED)}, metrics=metrics()) as made:
        yield made


def ask(site: Site, path: str, host: str, origin: str, method: str = "GET") -> int:
    headers = {"Host": host.format(port=site.port)}
    if origin:
        headers["Origin"] = origin.format(port=site.port)
    return site.ask(method, path, None, **headers).status


@pytest.mark.requirement("X-036")
@pytest.mark.parametrize("path", ROUTES)
def test_t07_a_foreign_host_or_origin_is_refused_on_every_route(site: Site, path: str) -> None:
    for host, origin in itertools.product(FOREIGN_HOSTS, OWN_ORIGINS):
        status = ask(site, path, host, origin)
        assert status == (200 if path in PROBES else 421), (host, origin)
    for host, origin in itertools.product((*OWN_HOSTS, *FOREIGN_HOSTS), FOREIGN_ORIGINS):
        assert ask(site, path, host, origin) in (403, 421), (host, origin)
        assert ask(site, path, host, origin, "OPTIONS") in (403, 421), (host, origin)
    for host, origin in itertools.product(OWN_HOSTS, OWN_ORIGINS):
        assert ask(site, path, host, origin) not in (403, 421), (host, origin)


@pytest.mark.requirement("X-040")
@pytest.mark.parametrize("path", ["/mcp", "/metrics", "/healthz", "/nowhere"])
def test_t12_a_body_of_more_than_a_mebibyte_is_not_even_read(site: Site, path: str) -> None:
    length = str(LARGEST_BODY + 1)
    answer = site.ask("POST", path, b"", Content_Length=length, Content_Type="application/json")

    assert answer.status == 413


@pytest.mark.requirement("X-040")
def test_t12_a_body_of_a_mebibyte_is_read(site: Site) -> None:
    word = "x" * (LARGEST_BODY - 200)
    params = {"name": "echo", "arguments": {"word": word}}

    assert site.post({**CALL, "params": params}).status == 200


def test_t08_a_token_is_asked_for_on_every_route_but_the_probes(
    calls: Calls, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    secret = tokens.add("ann", [], "", "")
    old = tokens.add("old", [], "", "2020-01-01")
    bad = [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {secret}",
        secret,
        f"Bearer {secret}x",
        f"Bearer {old}",
        "Bearer bw_" + "A" * 43,
        f"Bearer {tokens.load()[0].digest}",
    ]
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, tokens=tokens, metrics=metrics()) as site:
        for path, header in itertools.product(ROUTES, bad):
            given = {"Authorization": header} if header else {}
            answer = site.ask("GET", path, None, **given)
            assert answer.status == (200 if path in PROBES else 401), (path, header)
            if path not in PROBES:
                assert answer.headers["www-authenticate"].startswith("Bearer")
        assert site.post(CALL, Authorization=f"Bearer {secret}").status == 200
        assert site.post(CALL, Authorization=f"bearer  {secret} ").status == 200


def test_t08_a_revoked_token_is_refused_at_once_and_the_last_one_opens_nothing(
    calls: Calls, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    with serving({"/mcp": DocumentServer(calls, OFFERED)}, tokens=tokens) as site:
        assert site.post(CALL).status == 200  # nobody made one yet
        secret = TokenFile(tokens.file).add("ann", [], "", "")
        assert site.post(CALL).status == 401
        assert site.post(CALL, Authorization=f"Bearer {secret}").status == 200
        TokenFile(tokens.file).revoke("ann")
        assert site.post(CALL, Authorization=f"Bearer {secret}").status == 401
        assert site.post(CALL).status == 401
        tokens.file.unlink()
        assert site.post(CALL).status == 401


def test_t08_while_the_tokens_cannot_be_read_none_is_good(
    calls: Calls, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    secret = tokens.add("ann", [], "", "")
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, token="whole", tokens=tokens) as site:
        tokens.file.write_text("{")
        assert site.post(CALL, Authorization=f"Bearer {secret}").status == 401
        assert site.post(CALL, Authorization="Bearer whole").status == 200

    assert "is no file of tokens" in caplog.text
    assert secret not in caplog.text


def test_t31_metrics_and_numbers_of_files_are_for_those_who_may_see_all(
    calls: Calls, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    part, whole = tokens.add("part", ["a"], "", ""), tokens.add("whole", [], "", "")
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, tokens=tokens, metrics=metrics()) as site:
        statuses = [
            site.ask("GET", "/metrics", None, Authorization=f"Bearer {each}").status
            for each in (part, whole)
        ]
    assert statuses == [403, 200]


@pytest.mark.requirement("P-034")
def test_by_default_an_address_has_120_requests_a_minute() -> None:
    from bookwheel.settings import load

    settings = load(environment={}, use_start_folder=False)
    assert (settings["rate_limit_requests"], settings["rate_limit_window"]) == (120, 60)


@pytest.mark.requirement("P-034")
def test_the_request_after_the_last_allowed_one_is_refused(calls: Calls) -> None:
    with serving({"/mcp": DocumentServer(calls, OFFERED)}, limit=120) as site:
        statuses = [site.post(CALL).status for _ in range(121)]

    assert statuses == [200] * 120 + [429]


@pytest.mark.requirement("P-035")
def test_other_numbers_are_set_by_the_names_of_old(calls: Calls) -> None:
    from bookwheel.settings import load

    named = {"MCP_RATE_LIMIT_REQUESTS": "2", "MCP_RATE_LIMIT_WINDOW": "7"}
    settings = load(environment=named, use_start_folder=False)
    requests, window = settings["rate_limit_requests"], settings["rate_limit_window"]
    server = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(server, limit=requests, window=window) as site:
        answers = [site.post(CALL) for _ in range(3)]
    with serving({"/mcp": DocumentServer(calls, OFFERED)}, limit=0) as site:
        free = {site.post(CALL).status for _ in range(200)}

    assert [answer.status for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["retry-after"] == "7"
    assert free == {200}


@pytest.mark.requirement("P-036")
def test_every_request_at_the_endpoint_counts_and_no_other(calls: Calls) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    wrong = {"jsonrpc": "2.0", "id": 1, "method": "nope"}
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, limit=3, metrics=metrics()) as site:
        for _ in range(10):
            free = [site.ask("GET", path).status for path in ("/healthz", "/metrics", "/readyz")]
            assert free == [200] * 3
            assert site.post(notice).status == 202
        statuses = [site.post(message).status for message in (ping, CALL, wrong, ping)]

    assert statuses == [200, 200, 200, 429]


@pytest.mark.requirement("P-037")
def test_whoever_waits_as_long_as_he_was_told_is_served(calls: Calls) -> None:
    now = [100.0]
    server = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(server, limit=2, clock=lambda: now[0]) as site:
        for _ in range(3):
            for _ in range(2):
                assert site.post(CALL).status == 200
                now[0] += 10.3
            wait = site.post(CALL).value["error"]["data"]["retryAfter"]
            assert wait == 40
            now[0] += wait
            assert site.post(CALL).status == 200
            now[0] += 60


@pytest.mark.requirement("P-039")
@pytest.mark.parametrize(
    ("trusted", "served"), [(None, 5), ("192.0.2.0/24", 5), ("127.0.0.1", 100)]
)
def test_t25_invented_addresses_get_no_more_than_one_has(
    calls: Calls, trusted: str | None, served: int
) -> None:
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, limit=5, trusted_proxies=trusted) as site:
        statuses = [
            site.post(CALL, X_Forwarded_For=f"203.0.113.{n}", Forwarded=f"for=9.9.9.{n}").status
            for n in range(100)
        ]
    assert statuses.count(200) == served


@pytest.mark.requirement("P-039")
def test_t25_behind_a_trusted_proxy_what_a_client_writes_before_it_counts_for_nothing(
    calls: Calls,
) -> None:
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, limit=5, trusted_proxies="127.0.0.1") as site:
        statuses = [
            site.post(CALL, X_Forwarded_For=f"10.9.8.{n}, 203.0.113.9").status for n in range(50)
        ]
    assert statuses.count(200) == 5


def test_t25_a_named_token_has_an_allowance_of_its_own_from_any_address(
    calls: Calls, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    ann, bob = tokens.add("ann", [], "3/minute", ""), tokens.add("bob", [], "", "")
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    counts: dict[str, list[int]] = {ann: [], bob: []}

    with serving(servers, limit=6, tokens=tokens, trusted_proxies="127.0.0.1") as site:

        def ask_often(secret: str, address: str) -> None:
            for _ in range(4):
                answer = site.post(CALL, Authorization=f"Bearer {secret}", X_Forwarded_For=address)
                counts[secret].append(answer.status)

        threads = [
            threading.Thread(target=ask_often, args=(secret, f"203.0.113.{n}"))
            for n in range(4)
            for secret in (ann, bob)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert counts[ann].count(200) == 3
    assert counts[bob].count(200) == 6


@pytest.mark.requirement("P-070")
def test_everything_lies_below_a_base_path_where_there_is_one(calls: Calls) -> None:
    servers = {"/mcp": DocumentServer(calls, OFFERED)}
    with serving(servers, base_path="/team/docs", metrics=metrics()) as site:
        there = [
            site.post(CALL, "/team/docs/mcp").status,
            site.ask("GET", "/team/docs/metrics").status,
            site.ask("GET", "/team/docs/healthz").status,
            site.ask("GET", "/healthz").status,
        ]
        absent = [
            site.post(CALL, "/mcp").status,
            site.ask("GET", "/team/docsmcp").status,
            site.ask("GET", "/metrics").status,
        ]
        foreign: Any = site.ask("GET", "/team/docs/mcp", None, Host="evil.example").status

    assert there == [200] * 4
    assert absent == [404] * 3
    assert foreign == 421


@pytest.mark.requirement("X-037")
def test_beyond_this_machine_is_served_with_a_named_token(tmp_path: Path) -> None:
    from bookwheel.errors import BadRequest
    from bookwheel.serve.guard import require_safe_address

    tokens = TokenFile(tmp_path / "tokens.json")
    with pytest.raises(BadRequest) as caught:
        require_safe_address("0.0.0.0", has_token=bool(tokens.load()), public=False)
    assert "bookwheel token new" in str(caught.value.hint)
    tokens.add("ann", [], "", "")
    require_safe_address("0.0.0.0", has_token=bool(tokens.load()), public=False)
