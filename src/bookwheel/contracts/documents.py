"""The `documents` toolset: eight tools that answer with JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bookwheel.contracts import documents_arguments as take
from bookwheel.contracts.documents_answers import (
    LONGEST_SECTION,
    cut_section,
    describe_collection,
    describe_remainder,
    explain_nothing,
    known_collections,
    list_hits,
    name_collection,
    name_document,
    reply_with,
    reply_with_list,
    sendable,
    shorten,
)
from bookwheel.contracts.tool import Contract, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BadRequest, BookwheelError, NotFound, Upstream
from bookwheel.model import Document
from bookwheel.query import Filters, SearchMode, SearchRequest, SearchResults
from bookwheel.reading.documents import find_collection
from bookwheel.reading.sections import SectionText
from bookwheel.safety.redact import make_safe
from bookwheel.view import View

_NEAR = 3
"""How many documents of other collections are named where those asked for have nothing."""
_FAR = 2**53
"""Past the end of any listing, and within what every store can count."""


def list_collections(work: Work, _: take.ListCollections) -> Reply:
    """Answer which collections there are."""
    library = work.library
    counts = {state.collection.name: state.documents for state in library.states()}
    collections = known_collections(library).values()
    return reply_with_list(
        "collections", [describe_collection(each, counts.get(each.name, 0)) for each in collections]
    )


def search(work: Work, asked: take.Search) -> Reply:
    """Answer the best passage of each document found."""
    library = work.library
    request = _request(library, asked.query, asked.collections, asked)
    request = request._replace(rerank=asked.rerank or None)
    (results,) = _answers(library, [request])
    found = list_hits(library, results.hits)
    remarks = [work.remark] * bool(work.remark) + [_sentence(each) for each in results.remarks]
    if not found:
        anywhere = request._replace(filters=Filters(), limit=_NEAR, rerank=False)
        elsewhere = next(_answers(library, [anywhere])).hits if asked.collections else ()
        text = " ".join([explain_nothing(library, results, elsewhere), *remarks])
        return Reply(text, {"results": []}, results=0)
    remarks += [each for each in (*_notes(results), shorten(found)) if each]
    if remarks:
        # The answer is a bare array: only its items have room for a remark.
        found[0]["note"] = " ".join(remarks)
    return reply_with_list("results", found)


def get_document(work: Work, asked: take.GetDocument) -> Reply:
    """Answer a document's text, or as much of it as was asked for."""
    library = work.library
    document = library.document(asked.document, asked.collection)
    part = library.text(document, offset=asked.offset, length=asked.maxChars)
    answer = name_document(library, document) | {"content": part.text}
    return reply_with(answer | describe_remainder(part))


def list_documents(work: Work, asked: take.ListDocuments) -> Reply:
    """Answer a page of a collection's table of contents."""
    library = work.library
    page = library.list_documents(
        asked.collection, limit=min(asked.limit, take.MOST_LISTED), offset=min(asked.offset, _FAR)
    )
    documents = [
        {"id": each.path, "title": each.title, "size": each.characters} for each in page.documents
    ]
    collection = find_collection([*known_collections(library).values()], asked.collection)
    answer = {"documents": documents, "total": page.total, "hasMore": page.has_more}
    answer |= {"note": work.remark} if work.remark else {}
    return reply_with(name_collection(collection) | answer, results=len(documents))


def get_outline(work: Work, asked: take.GetOutline) -> Reply:
    """Answer a document's headings."""
    library = work.library
    document = library.document(asked.document, asked.collection)
    outline = [each._asdict() for each in library.outline(document, depth=asked.maxDepth)]
    answer = {"title": document.title, "outline": outline}
    return reply_with(name_document(library, document) | answer, results=len(outline))


def get_section(work: Work, asked: take.GetSection) -> Reply:
    """Answer one section of a document."""
    library = work.library
    document = library.document(asked.document, asked.collection)
    try:
        found = library.section(document, asked.section, subsections=asked.includeSubsections)
    except NotFound as error:
        found = _read_place(library, document, asked.section, error)
    answer = name_document(library, document) | {
        "section": found.heading,
        "level": found.level,
        "content": found.text,
        "startLine": found.start_line,
        "endLine": found.end_line,
    }
    if found.others:
        answer["otherSections"] = list(found.others)
        answer["hint"] = "Further headings match: ask with an entry of otherSections as section."
    if len(found.text) > LONGEST_SECTION:
        cut = cut_section(found, library.text(document).text)
        cut["hint"] = " ".join([cut["hint"], answer["hint"]] if found.others else [cut["hint"]])
        answer |= cut
    return reply_with(answer)


def _read_place(library: View, document: Document, pointer: str, error: NotFound) -> SectionText:
    """Return the page, slide or other place that a hit's pointer names; else there is none."""
    try:
        place = library.place(document, pointer)
    except (NotFound, BadRequest):
        raise error from None
    heading = make_safe(sendable(pointer))
    return SectionText(heading, 1, place.text, place.start_line, place.end_line, ())


def search_batch(work: Work, asked: take.SearchBatch) -> Reply:
    """Answer several searches at once."""
    library = work.library
    requests = [_request(library, each.query, each.collections, asked) for each in asked.queries]
    entries, every = [], []
    remarks = dict.fromkeys([work.remark] * bool(work.remark))
    work.advance(0, len(requests), "searching")
    for request, results in zip(requests, _answers(library, requests), strict=True):
        found = list_hits(library, results.hits)
        entries.append({"query": sendable(request.text), "results": found})
        every += found
        remarks |= dict.fromkeys(map(_sentence, results.remarks))
        remarks |= dict.fromkeys(_notes(results))
        if len(entries) < len(requests):
            work.advance(len(entries), len(requests), "searching")
    cut = shorten(every)
    remarks |= dict.fromkeys([cut] * bool(cut))
    note = {"note": " ".join(remarks)} if remarks else {}
    return reply_with({"results": entries} | note, results=len(every))


def find_related(work: Work, asked: take.FindRelated) -> Reply:
    """Answer documents like the given one, or like the given text."""
    library = work.library
    document = library.document(asked.document, asked.collection)
    hits = library.find_related(
        document,
        text=(asked.chunk or "").strip() or None,
        limit=min(asked.limit, take.MOST_RESULTS),
        same_document=asked.sameDocument,
    )
    related = list_hits(library, hits, document_key="document")
    answer = {"source": name_document(library, document), "related": related}
    remarks = [each for each in (work.remark, shorten(related)) if each]
    answer |= {"note": " ".join(remarks)} if remarks else {}
    return reply_with(answer, results=len(related))


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    """Answer with what went wrong and what is near, as text."""
    return Reply(sendable(error.advice), is_error=True)


def _request(
    library: View,
    query: str,
    collections: Sequence[str] | None,
    asked: take.Search | take.SearchBatch,
) -> SearchRequest:
    return SearchRequest(
        query,
        Filters(collections=tuple(collections or ())),
        limit=min(asked.limit, take.MOST_RESULTS),
        mode=SearchMode.HYBRID if asked.hybridSearch else _alone(library),
        max_distance=asked.maxDistance,
        snippet_length=0,
    )


def _alone(library: View) -> SearchMode:
    """Return what to search by where both are not wanted: meaning, if there is any.

    By both is by words where there is none, and the answer then says why.
    """
    return SearchMode.SEMANTIC if library.knows_meaning else SearchMode.HYBRID


def _answers(library: View, requests: Sequence[SearchRequest]) -> Iterator[SearchResults]:
    """Yield the answers, by words from where the model fails on: what is asked is answered."""
    done = 0
    try:
        for results in library.search_many(requests):
            yield results
            done += 1
    except Upstream:
        rest = [each._replace(mode=SearchMode.HYBRID) for each in requests[done:]]
        yield from library.search_many(rest)


def _notes(results: SearchResults) -> list[str]:
    """Return what to say of an answer beside its hits."""
    notes = (results.respelt, make_safe(results.without_meaning), results.caution)
    return [each for each in notes if each]


def _sentence(remark: str) -> str:
    return f"{remark[0].upper()}{remark[1:]}."


CONTRACT = Contract(
    "documents",
    (
        Tool(
            "documents_list_collections",
            "List collections",
            "List the collections of documents with their document counts, descriptions and "
            "versions. Use this first if you do not know what there is; then "
            "documents_list_documents to browse one, or documents_search.",
            take.ListCollections,
            list_collections,
            example="{}",
        ),
        Tool(
            "documents_search",
            "Search documents",
            "Find passages that answer a question or hold certain words, best first, over all "
            "collections or some. Use documents_search_batch for several questions at once, and "
            "documents_get_section or documents_get_document to read on from a hit.",
            take.Search,
            search,
            example='{"query": "rotate keys", "limit": 5}',
        ),
        Tool(
            "documents_get_document",
            "Read a document",
            "Get the text of a document. Long ones come in parts: go on with offset. If you need "
            "only part of it, documents_get_outline and documents_get_section are cheaper.",
            take.GetDocument,
            get_document,
            example='{"collection": "notes", "document": "guides/setup.md"}',
        ),
        Tool(
            "documents_list_documents",
            "List documents",
            "List all documents in a collection: IDs, titles and sizes in characters, page by "
            "page. Use this to browse; to find something by content, use documents_search.",
            take.ListDocuments,
            list_documents,
            example='{"collection": "notes", "limit": 100, "offset": 0}',
        ),
        Tool(
            "documents_get_outline",
            "Show a document's outline",
            "Get the headings of a document with levels and line numbers. Use this to see how a "
            "long document is organized before reading a section with documents_get_section.",
            take.GetOutline,
            get_outline,
            example='{"collection": "notes", "document": "guides/setup.md", "maxDepth": 3}',
        ),
        Tool(
            "documents_get_section",
            "Read a section",
            "Get one section of a document by its heading. Use this when you know which section "
            "you need (from documents_get_outline or a hit's sectionHeading); for the whole text "
            "use documents_get_document.",
            take.GetSection,
            get_section,
            example='{"collection": "notes", "document": "guides/setup.md", "section": "Install"}',
        ),
        Tool(
            "documents_search_batch",
            "Search several times",
            "Run 1 to 10 searches in one call. Use this to research several topics; for a single "
            "question use documents_search.",
            take.SearchBatch,
            search_batch,
            example='{"queries": [{"query": "rotate keys"}, {"query": "backups"}]}',
        ),
        Tool(
            "documents_find_related",
            "Find related documents",
            "Find documents of the same collection that are like a given document, or like a "
            "given chunk of text. Use this to widen the context of something you have read; to "
            "look for words of your own, use documents_search.",
            take.FindRelated,
            find_related,
            example='{"collection": "notes", "document": "guides/setup.md"}',
        ),
    ),
    shape_error,
    resources=True,
    usage="Find passages with documents_search, for several questions documents_search_batch. Read "
    "on with documents_get_section; in a long document look at documents_get_outline first; "
    "documents_get_document gives all of it. documents_find_related widens the view. To browse: "
    "documents_list_collections, then documents_list_documents.",
)
