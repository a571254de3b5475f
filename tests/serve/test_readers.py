"""Processes that answer calls: the same answers as here, and no harm when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from bookwheel.contracts.dispatch import call
from bookwheel.contracts.tool import RpcError
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from bookwheel.serve.calls import Calls
from bookwheel.serve.changes import ChangeBell
from bookwheel.serve.readers import Order, Readers
from bookwheel.serve.run import indexing
from bookwheel.serve.toolsets import choose, load_contracts
from tests.conftest import Shelf
from tests.embedders.endpoints import serving, vectors
from tests.serve.conftest import PATIENCE, within

OFFERED = choose(load_contracts(), "all")


@pytest.fixture
def stocked(shelf: Shelf) -> Shelf:
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.")
    shelf.update()
    return shelf


def with_readers(shelf: Shelf, main: Callable[[Readers], Awaitable[None]]) -> None:
    """Run something with one process that answers for a shelf."""

    async def run() -> None:
        with shelf.open() as library:
            readers = Readers(library.settings, [str(shelf.folder)], 1)
            readers.start()
            while not readers.are_ready:
                await anyio.sleep(0.01)
            try:
                await main(readers)
            finally:
                readers.close()

    within(run, 40)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("documents_search", {"query": "stripes"}),
        ("search_docs", {"query": "stripes"}),
        ("search_documents", {"query": ""}),
    ],
)
def test_it_answers_as_a_call_in_this_process_does(
    stocked: Shelf, tool: str, arguments: dict[str, Any]
) -> None:
    with stocked.open() as library:
        expected = call(Work(library, remark="So far."), OFFERED, tool, arguments)

    async def main(readers: Readers) -> None:
        assert await readers.call(Order(OFFERED.choice, tool, arguments, "So far.")) == expected

    with_readers(stocked, main)


def test_none_of_them_holds_the_index_once_they_are_closed(stocked: Shelf) -> None:
    """Who closes an index last merges its log: a process that is not yet gone would be last."""

    async def main(readers: Readers) -> None:
        made = [each._process for each in readers._living]
        readers.close()
        assert [each.exitcode for each in made] == [-signal.SIGKILL] * len(made)

    with_readers(stocked, main)


def test_errors_of_json_rpc_and_changes_on_disk_pass_too(stocked: Shelf) -> None:
    async def main(readers: Readers) -> None:
        with pytest.raises(RpcError) as caught:
            await readers.call(Order(OFFERED.choice, "get_doc_page", {"path": "none.md"}, ""))
        assert (caught.value.code, caught.value.data) == (-32602, {"path": "none.md"})
        stocked.put("new.md", "giraffe")
        await anyio.to_thread.run_sync(stocked.update)
        reply = await readers.call(Order(OFFERED.choice, "search_docs", {"query": "giraffe"}, ""))
        assert reply is not None
        assert "1. new.md" in reply.text

    with_readers(stocked, main)


def test_one_that_dies_leaves_the_call_to_the_server(stocked: Shelf) -> None:
    async def main(readers: Readers) -> None:
        (living,) = readers._living
        os.kill(living._process.pid or 0, signal.SIGKILL)
        order = Order(OFFERED.choice, "documents_search", {"query": "stripes"}, "")
        assert await readers.call(order) is None
        while readers._living:
            await anyio.sleep(0.01)
        assert not readers.are_ready

    with_readers(stocked, main)


def test_all_who_wait_for_one_learn_that_the_last_has_died(stocked: Shelf) -> None:
    answers: list[Any] = []

    async def main(readers: Readers) -> None:
        async def ask() -> None:
            answers.append(
                await readers.call(Order(OFFERED.choice, "documents_search", {"query": "x"}, ""))
            )

        (living,) = readers._living
        os.kill(living._process.pid or 0, signal.SIGSTOP)  # so that none is answered before
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(ask)
            await anyio.sleep(0.1)
            os.kill(living._process.pid or 0, signal.SIGKILL)

    with_readers(stocked, main)
    assert answers == [None] * 20


def test_those_that_die_before_they_can_answer_are_not_started_again(stocked: Shelf) -> None:
    async def main() -> None:
        with stocked.open() as library:
            readers = Readers(library.settings, [str(stocked.place / "none")], 1)
            readers.start()
            assert readers._living
            while readers._living:
                await anyio.sleep(0.01)
            readers.start()
            assert readers._living == []

    within(main)


def test_a_call_that_is_given_up_does_not_disturb_the_next(stocked: Shelf) -> None:
    async def main(readers: Readers) -> None:
        for _ in range(20):
            with anyio.move_on_after(0):
                await readers.call(
                    Order(OFFERED.choice, "documents_search", {"query": "zebra"}, "")
                )
        reply = await readers.call(Order(OFFERED.choice, "search_docs", {"query": "stripes"}, ""))
        assert reply is not None
        assert reply.text.startswith("Found 1 results:")

    with_readers(stocked, main)


def test_another_model_that_one_of_them_meets_has_all_vectors_made_anew(stocked: Shelf) -> None:
    """The server itself has asked for none, and looks through its folders much later."""
    row = [1.0, 0.0]

    async def main(library: Library) -> None:
        folders = [str(stocked.folder)]
        readers = Readers(library.settings, folders, 1)
        with indexing(library, folders, ChangeBell(), readers=readers) as (_, thread):
            thread.start()
            readers.start()
            while not (readers.are_ready and library.is_embedded):
                await anyio.sleep(0.01)
            row.append(0.0)
            order = Order(OFFERED.choice, "documents_search", {"query": "stripes"}, "")
            reply = await readers.call(order)
            assert reply is not None
            assert "gave 3 dimensions, not 2" in reply.text
            while "words alone" in reply.text:
                await anyio.sleep(0.05)
                reply = await readers.call(order)
                assert reply is not None
            assert "zebra.md" in reply.text
            readers.close()

    with serving(lambda asked: vectors([row] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with stocked.open(**flags) as library:
            library.embed()
            within(lambda: main(library), 40)


class FewReaders(Readers):
    """Readers that count how often they were asked for."""

    started = 0

    def start(self) -> None:
        self.started += 1


def test_they_are_started_when_many_call_at_once_and_only_then(stocked: Shelf) -> None:
    async def main() -> None:
        with stocked.open() as library:
            readers = FewReaders(library.settings, [], 1)
            calls = Calls(library, readers=readers)
            await calls.call_tool(OFFERED, "search_docs", {"query": "zebra"})
            assert readers.started == 0
            async with anyio.create_task_group() as tasks:
                for _ in range(16):
                    tasks.start_soon(calls.call_tool, OFFERED, "search_docs", {"query": "zebra"})
            assert readers.started > 0
            calls.close()

    within(main)


def processes(index: Path) -> set[int]:
    """Return the processes that hold a file of an index."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                held = [str(each.readlink()) for each in (entry / "fd").iterdir()]
            except OSError:  # it ended, or is not ours
                continue
            if any(path.startswith(str(index)) for path in held):
                found.add(int(entry.name))
    return found


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_busy_server_answers_rightly_by_them_and_leaves_none_behind(
    stocked: Shelf, end: str
) -> None:
    index = stocked.place / "index"
    words = [str(stocked.folder), "--index", str(index), "--http", "127.0.0.1:0"]
    environment = {**os.environ, "MCP_RATE_LIMIT_REQUESTS": "0", "BOOKWHEEL_READERS": "2"}
    log = stocked.place / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "bookwheel", "serve", *words], stderr=said, env=environment
        ) as process,
    ):
        try:
            while b"up to date" not in log.read_bytes():
                time.sleep(0.02)
            url = log.read_text().split("serving ")[1].split()[0]

            async def main() -> None:
                from mcp import Client

                async def ask() -> None:
                    async with Client(url, mode="legacy") as client:
                        while len(processes(index)) < 3:
                            answer = await client.call_tool("search_docs", {"query": "stripes"})
                            assert "1. zebra.md" in answer.content[0].model_dump()["text"]

                async with anyio.create_task_group() as tasks:
                    for _ in range(8):
                        tasks.start_soon(ask)

            within(main, 50)
        finally:
            getattr(process, end)()
        process.wait(PATIENCE)
    while processes(index):
        time.sleep(0.02)  # the limit of the test ends it
    assert b"Traceback" not in log.read_bytes()


@pytest.mark.requirement("R-024")
def test_what_changes_the_index_is_not_left_to_them_but_they_find_what_it_did(
    stocked: Shelf,
) -> None:
    async def main(readers: Readers) -> None:
        with (
            stocked.open() as library,
            indexing(library, [str(stocked.folder)], ChangeBell(), readers=readers) as (
                calls,
                thread,
            ),
        ):
            thread.start()
            stocked.put("new.md", "giraffe")
            arguments = {"root": str(stocked.folder), "full": True}
            done = await calls.call_tool(OFFERED, "indexFolder", arguments)
            found = await readers.call(
                Order(OFFERED.choice, "searchFiles", {"query": "giraffe"}, "")
            )

        assert done.structured
        assert (done.structured["indexed"], done.structured["removed"]) == (2, 0)
        assert found is not None
        assert found.structured
        assert [item["ext"] for item in found.structured["items"]] == [".md"]

    with_readers(stocked, main)
