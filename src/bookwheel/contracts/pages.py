"""The toolset `pages`: search, read and list the pages of a documentation; answers are text.

Whatever goes wrong is a JSON-RPC error, never a tool's result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from bookwheel.addresses import uri
from bookwheel.contracts.page_text import read_page, read_sections
from bookwheel.contracts.resources import echo, is_alone
from bookwheel.contracts.title_first import search_title_first
from bookwheel.contracts.tool import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    NOT_A_FLAG,
    Arguments,
    Contract,
    Reply,
    RpcError,
    Tool,
)
from bookwheel.contracts.wording import (
    UNQUOTED,
    excerpt,
    explain_nothing,
    is_quoted,
    listed,
    loosen,
    name_found,
)
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError, Forbidden, Internal, TimedOut
from bookwheel.query import SearchHit, SearchMode, SearchRequest, SearchResults
from bookwheel.reading.documents import quoted
from bookwheel.view import View

MOST_HITS = 50
USUAL_HITS = 10
MOST_SECTIONS = 100
MOST_PAGES = 10_000
_BATCH = 1000


def _few(names: list[str]) -> list[str]:
    if len(names) > MOST_SECTIONS:
        raise ValueError(f"must hold at most {MOST_SECTIONS} headings")
    return names


class SearchDocs(Arguments):
    """The arguments of `search_docs`."""

    query: str = Field(min_length=1, max_length=500, description="Words to look for")
    limit: Annotated[int, Field(ge=1, le=MOST_HITS), NOT_A_FLAG] | None = Field(
        None, description="Maximum number of results", json_schema_extra={"default": USUAL_HITS}
    )


class GetDocPage(Arguments):
    """The arguments of `get_doc_page`."""

    path: str = Field(min_length=1, description="Path of the page, such as api/endpoints.md")
    sections: Annotated[list[str], AfterValidator(_few)] | None = Field(
        None, description="Headings of the sections to give, instead of the whole page"
    )


class ListDocPages(Arguments):
    """The arguments of `list_doc_pages`."""

    category: str | None = Field(None, description="Category to list, instead of all pages")


def search_docs(work: Work, arguments: SearchDocs) -> Reply:
    """Search and lay the hits out as text."""
    library = work.library
    most = library.settings["max_search_results"]
    request = SearchRequest(
        arguments.query,
        limit=min(arguments.limit or most or USUAL_HITS, most or MOST_HITS),
        mode=SearchMode.LEXICAL,  # its scores are those of titles, headings and words
        snippet_length=library.settings["snippet_length"],
    )
    results = search_title_first(library, request)
    alone = is_alone(library)
    entries = [_entry(n, hit, alone) for n, hit in enumerate(results.hits, 1)]
    body = entries or [_explain_nothing(library, request, results, alone)]
    remarks = [remark for remark in (results.respelt, work.remark, results.caution) if remark]
    found = f"Found {len(entries)} results:"
    return Reply("\n\n".join([found, *body, *remarks]), results=len(entries))


def _explain_nothing(
    library: View, request: SearchRequest, results: SearchResults, alone: bool
) -> str:
    how = [UNQUOTED] * is_quoted(request.text)
    hits = library.search(loosen(request)).hits if how else ()
    found = [_path(hit.collection, hit.document, alone) for hit in hits]
    return explain_nothing(results, "the documentation", elsewhere=name_found(how, found))


def _entry(number: int, hit: SearchHit, alone: bool) -> str:
    path = _path(hit.collection, hit.document, alone)
    score = max(1, round(hit.score * 100))
    return f"{number}. {path} (score: {score})\n   '{excerpt(hit)}'"


def _path(collection: str, path: str, alone: bool) -> str:
    """Return a page's path as it is asked for; one that would spoil a line as an address."""
    plain = path if alone else f"{collection}/{path}"
    return plain if plain.isprintable() else uri(collection, path, alone=alone)


def get_doc_page(work: Work, arguments: GetDocPage) -> Reply:
    """Read a page or some of its sections."""
    library = work.library
    _refuse_outside(arguments.path)
    document = library.document(arguments.path.removeprefix("./"))
    if arguments.sections:
        return Reply(read_sections(library, document, arguments.sections), results=1)
    return Reply(read_page(library, document), results=1)


def _refuse_outside(path: str) -> None:
    """Refuse what no page's path can be, without looking whether it exists."""
    parts = path.replace("\\", "/").split("/")
    if not parts[0] or ".." in parts or "\0" in path:
        raise Forbidden(
            "The path must be that of a page inside the documentation: relative, without '..'.",
            hint='`list_doc_pages` lists the pages. Example: {"path": "guides/setup.md"}',
        )


def list_doc_pages(work: Work, arguments: ListDocPages) -> Reply:
    """List all pages, or those of a category."""
    library = work.library
    if arguments.category is None:
        paths = list(_all_pages(library))
        total = sum(state.documents for state in library.states())
        return _listing(paths, total, work.remark)
    categories = _categories(library)
    for name, paths in categories.items():
        if name.casefold() == arguments.category.strip().casefold():
            return _listing(paths[:MOST_PAGES], len(paths), work.remark)
    there = f"The categories are {listed(list(categories), most=200)}." if categories else ""
    return Reply(f"There is no category {quoted(arguments.category)}. {there}".rstrip(), results=0)


def _listing(paths: list[str], total: int, remark: str) -> Reply:
    lines = [f"- {path}" for path in paths] or ["There are no pages."]
    if total > len(paths):
        lines.append(f"\n{total - len(paths)} more are not shown; ask for a `category`.")
    if remark:
        lines.append(f"\n{remark}")
    return Reply("\n".join(["Documentation Pages:", "", *lines]), results=len(paths))


def _all_pages(library: View) -> Iterator[str]:
    alone = is_alone(library)
    room = MOST_PAGES
    for state in library.states():
        for offset in range(0, state.documents, _BATCH):
            page = library.list_documents(
                state.collection.name, limit=min(_BATCH, room), offset=offset
            )
            for each in page.documents:
                yield _path(each.collection, each.path, alone)
            room -= len(page.documents)
            if not room:
                return


def _categories(library: View) -> dict[str, list[str]]:
    """Return the pages of each category, those of one name in several collections together."""
    alone = is_alone(library)
    merged: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for state in library.states():
        name = state.collection.name
        for category, paths in library.categories(name).items():
            same = names.setdefault(category.casefold(), category)
            merged.setdefault(same, []).extend(_path(name, path, alone) for path in paths)
    return merged


def shape_error(error: BookwheelError, arguments: dict[str, Any]) -> Reply:
    """Raise the JSON-RPC error for whatever went wrong, with what it was about."""
    data: dict[str, Any] = {
        name: echo(value)
        for name in ("path", "query", "category")
        if isinstance(value := arguments.get(name), str)
    }
    if isinstance(error, Internal):
        raise RpcError(
            INTERNAL_ERROR,
            error.message,
            data | ({"details": error.details} if error.details else {}),
        )
    if isinstance(error, TimedOut):
        raise RpcError(INTERNAL_ERROR, error.advice, data)
    raise RpcError(INVALID_PARAMS, error.advice, data)


CONTRACT = Contract(
    name="pages",
    tools=(
        Tool(
            name="search_docs",
            title="Search the documentation",
            description="Full-text search across documentation",
            arguments=SearchDocs,
            run=search_docs,
            example='{"query": "deploy", "limit": 5}',
        ),
        Tool(
            name="get_doc_page",
            title="Read a page",
            description="Retrieve specific documentation page",
            arguments=GetDocPage,
            run=get_doc_page,
            example='{"path": "guides/setup.md", "sections": ["Install"]}',
        ),
        Tool(
            name="list_doc_pages",
            title="List the pages",
            description="List all available documentation pages",
            arguments=ListDocPages,
            run=list_doc_pages,
            example='{"category": "Guides"}',
        ),
    ),
    shape_error=shape_error,
    usage="Find pages with search_docs, then read with get_doc_page, best only the sections you "
    "need; list_doc_pages shows what there is.",
)
