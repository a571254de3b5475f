"""The `documents` tools that search: alone, in a batch, by likeness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.contracts.documents import NOT_RERANKED
from bookwheel.contracts.documents_answers import NOTHING_FOUND
from bookwheel.library import Library
from tests.conftest import Shelf
from tests.contracts.documents_shelf import HANDBOOK, HB, SETUP, ask, open_library, refusal, reply


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    yield from open_library(tmp_path_factory.mktemp("documents"))


def found(library: Library, query: str, **arguments: Any) -> list[tuple[str, str]]:
    hits = ask(library, "search", query=query, **arguments)
    return [(hit["collection"], hit["documentId"]) for hit in hits]


# ------------------------------------------------------------------- search


def test_a_hit_has_all_fields_of_the_contract(library: Library) -> None:
    (hit,) = ask(library, "search", query="quagga", collections=["hb"])
    score = hit.pop("relevanceScore")

    assert 0 < score <= 1
    assert hit == HB | {
        "documentId": "guides/setup.md",
        "documentTitle": "Setup Guide",
        "sectionHeading": "Setup Guide",
        "content": SETUP[SETUP.index("# Setup") :].rstrip("\n"),
        "distance": None,
        "chunkIndex": 1,
        "totalChunks": 1,
    }


def test_a_hit_without_any_heading_above_has_no_section_heading(library: Library) -> None:
    (hit,) = ask(library, "search", query="okapi")

    assert hit == {
        "collection": "plain",
        "documentId": "bare.md",
        "documentTitle": "bare",
        "content": "no heading, only an okapi",
        "relevanceScore": hit["relevanceScore"],
        "distance": None,
        "chunkIndex": 1,
        "totalChunks": 1,
    }


def test_a_hit_far_down_names_its_section_and_its_place_among_the_chunks(library: Library) -> None:
    (hit,) = ask(library, "search", query='"línea 73"', limit=1)

    assert (hit["sectionHeading"], hit["content"].count("Línea 73 ") > 0) == ("Part 73", True)
    assert 1 < hit["chunkIndex"] < hit["totalChunks"]


def test_scores_lie_between_0_and_1_and_never_grow(library: Library) -> None:
    scores = [each["relevanceScore"] for each in ask(library, "search", query="antarctic krill")]

    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_collections_confine_a_search_by_name_or_alias_and_none_means_all(library: Library) -> None:
    handbook = [("hb", "birds/emperor.md")]
    elsewhere = [("plain", "emperor.md")]

    assert found(library, "emperor", collections=["hb"]) == handbook
    assert found(library, "emperor", collections=["company-handbook"]) == handbook
    assert found(library, "emperor", collections=["plain", "void"]) == elsewhere
    everywhere = sorted(handbook + elsewhere)
    assert sorted(found(library, "emperor")) == everywhere
    assert sorted(found(library, "emperor", collections=[])) == everywhere
    assert sorted(found(library, "emperor", collections=["plain", "hb"])) == everywhere


def test_a_limit_above_a_hundred_counts_as_a_hundred(shelf: Shelf) -> None:
    for number in range(105):
        shelf.put(f"{number:03}.txt", "zebra")
    shelf.update()
    with shelf.open() as many:
        assert len(ask(many, "search", query="zebra", limit=10**30)) == 100
        (entry,) = ask(many, "search_batch", queries=[{"query": "zebra"}], limit=101)["results"]
        assert len(entry["results"]) == 100
        related = {"collection": "notes", "document": "000.txt", "limit": 1000}
        assert len(ask(many, "find_related", **related)["related"]) == 100


@pytest.mark.parametrize("query", ["okapy", "xyzzyplugh", "", "?!", '"okapi heading"'])
def test_nothing_found_is_said_with_what_is_near_and_no_error(library: Library, query: str) -> None:
    answer = reply(library, "search", query=query, collections=["hb"])

    assert answer.text.startswith(NOTHING_FOUND)
    assert answer.text.endswith("documents_list_documents shows what there is.")
    assert (answer.structured, answer.is_error, answer.results) == ({"results": []}, False, 0)


def test_words_and_other_collections_that_come_near_are_named(library: Library) -> None:
    assert reply(library, "search", query="okappi -heading").text == (
        f"{NOTHING_FOUND} Tried: 'okappi' also as 'okapi'; every match has an excluded word. "
        "documents_list_documents shows what there is."
    )
    assert reply(library, "search", query="quagga", collections=["plain"]).text == (
        f"{NOTHING_FOUND} Tried: documents match, but none in collection plain. "
        'Collection "hb" has "guides/setup.md". '
        "documents_list_documents shows what there is."
    )


def test_files_that_could_not_be_read_are_counted_where_nothing_is_found(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("broken.md", b"\x00\x01\x02" * 1000)
    shelf.update()
    with shelf.open() as some:
        assert "Files that could not be read: 1." in reply(some, "search", query="xyzzy").text


def test_what_was_tried_is_said_where_nothing_is_found(library: Library) -> None:
    assert reply(library, "search", query="xyzzyplugh").text == (
        f"{NOTHING_FOUND} Tried: no document has 'xyzzyplugh'. "
        "documents_list_documents shows what there is."
    )


def test_distance_and_hybrid_search_change_nothing_while_no_chunk_has_a_vector(
    library: Library,
) -> None:
    usual = ask(library, "search", query="antarctic krill")

    assert ask(library, "search", query="antarctic krill", hybridSearch=False) == usual
    assert ask(library, "search", query="antarctic krill", maxDistance=0.0) == usual


def test_rerank_answers_the_usual_order_with_a_note(library: Library) -> None:
    usual = ask(library, "search", query="antarctic krill")
    reranked = ask(library, "search", query="antarctic krill", rerank=True)

    assert reranked == [usual[0] | {"note": NOT_RERANKED}, *usual[1:]]
    assert reply(library, "search", query="xyzzyplugh", rerank=True).text.endswith(NOT_RERANKED)


# ------------------------------------------------------------------- several searches


def test_a_batch_answers_each_query_in_order_as_a_search_would(library: Library) -> None:
    queries: list[dict[str, Any]] = [
        {"query": "antarctic krill"},
        {"query": "xyzzyplugh"},
        {"query": "emperor", "collections": ["hb"]},
        {"query": "antarctic krill"},
    ]

    answer = ask(library, "search_batch", queries=queries, limit=2)

    assert [entry["query"] for entry in answer["results"]] == [each["query"] for each in queries]
    for asked, entry in zip(queries, answer["results"], strict=True):
        alone = reply(library, "search", limit=2, **asked).structured
        assert alone == {"results": entry["results"]}


def test_halves_of_characters_are_answered_with_what_can_be_sent(library: Library) -> None:
    answer = ask(library, "search_batch", queries=[{"query": "\ud800"}])

    assert answer == {"results": [{"query": "?", "results": []}]}
    assert refusal(library, "get_outline", collection="hb", document="\ud800.md").startswith(
        'Document "?.md" not found in collection "hb".'
    )
    assert refusal(library, "list_documents", collection="\ud800").startswith(
        'Collection "?" not found.'
    )
    assert related(library, "birds/emperor.md", chunk="\ud800") == []


def test_a_batch_gives_five_results_for_each_query_by_default(shelf: Shelf) -> None:
    for number in range(12):
        shelf.put(f"{number}.txt", "zebra")
    shelf.update()
    with shelf.open() as some:
        (entry,) = ask(some, "search_batch", queries=[{"query": "zebra"}])["results"]
        assert len(entry["results"]) == 5
        assert len(ask(some, "search", query="zebra")) == 10


def test_a_batch_takes_up_to_ten_queries(library: Library) -> None:
    ten = [{"query": f"krill {n}"} for n in range(10)]

    assert len(ask(library, "search_batch", queries=ten)["results"]) == 10
    assert "at most 10" in refusal(library, "search_batch", queries=[*ten, {"query": "krill"}])
    assert "at least 1" in refusal(library, "search_batch", queries=[])


def test_an_unknown_collection_in_one_query_makes_the_whole_batch_an_error(
    library: Library,
) -> None:
    queries = [{"query": "krill"}, {"query": "krill", "collections": ["plane"]}]

    assert refusal(library, "search_batch", queries=queries) == (
        'Collection "plane" not found. There is "plain".'
    )


# ------------------------------------------------------------------- related documents


def related(library: Library, document: str, **arguments: Any) -> list[str]:
    asked = {"collection": "hb", "document": document}
    answer = ask(library, "find_related", **asked, **arguments)
    assert answer["source"] == HB | {"document": document}
    assert all(each.items() >= HB.items() for each in answer["related"])
    return [each["document"] for each in answer["related"]]


def test_related_are_similar_documents_of_the_same_collection_without_the_source(
    library: Library,
) -> None:
    assert related(library, "birds/emperor.md")[:2] == ["birds/adelie.md", "birds/krill.md"]
    assert related(library, "birds/emperor.md", limit=1) == ["birds/adelie.md"]


def test_the_source_is_among_the_related_when_asked_for(library: Library) -> None:
    assert related(library, "birds/emperor.md", sameDocument=True)[:2] == [
        "birds/emperor.md",
        "birds/adelie.md",
    ]


def test_a_given_chunk_is_what_the_related_are_like(library: Library) -> None:
    chunk = "yearly deductions on invoices"

    assert related(library, "birds/emperor.md", chunk=chunk) == ["money/tax.md"]
    assert related(library, "birds/emperor.md", chunk="?!") == []


def test_a_related_item_has_the_fields_of_a_hit(library: Library) -> None:
    asked = {"collection": "hb", "document": "birds/emperor.md", "limit": 1}
    (item,) = ask(library, "find_related", **asked)["related"]

    assert 0 < item.pop("relevanceScore") <= 1
    assert item == HB | {
        "document": "birds/adelie.md",
        "documentTitle": "Adélie",
        "sectionHeading": "Adélie",
        "content": HANDBOOK["birds/adelie.md"].rstrip("\n"),
        "distance": None,
        "chunkIndex": 1,
        "totalChunks": 1,
    }
