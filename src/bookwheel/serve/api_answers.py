"""From what the library gives to what `/api` answers; the pages show the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bookwheel import __version__
from bookwheel.addresses import uri
from bookwheel.engines.base import CollectionState
from bookwheel.model import Document
from bookwheel.query import Filters, SearchHit, SearchRequest, SearchResults
from bookwheel.reading.graph import Graph, Node
from bookwheel.search.facets import Facets
from bookwheel.serve import api_models as models
from bookwheel.serve.web import address, document_path
from bookwheel.text.language import filler_words
from bookwheel.view import View

_MOST_UNREADABLE = 1000
_MOST_MARKED = 8
_MOST_ROOTS = 20
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def make_request(asked: models.SearchAsked, *, limit: int = 10, offset: int = 0) -> SearchRequest:
    """Return what the library is asked."""
    filters = Filters(
        collections=asked.collection,
        extensions=tuple(f".{each.lower().lstrip('.')}" for each in asked.type),
        folders=asked.folder,
        date_from=f"{asked.year_from:04}-01-01" if asked.year_from else None,
        date_to=f"{asked.year_to:04}-12-31" if asked.year_to else None,
    )
    return SearchRequest(asked.q, filters, limit=limit, offset=offset, mode=asked.mode)


def show_results(
    results: SearchResults, *, base: str, alone: bool, remark: str = ""
) -> models.SearchAnswer:
    """Return the answer to a question."""
    return models.SearchAnswer(
        query=results.query,
        hits=[show_hit(hit, base=base, alone=alone) for hit in results.hits],
        total=results.total,
        relaxed=list(results.relaxed),
        suggestions=list(results.suggestions),
        remarks=[*results.remarks, *([remark] if remark else [])],
        unreadable=results.unreadable,
        files=results.files,
    )


def show_hit(hit: SearchHit, *, base: str, alone: bool) -> models.HitAnswer:
    """Return one hit, with the page that shows its best line with the matched words marked."""
    words = _marked_words(hit)
    line = _best_line(hit, words)
    path = document_path(hit.collection, hit.document)
    return models.HitAnswer(
        collection=hit.collection,
        document=hit.document,
        title=hit.title,
        heading=hit.heading,
        trail=list(hit.trail),
        pointer=hit.pointer,
        line=line,
        start_line=hit.start_line,
        end_line=hit.end_line,
        snippet=models.SnippetAnswer(
            text=hit.snippet.text,
            marks=list(hit.snippet.marks),
            cut_before=hit.snippet.cut_before or hit.chunk > 1,
            cut_after=hit.snippet.cut_after or hit.chunk < hit.chunks,
        ),
        score=hit.score,
        extension=hit.extension,
        date=hit.date[:10],
        language=hit.language,
        address=uri(hit.collection, hit.document, alone=alone),
        url=address(base, path, line=line, mark=words) + "#bw-target",
    )


def _marked_words(hit: SearchHit) -> list[str]:
    """Return the telling words of the document that matched, as they stand in it."""
    text = hit.snippet.text.casefold()
    words = [word for start, end in hit.snippet.marks for word in _WORD.findall(text[start:end])]
    filler = filler_words(hit.language)
    telling = [word for word in words if word not in filler] or words
    return list(dict.fromkeys(telling))[:_MOST_MARKED]


def _best_line(hit: SearchHit, words: list[str]) -> int:
    """Return the line of the passage that holds most of the words that matched."""
    best, most = 0, 0
    for number, line in enumerate(hit.passage.casefold().split("\n")):
        held = _count_apart([word for word in words if word in line])
        if held > most:
            best, most = number, held
    return hit.start_line + best


def _count_apart(words: list[str]) -> int:
    """Return how many words there are; one within another (`link`, `links`) is not counted."""
    return sum(not any(word != other and word in other for other in words) for word in words)


def show_facets(facets: Facets) -> models.FacetsAnswer:
    """Return the values of the filters."""
    return models.FacetsAnswer(
        collections=_counts(facets.collections),
        types=_counts(facets.types),
        years=_counts(facets.years),
        folders=_counts(facets.folders),
        complete=facets.is_complete,
    )


def _counts(counts: Iterable[tuple[str, int]]) -> list[models.CountAnswer]:
    return [models.CountAnswer(value=value, count=count) for value, count in counts]


def entry_fields(document: Document, *, base: str, alone: bool) -> dict[str, Any]:
    """Return what a listing tells of a document."""
    return {
        "collection": document.collection,
        "document": document.path,
        "title": document.title,
        "description": document.description,
        "tags": list(document.tags),
        "extension": document.extension,
        "author": document.author,
        "date": document.date[:10],
        "language": document.language,
        "words": document.words,
        "characters": document.characters,
        "size": document.size,
        "address": uri(document.collection, document.path, alone=alone),
        "url": address(base, document_path(document.collection, document.path)),
    }


def read_graph(library: View, asked: models.GraphAsked) -> Graph:
    """Return the citation graph around a document, around what words find, or of all."""
    if asked.document:
        roots = [library.document(asked.document, next(iter(asked.collection), None))]
    elif asked.q.strip():
        hits = library.search(make_request(asked, limit=_MOST_ROOTS)).hits
        roots = [library.document(hit.document, hit.collection) for hit in hits]
        if not roots:
            return Graph((), ())
    else:
        roots = []
    return library.graph(roots, depth=asked.depth, most=asked.most, outside=asked.outside)


def node_address(node: Node, base: str) -> str | None:
    """Return the page that a node of the graph leads to."""
    if node.document is None:
        return None
    return address(base, document_path(node.document.collection, node.document.path))


def show_graph(graph: Graph, *, base: str) -> models.GraphAnswer:
    """Return who cites whom."""
    return models.GraphAnswer(
        nodes=[
            models.NodeAnswer(
                id=node.id,
                label=node.label,
                collection=node.document.collection if node.document else None,
                document=node.document.path if node.document else None,
                level=node.level,
                url=node_address(node, base),
            )
            for node in graph.nodes
        ],
        edges=[models.EdgeAnswer(**edge._asdict()) for edge in graph.edges],
        cut=graph.is_cut,
    )


def show_status(
    library: View, *, state: Mapping[str, Any], toolsets: Mapping[str, tuple[str, ...]]
) -> models.StatusAnswer:
    """Return the state of the server and of all collections."""
    under_way = state.get("indexing")
    return models.StatusAnswer(
        version=__version__,
        ready=state["ready"],
        behind=state.get("status") == "behind",
        indexing=models.IndexingAnswer(**under_way) if under_way else None,
        semantic=library.exists and library.knows_meaning,
        collections=[_show_collection(library, each) for each in library.states()],
        toolsets={name: list(tools) for name, tools in toolsets.items()},
    )


def _show_collection(library: View, state: CollectionState) -> models.CollectionAnswer:
    collection, name = state.collection, state.collection.name
    ledger = library.ledger(name)
    return models.CollectionAnswer(
        name=name,
        alias=collection.alias,
        description=collection.description,
        version=collection.version,
        documents=state.documents,
        types=_counts(library.kinds(name).items()),
        indexed_at=_time(state.scanned_at),
        unreadable=[
            models.UnreadableEntry(document=row.path, status=str(row.status), reason=row.reason)
            for row in ledger[:_MOST_UNREADABLE]
        ],
        unreadable_total=len(ledger),
        skipped=[
            models.SkippedEntry(reason=reason, extension=extension, files=number)
            for (reason, extension), number in library.skipped(name).items()
        ],
    )


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
