"""How `bookwheel serve` starts: what it serves, how soon it answers, and when it will not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.engines.embedded.lock import WriterLock
from tests.clients.assistant import (
    LEGACY,
    MODERN,
    PATIENCE,
    Assistant,
    command,
    connected,
    failed_start,
)
from tests.conftest import Shelf
from tests.waiting import wait_until


@pytest.mark.requirement("F-049")
def test_the_folder_that_is_named_is_served(shelf: Shelf) -> None:
    shelf.put("guides/setup.md", "# Setup Guide\n\nThe zebra.")
    start = command(shelf.folder, "--index", shelf.place / "index", "--toolsets", "folder")

    with connected(start, LEGACY) as assistant:
        found = assistant.call("search_documents", query="zebra").text
        listed = [entry["uri"] for entry in assistant.resources()]

    assert found.splitlines()[2] == '1. docs://guides/setup.md - "Setup Guide" (relevance: 0.85)'
    assert listed == ["docs://guides/setup.md"]


@pytest.mark.requirement("F-050")
def test_without_a_folder_the_current_one_is_served(shelf: Shelf) -> None:
    shelf.put("here.md", "# Here\n\nThe zebra.")
    start = command("--toolsets", "folder", CACHE_ROOT=str(shelf.place / "cache"))

    with connected(start.model_copy(update={"cwd": shelf.folder})) as assistant:
        assert "docs://here.md" in assistant.call("search_documents", query="zebra").text
        assert assistant.read("docs://here.md")["text"] == "# Here\n\nThe zebra."


@pytest.mark.requirement("F-051")
def test_a_folder_that_is_none_is_refused(shelf: Shelf) -> None:
    file = shelf.put("file.md", "zebra")
    for path, words in (
        (shelf.place / "missing", f"There is no folder '{shelf.place}/missing'."),
        (file, f"'{file}' is not a folder."),
    ):
        code, said = failed_start(path, "--index", shelf.place / "index")
        assert code not in (0, None)
        assert words in said
        assert "Traceback" not in said


@pytest.mark.requirement("P-041")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MCP_ENABLED", "perhaps"),
        ("MCP_RATE_LIMIT_REQUESTS", "many"),
        ("MCP_RATE_LIMIT_REQUESTS", "-1"),
        ("MCP_RATE_LIMIT_WINDOW", "0"),
        ("MCP_MAX_SEARCH_RESULTS", "0"),
        ("MCP_MAX_SEARCH_RESULTS", "1.5"),
        ("MCP_SNIPPET_LENGTH", "-200"),
        ("DEBUG", "2"),
    ],
)
def test_a_variable_that_holds_something_unusable_is_named(
    tmp_path: Path, variable: str, value: str
) -> None:
    code, said = failed_start(tmp_path, "--index", tmp_path / "index", **{variable: value})

    assert code not in (0, None)
    assert f"{variable} is {value!r}, but it must" in said


@pytest.mark.requirement("P-073")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_client_is_greeted_while_the_documents_are_still_being_indexed(
    shelf: Shelf, era: str
) -> None:
    shelf.put("zebra.md", "# Zebra\n\nA zebra has stripes.")
    lock = WriterLock(shelf.place / "index" / "catalog.db.lock")
    lock.acquire()  # no index can be made before it is given back
    start = command(shelf.folder, "--index", shelf.place / "index", "--toolsets", "pages")

    try:
        with connected(start, era) as assistant:
            names = [tool["name"] for tool in assistant.tools()]
            assert not (shelf.place / "index" / "catalog.db").exists()
            lock.release()
            wait_until(lambda: _ask(assistant).startswith("Found 1"), PATIENCE)
            found = _ask(assistant)
    finally:
        lock.release()

    assert names == ["search_docs", "get_doc_page", "list_doc_pages"]
    assert found.startswith("Found 1 results:\n\n1. zebra.md ")


def _ask(assistant: Assistant) -> str:
    return assistant.call("search_docs", query="stripes").text
