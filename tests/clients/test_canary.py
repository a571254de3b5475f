"""Nothing that must not be seen leaves a redacted library, by whichever way out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import quote

import mcp_types as types
import pytest
from mcp import MCPError

from bookwheel.library import Library
from bookwheel.query import SearchRequest
from tests.clients.assistant import Assistant, assisting
from tests.clients.planting import Canaries, plant
from tests.conftest import Shelf
from tests.serve.conftest import Site
from tests.site.conftest import site_of

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
    for template in assistant.ask("list_resource_templates").resource_templates:
        reference = types.ResourceTemplateReference(uri=template.uri_template)
        for name in re.findall(r"{\+?(\w+)}", template.uri_template):
            for begun in ("", "n", "of", "walrus"):
                yield assistant.ask("complete", reference, {"name": name, "value": begun})
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


# The site


ENTRANCES = (
    *(
        "/",
        "/docs",
        "/docs/notes/",
        "/status",
        "/graph",
        "/graph?q=walrus",
        "/nothing",
        "/api/docs",
    ),
    *("/llms.txt", "/llms-full.txt", "/sitemap.xml", "/robots.txt", "/api/openapi.json"),
    *("/api/documents?collection=notes&limit=100", "/api/status", "/api/graph", "/mcp"),
    *(
        f"/{page}?q={query}"
        for page in ("", "api/search", "api/facets")
        for query in map(quote, QUERIES)
    ),
    *("/docs/notes/walrus", "/docs/notes/note.md?line=99999", "/api/document?document=walrus"),
)
MOST_PAGES = 600


def crawl(site: Site) -> Iterator[tuple[str, str]]:
    """Yield every page, file and answer that can be reached, with its address."""
    waiting, seen = [*ENTRANCES], set(ENTRANCES)
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.pop()
        answer = site.ask("GET", path)
        assert answer.status < 500
        text = answer.body.decode()
        yield path, f"{answer.headers} {text}"
        for found in addresses_in(text, site):
            if found not in seen:
                seen.add(found)
                waiting.append(found)


def addresses_in(text: str, site: Site) -> Iterator[str]:
    """Yield where a page leads on this site; for documents, what the API says of them too."""
    for found in re.findall(r"""(?:href="|<loc>|\]\()([^"<>()\s]+)""", text):
        path = unescape(found).removeprefix(site.url).partition("#")[0]
        if path.startswith("/") and not path.startswith(("//", "/static/")):
            yield path
            if path.startswith("/docs/notes/"):
                name = path.removeprefix("/docs/notes/").partition("?")[0]
                yield f"/raw/notes/{name}"
                for what in ("document", "outline", "related", "graph"):
                    yield f"/api/{what}?collection=notes&document={name}"


@pytest.mark.timeout(300)
def test_t26_no_canary_leaves_by_any_page_feed_or_answer_of_the_site(
    planted: Shelf, canaries: Canaries
) -> None:
    with planted.open(redact="all") as library, site_of(library) as site:
        seen = {path: canaries.seen_in(text) for path, text in crawl(site)}
    assert {path: found for path, found in seen.items() if found} == {}
    assert len([path for path in seen if path.startswith("/docs/notes/")]) >= 18
    assert len([path for path in seen if path.startswith("/api/outline")]) >= 18


def test_the_crawl_meets_the_canaries_where_nothing_is_redacted(
    planted: Shelf, canaries: Canaries
) -> None:
    with planted.open() as library, site_of(library) as site:
        seen = {canary for _, text in crawl(site) for canary in canaries.seen_in(text)}
    missed = set(canaries.all) - seen
    assert len(missed) <= len(canaries.all) * 0.1, missed


# The log


CRASHING = """
import os
from bookwheel.formats import text
_read = text.read

def read(data, path):
    if data.startswith(b"CRASH"):
        os.write(2, data)
        os.abort()
    return _read(data, path)

text.read = read
"""


def serve_for_a_while(shelf: Shelf, **environment: str) -> str:
    """Run a server until all is indexed; return its log."""
    index = shelf.place / "index-of-the-log"
    words = [sys.executable, "-m", "bookwheel", "serve", str(shelf.folder), "--index", str(index)]
    said = []
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BOOKWHEEL_WORKERS": "1", **environment},
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if "read for meaning" in line or "words alone" in line:
                process.send_signal(signal.SIGTERM)
    return "".join(said)


@pytest.fixture
def troubled(tmp_path: Any) -> tuple[Shelf, Canaries, dict[str, str]]:
    """Files that cannot be read, a reader that crashes, a manifest of no use: all with canaries."""
    shelf, canaries = Shelf(tmp_path), Canaries(seed=8)
    address = canaries.address("path")
    shelf.put("good.md", "# Walrus\n\nice")
    shelf.put(f"{address}/a {canaries.token()}.txt", f"CRASH {canaries('text')}")
    shelf.put(f"{canaries.address('pdf')}.pdf", b"no pdf")
    shelf.put("bookwheel.toml", f'name = "a"\ninclude = ["{canaries.address("pattern")}/[z-a]"]\n')
    shelf.put("manifest.json", f'{{"name": 1, "{canaries.address("key")}": 2}}')
    code = shelf.place / "code"
    code.mkdir()
    (code / "sitecustomize.py").write_text(CRASHING)
    return shelf, canaries, {"PYTHONPATH": str(code)}


@pytest.mark.parametrize("how", ["text", "json"])
def test_t26_the_log_of_a_redacted_server_names_no_canary(
    troubled: tuple[Shelf, Canaries, dict[str, str]], how: str
) -> None:
    shelf, canaries, environment = troubled
    plain = serve_for_a_while(shelf, **environment)
    (shelf.place / "index-of-the-log").rename(shelf.place / "the-first-index")
    hidden = serve_for_a_while(
        shelf, **environment, BOOKWHEEL_REDACT="all", BOOKWHEEL_LOG_FORMAT=how
    )
    assert canaries.seen_in(plain)
    assert canaries.seen_in(hidden) == []
    assert "[redacted:" in hidden
    assert "index up to date" in hidden


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
