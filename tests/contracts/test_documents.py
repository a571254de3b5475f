"""What no client can send to the `documents` tools over JSON, yet must not hurt them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.documents import CONTRACT
from bookwheel.contracts.tool import Reply
from bookwheel.contracts.work import Work
from bookwheel.library import Library
from tests.conftest import Shelf


@pytest.fixture
def handbook(shelf: Shelf) -> Iterator[Library]:
    shelf.put("README.md", "# Read me\n\nA zebra.")
    shelf.update()
    with shelf.open() as library:
        yield library


def reply(library: Library, tool: str, **arguments: Any) -> Reply:
    return call(Work(library), Offered((CONTRACT,), (CONTRACT,)), f"documents_{tool}", arguments)


def test_halves_of_characters_are_answered_with_what_can_be_sent(handbook: Library) -> None:
    batch = reply(handbook, "search_batch", queries=[{"query": "\ud800"}])
    assert json.loads(batch.text) == {"results": [{"query": "?", "results": []}]}

    outline = reply(handbook, "get_outline", collection="notes", document="\ud800.md")
    assert outline.text.startswith('Document "?.md" not found in collection "notes".')

    listing = reply(handbook, "list_documents", collection="\ud800")
    assert listing.text.startswith('Collection "?" not found.')

    asked = {"collection": "notes", "document": "README.md", "chunk": "\ud800"}
    assert json.loads(reply(handbook, "find_related", **asked).text)["related"] == []


def test_a_hit_names_the_place_and_the_place_can_be_read(shelf: Shelf) -> None:
    shelf.put("stock.csv", "item,count\nzebra,3\notter,5\n")
    shelf.update()
    with shelf.open() as library:
        (hit,) = json.loads(reply(library, "search", query="otter").text)
        read = json.loads(
            reply(
                library, "get_section", collection="notes", document="stock.csv", section="row 3"
            ).text
        )
        missing = reply(
            library, "get_section", collection="notes", document="stock.csv", section="page 9"
        )

    assert hit["pointer"] == "rows 1-3"
    assert (read["section"], read["content"]) == ("row 3", "| otter | 5 |")
    assert missing.is_error


def test_an_answer_says_which_word_was_taken_for_another(handbook: Library) -> None:
    (hit,) = json.loads(reply(handbook, "search", query="zebta").text)
    assert hit["note"] == "Note: 'zebta' also as 'zebra'."


def test_a_long_place_is_cut_with_the_way_to_read_on(shelf: Shelf) -> None:
    rows = "".join(f"otter number {number},{number}\n" for number in range(4_000))
    shelf.put("stock.csv", "item,count\n" + rows)
    shelf.update()
    with shelf.open() as library:
        part = json.loads(
            reply(
                library,
                "get_section",
                collection="notes",
                document="stock.csv",
                section="rows 1-4001",
            ).text
        )
        rest = json.loads(
            reply(
                library,
                "get_document",
                collection="notes",
                document="stock.csv",
                offset=part["nextOffset"],
                maxChars=200_000,
            ).text
        )
        whole = library.text(library.document("stock.csv")).text

    assert part["truncated"]
    assert part["content"] + "\n" + rest["content"] == whole


@pytest.mark.parametrize("tool", ["search", "search_batch", "find_related"])
def test_a_long_answer_shows_the_beginning_of_later_hits_and_how_to_read_them(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setattr("bookwheel.contracts.documents_answers._MOST_CONTENT", 10_000)
    for number in range(100):
        shelf.put(f"{number}.md", f"# Page {number}\n\n" + f"A zebra and otter {number}. " * 60)
    shelf.update()
    asked: dict[str, dict[str, Any]] = {
        "search": {"query": "zebra"},
        "search_batch": {"queries": [{"query": "zebra"}, {"query": "otter"}]},
        "find_related": {"collection": "notes", "document": "7.md"},
    }
    with shelf.open() as library:
        answer = json.loads(reply(library, tool, limit=100, **asked[tool]).text)
        found = answer if tool == "search" else answer.get("related") or []
        for each in answer["results"] if tool == "search_batch" else ():
            found += each["results"]
        note = (found[0] if tool == "search" else answer)["note"]
        call_again = json.loads(note.split("documents_get_section ")[1])
        whole = json.loads(reply(library, "get_section", **call_again).text)
        few = reply(library, tool, limit=5, **asked[tool]).text

    assert len(found) == {"search": 100, "search_batch": 200, "find_related": 99}[tool]
    shown = [hit["content"] for hit in found]
    cut = [hit for hit in found if hit.get("truncated")]
    assert sum(map(len, shown)) < 10_000 + 200 * len(shown)
    assert len(shown[0]) > 300
    assert found[-1] in cut
    assert f"of {len(cut)} results" in note
    assert whole["content"].startswith(cut[0]["content"])
    assert "truncated" not in few


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (["zebra"], "Argument 'queries.0': input should be an object. Example: "),
        (
            [{"query": "zebra"}] * 11,
            "Argument 'queries': list should have at most 10 items, not 11 (from 1 to 10). ",
        ),
    ],
)
def test_a_batch_that_cannot_be_asked_is_refused_in_words_of_the_caller(
    handbook: Library, queries: list[Any], said: str
) -> None:
    refusal = reply(handbook, "search_batch", queries=queries).text
    assert refusal.startswith(said)
    assert '{"queries": [{"query": ' in refusal
