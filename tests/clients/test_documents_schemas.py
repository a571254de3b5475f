"""The `documents` tools as a client sees them listed: exact schemas, siblings, size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.library import Library
from tests.clients.assistant import LEGACY, MODERN, Assistant, assisting
from tests.clients.documents_shelf import configured, write_shelf

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


INTERFACES = {
    "documents_list_documents": """
  collection: z.string().describe('Collection name or alias'),
  limit: z.number().optional().default(100).describe('Maximum documents to return'),
  offset: z.number().optional().default(0).describe('Offset for pagination'),
""",
    "documents_get_outline": """
  collection: z.string().describe('Collection name or alias'),
  document: z.string().describe('Document ID'),
  maxDepth: z.number().optional().default(3).describe('Maximum heading depth (1-6)'),
""",
    "documents_get_section": """
  collection: z.string().describe('Collection name or alias'),
  document: z.string().describe('Document ID'),
  section: z.string().describe('Section heading text to match'),
  includeSubsections: z.boolean().optional().default(true).describe('Include nested subsections'),
""",
    "documents_search_batch": """
  queries: z.array(z.object({})).min(1).max(10).describe('Array of search queries (max 10)'),
  limit: z.number().optional().default(5).describe('Results per query'),
  maxDistance: z.number().optional().describe('Maximum distance threshold per query'),
  hybridSearch: z.boolean().optional().default(true).describe('Use hybrid search'),
""",
    "documents_search_batch.queries": """
    query: z.string().describe('Search query'),
    collections: z.array(z.string()).optional().describe('Limit to specific collections'),
""",
    "documents_find_related": """
  collection: z.string().describe('Collection containing the source'),
  document: z.string().describe('Document ID to find related content for'),
  chunk: z.string().optional().describe('Specific chunk content (if not provided, uses ...)'),
  limit: z.number().optional().default(5).describe('Maximum related items'),
  sameDocument: z.boolean().optional().default(false).describe('Include chunks from the same ...'),
""",
}
"""The arguments of the new tools as their design writes them down."""
_LINE = re.compile(
    r"(?P<name>\w+): z\.(?P<type>\w+)\(.*?\)(?P<bounds>\.min.*?)?"
    r"(?P<optional>\.optional\(\))?(?:\.default\((?P<default>\w+)\))?\.describe\("
)
EVERY = list(SCHEMAS)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with configured(write_shelf(tmp_path_factory.mktemp("documents"))) as opened:
        yield opened


@pytest.fixture(scope="module", params=[LEGACY, MODERN])
def assistant(library: Library, request: pytest.FixtureRequest) -> Iterator[Assistant]:
    with assisting(library, era=request.param) as connected:
        yield connected


@pytest.mark.requirement("D-001")
@pytest.mark.parametrize("toolset", [None, "documents"])
def test_the_eight_tools_are_listed_and_nothing_else(library: Library, toolset: str | None) -> None:
    with assisting(library, toolset) as assistant:
        assert [tool["name"] for tool in assistant.tools()] == EVERY


@pytest.mark.requirement("D-013", "D-020", "D-026", "D-038", "D-055", "D-061")
@pytest.mark.parametrize("name", EVERY)
def test_each_tool_is_listed_with_exactly_these_arguments(assistant: Assistant, name: str) -> None:
    (tool,) = [tool for tool in assistant.tools() if tool["name"] == name]

    assert tool["inputSchema"] == SCHEMAS[name]
    assert tool["title"]
    assert tool["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


@pytest.mark.parametrize("place", INTERFACES)
def test_arguments_have_the_names_types_and_defaults_of_their_design(
    assistant: Assistant, place: str
) -> None:
    name, _, inside = place.partition(".")
    (schema,) = [each["inputSchema"] for each in assistant.tools() if each["name"] == name]
    if inside:
        schema = schema["properties"][inside]["items"]
    wanted = [line.groupdict() for line in _LINE.finditer(INTERFACES[place])]

    assert list(schema["properties"]) == [line["name"] for line in wanted]
    assert schema["required"] == [line["name"] for line in wanted if not line["optional"]]
    for line in wanted:
        made = schema["properties"][line["name"]]
        # A whole number is a number: the narrower word says what the tools take.
        kind = "number" if made["type"] == "integer" else made["type"]
        assert kind == line["type"], line["name"]
        assert made.get("default") == json.loads(line["default"] or "null")
        if line["bounds"]:
            assert (made["minItems"], made["maxItems"]) == (1, 10)


@pytest.mark.requirement("D-068")
@pytest.mark.parametrize("name", EVERY)
def test_each_description_says_when_to_use_it_and_when_a_sibling(
    assistant: Assistant, name: str
) -> None:
    (said,) = [tool["description"] for tool in assistant.tools() if tool["name"] == name]
    named = [other for other in re.findall(r"documents_[a-z_]+", said) if other != name]

    assert named
    assert set(named) <= set(EVERY)
    assert re.search(r"\b([Uu]se|need)\b", said)


@pytest.mark.requirement("D-068")
def test_the_list_of_tools_as_answered_stays_below_eight_kilobytes(assistant: Assistant) -> None:
    answer = assistant.ask("list_tools").model_dump_json(by_alias=True, exclude_none=True)

    assert len(answer.encode()) < 8000
