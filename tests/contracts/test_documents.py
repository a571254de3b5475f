"""The `documents` tools that list and read, and what all eight have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.library import Library
from tests.conftest import Shelf
from tests.contracts.documents_shelf import (
    HANDBOOK,
    HB,
    LONG,
    PLAIN,
    SETUP,
    ask,
    open_library,
    refusal,
    reply,
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    yield from open_library(tmp_path_factory.mktemp("documents"))


# ------------------------------------------------------------------- collections


def test_collections_are_listed_with_alias_count_description_and_version(library: Library) -> None:
    assert ask(library, "list_collections") == [
        HB | {"documentCount": 5, "description": "How we work.", "version": "2.1"},
        {"collection": "plain", "documentCount": 3},
        {
            "collection": "void",
            "documentCount": 0,
            "description": "Empty so far.",
            "version": "0.1",
        },
    ]
    answer = reply(library, "list_collections")
    assert answer.structured == {"collections": json.loads(answer.text)}


def test_before_the_first_index_collections_are_listed_as_empty(shelf: Shelf) -> None:
    with shelf.open() as unread:
        assert ask(unread, "list_collections") == [{"collection": "notes", "documentCount": 0}]
        assert refusal(unread, "search", query="x").startswith("Nothing is indexed yet")


# ------------------------------------------------------------------- listing


def test_documents_are_listed_with_id_title_and_size_in_characters(library: Library) -> None:
    expected = [
        ("birds/adelie.md", "Adélie"),
        ("birds/emperor.md", "Emperor"),
        ("birds/krill.md", "Krill"),
        ("guides/setup.md", "Setup Guide"),
        ("money/tax.md", "Tax"),
    ]
    assert ask(library, "list_documents", collection="hb") == HB | {
        "documents": [
            {"id": path, "title": title, "size": len(HANDBOOK[path])} for path, title in expected
        ],
        "total": 5,
        "hasMore": False,
    }


def test_a_document_without_heading_is_titled_by_its_file(library: Library) -> None:
    (bare, *_) = ask(library, "list_documents", collection="plain")["documents"]

    assert bare == {"id": "bare.md", "title": "bare", "size": len(PLAIN["bare.md"])}


def test_pages_of_a_listing_meet_every_document_once(library: Library) -> None:
    pages = [
        ask(library, "list_documents", collection="hb", limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]

    assert [each["id"] for page in pages for each in page["documents"]] == sorted(HANDBOOK)
    assert [(page["total"], page["hasMore"]) for page in pages] == [
        (5, True),
        (5, True),
        (5, False),
    ]


@pytest.mark.parametrize("offset", [5, 6, 10**30])
def test_past_the_end_of_a_listing_there_is_nothing(library: Library, offset: int) -> None:
    assert ask(library, "list_documents", collection="hb", offset=offset) == HB | {
        "documents": [],
        "total": 5,
        "hasMore": False,
    }


def test_an_empty_collection_is_listed_as_empty_and_found_empty(library: Library) -> None:
    assert ask(library, "list_documents", collection="void") == {
        "collection": "void",
        "documents": [],
        "total": 0,
        "hasMore": False,
    }
    assert reply(library, "search", query="okapi", collections=["void"]).structured == {
        "results": []
    }


def test_a_listing_beyond_a_thousand_counts_as_a_thousand(shelf: Shelf) -> None:
    for number in range(1002):
        shelf.put(f"{number:04}.txt", "x")
    shelf.update()
    with shelf.open() as many:
        first = ask(many, "list_documents", collection="notes", limit=10**30)
        rest = ask(many, "list_documents", collection="notes", limit=5000, offset=1000)

    assert (len(first["documents"]), first["total"], first["hasMore"]) == (1000, 1002, True)
    assert ([each["id"] for each in rest["documents"]], rest["hasMore"]) == (
        ["1000.txt", "1001.txt"],
        False,
    )


# ------------------------------------------------------------------- outline and section

OUTLINE = [
    {"level": 1, "text": "Setup Guide", "line": 4},
    {"level": 2, "text": "Install", "line": 8},
    {"level": 3, "text": "Linux", "line": 16},
    {"level": 4, "text": "Details", "line": 20},
    {"level": 2, "text": "Usage", "line": 24},
    {"level": 2, "text": "Other", "line": 28},
    {"level": 3, "text": "Usage", "line": 30},
]
SETUP_PLACE = HB | {"document": "guides/setup.md"}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_an_outline_has_every_heading_down_to_the_depth_and_none_of_a_fence(
    library: Library, depth: int
) -> None:
    asked = {"collection": "hb", "document": "guides/setup.md"}

    assert ask(library, "get_outline", **asked, maxDepth=depth) == SETUP_PLACE | {
        "title": "Setup Guide",
        "outline": [each for each in OUTLINE if int(str(each["level"])) <= depth],
    }
    if depth == 3:
        assert ask(library, "get_outline", **asked, maxDepth=3) == ask(
            library, "get_outline", **asked
        )


def test_a_document_without_headings_has_a_title_and_an_empty_outline(library: Library) -> None:
    assert ask(library, "get_outline", collection="plain", document="bare.md") == {
        "collection": "plain",
        "document": "bare.md",
        "title": "bare",
        "outline": [],
    }


def section(library: Library, heading: str, **arguments: Any) -> Any:
    asked = {"collection": "hb", "document": "guides/setup.md", "section": heading}
    return ask(library, "get_section", **asked, **arguments)


def expected_section(heading: str, level: int, first: int, last: int) -> dict[str, Any]:
    return SETUP_PLACE | {
        "section": heading,
        "level": level,
        "content": "\n".join(SETUP.split("\n")[first - 1 : last]),
        "startLine": first,
        "endLine": last,
    }


@pytest.mark.parametrize("wanted", ["Install", "INSTALL", "inst"])
def test_a_section_reaches_over_its_subsections_and_past_fenced_comments(
    library: Library, wanted: str
) -> None:
    assert section(library, wanted) == expected_section("Install", 2, 8, 23)


def test_without_subsections_a_section_ends_at_the_next_heading(library: Library) -> None:
    assert section(library, "Install", includeSubsections=False) == expected_section(
        "Install", 2, 8, 15
    )


def test_among_equal_headings_the_first_is_given_and_the_others_can_be_asked_for(
    library: Library,
) -> None:
    first = section(library, "usage")
    assert first == expected_section("Usage", 2, 24, 27) | {
        "otherSections": ["Setup Guide > Other > Usage"],
        "hint": "Further headings match: ask with an entry of otherSections as section.",
    }
    last = expected_section("Usage", 3, 30, 32)
    assert section(library, first["otherSections"][0]) == last
    assert section(library, "Usage #2").items() >= last.items()


def test_a_missing_section_names_the_nearest_headings(library: Library) -> None:
    asked = {"collection": "hb", "document": "guides/setup.md"}

    assert refusal(library, "get_section", **asked, section="Linnux") == (
        'Section "Linnux" not found in document "guides/setup.md". Its headings include "Linux".'
    )
    assert refusal(library, "get_section", **asked, section="Not a heading").startswith(
        'Section "Not a heading" not found in document "guides/setup.md". Its headings include'
    )


def test_a_document_of_several_megabytes_gives_outline_and_section(shelf: Shelf) -> None:
    part = "\n".join(["words and more words " * 5] * 50)
    text = "# Big\n\n" + "".join(f"## Part {n}\n\n{part}\n\n" for n in range(800))
    shelf.put("big.md", text)
    shelf.update()
    with shelf.open() as big:
        asked = {"collection": "notes", "document": "big.md"}
        outline = ask(big, "get_outline", **asked)["outline"]
        last = ask(big, "get_section", **asked, section="Part 799")
        start = ask(big, "get_document", **asked)

    assert len(text) > 4_000_000
    assert (len(outline), outline[-1]) == (801, {"level": 2, "text": "Part 799", "line": 42350})
    assert last["content"].startswith(f"## Part 799\n\n{part}")
    assert (start["content"], start["totalChars"]) == (text[:20_000], len(text))


# ------------------------------------------------------------------- whole documents


def test_a_short_document_comes_whole_and_without_remarks(library: Library) -> None:
    assert ask(library, "get_document", collection="hb", document="birds/krill.md") == HB | {
        "document": "birds/krill.md",
        "content": HANDBOOK["birds/krill.md"],
    }
    assert ask(library, "get_document", collection="plain", document="bare.md") == {
        "collection": "plain",
        "document": "bare.md",
        "content": PLAIN["bare.md"],
    }


def test_a_long_document_comes_up_to_the_budget_and_says_how_to_go_on(library: Library) -> None:
    total = len(LONG)
    assert ask(library, "get_document", collection="plain", document="long.md") == {
        "collection": "plain",
        "document": "long.md",
        "content": LONG[:20_000],
        "truncated": True,
        "totalChars": total,
        "nextOffset": 20_000,
        "hint": f"{total - 20_000} of {total} characters remain: go on with offset 20000, or see "
        "documents_get_outline and read one section with documents_get_section.",
    }


@pytest.mark.parametrize("size", [20_000, 7777, 10**30])
def test_the_parts_that_the_offsets_lead_to_are_the_whole_text(library: Library, size: int) -> None:
    parts = []
    offset: int | None = 0
    while offset is not None:
        asked = {"collection": "plain", "document": "long.md", "maxChars": size, "offset": offset}
        answer = ask(library, "get_document", **asked)
        parts.append(answer["content"])
        offset = answer.get("nextOffset")

    assert "".join(parts) == LONG
    assert answer.get("truncated", False) is False


def test_past_the_end_of_a_document_there_is_no_text(library: Library) -> None:
    asked = {"collection": "plain", "document": "bare.md", "offset": 10**30}

    assert ask(library, "get_document", **asked) == {
        "collection": "plain",
        "document": "bare.md",
        "content": "",
        "truncated": False,
        "totalChars": len(PLAIN["bare.md"]),
    }


# ------------------------------------------------------------------- all tools alike

BY_NAME: list[tuple[str, dict[str, Any]]] = [
    ("list_documents", {}),
    ("get_document", {"document": "guides/setup.md"}),
    ("get_outline", {"document": "guides/setup.md"}),
    ("get_section", {"document": "guides/setup.md", "section": "Linux"}),
    ("find_related", {"document": "birds/emperor.md"}),
]


@pytest.mark.parametrize(("tool", "arguments"), BY_NAME)
def test_alias_and_name_are_answered_alike(
    library: Library, tool: str, arguments: dict[str, Any]
) -> None:
    answer = ask(library, tool, collection="hb", **arguments)

    assert ask(library, tool, collection="company-handbook", **arguments) == answer
    assert (answer.get("source") or answer).items() >= HB.items()


@pytest.mark.parametrize(("tool", "arguments"), BY_NAME)
def test_a_missing_collection_is_named_with_the_nearest(
    library: Library, tool: str, arguments: dict[str, Any]
) -> None:
    assert refusal(library, tool, collection="plane", **arguments) == (
        'Collection "plane" not found. There is "plain".'
    )


def test_a_missing_collection_is_named_with_all_there_are_if_none_is_near(
    library: Library,
) -> None:
    assert refusal(library, "search", query="krill", collections=["qqq"]) == (
        'Collection "qqq" not found. There is "hb", "plain", "void".'
    )


@pytest.mark.parametrize(("tool", "arguments"), BY_NAME[1:])
def test_a_missing_document_is_named_with_the_nearest(
    library: Library, tool: str, arguments: dict[str, Any]
) -> None:
    text = refusal(library, tool, **arguments | {"collection": "hb", "document": "guide/setup.md"})

    assert text.startswith('Document "guide/setup.md" not found in collection "hb". Near are ')
    assert '"guides/setup.md"' in text


@pytest.mark.parametrize(
    ("tool", "arguments", "argument"),
    [
        ("search", {}, "query"),
        ("search", {"query": "x", "limit": 0}, "limit"),
        ("search", {"query": "x", "limit": True}, "limit"),
        ("search", {"query": "x", "collections": "hb"}, "collections"),
        ("search_batch", {"queries": [{"query": "x"}], "limit": 0}, "limit"),
        ("search_batch", {"queries": [{}]}, "queries.0.query"),
        ("list_documents", {"collection": "hb", "limit": 0}, "limit"),
        ("list_documents", {"collection": "hb", "offset": -1}, "offset"),
        ("get_document", {"collection": "hb"}, "document"),
        ("get_document", {"collection": "hb", "document": "x", "maxChars": 0}, "maxChars"),
        ("get_document", {"collection": "hb", "document": "x", "offset": -1}, "offset"),
        ("get_outline", {"collection": "hb", "document": "x", "maxDepth": 0}, "maxDepth"),
        ("get_outline", {"collection": "hb", "document": "x", "maxDepth": 7}, "maxDepth"),
        ("get_section", {"collection": "hb", "document": "x"}, "section"),
        ("find_related", {"collection": "hb", "document": "x", "limit": 0}, "limit"),
    ],
)
def test_a_wrong_argument_is_named(
    library: Library, tool: str, arguments: dict[str, Any], argument: str
) -> None:
    assert refusal(library, tool, **arguments).startswith(f"Argument '{argument}'")


def test_an_unknown_argument_is_named_with_the_nearest(library: Library) -> None:
    assert refusal(library, "get_outline", collection="hb", document="x", depth=2) == (
        "Unknown argument 'depth': did you mean 'maxDepth'?"
    )
