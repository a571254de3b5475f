"""Calls that take too long are ended, and more than there is room for are refused at once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from starlette.routing import Route

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, RpcError, Tool
from bookwheel.contracts.work import Work
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BookwheelError
from bookwheel.serve import calls as calls_module
from bookwheel.serve.calls import THREADS, Calls
from bookwheel.serve.guard import Rules
from bookwheel.serve.mcp import DocumentServer
from bookwheel.serve.readers import Order, Readers
from bookwheel.serve.site.routes import make_site_routes
from bookwheel.serve.toolsets import choose, load_contracts
from bookwheel.serve.web import Web
from bookwheel.telemetry.calls import EndedCall
from tests.conftest import Shelf
from tests.serve.conftest import ECHO, PATIENCE, Nothing, serving, within


def shape(error: BookwheelError, _: dict[str, Any]) -> Reply:
    return Reply(f"{type(error).__name__}: {error.message}", is_error=True)


class Tools:
    """Tools that take their time."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.stopped = threading.Event()

    def drag_on(self, work: Work, _: Nothing) -> Reply:
        """Read the index for as long as one is let."""
        try:
            while True:
                work.library.states()
                work.library.paths("notes")
        finally:
            self.stopped.set()

    def hang(self, _: Work, __: Nothing) -> Reply:
        """Do what cannot be ended from outside."""
        self.end.wait(PATIENCE)
        return Reply("at last")

    def offered(self, **more: Any) -> Offered:
        tools = (
            Tool("drag_on", "", "", Nothing, self.drag_on),
            Tool("hang", "", "", Nothing, self.hang),
            ECHO,
        )
        contract = Contract("slow", tools, shape, **more)
        return Offered((contract,), (contract,))


@contextmanager
def calling(shelf: Shelf, **settings: Any) -> Iterator[tuple[Calls, list[EndedCall]]]:
    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    ended: list[EndedCall] = []
    with shelf.open(**settings) as library:
        made = Calls(library, witnesses=[ended.append])
        try:
            yield made, ended
        finally:
            made.close()


@pytest.mark.requirement("R-006")
def test_t14_work_on_the_index_that_takes_too_long_stops_with_an_error(shelf: Shelf) -> None:
    tools = Tools()

    async def main() -> None:
        reply = await calls.call_tool(tools.offered(), "drag_on", {})
        assert reply.text == ("TimedOut: The call took longer than the 1 seconds that it may take.")
        assert tools.stopped.wait(PATIENCE)

    with calling(shelf, call_seconds=1) as (calls, ended):
        within(main)
    assert [each.outcome for each in ended] == ["INTERNAL_ERROR"]


@pytest.mark.requirement("R-006")
def test_t14_what_cannot_be_stopped_is_not_waited_for(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Tools()
    monkeypatch.setattr(calls_module, "LATE_SECONDS", 0.01)

    async def main() -> None:
        reply = await calls.call_tool(tools.offered(), "hang", {})
        assert reply.text.startswith("TimedOut")
        assert (await calls.call_tool(tools.offered(), "echo", {"word": "ok"})).text == "ok"

    with calling(shelf, call_seconds=1) as (calls, _):
        within(main)
        tools.end.set()


def test_t14_a_read_of_the_index_stops_within_its_time(shelf: Shelf) -> None:
    async def main() -> None:
        def read(library: Any) -> None:
            while True:
                library.states()

        with pytest.raises(RpcError, match="took longer"):
            await calls.read("resources/read", {}, read)

    with calling(shelf, call_seconds=1) as (calls, ended):
        within(main)
    assert [(each.tool, each.outcome) for each in ended] == [("resources/read", "INTERNAL_ERROR")]


def test_t14_a_single_query_of_the_store_is_broken_off(shelf: Shelf) -> None:
    from bookwheel.safety.stopping import Stopped, stopping_when

    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with shelf.open() as library:
        assert isinstance(library._store, EmbeddedEngine)
        until = time.monotonic() + 0.05
        with (
            stopping_when(lambda: time.monotonic() > until),
            pytest.raises(Stopped),
            library._store._reading() as connection,
        ):
            list(connection.execute(endless))
        assert library.states()[0].documents == 1


def test_a_process_that_answers_stops_when_the_time_is_over_or_nobody_waits(shelf: Shelf) -> None:
    for number in range(300):
        shelf.put(f"{number}.md", f"# Zebra {number}\n\nstripes {number}")
    shelf.update()
    queries = [{"query": f"zebra {n} stripes"} for n in range(10)]
    arguments = {"queries": queries, "limit": 100}
    choice = choose(load_contracts(), "all").choice

    async def main() -> None:
        with shelf.open() as library:
            readers = Readers(library.settings, [str(shelf.folder)], 1)
            readers.start()
            while not readers.are_ready:
                await anyio.sleep(0.01)
            late = Order(choice, "documents_search_batch", arguments, "", seconds=0.0)
            reply = await readers.call(late)
            assert reply is not None
            assert reply.code == "INTERNAL_ERROR"
            assert "took longer" in reply.text
            slow = late._replace(seconds=None)
            with anyio.move_on_after(0.01):
                await readers.call(slow)
            quick = Order(choice, "search_docs", {"query": "zebra 7"}, "")
            answer = await readers.call(quick)
            assert answer is not None
            assert "7.md" in answer.text
            readers.close()

    within(main, 50)


def test_a_process_that_hangs_is_ended_and_the_server_goes_on(shelf: Shelf) -> None:
    import os
    import signal

    shelf.put("zebra.md", "# Zebra")
    shelf.update()
    offered = choose(load_contracts(), "all")

    async def main() -> None:
        with shelf.open() as library:
            readers = Readers(library.settings, [str(shelf.folder)], 1)
            calls = Calls(library, readers=readers)
            readers.start()
            while not readers.are_ready:
                await anyio.sleep(0.01)
            os.kill(readers._living[0]._process.pid or 0, signal.SIGSTOP)
            order = Order(offered.choice, "search_docs", {"query": "zebra"}, "")
            with pytest.raises(TimeoutError):
                await readers.call(order, patience=0.2)
            assert readers._living == []
            reply = await calls.call_tool(offered, "search_docs", {"query": "zebra"})
            assert "zebra.md" in reply.text
            calls.close()

    within(main, 40)


def test_f18_at_four_times_what_there_is_room_for_the_rest_is_refused_at_once(shelf: Shelf) -> None:
    tools, room = Tools(), 16
    answers: Counter[str] = Counter()

    async def ask(offered: Offered) -> None:
        reply = await calls.call_tool(offered, "hang", {})
        answers[reply.text] += 1

    async def main() -> None:
        offered = tools.offered(shows_codes=True)
        async with anyio.create_task_group() as tasks:
            for _ in range(4 * room):
                tasks.start_soon(ask, offered)
            for _ in range(1000):  # none of those refused waits for anything
                await anyio.sleep(0)
            assert answers == {"NoRoom: The server has more to do than it can take.": 3 * room}
            assert calls.under_way == room
            tools.end.set()
        assert (await calls.call_tool(offered, "echo", {"word": "ok"})).text == "ok"
        assert calls.under_way == 0

    with calling(shelf, max_calls=room) as (calls, ended):
        within(main)
    assert Counter(each.outcome for each in ended) == {"busy": 3 * room, "ok": room + 1}
    assert answers["at last"] == room > THREADS


def test_f17_where_the_system_grants_no_thread_calls_are_refused_and_later_answered(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = {"name": "echo", "arguments": {"word": "ok"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": echo}

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with calling(shelf) as (calls, ended):
        server = DocumentServer(calls, Tools().offered())
        with serving({"/mcp": server}, site=lambda rules: pages_of(calls, rules)) as site:
            with monkeypatch.context() as patch:
                patch.setattr(threading.Thread, "start", start)
                refused = site.post(call).value["error"]
                page = site.ask("GET", "/api/search?q=zebra")
                alive = site.ask("GET", "/healthz").status
            after = site.post(call)

    assert (refused["code"], refused["data"]) == (-32000, {"retryAfter": 1})
    assert (page.status, page.headers["retry-after"], alive) == (429, "1", 200)
    assert (after.status, b"ok" in after.body) == (200, True)
    assert [each.outcome for each in ended] == ["busy", "busy", "ok"]


def pages_of(calls: Calls, rules: Rules) -> list[Route]:
    return make_site_routes(Web(calls, state=lambda: {"ready": True}, toolsets={}, rules=rules))


def test_f18_over_http_a_full_server_says_when_to_ask_again_and_recovers(shelf: Shelf) -> None:
    tools = Tools()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang"}}
    first: list[Any] = []

    with calling(shelf, max_calls=2) as (calls, _):
        server = DocumentServer(calls, tools.offered())
        with serving({"/mcp": server}, site=lambda rules: pages_of(calls, rules)) as site:
            threads = [
                threading.Thread(target=lambda: first.append(site.post(call))) for _ in range(2)
            ]
            for thread in threads:
                thread.start()
            while calls.under_way < 2:
                time.sleep(0.01)
            refused = site.post(call).value["error"]
            pages = [site.ask("GET", path) for path in ("/?q=zebra", "/api/search?q=zebra")]
            alive = site.ask("GET", "/healthz").status
            tools.end.set()
            for thread in threads:
                thread.join(PATIENCE)
            after = site.post(call)

    assert (refused["code"], refused["data"]) == (-32000, {"retryAfter": 1})
    assert [(each.status, each.headers["retry-after"]) for each in pages] == [(429, "1")] * 2
    assert alive == 200
    assert [each.status for each in (*first, after)] == [200] * 3
    assert b"at last" in after.body
