"""Through a client: search alone, in a batch, and by likeness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.assistant import Assistant, assisting
from tests.clients.documents_shelf import (
    HANDBOOK,
    HB,
    LONG,
    PENGUIN,
    SETUP,
    ask,
    refusal,
    reply,
)
from tests.conftest import Shelf

NOTHING = "No results found for the given query."
SHOWN = "documents_list_documents shows what there is."


@pytest.fixture(scope="module")
def zebras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """A hundred and five documents about the same."""
    shelf = Shelf(tmp_path_factory.mktemp("zebras"))
    for number in range(105):
        shelf.put(f"{number:03}.txt", "zebra")
    shelf.update()
    with shelf.open() as library, assisting(library) as connected:
        yield connected


# ------------------------------------------------------------------- one search


@pytest.mark.requirement("D-040", "D-041")
def test_a_hit_has_all_fields_of_the_contract(assistant: Assistant) -> None:
    (hit,) = ask(assistant, "search", query="quagga", collections=["hb"])

    assert 0 < hit["relevanceScore"] <= 1
    assert hit == HB | {
        "documentId": "guides/setup.md",
        "documentTitle": "Setup Guide",
        "sectionHeading": "Setup Guide",
        "content": SETUP[SETUP.index("# Setup") :].rstrip("\n"),
        "relevanceScore": hit["relevanceScore"],
        "distance": None,
        "chunkIndex": 1,
        "totalChunks": 1,
    }


@pytest.mark.requirement("D-040", "D-041")
def test_a_hit_without_any_heading_above_has_no_section_heading(assistant: Assistant) -> None:
    (hit,) = ask(assistant, "search", query="okapi")

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


@pytest.mark.requirement("D-041")
@pytest.mark.parametrize("number", [2, 37, 73, 100])
def test_a_hit_far_down_names_the_nearest_heading_above_and_its_place_among_the_chunks(
    assistant: Assistant, number: int
) -> None:
    (hit,) = ask(assistant, "search", query=f'"línea {number}"', limit=1)

    start = LONG.index(hit["content"])
    headings = re.findall(r"^#+ (.*)$", LONG[: start + len(hit["content"].split("\n")[0])], re.M)
    assert f"Línea {number} of" in hit["content"]
    assert hit["sectionHeading"] == headings[-1] == f"Part {number}"
    assert 1 < hit["chunkIndex"] <= hit["totalChunks"]


@pytest.mark.requirement("D-041")
def test_the_chunks_of_a_document_are_numbered_from_one_to_their_count(shelf: Shelf) -> None:
    words = [f"w{number}" for number in range(40)]
    shelf.put("a.md", "".join(f"## H{word}\n\n{word} {'filler ' * 120}\n\n" for word in words))
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        hits = [ask(assistant, "search", query=word)[0] for word in words]

    assert [hit["sectionHeading"] for hit in hits] == [f"H{word}" for word in words]
    assert [hit["chunkIndex"] for hit in hits] == list(range(1, len(words) + 1))
    assert {hit["totalChunks"] for hit in hits} == {len(words)}


@pytest.mark.requirement("D-041")
def test_a_heading_further_down_in_a_passage_is_not_the_one_above_it(shelf: Shelf) -> None:
    front = "---\ntitle: Front\n---\n"
    shelf.put("a.md", f"{front}A wombat before all.\n\n## First\n\nText.\n\n### Second\n\nText.\n")
    shelf.put("b.md", f"{front}A numbat before all.\n\nFirst\n=====\n\nText.\n")
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        hits = [ask(assistant, "search", query=query)[0] for query in ("wombat", "numbat")]

    for hit in hits:
        assert "First" in hit["content"]
        assert "sectionHeading" not in hit


@pytest.mark.requirement("D-042")
@pytest.mark.parametrize("query", ["antarctic krill", "emperor", "penguins krill tax", "the of"])
def test_scores_lie_between_0_and_1_and_never_grow(assistant: Assistant, query: str) -> None:
    answer = reply(assistant, "search", query=query, limit=100).structured
    scores = [each["relevanceScore"] for each in answer["results"]]

    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.requirement("D-042")
def test_a_better_hit_has_the_larger_score(assistant: Assistant) -> None:
    hits = ask(assistant, "search", query="emperor breeds in winter", limit=100)
    scores = {hit["documentId"]: hit["relevanceScore"] for hit in hits}

    assert hits[0]["documentId"] == "birds/emperor.md"
    assert scores["birds/emperor.md"] > scores["emperor.md"] > 0


def found(assistant: Assistant, query: str, **arguments: Any) -> list[tuple[str, str]]:
    hits = ask(assistant, "search", query=query, **arguments)
    return sorted((hit["collection"], hit["documentId"]) for hit in hits)


@pytest.mark.requirement("D-039")
def test_collections_confine_a_search_by_name_or_alias_and_none_means_all(
    assistant: Assistant,
) -> None:
    handbook = [("hb", "birds/emperor.md")]
    elsewhere = [("plain", "emperor.md")]

    assert found(assistant, "emperor", collections=["hb"]) == handbook
    assert found(assistant, "emperor", collections=["company-handbook", "hb"]) == handbook
    assert found(assistant, "emperor", collections=["plain", "void"]) == elsewhere
    everywhere = sorted(handbook + elsewhere)
    assert found(assistant, "emperor") == everywhere
    assert found(assistant, "emperor", collections=[]) == everywhere
    assert found(assistant, "emperor", collections=["plain", "hb"]) == everywhere


@pytest.mark.requirement("D-038")
def test_search_gives_ten_and_a_batch_and_related_five_by_default(zebras: Assistant) -> None:
    assert len(ask(zebras, "search", query="zebra")) == 10
    (entry,) = ask(zebras, "search_batch", queries=[{"query": "zebra"}])["results"]
    assert len(entry["results"]) == 5
    related = ask(zebras, "find_related", collection="notes", document="000.txt")
    assert len(related["related"]) == 5


@pytest.mark.requirement("D-038")
def test_saying_the_defaults_changes_nothing(assistant: Assistant) -> None:
    usual = ask(assistant, "search", query="antarctic krill")

    assert usual == ask(
        assistant,
        "search",
        query="antarctic krill",
        collections=None,
        limit=10,
        maxDistance=None,
        hybridSearch=True,
        rerank=False,
    )


@pytest.mark.requirement("D-047")
def test_a_limit_counts_from_1_to_100_and_above_as_100(zebras: Assistant) -> None:
    related = {"collection": "notes", "document": "000.txt"}
    batch = {"queries": [{"query": "zebra"}]}
    for limit, count in ((1, 1), (99, 99), (100, 100), (101, 100), (10**30, 100)):
        assert len(ask(zebras, "search", query="zebra", limit=limit)) == count
        (entry,) = ask(zebras, "search_batch", **batch, limit=limit)["results"]
        assert len(entry["results"]) == count
        assert len(ask(zebras, "find_related", **related, limit=limit)["related"]) == count
    for limit in (0, -1):
        for tool, asked in (
            ("search", {"query": "zebra"}),
            ("search_batch", batch),
            ("find_related", related),
        ):
            assert refusal(zebras, tool, **asked, limit=limit).startswith(
                "Argument 'limit': input should be greater than or equal to 1. Example: {"
            )


# ------------------------------------------------------------------- nothing found


@pytest.mark.requirement("D-048")
@pytest.mark.parametrize("query", ["okapy", "xyzzyplugh", "", "?!", '"okapi heading"'])
def test_nothing_found_is_said_with_what_is_near_and_no_error(
    assistant: Assistant, query: str
) -> None:
    answer = reply(assistant, "search", query=query, collections=["hb"])

    assert answer.text.startswith(NOTHING)
    assert answer.text.endswith(SHOWN)
    assert (answer.structured, answer.is_error) == ({"results": []}, False)


@pytest.mark.requirement("D-048")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"query": "xyzzyplugh"}, "Tried: no document has 'xyzzyplugh'."),
        (
            {"query": "okappi -heading"},
            "Tried: 'okappi' also as 'okapi'; every match has an excluded word.",
        ),
        (
            {"query": "quagga", "collections": ["plain"]},
            "Tried: documents match, but none in collection plain. "
            'Collection "hb" has "guides/setup.md".',
        ),
    ],
)
def test_what_was_tried_and_what_comes_near_is_told(
    assistant: Assistant, asked: dict[str, Any], said: str
) -> None:
    assert reply(assistant, "search", **asked).text == f"{NOTHING} {said} {SHOWN}"


@pytest.mark.requirement("D-048")
def test_files_that_could_not_be_read_are_counted_where_nothing_is_found(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    shelf.put("broken.md", b"\x00\x01\x02" * 1000)
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        text = reply(assistant, "search", query="xyzzy").text

    assert "1 of 2 files in scope could not be read." in text


# ------------------------------------------------------------------- without vectors


def test_distance_and_hybrid_search_change_nothing_while_no_chunk_has_a_vector(
    assistant: Assistant,
) -> None:
    usual = ask(assistant, "search", query="antarctic krill")

    assert ask(assistant, "search", query="antarctic krill", hybridSearch=False) == usual
    assert ask(assistant, "search", query="antarctic krill", maxDistance=0.0) == usual


# ------------------------------------------------------------------- several searches

QUERIES: list[dict[str, Any]] = [
    {"query": "antarctic krill"},
    {"query": "xyzzyplugh"},
    {"query": "emperor", "collections": ["hb"]},
    {"query": "emperor", "collections": ["company-handbook", "plain"]},
    {"query": "antarctic krill"},
    {"query": "okapi", "collections": []},
]


@pytest.mark.requirement("D-055", "D-056", "D-058", "D-059")
@pytest.mark.parametrize(
    "options", [{}, {"limit": 2}, {"limit": 1, "maxDistance": 0.5, "hybridSearch": False}]
)
def test_a_batch_answers_each_query_in_order_as_a_search_would(
    assistant: Assistant, options: dict[str, Any]
) -> None:
    alone = [
        {
            "query": each["query"],
            **reply(assistant, "search", **{"limit": 5} | options, **each).structured,
        }
        for each in QUERIES
    ]

    assert ask(assistant, "search_batch", queries=QUERIES, **options) == {"results": alone}
    assert alone[1] == {"query": "xyzzyplugh", "results": []}


@pytest.mark.requirement("D-055", "D-057")
def test_a_batch_takes_one_to_ten_queries(assistant: Assistant) -> None:
    ten = [{"query": f"krill {n}"} for n in range(10)]

    for some in (ten[:1], ten):
        answer = ask(assistant, "search_batch", queries=some)
        assert [entry["query"] for entry in answer["results"]] == [each["query"] for each in some]
    assert "at most 10" in refusal(assistant, "search_batch", queries=[*ten, {"query": "krill"}])
    assert "at least 1" in refusal(assistant, "search_batch", queries=[])


@pytest.mark.requirement("D-059")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_unknown_collection_in_one_query_makes_the_whole_batch_an_error(
    assistant: Assistant, place: int
) -> None:
    queries: list[dict[str, Any]] = [{"query": "krill"}, {"query": "tax"}]
    queries.insert(place, {"query": "krill", "collections": ["hb", "plane"]})

    assert refusal(assistant, "search_batch", queries=queries) == (
        'Collection "plane" not found. There is "plain".'
    )


# ------------------------------------------------------------------- related documents


def related(assistant: Assistant, document: str, **arguments: Any) -> list[str]:
    answer = ask(assistant, "find_related", collection="hb", document=document, **arguments)
    assert set(answer) == {"source", "related"}
    assert answer["source"] == HB | {"document": document}
    assert all(each.items() >= HB.items() for each in answer["related"])
    return [each["document"] for each in answer["related"]]


@pytest.mark.requirement("D-064", "D-065", "D-066")
def test_related_are_similar_documents_of_the_same_collection_without_the_source(
    assistant: Assistant,
) -> None:
    # `emperor.md` of another collection is all but the same text.
    assert related(assistant, "birds/emperor.md", limit=100)[:2] == [
        "birds/adelie.md",
        "birds/krill.md",
    ]
    assert "money/tax.md" not in related(assistant, "birds/emperor.md", limit=2)
    assert related(assistant, "birds/emperor.md", limit=1) == ["birds/adelie.md"]


@pytest.mark.requirement("D-065")
@pytest.mark.parametrize("document", HANDBOOK)
@pytest.mark.parametrize("chunk", [None, PENGUIN, "okapi of many words"])
def test_nothing_of_another_collection_is_ever_related(
    assistant: Assistant, document: str, chunk: str | None
) -> None:
    found = related(assistant, document, chunk=chunk, limit=100, sameDocument=True)

    assert set(found) <= set(HANDBOOK)


@pytest.mark.requirement("D-064")
@pytest.mark.parametrize("document", HANDBOOK)
@pytest.mark.parametrize("chunk", [None, PENGUIN, *HANDBOOK.values()])
def test_the_source_is_among_the_related_only_when_asked_for(
    assistant: Assistant, document: str, chunk: str | None
) -> None:
    assert document not in related(assistant, document, chunk=chunk, limit=100)
    if chunk in (None, HANDBOOK[document]):
        assert document in related(assistant, document, chunk=chunk, sameDocument=True)


@pytest.mark.requirement("D-061")
def test_a_given_chunk_is_what_the_related_are_like(assistant: Assistant) -> None:
    chunk = "yearly deductions on invoices"

    assert related(assistant, "birds/emperor.md", chunk=chunk) == ["money/tax.md"]
    assert related(assistant, "birds/emperor.md", chunk="?!") == []


@pytest.mark.requirement("D-061")
def test_an_empty_chunk_is_none(assistant: Assistant) -> None:
    usual = related(assistant, "birds/emperor.md")

    assert usual
    assert related(assistant, "birds/emperor.md", chunk="") == usual
    assert related(assistant, "birds/emperor.md", chunk=" \n") == usual


@pytest.mark.requirement("D-062")
def test_a_related_item_has_the_fields_of_a_hit(assistant: Assistant) -> None:
    answer = ask(assistant, "find_related", collection="hb", document="birds/emperor.md", limit=1)
    (item,) = answer["related"]

    assert 0 < item["relevanceScore"] <= 1
    assert answer == {
        "source": HB | {"document": "birds/emperor.md"},
        "related": [
            HB
            | {
                "document": "birds/adelie.md",
                "documentTitle": "Adélie",
                "sectionHeading": "Adélie",
                "content": HANDBOOK["birds/adelie.md"].rstrip("\n"),
                "relevanceScore": item["relevanceScore"],
                "distance": None,
                "chunkIndex": 1,
                "totalChunks": 1,
            }
        ],
    }
