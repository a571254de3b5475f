"""How often each client may call each tool."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, RpcError
from bookwheel.errors import BadRequest, BookwheelError, RateLimited
from bookwheel.library import Library
from bookwheel.serve.callers import CURRENT, Caller
from bookwheel.serve.calls import Calls
from bookwheel.serve.limits import ToolLimits
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.toolsets import choose, load_contracts
from bookwheel.settings import read_rates
from bookwheel.telemetry.calls import EndedCall
from tests.clients.assistant import connected
from tests.serve.conftest import ECHO, SMALL, serving, within

LIMITED = ECHO._replace(per_minute=60)
OTHER = ECHO._replace(name="other", per_minute=30)
FREE = ECHO._replace(name="free")
TOOLS = (LIMITED, OTHER, FREE)


def shape_with_code(error: BookwheelError, _: dict[str, Any]) -> Reply:
    return Reply(f"{error.code} {getattr(error, 'retry_after', '')}", is_error=True)


CODED = Contract("coded", TOOLS, shape_with_code, shows_codes=True)
PLAIN = Contract("plain", TOOLS, SMALL.shape_error)


class Counted:
    """Calls whose limits stand still in time, and what was told of them."""

    def __init__(self, library: Library, contract: Contract, stated: str | None = None) -> None:
        self.now = 1000.0
        self.ended: list[EndedCall] = []
        limits = ToolLimits(contract.tools, stated, clock=lambda: self.now)
        self.calls = Calls(library, limits=limits, witnesses=[self.ended.append])
        self.offered = Offered((contract,), (contract,))

    async def call(self, tool: str = "echo", caller: str = "ann") -> str:
        CURRENT.set(Caller(caller))
        try:
            reply = await self.calls.call_tool(self.offered, tool, {"word": "ok"})
        except RpcError as error:
            return f"{error.code} {error.data}"
        return reply.text


@pytest.fixture
def counted(library: Library) -> Iterator[Counted]:
    made = Counted(library, CODED)
    yield made
    made.calls.close()


@pytest.mark.requirement("R-064")
def test_beyond_its_limit_a_tool_answers_when_to_ask_again(counted: Counted) -> None:
    async def main() -> None:
        answers = [await counted.call() for _ in range(61)]
        assert answers == ["ok"] * 60 + ["RATE_LIMITED 60"]
        counted.now += 59.5
        assert await counted.call() == "RATE_LIMITED 1"
        counted.now += 0.5
        assert await counted.call() == "ok"

    within(main)
    assert Counter(each.outcome for each in counted.ended) == {"ok": 61, "RATE_LIMITED": 2}


def test_where_errors_show_no_codes_the_limit_is_an_error_of_json_rpc(library: Library) -> None:
    counted = Counted(library, PLAIN, "echo=1/second")

    async def main() -> None:
        assert [await counted.call() for _ in range(2)] == ["ok", "-32000 {'retryAfter': 1}"]

    within(main)
    assert [each.outcome for each in counted.ended] == ["ok", "RATE_LIMITED"]
    counted.calls.close()


@pytest.mark.requirement("R-066")
def test_clients_and_tools_are_counted_apart(counted: Counted) -> None:
    async def main() -> None:
        for _ in range(60):
            assert await counted.call() == "ok"
        assert await counted.call(caller="bob") == "ok"
        assert await counted.call("other") == "ok"
        assert [await counted.call("free") for _ in range(100)] == ["ok"] * 100
        assert await counted.call() == "RATE_LIMITED 60"

    within(main)


@pytest.mark.requirement("R-066")
def test_limits_are_exact_under_eight_parallel_clients(counted: Counted) -> None:
    answers: Counter[str] = Counter()

    async def client() -> None:
        for _ in range(20):
            answers[await counted.call()] += 1

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(client)

    within(main)
    assert answers == {"ok": 60, "RATE_LIMITED 60": 100}


@pytest.mark.requirement("R-066")
def test_limits_are_exact_when_threads_ask(library: Library) -> None:
    limits = ToolLimits(TOOLS, clock=lambda: 5.0)
    passed: list[int] = []

    def ask() -> None:
        for _ in range(200):
            try:
                limits.take("ann", "echo")
                passed.append(1)
            except RateLimited:
                pass

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 60


@pytest.mark.requirement("R-066")
def test_the_limit_holds_for_a_client_in_memory_as_on_stdio(counted: Counted) -> None:
    with connected(DocumentServer(counted.calls, counted.offered)) as assistant:
        answers = [assistant.call("echo", word="ok") for _ in range(61)]

    assert [answer.is_error for answer in answers] == [False] * 60 + [True]
    assert counted.ended[-1].caller == "stdio"


@pytest.mark.requirement("R-065")
@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("off", ["ok"] * 70),
        ("echo=2/minute", ["ok"] * 2 + ["RATE_LIMITED 60"] * 68),
        ("other=5/minute", ["ok"] * 60 + ["RATE_LIMITED 60"] * 10),
        (" echo = 2/hour , other=1/day", ["ok"] * 2 + ["RATE_LIMITED 3600"] * 68),
        ("echo=0/minute", ["ok"] * 70),
    ],
)
def test_the_operator_sets_other_limits_or_none(
    library: Library, stated: str, expected: list[str]
) -> None:
    counted = Counted(library, CODED, stated)

    async def main() -> None:
        assert [await counted.call() for _ in range(70)] == expected

    within(main)
    counted.calls.close()


def test_a_limit_for_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        ToolLimits(TOOLS, "ecko=2/minute")

    assert caught.value.hint == "Did you mean 'echo'?"


@pytest.mark.parametrize("text", ["echo", "echo=", "echo=x/minute", "echo=1/year", "echo=-1/day"])
def test_a_rate_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be written as"):
        read_rates(text)


def test_over_http_the_limit_answers_like_any_error_of_the_tool(counted: Counted) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "other", "arguments": {"word": "ok"}},
    }
    with serving({"/mcp": DocumentServer(counted.calls, counted.offered)}) as site:
        answers = [site.post(call) for _ in range(31)]

    assert {answer.status for answer in answers} == {200}
    assert answers[-1].value["result"]["isError"]
    assert answers[-1].value["result"]["content"][0]["text"] == "RATE_LIMITED 60"
    assert counted.ended[-1].caller == "127.0.0.1"


@pytest.mark.requirement("R-064")
@pytest.mark.parametrize(
    ("tool", "arguments", "allowed"),
    [
        ("searchFiles", {"query": "zebra"}, 60),
        ("openFile", {"path": "/nowhere"}, 30),
        ("summarizeResults", {"query": "zebra", "results": []}, 20),
    ],
)
def test_the_files_toolset_has_the_limits_of_its_contract(
    library: Library, tool: str, arguments: dict[str, Any], allowed: int
) -> None:
    known = load_contracts()
    tools = [each for contract in known.values() for each in contract.tools]
    calls = Calls(library, limits=ToolLimits(tools, clock=lambda: 7.0), witnesses=[])
    replies: list[Reply] = []

    async def main() -> None:
        offered = choose(known, "files")
        replies.extend(
            [await calls.call_tool(offered, tool, arguments) for _ in range(allowed + 1)]
        )

    within(main)
    calls.close()
    assert "RATE_LIMITED" not in [reply.code for reply in replies[:-1]]
    told = replies[-1].structured or {}
    assert replies[-1].is_error
    assert told["error"]["code"] == "RATE_LIMITED"
    assert told["error"]["details"]["retry_after"] == 60
    assert told["mcp_version"] == "v1.0.0"
