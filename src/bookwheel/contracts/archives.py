"""The toolset `archives`: one search over notes and saved pages that tells who cites whom."""
# ruff: noqa: N815 - names are as clients write them

from __future__ import annotations

import html
import logging
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from bookwheel.addresses import document_id
from bookwheel.contracts.documents_answers import reply_with, sendable
from bookwheel.contracts.tool import NOT_A_FLAG, NOT_BLANK, Arguments, Contract, Reply, Tool
from bookwheel.contracts.wording import one_line
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError
from bookwheel.model import Document
from bookwheel.query import SearchHit, SearchMode, SearchRequest, SearchResults, Snippet
from bookwheel.reading.citations import Citations, Cited
from bookwheel.reading.graph import Graph, Node, make_graph
from bookwheel.search.highlight import Highlights

log = logging.getLogger(__name__)

DEEPEST, MOST_RESULTS = 3, 50
MOST_CITATIONS = 50
"""Of one list of citations."""
_FEWEST_CITATIONS = 5
_CITATIONS_OF_AN_ANSWER = 100
"""About; what the lists of all results share."""
_SNIPPET_LENGTH = 240
_CUT = "..."
_WRITTEN_OUT = ("inline", "reference", "annotation")
"""Kinds of links that show another text than their target."""
_EXAMPLE = '{"query": "machine learning", "includeCitations": true, "limit": 5}'


def _up_to(most: int) -> AfterValidator:
    def check(value: int) -> int:
        if not 1 <= value <= most:
            raise ValueError(f"must be a whole number from 1 to {most}")
        return value

    return AfterValidator(check)


def _bounds(most: int) -> dict[str, Any]:
    return {"minimum": 1, "maximum": most}


class SearchArchives(Arguments):
    """What is asked of the archives."""

    query: Annotated[str, NOT_BLANK] = Field(description="The search query")
    fuzzy: bool = Field(True, description="Whether to enable fuzzy matching")
    includeCitations: bool = Field(False, description="Whether to include citation information")
    citationDepth: Annotated[int, _up_to(DEEPEST), NOT_A_FLAG] = Field(
        1,
        description="How many levels of citations to include",
        json_schema_extra=_bounds(DEEPEST),
    )
    limit: Annotated[int, _up_to(MOST_RESULTS), NOT_A_FLAG] = Field(
        10,
        description="Maximum number of results to return",
        json_schema_extra=_bounds(MOST_RESULTS),
    )


def search(work: Work, asked: SearchArchives) -> Reply:
    """Answer documents with what matched in them and, if wanted, their citations."""
    library = work.library
    request = _request(asked)
    found = _prefer_words(library.search(request), asked.limit)
    documents = library.documents_of(found.hits)
    pairs = zip(found.hits, documents, strict=True)
    hits = [hit for hit, document in pairs if document is not None]
    there = [each for each in documents if each is not None]
    results = [
        {"document": _describe(hit, each), "highlights": _show_highlights(marked)}
        for hit, each, marked in zip(hits, there, library.highlights(request, hits), strict=True)
    ]
    answer: dict[str, Any] = {"results": results}
    notes = _notes(work, found)
    if asked.includeCitations and there:
        most = _most_citations(len(there))
        citations = library.citations(there, depth=asked.citationDepth, most=most)
        for result, each in zip(results, citations, strict=True):
            result["citations"] = _show_citations(each)
        answer["citationGraph"] = _show_graph(_draw(there, citations))
        if any(each.is_cut for each in citations):
            notes.append(f"Not all citations are given: each list holds at most {most}.")
    answer["metadata"] = _echo(asked, len(results))
    return reply_with(answer | ({"note": " ".join(notes)} if notes else {}), results=len(results))


def _request(asked: SearchArchives) -> SearchRequest:
    """Return the question; one that must be met as it is written is not met by meaning."""
    return SearchRequest(
        asked.query,
        limit=2 * asked.limit if asked.fuzzy else asked.limit,
        fuzzy=asked.fuzzy,
        exacting=not asked.fuzzy,
        mode=SearchMode.HYBRID if asked.fuzzy else SearchMode.LEXICAL,
        rerank=None if asked.fuzzy else False,
        snippet_length=_SNIPPET_LENGTH,
    )


def _prefer_words(found: SearchResults, limit: int) -> SearchResults:
    """Return an answer in which meaning alone counts only where no document has the words."""
    with_words = tuple(hit for hit in found.hits if hit.word_score != 0)
    return found._replace(hits=(with_words or found.hits)[:limit])


def _notes(work: Work, found: SearchResults) -> list[str]:
    near = ", ".join(repr(sendable(word)) for word in found.suggestions)
    tried = f" ({'; '.join(map(sendable, found.relaxed))})" if found.relaxed else ""
    nothing = "" if found.hits else f"Nothing was found{tried}."
    said = (nothing, f"Near are {near}." if near else "", found.respelt if found.hits else "")
    return [each for each in (work.remark, *said, found.caution) if each]


def _most_citations(results: int) -> int:
    share = _CITATIONS_OF_AN_ANSWER // (2 * results)
    return min(MOST_CITATIONS, max(_FEWEST_CITATIONS, share))


def _describe(hit: SearchHit, document: Document) -> dict[str, Any]:
    return {
        "id": document_id(document.collection, document.path),
        "title": hit.title,
        "path": f"{document.collection}/{document.path}",
        "source": document.source,
        "date": document.date,
        "score": hit.score,
    }


def _show_highlights(found: Highlights) -> list[dict[str, Any]]:
    fields = (("title", (found.title,) if found.title else ()), ("content", found.content))
    return [
        {"field": field, "snippets": [_mark(each) for each in snippets]}
        for field, snippets in fields
        if snippets
    ]


def _mark(snippet: Snippet) -> str:
    """Return a snippet as HTML with its words marked."""
    parts = [_CUT] if snippet.cut_before else []
    at = 0
    for start, end in snippet.marks:
        parts.append(_escape(snippet.text[at:start]))
        parts.append(f"<mark>{_escape(snippet.text[start:end])}</mark>")
        at = end
    parts.append(_escape(snippet.text[at:]))
    return "".join([*parts, _CUT] if snippet.cut_after else parts)


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _show_citations(found: Citations) -> dict[str, Any]:
    return {
        "citing": [_show_citation(each) for each in found.citing],
        "cited": [_show_citation(each) for each in found.cited],
    }


def _show_citation(cited: Cited) -> dict[str, Any]:
    return {
        "sourceId": document_id(cited.source.collection, cited.source.path),
        "targetId": cited.target_id if cited.target else None,
        "targetUrl": cited.url,
        "context": _in_context(cited),
        "confidence": cited.confidence,
    }


def _in_context(cited: Cited) -> str:
    """Return the sentence of a citation with its link written out, as its author would."""
    text, context = cited.text, cited.context
    if cited.kind not in _WRITTEN_OUT or not text or context.count(text) != 1:
        return context
    return context.replace(text, f"[{text}]({cited.address})")


def _draw(documents: Sequence[Document], citations: Sequence[Citations]) -> Graph:
    every = (each for own in citations for each in (*own.citing, *own.cited))
    return make_graph(documents, every)


def _show_graph(graph: Graph) -> dict[str, Any]:
    edges = [
        {"from": each.source, "to": each.target, "confidence": each.confidence}
        for each in graph.edges
    ]
    return {"nodes": [_show_node(each) for each in graph.nodes], "edges": edges}


def _show_node(node: Node) -> dict[str, Any]:
    kind = "target" if node.level else "source"
    return {"id": node.id, "label": node.label, "type": kind}


def _echo(asked: SearchArchives, count: int) -> dict[str, Any]:
    return {
        "totalResults": count,
        "query": sendable(asked.query),
        "fuzzy": asked.fuzzy,
        "includeCitations": asked.includeCitations,
        "citationDepth": asked.citationDepth,
        "limit": asked.limit,
    }


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    """Answer what went wrong, and leave a line about it on standard error."""
    advice = sendable(error.advice)
    log.error("Error in %s tool: %s", _SEARCH.name, one_line(advice))
    return Reply(f"Failed to search local archives: {advice}", is_error=True)


_SEARCH = Tool(
    name="searchLocalArchives",
    title="Search the archives",
    description="Searches the local research and URL content archives: notes, papers and saved "
    "pages, best first. With includeCitations each result tells what it cites and what cites it, "
    "and citationGraph how they hang together.",
    arguments=SearchArchives,
    run=search,
    example=_EXAMPLE,
)

CONTRACT = Contract(
    name="archives",
    tools=(_SEARCH,),
    shape_error=shape_error,
    resources=True,
    usage="Search with searchLocalArchives; ask for citations to see what a document rests on. "
    "Read a document as the resource at its docs:// address.",
)
