"""Through a client: aliases in every tool, and what is said of wrong names and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.assistant import Assistant, assisting
from tests.clients.documents_shelf import (
    HB,
    ask,
    configured,
    refusal,
    reply,
    write,
)
from tests.conftest import Shelf

Arguments = dict[str, Any]


def calls(collection: str) -> dict[str, Arguments]:
    """Return a call of each tool that takes a collection, in every argument that may name it."""
    setup = {"collection": collection, "document": "guides/setup.md"}
    return {
        "search": {"query": "penguin", "collections": [collection]},
        "list_documents": {"collection": collection},
        "get_document": setup,
        "get_outline": setup,
        "get_section": setup | {"section": "Linux"},
        "search_batch": {
            "queries": [{"query": "emperor"}, {"query": "penguin", "collections": [collection]}]
        },
        "find_related": {"collection": collection, "document": "birds/emperor.md"},
    }


ALIASED = list(calls("hb").items())
BY_DOCUMENT = [each for each in ALIASED if "document" in each[1]]


def places(value: Any) -> Iterator[dict[str, Any]]:
    """Give every object of an answer that names a collection."""
    if isinstance(value, dict):
        if "collection" in value:
            yield value
        for each in value.values():
            yield from places(each)
    elif isinstance(value, list):
        for each in value:
            yield from places(each)


# ------------------------------------------------------------------- what all answers share


@pytest.mark.requirement("D-003", "D-004")
@pytest.mark.parametrize(("tool", "arguments"), [("list_collections", {}), *ALIASED])
def test_the_text_is_bare_json_and_the_structured_content_says_the_same(
    assistant: Assistant, tool: str, arguments: Arguments
) -> None:
    # Having listed the tools, the client itself refuses what does not fit a declared output schema.
    assert f"documents_{tool}" in [each["name"] for each in assistant.tools()]
    value = ask(assistant, tool, **arguments)
    structured = reply(assistant, tool, **arguments).structured

    if tool in ("list_collections", "search"):
        assert isinstance(value, list)
        assert structured == {"collections" if tool == "list_collections" else "results": value}
    else:
        assert structured == value


# ------------------------------------------------------------------- aliases


@pytest.mark.requirement("D-005", "D-006")
@pytest.mark.parametrize(("tool", "arguments"), ALIASED)
def test_alias_and_name_are_answered_alike_with_the_alias_first(
    assistant: Assistant, tool: str, arguments: Arguments
) -> None:
    answer = ask(assistant, tool, **arguments)

    assert ask(assistant, tool, **calls("company-handbook")[tool]) == answer
    named = [(each["collection"], each.get("collectionId")) for each in places(answer)]
    assert ("hb", "company-handbook") in named
    assert set(named) <= {("hb", "company-handbook"), ("plain", None)}


@pytest.mark.requirement("D-006")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "penguins", "collections": ["plain"]}),
        ("list_documents", {"collection": "plain"}),
        ("get_document", {"collection": "plain", "document": "emperor.md"}),
        ("get_outline", {"collection": "plain", "document": "emperor.md"}),
        ("get_section", {"collection": "plain", "document": "emperor.md", "section": "Emperor"}),
        ("search_batch", {"queries": [{"query": "penguins", "collections": ["plain"]}]}),
        ("find_related", {"collection": "plain", "document": "long.md", "chunk": "penguins"}),
    ],
)
def test_without_an_alias_there_is_no_collection_id(
    assistant: Assistant, tool: str, arguments: Arguments
) -> None:
    found = list(places(ask(assistant, tool, **arguments)))

    assert found
    assert all(each["collection"] == "plain" and "collectionId" not in each for each in found)


# ------------------------------------------------------------------- what is not there


@pytest.mark.requirement("D-036", "D-037")
@pytest.mark.parametrize("tool", calls(""))
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("plane", 'Collection "plane" not found. There is "plain".'),
        ("HB", 'Collection "HB" not found. There is "hb".'),
        ("company-handbok", 'Collection "company-handbok" not found. There is "company-handbook".'),
        ("qqq", 'Collection "qqq" not found. There is "hb", "plain", "void".'),
        ("", 'Collection "" not found. There is "hb", "plain", "void".'),
    ],
)
def test_a_missing_collection_is_named_with_the_nearest_or_all_there_are(
    assistant: Assistant, tool: str, wrong: str, said: str
) -> None:
    assert refusal(assistant, tool, **calls(wrong)[tool]) == said


@pytest.mark.requirement("D-036")
def test_all_of_many_collections_are_named_when_none_is_near(tmp_path: Path) -> None:
    names = [f"{letter}{letter}" for letter in "abcdefghijklmno"]
    for name in names:
        write(tmp_path / name, {})
    config = tmp_path / "config.toml"
    config.write_text(
        "".join(f'[[collections]]\npath = "{name}"\n' for name in names), encoding="utf-8"
    )
    with configured(config) as library, assisting(library) as assistant:
        text = refusal(assistant, "list_documents", collection="zzz")

    listed = ", ".join(f'"{name}"' for name in names)
    assert text == f'Collection "zzz" not found. There is {listed}.'


@pytest.mark.requirement("D-035", "D-037")
@pytest.mark.parametrize(("tool", "arguments"), BY_DOCUMENT)
def test_a_missing_document_is_named_with_the_nearest(
    assistant: Assistant, tool: str, arguments: Arguments
) -> None:
    text = refusal(assistant, tool, **arguments | {"document": "guide/setup.md"})

    assert text.startswith(
        'Document "guide/setup.md" not found in collection "hb". Near are "guides/setup.md"'
    )
    assert refusal(assistant, tool, **arguments | {"collection": "void"}).endswith(
        'not found in collection "void".'
    )


@pytest.mark.requirement("D-037")
def test_a_file_that_gave_no_document_is_named_with_the_reason(shelf: Shelf) -> None:
    shelf.put("broken.md", b"\x00\x01\x02" * 1000)
    shelf.put("a.md", "# A")
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        text = refusal(assistant, "get_document", collection="notes", document="broken.md")

    assert text == (
        '"broken.md" has no text to show: binary (the file holds binary data, not text).'
    )


@pytest.mark.requirement("D-037")
@pytest.mark.parametrize(
    ("tool", "arguments", "argument"),
    [
        ("search", {}, "query"),
        ("search", {"query": 5}, "query"),
        ("search", {"query": "x", "limit": 0}, "limit"),
        ("search", {"query": "x", "limit": True}, "limit"),
        ("search", {"query": "x", "limit": None}, "limit"),
        ("search", {"query": "x", "collections": "hb"}, "collections"),
        ("search", {"query": "x", "collections": [5]}, "collections.0"),
        ("search", {"query": "x", "maxDistance": "near"}, "maxDistance"),
        ("search", {"query": "x", "maxDistance": True}, "maxDistance"),
        ("search", {"query": "x", "hybridSearch": "perhaps"}, "hybridSearch"),
        ("search_batch", {}, "queries"),
        ("search_batch", {"queries": ["x"]}, "queries.0"),
        ("search_batch", {"queries": [{}]}, "queries.0.query"),
        ("search_batch", {"queries": [{"query": "x"}], "limit": 0}, "limit"),
        ("search_batch", {"queries": [{"query": "x"}], "maxDistance": False}, "maxDistance"),
        ("list_documents", {}, "collection"),
        ("get_document", {"collection": "hb"}, "document"),
        ("get_outline", {"document": "x"}, "collection"),
        ("get_section", {"collection": "hb", "document": "x"}, "section"),
        ("get_section", {"collection": "hb", "document": "x", "section": ["a"]}, "section"),
        ("find_related", {"collection": "hb"}, "document"),
        ("find_related", {"collection": "hb", "document": "x", "limit": 0}, "limit"),
        ("find_related", {"collection": "hb", "document": "x", "chunk": 7}, "chunk"),
    ],
)
def test_a_wrong_argument_is_named(
    assistant: Assistant, tool: str, arguments: Arguments, argument: str
) -> None:
    assert refusal(assistant, tool, **arguments).startswith(f"Argument '{argument}'")


@pytest.mark.requirement("D-037")
def test_an_unknown_argument_is_named_with_the_nearest(assistant: Assistant) -> None:
    assert refusal(assistant, "get_outline", collection="hb", document="x", depth=2) == (
        "Unknown argument 'depth': did you mean 'maxDepth'? Example: "
        '{"collection": "notes", "document": "guides/setup.md", "maxDepth": 3}'
    )


def test_numbers_and_flags_in_quotes_are_understood(assistant: Assistant) -> None:
    asked = {"collection": "hb", "document": "guides/setup.md"}

    assert ask(assistant, "get_outline", **asked, maxDepth="2") == ask(
        assistant, "get_outline", **asked, maxDepth=2
    )
    assert ask(assistant, "get_outline", **asked, maxDepth=2.0) == ask(
        assistant, "get_outline", **asked, maxDepth=2
    )
    assert ask(
        assistant, "get_section", **asked, section="Install", includeSubsections="false"
    ) == ask(assistant, "get_section", **asked, section="Install", includeSubsections=False)


def test_place_of_the_source_is_named_as_everywhere(assistant: Assistant) -> None:
    answer = ask(assistant, "find_related", collection="hb", document="birds/emperor.md")

    assert answer["source"] == HB | {"document": "birds/emperor.md"}
