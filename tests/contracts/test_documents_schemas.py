"""The `documents` tools as clients see them: names, arguments, defaults, bounds, size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bookwheel.contracts.documents import CONTRACT
from bookwheel.contracts.tool import Tool

COLLECTION = {"description": "Collection name or alias", "type": "string"}
DOCUMENT = {"description": "Document ID", "type": "string"}
QUERY = {"description": "Search query", "type": "string"}
COLLECTIONS = {
    "description": "Limit to these collections (names or aliases)",
    "items": {"type": "string"},
    "type": "array",
}
DISTANCE = {
    "description": "Maximum semantic distance; hits without a distance are kept",
    "type": "number",
}
HYBRID = {
    "default": True,
    "description": "Search by words and by meaning; false: by meaning alone if available",
    "type": "boolean",
}


def whole(default: int, description: str, **bounds: int) -> dict[str, Any]:
    return {"default": default, "description": description, "type": "integer", **bounds}


def flag(default: bool, description: str) -> dict[str, Any]:
    return {"default": default, "description": description, "type": "boolean"}


def takes(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"properties": properties, "required": required, "type": "object"}


SCHEMAS = {
    "documents_list_collections": {"properties": {}, "type": "object"},
    "documents_search": takes(
        ["query"],
        query=QUERY,
        collections=COLLECTIONS,
        limit=whole(10, "Maximum results, up to 100", minimum=1),
        maxDistance=DISTANCE,
        hybridSearch=HYBRID,
        rerank=flag(False, "Reorder by a slower model if available"),
    ),
    "documents_get_document": takes(
        ["collection", "document"],
        collection=COLLECTION,
        document=DOCUMENT,
        maxChars=whole(20_000, "Maximum characters to return", minimum=1),
        offset=whole(0, "Character to start at (nextOffset of a cut answer)", minimum=0),
    ),
    "documents_list_documents": takes(
        ["collection"],
        collection=COLLECTION,
        limit=whole(100, "Maximum documents to return, up to 1000", minimum=1),
        offset=whole(0, "Offset for pagination", minimum=0),
    ),
    "documents_get_outline": takes(
        ["collection", "document"],
        collection=COLLECTION,
        document=DOCUMENT,
        maxDepth=whole(3, "Maximum heading depth (1-6)", minimum=1, maximum=6),
    ),
    "documents_get_section": takes(
        ["collection", "document", "section"],
        collection=COLLECTION,
        document=DOCUMENT,
        section={
            "description": "Heading or part of one, in any case; "
            "'Parent > Child' or 'Heading #2' too",
            "type": "string",
        },
        includeSubsections=flag(True, "Include nested subsections"),
    ),
    "documents_search_batch": takes(
        ["queries"],
        queries={
            "description": "Array of search queries (max 10)",
            "items": takes(["query"], query=QUERY, collections=COLLECTIONS)
            | {"description": "One of the searches."},
            "maxItems": 10,
            "minItems": 1,
            "type": "array",
        },
        limit=whole(5, "Results per query, up to 100", minimum=1),
        maxDistance=DISTANCE,
        hybridSearch=HYBRID,
    ),
    "documents_find_related": takes(
        ["collection", "document"],
        collection={"description": "Collection containing the source", "type": "string"},
        document={"description": "Document ID to find related content for", "type": "string"},
        chunk={
            "description": "Text to find related content for, instead of the whole document",
            "type": "string",
        },
        limit=whole(5, "Maximum related items, up to 100", minimum=1),
        sameDocument=flag(False, "Include the source document too"),
    ),
}


def test_the_eight_tools_are_there_and_no_other() -> None:
    assert [tool.name for tool in CONTRACT.tools] == list(SCHEMAS)


@pytest.mark.parametrize("tool", CONTRACT.tools, ids=lambda tool: tool.name)
def test_each_tool_takes_the_arguments_of_the_contract_and_only_reads(tool: Tool) -> None:
    assert tool.input_schema() == SCHEMAS[tool.name]
    assert tool.title
    assert tool.read_only


@pytest.mark.parametrize("tool", CONTRACT.tools, ids=lambda tool: tool.name)
def test_each_description_says_when_to_use_it_and_names_a_sibling(tool: Tool) -> None:
    named = [other.name for other in CONTRACT.tools if other.name in tool.description]

    assert [name for name in named if name != tool.name]
    assert " use " in tool.description.lower() or " need" in tool.description


def test_the_list_of_tools_stays_below_eight_thousand_bytes() -> None:
    listed = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema(),
        }
        for tool in CONTRACT.tools
    ]

    assert len(json.dumps(listed).encode()) < 8000
