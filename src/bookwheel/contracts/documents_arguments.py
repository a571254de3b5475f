"""The arguments of the `documents` tools, with their defaults and bounds."""
# ruff: noqa: N815 - names are as clients write them

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from bookwheel.contracts.tool import NOT_A_FLAG, Arguments

MOST_RESULTS = 100
MOST_LISTED = 1000
MOST_QUERIES = 10
BUDGET = 20_000
"""Characters of a document given at once unless more are asked for."""

Collection = Annotated[str, Field(description="Collection name or alias")]
Document = Annotated[str, Field(description="Document ID")]
Query = Annotated[str, Field(description="Search query")]
Collections = Annotated[
    list[str] | None, Field(description="Limit to these collections (names or aliases)")
]
Count = Annotated[int, Field(ge=1), NOT_A_FLAG]
Offset = Annotated[int, Field(ge=0), NOT_A_FLAG]
Depth = Annotated[int, Field(ge=1, le=6), NOT_A_FLAG]


def _refuse_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


MaxDistance = Annotated[
    float | None,
    Field(description="Maximum semantic distance; hits without a distance are kept"),
    BeforeValidator(_refuse_flag),
]
HybridSearch = Annotated[
    bool, Field(description="Search by words and by meaning; false: by meaning alone if available")
]


class ListCollections(Arguments):
    """documents_list_collections takes none."""


class Search(Arguments):
    """The arguments of documents_search."""

    query: Query
    collections: Collections = None
    limit: Count = Field(10, description="Maximum results, up to 100")
    maxDistance: MaxDistance = None
    hybridSearch: HybridSearch = True
    rerank: bool = Field(False, description="Reorder by a slower model if available")


class GetDocument(Arguments):
    """The arguments of documents_get_document."""

    collection: Collection
    document: Document
    maxChars: Count = Field(BUDGET, description="Maximum characters to return")
    offset: Offset = Field(0, description="Character to start at (nextOffset of a cut answer)")


class ListDocuments(Arguments):
    """The arguments of documents_list_documents."""

    collection: Collection
    limit: Count = Field(100, description="Maximum documents to return, up to 1000")
    offset: Offset = Field(0, description="Offset for pagination")


class GetOutline(Arguments):
    """The arguments of documents_get_outline."""

    collection: Collection
    document: Document
    maxDepth: Depth = Field(3, description="Maximum heading depth (1-6)")


class GetSection(Arguments):
    """The arguments of documents_get_section."""

    collection: Collection
    document: Document
    section: str = Field(
        description="Heading or part of one, in any case; 'Parent > Child' or 'Heading #2' too"
    )
    includeSubsections: bool = Field(True, description="Include nested subsections")


class BatchQuery(Arguments):
    """One of the searches."""

    query: Query
    collections: Collections = None


class SearchBatch(Arguments):
    """The arguments of documents_search_batch."""

    queries: list[BatchQuery] = Field(
        min_length=1, max_length=MOST_QUERIES, description="Array of search queries (max 10)"
    )
    limit: Count = Field(5, description="Results per query, up to 100")
    maxDistance: MaxDistance = None
    hybridSearch: HybridSearch = True


class FindRelated(Arguments):
    """The arguments of documents_find_related."""

    collection: Annotated[str, Field(description="Collection containing the source")]
    document: Annotated[str, Field(description="Document ID to find related content for")]
    chunk: str | None = Field(
        None, description="Text to find related content for, instead of the whole document"
    )
    limit: Count = Field(5, description="Maximum related items, up to 100")
    sameDocument: bool = Field(False, description="Include the source document too")
