"""The toolset `folder`: one search tool that answers in text; documents are read as resources."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from bookwheel.addresses import uri
from bookwheel.contracts.resources import is_alone
from bookwheel.contracts.tool import NOT_A_FLAG, NOT_BLANK, Arguments, Contract, Reply, Tool
from bookwheel.contracts.wording import (
    UNQUOTED,
    excerpt,
    explain_nothing,
    is_quoted,
    loosen,
    name_found,
    one_line,
)
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError
from bookwheel.query import Filters, SearchHit, SearchIn, SearchRequest, SearchResults
from bookwheel.view import View

MOST_HITS = 100
MOST_EXTENSIONS = 100
_EXTENSION = re.compile(r"[\w.+-]{1,40}")
_EXAMPLE = '{"query": "install", "searchIn": "both", "limit": 10, "fileTypes": ["md"]}'
_PLACES = {
    SearchIn.BOTH: "titles and contents",
    SearchIn.TITLE: "titles",
    SearchIn.CONTENT: "contents",
}


def _cap(limit: int) -> int:
    if limit < 1:
        raise ValueError(f"must be a whole number from 1 to {MOST_HITS}")
    return min(limit, MOST_HITS)


def _extensions(names: list[str]) -> list[str]:
    bare = [name.strip().lstrip("*").lstrip(".").lower() for name in names]
    if not all(map(_EXTENSION.fullmatch, bare)):
        raise ValueError("must hold file extensions such as 'md' or '.html'")
    distinct = [f".{name}" for name in dict.fromkeys(bare)]
    if len(distinct) > MOST_EXTENSIONS:
        raise ValueError(f"must hold at most {MOST_EXTENSIONS} file extensions")
    return distinct


class SearchDocuments(Arguments):
    """The arguments of `search_documents`; the schema shows no bounds, as its clients know it."""

    query: Annotated[str, NOT_BLANK] = Field(description="Search query")
    searchIn: Literal["title", "content", "both"] = Field(  # noqa: N815 - the clients' own name
        "both", description="Search target: title, content, or both"
    )
    limit: Annotated[int, AfterValidator(_cap), NOT_A_FLAG, WithJsonSchema({"type": "number"})] = (
        Field(10, description="Maximum number of results")
    )
    fileTypes: Annotated[list[str], AfterValidator(_extensions)] | None = Field(  # noqa: N815 - as above
        None, description="File extensions to search"
    )


def search_documents(work: Work, arguments: SearchDocuments) -> Reply:
    """Search and lay the hits out as text."""
    library = work.library
    request = SearchRequest(
        arguments.query,
        filters=Filters(extensions=tuple(arguments.fileTypes or ())),
        search_in=SearchIn(arguments.searchIn),
        limit=arguments.limit,
        snippet_length=library.settings["snippet_length"],
    )
    results = library.search(request)
    count = len(results.hits)
    alone = is_alone(library)
    entries = [_entry(n, hit, alone) for n, hit in enumerate(results.hits, 1)]
    body = entries or [_explain_nothing(library, request, results)]
    body += [remark for remark in (results.respelt, work.remark, results.caution) if remark]
    return Reply("\n\n".join([f"Search results: {count} matches", *body]), results=count)


def _entry(number: int, hit: SearchHit, alone: bool) -> str:
    address = uri(hit.collection, hit.document, alone=alone)
    return (
        f'{number}. {address} - "{one_line(hit.title)}" (relevance: {hit.score:.2f})\n'
        f"   Excerpt: {excerpt(hit)}\n"
        f"   Match location: {hit.matched_in}"
    )


def _explain_nothing(library: View, request: SearchRequest, results: SearchResults) -> str:
    """Say what was tried and what is near, also what other places or file types would give."""
    extensions = request.filters.extensions
    where = _PLACES[request.search_in] + (
        f" of {', '.join(extensions)} files" if extensions else ""
    )
    narrow = request.search_in is not SearchIn.BOTH or bool(extensions)
    how = [UNQUOTED] * is_quoted(request.text) + ["in all places and file types"] * narrow
    wider = loosen(request)._replace(filters=Filters(), search_in=SearchIn.BOTH)
    hits = library.search(wider).hits if how else ()
    alone = is_alone(library)
    found = [uri(hit.collection, hit.document, alone=alone) for hit in hits]
    return explain_nothing(results, where, elsewhere=name_found(how, found))


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    """Return an error as a tool's result, with an example of how to ask."""
    return Reply(f"{error.advice} Example: {_EXAMPLE}", is_error=True)


CONTRACT = Contract(
    name="folder",
    tools=(
        Tool(
            name="search_documents",
            title="Search documents",
            description="Search documents by title or content",
            arguments=SearchDocuments,
            run=search_documents,
        ),
    ),
    shape_error=shape_error,
    resources=True,
    usage="Find documents with search_documents, then read the resource at its docs:// address.",
)
