"""Finding by meaning through a real server: after changes, while it is made, never before hello."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tests.clients.assistant import PATIENCE, Assistant, command, connected, http_server
from tests.conftest import Shelf
from tests.embedders.endpoints import Answer, Asked, Service, serving, vectors
from tests.waiting import wait_until

CARS = "# Vehicles\n\nThe automobile needs petrol and oil; its engine must be serviced."


def until(condition: Callable[[], bool]) -> None:
    wait_until(condition, PATIENCE)


def finds(assistant: Assistant, query: str, path: str) -> Callable[[], bool]:
    return lambda: path in assistant.call("search_documents", query=query).text


@pytest.mark.requirement("X-033")
def test_a_server_finds_by_meaning_and_so_it_does_after_a_change(shelf: Shelf) -> None:
    shelf.put("garage.md", CARS)
    start = command(shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder")

    with connected(start) as assistant:
        until(finds(assistant, "car maintenance", "garage.md"))
        shelf.put("money.md", "# Finance\n\nThe bank lends cash at an interest rate as a loan.")
        until(finds(assistant, "mortgage credit", "money.md"))


def test_a_server_over_http_finds_by_meaning(shelf: Shelf) -> None:
    shelf.put("garage.md", CARS)
    where = [shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder"]
    with http_server(*where) as url, connected(f"{url}/mcp") as assistant:
        until(finds(assistant, "car maintenance", "garage.md"))


def test_searches_are_answered_and_changes_seen_while_documents_are_embedded(shelf: Shelf) -> None:
    """The endpoint gives one document a minute, as it were: nobody waits for it."""
    for number in range(3):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra number{number}")

    def behave(asked: Asked) -> Answer:
        if asked.body["input"] != ["dimensions"] and not finished:
            time.sleep(0.5)
            return Answer(b"{}", status=503)
        return vectors([[1.0, 0.0] for _ in asked.body["input"]])

    finished: list[bool] = []
    with serving(behave) as service:
        start = command(
            *(shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder"),
            BOOKWHEEL_EMBEDDER="http",
            BOOKWHEEL_EMBEDDING_URL=service.url,
            BOOKWHEEL_EMBEDDING_MODEL="slow",
            BOOKWHEEL_RECONCILE_SECONDS="1",
        )
        with connected(start) as assistant:
            until(finds(assistant, "zebra", "0.md"))
            until(lambda: any(each.body["input"] != ["dimensions"] for each in service.asked))
            assert finds(assistant, "zebra", "1.md")()
            shelf.put("new.md", "# New\n\nwalrus")
            until(finds(assistant, "walrus", "new.md"))
            finished.append(True)


def test_f20_a_server_makes_all_vectors_anew_when_its_endpoint_has_another_model(
    shelf: Shelf,
) -> None:
    """Nobody starts it again: words answer meanwhile, and say so, and then meaning does."""
    shelf.put("garage.md", CARS)
    width, reads = [2], threading.Event()
    reads.set()

    def behave(asked: Asked) -> Answer:
        texts = asked.body["input"]
        if any("automobile" in text for text in texts):
            assert reads.wait(PATIENCE)
        return vectors([[1.0] + [0.0] * (width[0] - 1)] * len(texts))

    with serving(behave) as service:
        start = command(
            *(shelf.folder, "--index", shelf.place / "index", "--toolsets", "documents"),
            BOOKWHEEL_EMBEDDER="http",
            BOOKWHEEL_EMBEDDING_URL=service.url,
            BOOKWHEEL_EMBEDDING_MODEL="m",
        )
        with connected(start) as assistant:

            def ask(query: str) -> str:
                return assistant.call("documents_search", query=query).text

            until(lambda: "garage.md" in ask("vroom"))
            reads.clear()
            width[0] = 3
            before = len(service.asked)
            said = ask("petrol")
            assert "gave 3 dimensions, not 2" in said
            until(lambda: any(CARS[-20:] in text for text in sent(service, before)))
            said = ask("petrol")
            assert "garage.md" in said
            assert "no document has a vector of this model yet" in said
            reads.set()
            until(lambda: "garage.md" in ask("vroom"))
            said = ask("petrol")
            assert "words alone were compared" not in said


def sent(service: Service, start: int) -> list[str]:
    return [text for asked in service.asked[start:] for text in asked.body["input"]]


def test_the_greeting_is_answered_before_numpy_is_loaded(shelf: Shelf) -> None:
    shelf.put("garage.md", CARS)
    with shelf.open() as library:
        library.update()
        library.embed()
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    program = f"""
import sys
from bookwheel.serve import stdio
write = stdio.Lines._write
def noting(self, line):
    print("loaded" if "numpy" in sys.modules else "not loaded", file=sys.stderr, flush=True)
    write(self, line)
stdio.Lines._write = noting
sys.argv = ["bookwheel", "serve", {str(shelf.folder)!r}, "--index", {str(shelf.place / "index")!r}]
from bookwheel.cli import main
main()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(hello) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdin.close()
        said = process.stderr.read().splitlines()
    assert [line for line in said if line in ("loaded", "not loaded")] == ["not loaded"]
