"""Answers of the `documents` tools against the interfaces that their design writes down."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.clients.assistant import Assistant
from tests.clients.documents_shelf import ask

RETURNS = {
    "list_collections": """
  collection: string;      // Collection name or alias
  collectionId?: string;   // Full collection ID (if alias used)
  documentCount: number;
  description?: string;    // From manifest (NEW)
  version?: string;        // From manifest (NEW)
""",
    "list_documents": """
  documents: Array;
  total: number;          // Total document count (for pagination)
  hasMore: boolean;       // Whether more documents exist
""",
    "list_documents.documents": """
    id: string;           // Document ID (typically file path)
    title: string;        // Extracted from first # heading, or filename
    size: number;         // Character count
""",
    "get_outline": """
  collection: string;
  document: string;
  title: string;              // Document title (# heading)
  outline: Array;
""",
    "get_outline.outline": """
    level: number;            // Heading level (1-6)
    text: string;             // Heading text
    line: number;             // Line number in document
""",
    "get_section": """
  collection: string;
  document: string;
  section: string;            // Matched heading
  level: number;              // Heading level
  content: string;            // Section content
  startLine: number;          // Start line in document
  endLine: number;            // End line in document
""",
    "search_batch": """
  results: Array;
""",
    "search_batch.results": """
    query: string;
    results: Array;  // Same as documents_search
""",
    "find_related": """
  source: object;
  related: Array;
""",
    "find_related.source": """
    collection: string;
    document: string;
""",
    "find_related.related": """
    collection: string;
    document: string;
    content: string;
    relevanceScore: number;
""",
    "search": """
  collection: string;
  collectionId?: string;
  documentId: string;
  documentTitle: string;      // NEW: Extracted document title
  sectionHeading?: string;    // NEW: Nearest preceding heading
  content: string;
  relevanceScore: number;
  distance: number;
  chunkIndex?: number;        // NEW: Position in document (1-indexed)
  totalChunks?: number;       // NEW: Total chunks in document
""",
}
"""What the tools return, in the words of their design; objects in objects stand apart."""

FURTHER = {
    "list_documents": {"collection", "collectionId"},
    "get_outline": {"collectionId"},
    "get_section": {"collectionId", "otherSections", "hint"},
    "find_related.source": {"collectionId"},
    "find_related.related": {
        "collectionId",
        "documentTitle",
        "sectionHeading",
        "distance",
        "chunkIndex",
        "totalChunks",
    },
}
"""Fields that came on top."""

_FIELD = re.compile(r"(?P<name>\w+)(?P<optional>\?)?: (?P<type>\w+);")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "Array": (list,),
    "object": (dict,),
}


def check(place: str, value: dict[str, Any]) -> None:
    """Compare the fields of an object with the interface, in order, optional ones if there."""
    wanted = [field.groupdict() for field in _FIELD.finditer(RETURNS[place])]
    order = [field["name"] for field in wanted if field["name"] in value]
    assert [name for name in value if name not in FURTHER.get(place, ())] == order
    for field in wanted:
        if field["name"] not in value:
            assert field["optional"], (place, field["name"])
            continue
        found = value[field["name"]]
        if field["name"] == "distance" and found is None:  # a chunk without a vector
            continue
        assert isinstance(found, _TYPES[field["type"]]), (place, field["name"])
        assert isinstance(found, bool) == (field["type"] == "boolean")


def each(place: str, value: Any) -> None:
    """Compare an object, or every object of a list that must hold some."""
    if isinstance(value, list):
        assert value, place
    for item in value if isinstance(value, list) else [value]:
        check(place, item)


@pytest.mark.requirement("D-002", "D-007", "D-040", "D-041")
def test_the_answers_of_the_older_tools_have_their_fields_and_the_new_ones(
    assistant: Assistant,
) -> None:
    each("list_collections", ask(assistant, "list_collections"))
    for query in ("krill", "okapi", "línea 73", "quagga"):
        each("search", ask(assistant, "search", query=query))


@pytest.mark.requirement("D-014", "D-015", "D-021", "D-027", "D-056", "D-058", "D-062")
@pytest.mark.parametrize("collection", ["hb", "plain"])
def test_the_answers_of_the_new_tools_have_exactly_their_fields(
    assistant: Assistant, collection: str
) -> None:
    document = {"hb": "birds/emperor.md", "plain": "emperor.md"}[collection]
    of_document = {"collection": collection, "document": document}

    listing = ask(assistant, "list_documents", collection=collection)
    each("list_documents", listing)
    each("list_documents.documents", listing["documents"])
    outline = ask(assistant, "get_outline", **of_document)
    each("get_outline", outline)
    each("get_outline.outline", outline["outline"])
    each("get_section", ask(assistant, "get_section", **of_document, section="Emperor"))
    queries = [{"query": "krill", "collections": [collection]}]
    batch = ask(assistant, "search_batch", queries=queries)
    each("search_batch", batch)
    each("search_batch.results", batch["results"])
    each("search", batch["results"][0]["results"])
    related = ask(assistant, "find_related", **of_document, sameDocument=True)
    each("find_related", related)
    each("find_related.source", related["source"])
    each("find_related.related", related["related"])
