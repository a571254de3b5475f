"""Through a client: search and likeness by meaning, where passages have vectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from bookwheel.embedders.static import StaticEmbedder
from tests.clients.assistant import Assistant, assisting
from tests.clients.documents_shelf import ask, refusal, reply
from tests.conftest import Shelf
from tests.embedders.endpoints import Answer, Asked, serving, vectors

CAR = """\
# Motoring

Opening words.

## Brakes

An automobile slows down when its driver presses the pedal.

## Fuel

Diesel and petrol are burnt inside the motor of every vehicle.
"""
NOTES = {
    "car.md": CAR,
    "doctor.md": "# Ward\n\nThe physician treated sick patients in the hospital.\n",
    "fruit.md": "# Orchard\n\nApples and pears ripen in autumn.\n",
    "garage.md": "# Workshop\n\nMechanics repair cars, trucks and engines.\n",
    "ticket.md": "# ZX-4711-Q\n\nSee the ticket.\n",
}


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    shelf = Shelf(tmp_path_factory.mktemp("meaning"))
    for path, text in NOTES.items():
        shelf.put(path, text)
    with shelf.open() as library:
        library.update()
        library.embed()
        with assisting(library) as connected:
            yield connected


def search(assistant: Assistant, query: str, **arguments: Any) -> list[dict[str, Any]]:
    results = reply(assistant, "search", query=query, **arguments).structured["results"]
    assert isinstance(results, list)
    return results


def paths(assistant: Assistant, query: str, **arguments: Any) -> list[str]:
    return [hit["documentId"] for hit in search(assistant, query, **arguments)]


@pytest.mark.requirement("D-043")
@pytest.mark.parametrize("query", ["automobile pedal", "patients", "who cares for ill people?"])
def test_distance_is_one_less_the_cosine_of_the_query_and_the_passage_shown(
    assistant: Assistant, query: str
) -> None:
    model = StaticEmbedder()
    hits = search(assistant, query)

    assert hits
    for hit in hits:
        above = [hit["documentTitle"], hit["sectionHeading"]]
        read = " > ".join(dict.fromkeys(above)) + "\n" + hit["content"]
        cosine = model.embed([read])[0] @ model.embed_query(query)
        assert hit["distance"] == pytest.approx(1 - cosine, abs=0.002)


@pytest.mark.requirement("D-043")
def test_the_distance_is_that_of_the_passage_that_words_chose_not_of_a_nearer_one(
    shelf: Shelf,
) -> None:
    near = "The automobile slows down when its driver presses the pedal. " * 9
    words = "A quagga. " + "A field of plain grass and nothing else at all was there. " * 9
    query = "quagga vehicles motoring traffic"
    shelf.put("a.md", f"# Page\n\n## One\n\n{near}\n\n## Two\n\n{words}\n")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            (hit,) = search(assistant, query)
    model = StaticEmbedder()
    read = [f"Page > Two\n{hit['content']}", f"Page > One\n## One\n\n{near}"]
    shown, other = model.embed(read) @ model.embed_query(query)

    assert (hit["chunkIndex"], hit["totalChunks"]) == (2, 2)
    assert other > shown
    assert hit["distance"] == pytest.approx(1 - shown, abs=0.002)


@pytest.mark.requirement("D-043")
def test_a_passage_in_which_the_model_knows_nothing_has_no_distance(shelf: Shelf) -> None:
    shelf.put("a.txt", "☃ 🌂")
    shelf.put("b.txt", "snow and umbrellas")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            found = {hit["documentId"]: hit["distance"] for hit in search(assistant, "☃ snow a")}

    assert found.get("a.txt") is None
    assert found["b.txt"] is not None


@pytest.mark.requirement("D-044")
@pytest.mark.parametrize("hybrid", [True, False])
def test_max_distance_drops_just_what_is_farther(assistant: Assistant, hybrid: bool) -> None:
    usual = search(assistant, "workshop of a vehicle", hybridSearch=hybrid, limit=100)
    distances = [hit["distance"] for hit in usual]

    assert len(usual) > 1
    for bound in (*distances, 0.0, 2.0, -1.0):
        kept = search(
            assistant, "workshop of a vehicle", hybridSearch=hybrid, limit=100, maxDistance=bound
        )
        expected = [hit["documentId"] for hit in usual if hit["distance"] <= bound]
        assert [hit["documentId"] for hit in kept] == expected


@pytest.mark.requirement("D-044")
def test_max_distance_comes_before_the_limit(assistant: Assistant) -> None:
    usual = search(assistant, "Workshop of a vehicle", limit=100)
    near = min(usual, key=lambda hit: hit["distance"])

    kept = search(assistant, "Workshop of a vehicle", limit=1, maxDistance=near["distance"])

    assert [hit["documentId"] for hit in kept] == [near["documentId"]]


@pytest.mark.requirement("D-044")
def test_when_all_is_too_far_that_is_said(assistant: Assistant) -> None:
    answer = reply(assistant, "search", query="patients", maxDistance=0.01)

    assert answer.structured == {"results": []}
    assert "all that was found is farther away than 0.01" in answer.text


@pytest.mark.requirement("D-044")
def test_max_distance_keeps_what_has_no_vector(shelf: Shelf) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
    shelf.put("b.md", "The automobile is new and not read for meaning yet.")
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        hits = search(assistant, "automobile", maxDistance=0.0)

    assert [(hit["documentId"], hit["distance"]) for hit in hits] == [("b.md", None)]


def test_it_is_said_that_words_alone_were_compared(shelf: Shelf) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
    with shelf.open(embedder="model2vec:/nowhere") as library, assisting(library) as assistant:
        answer = reply(assistant, "search", query="automobile")
        batch = ask(assistant, "search_batch", queries=[{"query": "automobile"}] * 2)

    said = "Note: words alone were compared: The model '/nowhere' cannot be loaded"
    (hit,) = json.loads(answer.text)
    assert hit["note"].startswith(said)
    assert answer.structured == {"results": [hit]}
    assert batch["note"].startswith(said)
    assert batch["note"].count("words alone") == 1


@pytest.mark.requirement("D-045")
def test_without_hybrid_search_meaning_alone_decides(assistant: Assistant) -> None:
    hits = search(assistant, "doctors help people who are ill", hybridSearch=False)
    distances = [hit["distance"] for hit in hits]

    assert hits[0]["documentId"] == "doctor.md"
    assert None not in distances
    assert distances == sorted(distances)


@pytest.mark.requirement("D-045")
def test_without_vectors_words_alone_decide(shelf: Shelf) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    with shelf.open() as library, assisting(library) as assistant:
        hits = search(assistant, "automobile", hybridSearch=False)

    assert [(hit["documentId"], hit["distance"]) for hit in hits] == [("a.md", None)]


@pytest.mark.requirement("D-045")
@pytest.mark.parametrize("model", ["minilm", "model2vec:/nowhere"])
def test_without_vectors_of_this_model_words_alone_decide_and_it_is_said(
    shelf: Shelf, model: str
) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
    with shelf.open(embedder=model) as library, assisting(library) as assistant:
        (hit,) = search(assistant, "automobile", hybridSearch=False)
        batch = ask(
            assistant, "search_batch", queries=[{"query": "automobile"}], hybridSearch=False
        )

    assert (hit["documentId"], hit["distance"]) == ("a.md", None)
    assert hit["note"].startswith("Note: words alone were compared: ")
    assert batch["note"] == hit["note"]


@pytest.mark.requirement("D-045")
def test_where_the_endpoint_fails_words_alone_decide_and_it_is_said(shelf: Shelf) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    works = [True]

    def behave(asked: Asked) -> Answer:
        return vectors([[1.0, 0.0]] * len(asked.body["input"])) if works[0] else Answer(b"", 500)

    with serving(behave) as service:
        http = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with shelf.open(**http) as library, assisting(library) as assistant:
            library.embed()
            (hit,) = search(assistant, "automobile", hybridSearch=False)
            assert hit["distance"] == 0
            works[0] = False
            (hit,) = search(assistant, "automobile", hybridSearch=False)
            batch = ask(
                assistant, "search_batch", queries=[{"query": "automobile"}] * 2, hybridSearch=False
            )

    said = "Note: words alone were compared: The embedding endpoint answered 500."
    assert (hit["distance"], hit["note"]) == (None, said)
    assert [len(entry["results"]) for entry in batch["results"]] == [1, 1]
    assert batch["note"] == said


@pytest.mark.requirement("D-045")
def test_where_the_operator_wants_no_model_words_alone_decide(shelf: Shelf) -> None:
    shelf.put("a.md", "An automobile slows down.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
    with shelf.open(embedder="none") as library, assisting(library) as assistant:
        hits = search(assistant, "automobile", hybridSearch=False)

    assert [(hit["documentId"], hit["distance"]) for hit in hits] == [("a.md", None)]


@pytest.mark.requirement("D-046")
def test_hybrid_search_finds_identifiers_and_titles_by_words(assistant: Assistant) -> None:
    assert paths(assistant, "ZX-4711-Q")[0] == "ticket.md"
    assert paths(assistant, "Orchard")[0] == "fruit.md"


@pytest.mark.requirement("D-046")
def test_hybrid_search_finds_by_meaning_what_shares_no_word(assistant: Assistant) -> None:
    assert paths(assistant, "healing illness medicine")[0] == "doctor.md"


@pytest.mark.requirement("D-049")
@pytest.mark.parametrize("query", ["presses the pedal", "diesel", "ripen in autumn", "physician"])
def test_content_is_the_passage_as_it_stands_in_the_document(
    assistant: Assistant, query: str
) -> None:
    hits = search(assistant, query)
    assert hits
    for hit in hits:
        text = NOTES[hit["documentId"]]
        assert hit["content"] in text
        assert " > " not in hit["content"]
        assert hit["content"].count(hit["documentTitle"]) <= text.count(hit["documentTitle"])


@pytest.mark.requirement("D-060")
def test_a_batch_loads_the_model_once_and_asks_it_once(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in NOTES.items():
        shelf.put(path, text)
    shelf.update()
    with shelf.open() as library:
        library.embed()
    loaded: list[StaticEmbedder] = []
    asked: list[int] = []
    load, embed = StaticEmbedder.__init__, StaticEmbedder.embed

    def count_load(self: StaticEmbedder) -> None:
        loaded.append(self)
        load(self)

    def count_embed(self: StaticEmbedder, texts: Any) -> Any:
        asked.append(len(texts))
        return embed(self, texts)

    monkeypatch.setattr(StaticEmbedder, "__init__", count_load)
    monkeypatch.setattr(StaticEmbedder, "embed", count_embed)
    queries = [{"query": f"repair of engine {number}"} for number in range(10)]
    with shelf.open() as library, assisting(library) as assistant:
        entries = ask(assistant, "search_batch", queries=queries)["results"]

    assert all(entry["results"] for entry in entries)
    assert (len(loaded), asked) == (1, [10])


@pytest.mark.requirement("D-060")
@pytest.mark.parametrize("options", [{}, {"hybridSearch": False}, {"maxDistance": 0.6}])
def test_a_batch_answers_by_meaning_just_as_single_searches_do(
    assistant: Assistant, options: dict[str, Any]
) -> None:
    queries = ["healing illness medicine", "ZX-4711-Q", "", "petrol", "xyzzyplugh", '"pears"']
    entries = ask(
        assistant, "search_batch", queries=[{"query": each} for each in queries], **options
    )["results"]

    assert entries == [
        {"query": each, "results": search(assistant, each, limit=5, **options)} for each in queries
    ]
    refusal(assistant, "search_batch", queries=[{"query": "petrol"}] * 11)


# ------------------------------------------------------------------- related documents


def related(assistant: Assistant, document: str, **arguments: Any) -> list[dict[str, Any]]:
    answer = ask(
        assistant, "find_related", collection="notes", document=document, limit=100, **arguments
    )
    items = answer["related"]
    assert isinstance(items, list)
    return items


@pytest.mark.requirement("D-063")
def test_a_document_of_like_meaning_is_related_though_it_shares_no_word(shelf: Shelf) -> None:
    shelf.put("a.md", "The physician treated sick patients.")
    shelf.put("b.md", "Doctors cure ill people at hospitals.")
    shelf.put("c.md", "Apples and pears ripen in autumn.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            items = related(assistant, "a.md")
            own = related(assistant, "a.md", sameDocument=True)

    assert [each["document"] for each in items] == ["b.md"]
    assert [each["document"] for each in own] == ["a.md", "b.md"]


@pytest.mark.requirement("D-063")
def test_distances_of_what_is_related_are_from_the_middle_of_the_documents_passages(
    shelf: Shelf,
) -> None:
    parts = ["Apples and pears ripen in autumn. " * 18, "Physicians treat sick patients. " * 18]
    shelf.put("a.txt", "\n\n".join(parts))
    shelf.put("b.txt", "Fruit such as apples ripens late, and pears too.")
    shelf.put("c.txt", "Sick patients and their physicians.")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            items = related(assistant, "a.txt")
        middle = (
            library._engine.vectors(StaticEmbedder().fingerprint, [library.document("a.txt").key])
            .popitem()[1]
            .sum(axis=0)
        )
    middle /= (middle @ middle) ** 0.5

    assert {each["document"] for each in items} == {"b.txt", "c.txt"}
    for each in items:
        read = f"{each['documentTitle']}\n{each['content']}"
        cosine = StaticEmbedder().embed([read])[0] @ middle
        assert each["distance"] == pytest.approx(1 - cosine, abs=0.003)


@pytest.mark.requirement("D-063")
def test_a_chunk_is_compared_instead_of_the_document(assistant: Assistant) -> None:
    chunk = "Doctors cure ill people."
    items = related(assistant, "car.md", chunk=chunk)
    first = items[0]
    model = StaticEmbedder()
    read = f"{first['documentTitle']}\n{first['content']}"

    assert first["document"] == "doctor.md"
    assert first["distance"] == pytest.approx(
        1 - float(model.embed([read])[0] @ model.embed_query(chunk)), abs=0.002
    )


@pytest.mark.requirement("D-063")
def test_what_is_related_is_shown_by_its_nearest_passage(shelf: Shelf) -> None:
    fruit = "Apples and pears ripen in autumn on old trees of the orchard. " * 10
    shelf.put("a.txt", "Physicians treat sick patients in the wards of hospitals.")
    shelf.put("b.txt", f"{fruit}\n\n{'Doctors cure ill people at hospitals. ' * 15}")
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            (item,) = related(assistant, "a.txt")

    assert item["chunkIndex"] == item["totalChunks"] > 1
    assert "Doctors" in item["content"]


# ------------------------------------------------------------------- a second look


@pytest.mark.requirement("D-050")
def test_rerank_gives_the_same_hits_in_the_order_of_a_better_model(assistant: Assistant) -> None:
    query = "who repairs my broken car?"
    usual = search(assistant, query)
    reranked = search(assistant, query, rerank=True)
    scores = [hit["relevanceScore"] for hit in reranked]

    assert sorted(hit["documentId"] for hit in reranked) == sorted(
        hit["documentId"] for hit in usual
    )
    assert reranked[0]["documentId"] == "garage.md"
    assert scores == sorted(scores, reverse=True)


@pytest.mark.requirement("D-050")
def test_where_the_extra_is_not_installed_the_usual_order_comes_with_its_name(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bookwheel.embedders.minilm", None)
    for path, text in NOTES.items():
        shelf.put(path, text)
    shelf.update()
    with shelf.open() as library:
        library.embed()
        with assisting(library) as assistant:
            usual = search(assistant, "workshop of a vehicle")
            reranked = search(assistant, "workshop of a vehicle", rerank=True)
            nothing = reply(assistant, "search", query="xyzzyplugh", rerank=True)
    note = reranked[0].pop("note")

    assert reranked == usual
    assert "pip install 'bookwheel[minilm]'" in note
    assert not nothing.is_error
    assert nothing.text.endswith(note)
