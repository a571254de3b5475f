"""What every search tool says of files in its scope that could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts import documents, folder, pages
from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.tool import Reply
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from tests.conftest import Shelf

EVERY = (documents.CONTRACT, folder.CONTRACT, pages.CONTRACT)
CAUTION = "2 of 3 files in scope could not be read."
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("documents_search", {"query": "QUERY"}),
    ("documents_search_batch", {"queries": [{"query": "QUERY"}, {"query": "QUERY"}]}),
    ("search_documents", {"query": "QUERY"}),
    ("search_docs", {"query": "QUERY"}),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    shelf = Shelf(tmp_path_factory.mktemp("cautions"))
    shelf.put("good.md", "zebra")
    shelf.put("image.md", b"\x89PNG\r\n\x1a\n" + bytes(50))
    shelf.put("sub/program.txt", b"\x7fELF" + bytes(50))
    shelf.update()
    with shelf.open() as library:
        yield library


def ask(library: Library, tool: str, arguments: dict[str, Any], remark: str = "") -> Reply:
    return call(Work(library, remark=remark), Offered(EVERY, EVERY), tool, arguments)


def with_query(arguments: Any, query: str) -> Any:
    if isinstance(arguments, dict):
        return {key: with_query(value, query) for key, value in arguments.items()}
    if isinstance(arguments, list):
        return [with_query(value, query) for value in arguments]
    return arguments.replace("QUERY", query)


@pytest.mark.requirement("X-029")
@pytest.mark.parametrize("query", ["zebra", "quagga"])
@pytest.mark.parametrize(("tool", "arguments"), SEARCHES)
def test_each_search_says_once_how_many_files_of_how_many_could_not_be_read(
    library: Library, tool: str, arguments: dict[str, Any], query: str
) -> None:
    reply = ask(library, tool, with_query(arguments, query))
    assert reply.text.count(CAUTION) == 1
    assert ("good.md" in reply.text) == (query == "zebra")


def test_it_stands_where_other_remarks_stand(library: Library) -> None:
    found = ask(library, "documents_search", {"query": "zebra"}, remark="So far.")
    assert found.structured is not None
    assert found.structured["results"][0]["note"] == f"So far. {CAUTION}"
    batch = ask(library, "documents_search_batch", {"queries": [{"query": "zebra"}]}, "So far.")
    assert batch.structured is not None
    assert batch.structured["note"] == f"So far. {CAUTION}"
    for tool in ("search_documents", "search_docs"):
        text = ask(library, tool, {"query": "zebra"}, remark="So far.").text
        assert text.endswith(f"\n\nSo far.\n\n{CAUTION}")


def test_only_files_in_scope_count(library: Library) -> None:
    asked = {"query": "zebra", "fileTypes": ["md"]}
    text = ask(library, "search_documents", asked).text
    assert text.endswith("1 of 2 files in scope could not be read.")
    asked = {"query": "zebra", "fileTypes": ["html"]}
    assert "could not be read" not in ask(library, "search_documents", asked).text
