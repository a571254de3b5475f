"""The checklist of the `documents` design, line by line, through a client of either era."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.library import Library
from tests.clients.assistant import LEGACY, MODERN, Assistant, assisting, connected, http_server
from tests.clients.documents_shelf import (
    HANDBOOK,
    HB,
    LONG,
    SETUP,
    ask,
    configured,
    refusal,
    reply,
    write_shelf,
)

pytestmark = pytest.mark.requirement("D-070")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with configured(write_shelf(tmp_path_factory.mktemp("documents"))) as opened:
        yield opened


@pytest.fixture(scope="module", params=[LEGACY, MODERN])
def assistant(library: Library, request: pytest.FixtureRequest) -> Iterator[Assistant]:
    with assisting(library, era=request.param) as entered:
        yield entered


OF_SETUP = {"collection": "hb", "document": "guides/setup.md"}


def test_list_collections_returns_description_and_version(assistant: Assistant) -> None:
    listed = {each["collection"]: each for each in ask(assistant, "list_collections")}

    assert (listed["hb"]["description"], listed["hb"]["version"]) == ("How we work.", "2.1")
    assert (listed["void"]["description"], listed["void"]["version"]) == ("Empty so far.", "0.1")


def test_list_documents_lists_all_docs_with_titles(assistant: Assistant) -> None:
    answer = ask(assistant, "list_documents", collection="hb")

    assert {each["id"]: each["title"] for each in answer["documents"]} == {
        "birds/adelie.md": "Adélie",
        "birds/emperor.md": "Emperor",
        "birds/krill.md": "Krill",
        "guides/setup.md": "Setup Guide",
        "money/tax.md": "Tax",
    }


def test_list_documents_pagination_works_correctly(assistant: Assistant) -> None:
    pages = [
        ask(assistant, "list_documents", collection="hb", limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]

    assert [each["id"] for page in pages for each in page["documents"]] == sorted(HANDBOOK)
    assert [(page["total"], page["hasMore"]) for page in pages] == [
        (5, True),
        (5, True),
        (5, False),
    ]


def test_get_outline_returns_heading_structure(assistant: Assistant) -> None:
    outline = ask(assistant, "get_outline", **OF_SETUP)["outline"]

    assert [(each["level"], each["text"], each["line"]) for each in outline] == [
        (1, "Setup Guide", 4),
        (2, "Install", 8),
        (3, "Linux", 16),
        (2, "Usage", 24),
        (2, "Other", 28),
        (3, "Usage", 30),
    ]


def test_get_outline_respects_max_depth(assistant: Assistant) -> None:
    deepest = [
        max(each["level"] for each in ask(assistant, "get_outline", **OF_SETUP, **asked)["outline"])
        for asked in ({"maxDepth": 1}, {"maxDepth": 2}, {}, {"maxDepth": 6})
    ]

    assert deepest == [1, 2, 3, 4]


def test_get_section_extracts_correct_content(assistant: Assistant) -> None:
    found = ask(assistant, "get_section", **OF_SETUP, section="linux")

    assert found["content"] == "### Linux\n\nThe penguin way.\n\n#### Details\n\nDeep water.\n"
    assert SETUP.split("\n")[15:23] == found["content"].split("\n")


def test_get_section_handles_missing_sections_gracefully(assistant: Assistant) -> None:
    assert refusal(assistant, "get_section", **OF_SETUP, section="Instal1") == (
        'Section "Instal1" not found in document "guides/setup.md". Its headings include "Install".'
    )


def test_get_section_respects_include_subsections(assistant: Assistant) -> None:
    asked = OF_SETUP | {"section": "Linux"}

    assert "Deep water." in ask(assistant, "get_section", **asked)["content"]
    assert ask(assistant, "get_section", **asked, includeSubsections=False)["content"] == (
        "### Linux\n\nThe penguin way.\n"
    )


def test_search_batch_executes_multiple_queries(assistant: Assistant) -> None:
    queries = [{"query": "tax"}, {"query": "okapi"}, {"query": "quagga"}]
    answer = ask(assistant, "search_batch", queries=queries)

    assert [(each["query"], each["results"][0]["documentId"]) for each in answer["results"]] == [
        ("tax", "money/tax.md"),
        ("okapi", "bare.md"),
        ("quagga", "guides/setup.md"),
    ]


def test_search_batch_respects_query_limit_of_10(assistant: Assistant) -> None:
    queries = [{"query": "krill"}] * 10

    assert len(ask(assistant, "search_batch", queries=queries)["results"]) == 10
    text = refusal(assistant, "search_batch", queries=[*queries, {"query": "krill"}])
    assert text.startswith("Argument 'queries': ")
    assert "at most 10" in text


def test_find_related_finds_similar_content(assistant: Assistant) -> None:
    answer = ask(assistant, "find_related", collection="hb", document="birds/emperor.md", limit=2)

    assert [each["document"] for each in answer["related"]] == ["birds/adelie.md", "birds/krill.md"]


def test_find_related_excludes_source_document_by_default(assistant: Assistant) -> None:
    asked = {"collection": "hb", "document": "birds/emperor.md", "limit": 100}
    usual = ask(assistant, "find_related", **asked)["related"]
    same = ask(assistant, "find_related", **asked, sameDocument=True)["related"]

    assert "birds/emperor.md" not in [each["document"] for each in usual]
    assert same[0]["document"] == "birds/emperor.md"


ALL_EIGHT: dict[str, dict[str, Any]] = {
    "list_collections": {},
    "search": {"query": "penguin", "collections": ["hb"]},
    "get_document": OF_SETUP,
    "list_documents": {"collection": "hb"},
    "get_outline": OF_SETUP,
    "get_section": OF_SETUP | {"section": "Usage"},
    "search_batch": {"queries": [{"query": "penguin", "collections": ["hb"]}]},
    "find_related": {"collection": "hb", "document": "birds/emperor.md"},
}


def test_all_tools_resolve_aliases_correctly(assistant: Assistant) -> None:
    places = [
        ask(assistant, "list_collections")[0],
        ask(assistant, "search", **ALL_EIGHT["search"])[0],
        ask(assistant, "get_document", **OF_SETUP),
        ask(assistant, "list_documents", collection="hb"),
        ask(assistant, "get_outline", **OF_SETUP),
        ask(assistant, "get_section", **ALL_EIGHT["get_section"]),
        ask(assistant, "search_batch", **ALL_EIGHT["search_batch"])["results"][0]["results"][0],
        ask(assistant, "find_related", **ALL_EIGHT["find_related"])["source"],
        ask(assistant, "find_related", **ALL_EIGHT["find_related"])["related"][0],
    ]

    assert all(place.items() >= HB.items() for place in places)


def test_all_tools_return_helpful_messages_for_not_found_cases(assistant: Assistant) -> None:
    no_collection = 'Collection "plane" not found. There is "plain".'
    no_document = (
        'Document "guides/set-up.md" not found in collection "hb". Near are "guides/setup.md"'
    )
    for tool, asked in ALL_EIGHT.items():
        if "collection" in asked:
            assert refusal(assistant, tool, **asked | {"collection": "plane"}) == no_collection
        if "document" in asked:
            text = refusal(assistant, tool, **asked | {"document": "guides/set-up.md"})
            assert text.startswith(no_document)
    wrong = {"query": "krill", "collections": ["plane"]}
    assert refusal(assistant, "search", **wrong) == no_collection
    assert refusal(assistant, "search_batch", queries=[wrong]) == no_collection
    nothing = reply(assistant, "search", query="xyzzyplugh")
    assert nothing.text.startswith("No results found for the given query. Tried: ")


def test_mcp_server_exposes_all_new_tools(assistant: Assistant) -> None:
    assert [tool["name"] for tool in assistant.tools()][3:] == [
        "documents_list_documents",
        "documents_get_outline",
        "documents_get_section",
        "documents_search_batch",
        "documents_find_related",
    ]


@pytest.mark.requirement("D-002")
def test_existing_tools_continue_working_unchanged(assistant: Assistant) -> None:
    older = {tool["name"]: tool["inputSchema"] for tool in assistant.tools()[:3]}
    assert {name: schema.get("required", []) for name, schema in older.items()} == {
        "documents_list_collections": [],
        "documents_search": ["query"],
        "documents_get_document": ["collection", "document"],
    }
    assert {"query", "collections", "limit", "maxDistance", "hybridSearch"} <= set(
        older["documents_search"]["properties"]
    )

    listed = ask(assistant, "list_collections")
    assert [(each["collection"], each["documentCount"]) for each in listed] == [
        ("hb", 5),
        ("plain", 3),
        ("void", 0),
    ]
    (hit,) = ask(assistant, "search", query="quagga")
    assert list(hit) == [
        "collection",
        "collectionId",
        "documentId",
        "documentTitle",
        "sectionHeading",
        "content",
        "relevanceScore",
        "distance",
        "chunkIndex",
        "totalChunks",
    ]
    whole = ask(assistant, "get_document", collection="hb", document="birds/krill.md")
    assert whole == HB | {"document": "birds/krill.md", "content": HANDBOOK["birds/krill.md"]}


# ------------------------------------------------------------------- a process of its own


@pytest.mark.on_disk
@pytest.mark.requirement("D-001", "D-004")
def test_a_server_over_http_answers_all_eight_as_one_in_memory_does(
    library: Library,
) -> None:
    config = library.settings.config
    index = library.database.parent
    library.embed()  # else the server's own embedding changes the answers between two calls
    with http_server("--config", config, "--index", index) as url:
        for era in (LEGACY, MODERN):
            with (
                assisting(library, era=era) as near,
                connected(f"{url}/mcp", era) as far,
                connected(f"{url}/mcp/documents", era) as apart,
            ):
                assert near.tools() == far.tools() == apart.tools()
                assert [tool["name"] for tool in apart.tools()] == [
                    f"documents_{name}" for name in ALL_EIGHT
                ]
                for tool, asked in ALL_EIGHT.items():
                    expected = reply(near, tool, **asked)
                    assert reply(far, tool, **asked) == expected
                    assert reply(apart, tool, **asked) == expected
                text = refusal(far, "get_section", **OF_SETUP, section="Instal1")
                assert text == refusal(near, "get_section", **OF_SETUP, section="Instal1")
                asked = {"collection": "plain", "document": "long.md", "maxChars": 10**9}
                assert ask(far, "get_document", **asked)["content"] == LONG
