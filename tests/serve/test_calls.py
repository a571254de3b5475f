"""Long calls: what their caller hears meanwhile, and that they end when nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Contract, Reply, RpcError, Tool
from bookwheel.contracts.work import Cancelled, Work
from bookwheel.serve.calls import Calls, Hearing
from bookwheel.serve.mcp import DocumentServer
from tests.clients.assistant import LEGACY, MODERN, connected
from tests.conftest import Shelf
from tests.serve.conftest import (
    PATIENCE,
    SMALL,
    Nothing,
    serving,
    shape_error,
    within,
)

ERAS = pytest.mark.parametrize("era", [LEGACY, MODERN])


class Long:
    """A tool that works in steps until it is told to stop, and says how it ended."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.how = ""

    def count(self, work: Work, _: Nothing) -> Reply:
        """Take three steps."""
        for step in (1, 2, 2, 3):
            work.advance(step, 3, f"step {step}")
        return Reply("done")

    def drag_on(self, work: Work, _: Nothing) -> Reply:
        """Work for as long as somebody waits."""
        self.begun.set()
        try:
            while True:
                work.advance(0, 0, "")
        except Cancelled:
            self.how = "cancelled"
            raise
        finally:
            self.ended.set()

    def server(self, calls: Calls) -> DocumentServer:
        tools = (
            Tool("count", "", "", Nothing, self.count),
            Tool("drag_on", "", "", Nothing, self.drag_on),
        )
        contract = Contract("long", tools, shape_error)
        return DocumentServer(calls, Offered((contract,), (contract,)))


@pytest.fixture
def long() -> Long:
    return Long()


@pytest.fixture(params=["memory", "http"])
def target(request: pytest.FixtureRequest, calls: Calls, long: Long) -> Iterator[Any]:
    server = long.server(calls)
    if request.param == "memory":
        yield server
    else:
        with serving({"/mcp": server}) as site:
            yield f"{site.url}/mcp"


@ERAS
@pytest.mark.requirement("X-019")
def test_a_client_that_asks_for_progress_hears_each_step_before_the_answer(
    target: Any, era: str
) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def main() -> None:
        async with Client(target, mode=era) as client:
            await client.call_tool("count", {}, progress_callback=hear)
        assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]

    within(main)


@ERAS
@pytest.mark.requirement("X-019")
def test_a_call_that_its_client_gives_up_stops_working(target: Any, era: str, long: Long) -> None:
    async def main() -> None:
        async with Client(target, mode=era) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "drag_on", {})
                await anyio.to_thread.run_sync(long.begun.wait, PATIENCE)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(long.ended.wait, PATIENCE)
            answer = await client.call_tool("count", {})
        assert long.how == "cancelled"
        assert answer.content[0].model_dump()["text"] == "done"

    within(main)


def ask_while_indexing(
    shelf: Shelf,
    tool: str,
    progress: tuple[int, int] | None,
    *,
    once_before: bool = False,
    **arguments: Any,
) -> Reply:
    """Ask the documents of a shelf while its index is being built as far as given."""
    from bookwheel.serve.toolsets import choose, load_contracts

    replies: list[Reply] = []
    ready = threading.Event()
    if once_before:
        ready.set()
    with shelf.open() as library:
        calls = Calls(library, ready=ready, progress=lambda: progress, patience=0.01)

        async def main() -> None:
            offered = choose(load_contracts(), "all")
            replies.append(await calls.call_tool(offered, tool, arguments))

        within(main)
        calls.close()
    return replies[0]


def test_a_call_before_there_is_an_index_says_how_far_it_is(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")

    reply = ask_while_indexing(shelf, "documents_search", (1, 2000), query="zebra")

    assert reply.is_error
    assert reply.text == (
        "The documents are being indexed (1 of 2,000 files so far). Ask again in a few seconds."
    )


def test_before_there_is_an_index_each_toolset_answers_in_its_own_way(shelf: Shelf) -> None:
    assert ask_while_indexing(shelf, "search_documents", None, query="zebra").is_error
    with pytest.raises(RpcError) as caught:
        ask_while_indexing(shelf, "search_docs", None, query="zebra")

    assert caught.value.code == -32603
    assert caught.value.message.startswith("The documents are being indexed.")


@pytest.mark.requirement("X-022")
@pytest.mark.parametrize("query", ["zebra", "quagga"])
@pytest.mark.parametrize(
    "tool", ["search_documents", "search_docs", "documents_search", "documents_search_batch"]
)
def test_a_search_while_the_index_is_built_works_and_says_how_far_it_is(
    shelf: Shelf, tool: str, query: str
) -> None:
    shelf.put("a.md", "# Stripes\n\nA zebra.")
    shelf.update()
    batch = tool == "documents_search_batch"
    arguments: dict[str, Any] = {"queries": [{"query": query}]} if batch else {"query": query}

    during = ask_while_indexing(shelf, tool, (1, 2), **arguments)
    after = ask_while_indexing(shelf, tool, (2, 2), once_before=True, **arguments)

    remark = "Indexing is under way (1 of 2 files so far); more may be found when it is done."
    assert not during.is_error
    assert during.text.count(remark) == 1
    assert remark not in after.text
    assert ("a.md" in during.text) == ("a.md" in after.text) == (query == "zebra")


def test_a_search_of_an_index_that_is_behind_says_that_something_may_be_missing(
    shelf: Shelf,
) -> None:
    from bookwheel.serve.toolsets import choose, load_contracts

    shelf.put("a.md", "zebra")
    shelf.update()
    asked = (choose(load_contracts(), None), "documents_search", {"query": "quagga"})
    for is_behind in (True, False):
        with shelf.open() as library:
            calls = Calls(library, is_behind=partial(bool, is_behind))
            reply = anyio.run(calls.call_tool, *asked)
            calls.close()
        assert ("what changed lately may be missing" in reply.text) is is_behind


@pytest.mark.parametrize("counted", [None, (1, 1)])
def test_until_the_first_indexing_is_done_no_answer_is_called_complete(
    shelf: Shelf, counted: tuple[int, int] | None
) -> None:
    """A folder may not have been counted yet, or what was read last not yet be written."""
    shelf.update()

    reply = ask_while_indexing(shelf, "search_documents", counted, query="zebra")

    assert "Indexing is under way" in reply.text


def test_waiting_for_the_first_index_tells_its_progress(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    ready, told = threading.Event(), []

    def report(done: float, total: float, message: str) -> None:
        told.append((done, total, message))
        ready.set()

    async def main() -> None:
        reply = await calls.call_tool(offered, "echo", {"word": "x"}, Hearing(report))
        assert reply.text == "x"

    offered = Offered((SMALL,), (SMALL,))
    with shelf.open() as library:
        calls = Calls(library, ready=ready, progress=lambda: (3, 9), patience=PATIENCE)
        within(main)
        calls.close()
    assert told == [(3, 9, "indexing")]


def test_the_template_of_addresses_waits_for_the_first_index(shelf: Shelf) -> None:
    """Before, nobody knows that there is but one collection, whose name addresses leave out."""
    shelf.put("a.md", "zebra")
    ready = threading.Event()

    def index() -> None:
        shelf.update()
        ready.set()

    with shelf.open() as library:
        calls = Calls(library, ready=ready, progress=index, patience=PATIENCE)
        with connected(DocumentServer(calls, Offered((SMALL,), (SMALL,)))) as assistant:
            (template,) = assistant.ask("list_resource_templates").resource_templates
        calls.close()
    assert template.uri_template == "docs://{+path}"


def test_a_document_that_is_not_found_while_the_index_is_built_may_come_yet(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()

    asked: dict[str, Any] = {"collection": "notes", "document": "late.md"}
    reply = ask_while_indexing(shelf, "documents_get_document", (1, 2), **asked)

    assert reply.is_error
    assert reply.text.startswith('Document "late.md" not found in collection "notes".')
    assert "Indexing is under way (1 of 2 files so far)" in reply.text


def test_of_an_update_by_another_process_only_that_there_is_one_is_told(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.update()

    reply = ask_while_indexing(shelf, "documents_list_documents", (0, 0), collection="notes")

    assert "Indexing is under way; more may be found when it is done." in reply.text


def test_an_index_that_cannot_be_made_is_not_waited_for(shelf: Shelf) -> None:
    replies: list[Reply] = []
    with shelf.open() as library:
        calls = Calls(library, ready=threading.Event(), patience=3600, has_failed=lambda: True)

        async def main() -> None:
            replies.append(await calls.call_tool(Offered((SMALL,), (SMALL,)), "echo", {}))

        within(main)
        calls.close()

    assert replies[0].text == "The documents cannot be indexed now; the server's log says why."
