"""Through a client: which collections there are, and what lies in one, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clients.assistant import Assistant, assisting
from tests.clients.documents_shelf import (
    HANDBOOK,
    HB,
    PLAIN,
    ask,
    configured,
    refusal,
    reply,
    write,
)
from tests.conftest import Shelf

# ------------------------------------------------------------------- collections


@pytest.mark.requirement("D-003", "D-006", "D-007", "D-009")
def test_collections_are_listed_with_alias_count_description_and_version(
    assistant: Assistant,
) -> None:
    expected: list[dict[str, Any]] = [
        HB | {"documentCount": 5, "description": "How we work.", "version": "2.1"},
        {"collection": "plain", "documentCount": 3},
        {
            "collection": "void",
            "documentCount": 0,
            "description": "Empty so far.",
            "version": "0.1",
        },
    ]
    answer = reply(assistant, "list_collections")

    assert (answer.json, answer.is_error) == (expected, False)
    assert answer.structured == {"collections": expected}


MANIFESTS = {
    "a": {"manifest.json": '{"name": "json", "version": "1", "description": "By JSON."}'},
    "b": {"bookwheel.toml": 'name = "toml"\nversion = "2"\ndescription = "By TOML."\n'},
    "c": {"manifest.json": '{"version": "3", "description": "Overruled."}'},
    "d": {"manifest.json": '{"version": ["no", "text"], "alias": "root", "paths": ["/"]}'},
    "e": {"manifest.json": "no JSON at all"},
    "f": {"manifest.json": '{"description": "Plain \\u202eand\\u0000 seen."}'},
}
CONFIG = "".join(f'[[collections]]\npath = "{name}"\n' for name in MANIFESTS).replace(
    'path = "c"\n', 'path = "c"\nname = "config"\nalias = "c"\ndescription = "By config."\n'
)


@pytest.mark.requirement("D-008", "D-009")
def test_description_and_version_come_from_either_manifest_or_from_the_configuration(
    tmp_path: Path,
) -> None:
    for name, files in MANIFESTS.items():
        write(tmp_path / name, files | {"one.md": "# One"})
    (tmp_path / "config.toml").write_text(CONFIG, encoding="utf-8")

    with configured(tmp_path / "config.toml") as library, assisting(library) as assistant:
        listed = ask(assistant, "list_collections")

    assert listed == [
        {"collection": "json", "documentCount": 1, "description": "By JSON.", "version": "1"},
        {"collection": "toml", "documentCount": 1, "description": "By TOML.", "version": "2"},
        {
            "collection": "c",
            "collectionId": "config",
            "documentCount": 1,
            "description": "By config.",
            "version": "3",
        },
        {"collection": "d", "documentCount": 1},
        {"collection": "e", "documentCount": 1},
        {"collection": "f", "documentCount": 1, "description": "Plain and seen."},
    ]


def test_before_the_first_index_collections_are_listed_as_empty(shelf: Shelf) -> None:
    with shelf.open() as library, assisting(library) as assistant:
        assert ask(assistant, "list_collections") == [{"collection": "notes", "documentCount": 0}]
        assert refusal(assistant, "search", query="x").startswith("Nothing is indexed yet.")


# ------------------------------------------------------------------- documents


@pytest.mark.requirement("D-014", "D-015")
def test_documents_are_listed_with_id_title_and_size_in_characters(assistant: Assistant) -> None:
    expected = [
        ("birds/adelie.md", "Adélie"),
        ("birds/emperor.md", "Emperor"),
        ("birds/krill.md", "Krill"),
        ("guides/setup.md", "Setup Guide"),
        ("money/tax.md", "Tax"),
    ]
    assert ask(assistant, "list_documents", collection="hb") == HB | {
        "documents": [
            {"id": path, "title": title, "size": len(HANDBOOK[path])} for path, title in expected
        ],
        "total": 5,
        "hasMore": False,
    }


@pytest.mark.requirement("D-009")
def test_an_empty_collection_is_listed_as_empty_and_found_empty(assistant: Assistant) -> None:
    assert ask(assistant, "list_documents", collection="void") == {
        "collection": "void",
        "documents": [],
        "total": 0,
        "hasMore": False,
    }
    assert reply(assistant, "search", query="okapi", collections=["void"]).structured == {
        "results": []
    }


TITLED = {
    "atx.md": ("# By *heading*\n\nwombat", "By heading"),
    "setext.md": ("By setext\n=========\n\nwombat", "By setext"),
    "front.md": ("---\ntitle: By front matter\n---\n# Heading\n\nwombat", "By front matter"),
    "late.md": ("wombat\n\n## Second\n\n# By late heading\n", "By late heading"),
    "page.html": ("<title>By title</title><h1>Heading</h1><p>wombat", "By title"),
    "fence.md": ("```\n# no heading\n```\n\nwombat", "fence"),
    "notes/no-heading.md": ("only a wombat", "no-heading"),
    "hidden.md": ("# By \u202eheading\u2069 \U000e0041too\n\nwombat", "By heading too"),
}


@pytest.mark.requirement("D-016")
def test_a_document_has_one_title_wherever_it_is_shown(shelf: Shelf) -> None:
    for path, (content, _) in TITLED.items():
        shelf.put(path, content)
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        listed = ask(assistant, "list_documents", collection="notes")["documents"]
        outlined = {
            path: ask(assistant, "get_outline", collection="notes", document=path)["title"]
            for path in TITLED
        }
        found = ask(assistant, "search", query="wombat")
        related = ask(assistant, "find_related", collection="notes", document="atx.md", limit=99)
        resources = {
            each["uri"].removeprefix("docs://"): each["title"] for each in assistant.resources()
        }

    titles = {path: title for path, (_, title) in TITLED.items()}
    assert {each["id"]: each["title"] for each in listed} == titles
    assert outlined == titles
    assert {hit["documentId"]: hit["documentTitle"] for hit in found} == titles
    others = {hit["document"]: hit["documentTitle"] for hit in related["related"]}
    assert others == {path: title for path, title in titles.items() if path != "atx.md"}
    assert resources == titles


def test_a_document_without_heading_is_titled_by_its_file(assistant: Assistant) -> None:
    (bare, *_) = ask(assistant, "list_documents", collection="plain")["documents"]

    assert bare == {"id": "bare.md", "title": "bare", "size": len(PLAIN["bare.md"])}


# ------------------------------------------------------------------- paging

NAMES = sorted(
    [f"{number:02}.txt" for number in range(20)]
    + ["A.md", "a.md", "b c.md", "ß.md", "ä/ö.md", "deep/er/x.md", "10%.md", "x#y?.md", "🐧.md"]
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    shelf = Shelf(tmp_path_factory.mktemp("many"))
    for name in NAMES:
        shelf.put(name, f"# About {name}\n")
    shelf.update()
    with shelf.open() as library, assisting(library) as connected:
        yield connected


def page(assistant: Assistant, **arguments: Any) -> tuple[list[str], int, bool]:
    answer = ask(assistant, "list_documents", collection="notes", **arguments)
    return [each["id"] for each in answer["documents"]], answer["total"], answer["hasMore"]


@pytest.mark.requirement("D-017")
@settings(max_examples=40)
@given(limits=st.lists(st.integers(1, 12), min_size=len(NAMES), max_size=len(NAMES)))
def test_pages_of_any_sizes_meet_every_document_once(many: Assistant, limits: list[int]) -> None:
    met: list[str] = []
    for limit in limits:
        ids, total, has_more = page(many, limit=limit, offset=len(met))
        met += ids
        assert len(ids) == min(limit, len(NAMES) - len(met) + len(ids))
        assert (total, has_more) == (len(NAMES), len(met) < len(NAMES))
        if not has_more:
            break

    assert met == page(many)[0]
    assert sorted(met) == NAMES


@pytest.mark.requirement("D-017", "D-018")
@settings(max_examples=60)
@given(limit=st.integers(1, 60), offset=st.integers(0, 60))
def test_a_page_is_a_slice_of_the_listing(many: Assistant, limit: int, offset: int) -> None:
    whole = page(many)[0]

    assert page(many, limit=limit, offset=offset) == (
        whole[offset : offset + limit],
        len(NAMES),
        offset + limit < len(NAMES),
    )


def test_every_id_of_a_listing_names_its_document(many: Assistant) -> None:
    for name in page(many)[0]:
        asked = {"collection": "notes", "document": name}
        assert ask(many, "get_document", **asked)["content"] == f"# About {name}\n"


@pytest.mark.requirement("D-018")
@pytest.mark.parametrize("offset", [5, 6, 2**53, 10**30])
def test_past_the_end_of_a_listing_there_is_nothing(assistant: Assistant, offset: int) -> None:
    assert ask(assistant, "list_documents", collection="hb", offset=offset) == HB | {
        "documents": [],
        "total": 5,
        "hasMore": False,
    }


@pytest.mark.requirement("D-018")
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"offset": -1}, "greater than or equal to 0"),
        ({"limit": 0}, "greater than or equal to 1"),
        ({"limit": -5}, "greater than or equal to 1"),
        ({"limit": 2.5}, "integer"),
        ({"offset": "first"}, "integer"),
        ({"limit": True}, "whole number"),
        ({"offset": False}, "whole number"),
    ],
)
def test_a_page_that_cannot_be_is_refused(
    assistant: Assistant, wrong: dict[str, Any], rule: str
) -> None:
    text = refusal(assistant, "list_documents", collection="hb", **wrong)

    assert text.startswith(f"Argument '{next(iter(wrong))}': ")
    assert rule in text


def test_numbers_in_quotes_count_as_numbers(many: Assistant) -> None:
    assert page(many, limit="3", offset="4.0") == page(many, limit=3, offset=4)


@pytest.mark.requirement("D-019")
def test_a_listing_beyond_a_thousand_counts_as_a_thousand(shelf: Shelf) -> None:
    for number in range(1002):
        shelf.put(f"{number:04}.txt", "x")
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        whole = [f"{number:04}.txt" for number in range(1002)]
        assert page(assistant, limit=10**30) == (whole[:1000], 1002, True)
        assert page(assistant, limit=1001, offset=1) == (whole[1:1001], 1002, True)
        assert page(assistant, limit=1001, offset=2) == (whole[2:], 1002, False)
        assert page(assistant) == (whole[:100], 1002, True)
