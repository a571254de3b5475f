"""Nothing that must not be seen leaves a redacted library, by whichever way out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from mcp import MCPError

from bookwheel.library import Library
from bookwheel.query import SearchRequest
from tests.clients.assistant import Assistant, assisting
from tests.clients.planting import Canaries, plant
from tests.conftest import Shelf

QUERIES = ("walrus", "walrus ice", "example.com", "ghp", "walrsu", '"walrus"', "swimming animals")


@pytest.fixture(scope="module")
def canaries() -> Canaries:
    return Canaries()


@pytest.fixture(scope="module")
def planted(canaries: Canaries, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("canaries"))
    plant(shelf.folder, canaries)
    with shelf.open() as library:
        (report,) = library.update()
        assert not report.unreadable
        library.embed()
    return shelf


def say(assistant: Assistant, tool: str, **arguments: Any) -> Any:
    """Call a tool; an error of the protocol is an answer too."""
    try:
        return assistant.call(tool, **arguments)
    except MCPError as error:
        return str((error.error.message, error.error.data))


def told(assistant: Assistant, library: Library) -> Iterator[Any]:
    """Yield all that the tools of every toolset, resources and completions say."""
    call = partial(say, assistant)
    for query in QUERIES:
        yield call("search_documents", query=query, limit=50)
        yield call("search_docs", query=query, limit=50)
        yield call("documents_search", query=query, limit=50)
        yield call("documents_search", query=query, hybridSearch=False, rerank=True)
        yield call("searchFiles", query=query, k=100)
        yield call("searchLocalArchives", query=query, includeCitations=True, citationDepth=3)
    yield call("documents_search_batch", queries=[{"query": query} for query in QUERIES])
    yield call("documents_list_collections")
    yield call("documents_list_documents", collection="notes", limit=100)
    yield call("list_doc_pages")
    yield call("listRoots")
    yield call("rewriteQuery", query="walrus slides from 2021")
    for resource in assistant.resources():
        yield resource
        yield assistant.read(resource["uri"])
    for hit in library.search(SearchRequest("walrus", limit=100)).hits:
        yield from told_of(assistant, library, hit.document)
    for missing in ("walrus", "example.com", "ghp_"):
        yield call("documents_get_document", collection="notes", document=missing)
        yield call("get_doc_page", path=missing)
        yield call("openFile", path=f"{library.collections[0].path}/{missing}.md")


def told_of(assistant: Assistant, library: Library, path: str) -> Iterator[Any]:
    call, of = partial(say, assistant), {"collection": "notes", "document": path}
    yield call("documents_get_document", **of)
    outline = call("documents_get_outline", **of, maxDepth=6)
    yield outline
    for heading in outline.json["outline"]:
        yield call("documents_get_section", **of, section=heading["text"])
    yield call("documents_get_section", **of, section="no such")
    yield call("documents_find_related", **of)
    yield call("get_doc_page", path=path)
    yield call("get_doc_page", path=path, sections=["no such"])
    whole = f"{library.collections[0].path}/{path}"
    yield call("openFile", path=whole)
    yield call("openFile", path=whole, before=5000, after=5000)
    yield call("openFile", path=whole, pointer="page 99")


@pytest.mark.requirement("R-061", "R-062", "X-039")
def test_t26_no_canary_leaves_by_any_tool_of_a_redacted_library(
    planted: Shelf, canaries: Canaries
) -> None:
    with planted.open(redact="all") as library, assisting(library, "all") as assistant:
        for answer in told(assistant, library):
            assert canaries.seen_in(str(answer)) == []


@pytest.mark.requirement("R-004")
def test_t26_the_files_tools_redact_all_though_the_library_does_not(
    planted: Shelf, canaries: Canaries
) -> None:
    with planted.open() as library, assisting(library, "files") as assistant:
        for query in (*QUERIES, *(canary.partition("@")[0] for canary in canaries.all[::9])):
            found = assistant.call("searchFiles", query=query, k=100)
            assert canaries.seen_in(found.text) == []
            for item in found.json["items"]:
                for pointer in (item["pointer"], "page 999"):
                    shown = assistant.call(
                        "openFile", path=item["path"], pointer=pointer, before=900, after=900
                    )
                    assert canaries.seen_in(str(shown)) == []


def test_the_canaries_are_there_to_be_seen_where_nothing_is_redacted(
    planted: Shelf, canaries: Canaries
) -> None:
    with planted.open() as library, assisting(library, "all") as assistant:
        seen: set[str] = set()
        for answer in told(assistant, library):
            seen.update(canaries.seen_in(str(answer)))
    missed = set(canaries.all) - seen
    assert len(missed) <= len(canaries.all) * 0.1, missed
