"""The library's own part in finding by meaning: when vectors are made, and which model asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

import bookwheel.library
from bookwheel.embedders import http, static
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import BadRequest, Upstream
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest
from bookwheel.search import models
from tests.conftest import Shelf
from tests.embedders.endpoints import Answer, Asked, serving, vectors

DOCS = Path(__file__).parents[1] / "docs"
CARS = "# Vehicles\n\nThe automobile needs petrol and oil; its engine must be serviced."
SEMANTIC = SearchMode.SEMANTIC


def find(library: Library, words: str, mode: SearchMode = SearchMode.HYBRID) -> list[str]:
    return [hit.document for hit in library.search(SearchRequest(words, mode=mode)).hits]


@pytest.fixture
def cars(shelf: Shelf) -> Shelf:
    shelf.put("garage.md", CARS)
    shelf.update()
    return shelf


def test_vectors_are_made_once_and_for_what_is_new(cars: Shelf) -> None:
    with cars.open() as library:
        assert (library.is_embedded, find(library, "car maintenance")) == (False, [])
        assert (library.embed(), library.embed(), library.is_embedded) == (1, 0, True)
        assert find(library, "car maintenance") == ["garage.md"]
        cars.put("new.md", "zebra")
        library.update()
        assert not library.is_embedded
        assert library.embed() == 1


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("why does the sea rise twice a day", "tides.md"),  # `sea` is no slip of `tea`
        ("how do I work at home", "home.md"),  # all of it: words decide
        ("vaccnie", "vaccines.md"),  # a slip is no word that the model knows
    ],
)
def test_meaning_decides_where_the_index_lacks_the_words_of_a_question(
    shelf: Shelf, question: str, first: str
) -> None:
    shelf.put("home.md", "# Working from home\n\nStaff may work at home; their work is logged.")
    shelf.put("tea.md", "# Cold tea\n\nPour the tea twice, let it rest, and drink it daily.")
    shelf.put(
        "tides.md",
        "# Tides\n\nThe ocean water along the coast is lifted by the moon, high and low.",
    )
    shelf.put(
        "vaccines.md",
        "# Vaccines\n\nA vaccine shows the immune system of the body a harmless virus, so that "
        "it is protected against the disease later.",
    )
    shelf.update()
    with shelf.open() as library:
        library.embed()
        assert find(library, question)[0] == first


@pytest.mark.parametrize("lacking", ["Contoso Databricks Redshift", "Airbnb Netflix Spotify"])
def test_a_rare_name_is_found_before_what_shares_no_word_though_other_names_are_lacking(
    shelf: Shelf, lacking: str
) -> None:
    for file in DOCS.rglob("*.md"):
        shelf.put(file.name, file.read_text(encoding="utf-8"))
    shelf.update()
    with shelf.open() as library:
        library.embed()
        for name in ("apsw", "turbovec", "libdeflate", "calamine"):
            first = find(library, f"{lacking} {name}")[0]
            text = library.text(library.document(first)).text
            assert name in text.lower(), (name, first)


def test_what_is_all_embedded_is_known_without_loading_a_model(cars: Shelf) -> None:
    with cars.open() as library:
        library.embed()
    with cars.open() as library:
        assert library.embed() == 0
        assert library._models.loaded is None


def test_another_preparation_of_texts_makes_all_vectors_anew(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cars.open() as library:
        library.embed()
    monkeypatch.setattr(static, "_PREPARATION", "another")
    with cars.open() as library:
        assert find(library, "car maintenance") == []
        assert find(library, "petrol") == ["garage.md"]
        assert (library.is_embedded, library.embed()) == (False, 1)
        assert find(library, "car maintenance") == ["garage.md"]


def use(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let libraries that are opened from now on have another model."""
    monkeypatch.setattr(static, "_PREPARATION", model)
    monkeypatch.setattr(bookwheel.library, "__version__", model)


def test_two_models_that_are_used_in_turn_make_their_vectors_once(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(preparation: str) -> int:
        use(preparation, monkeypatch)
        with cars.open() as library:
            done = library.embed()
            assert library.is_embedded
            assert find(library, "car maintenance") == ["garage.md"]
            return done

    assert [embed(name) for name in ("one", "other", "one", "other")] == [1, 1, 0, 0]
    cars.put("new.md", "zebra")
    cars.update()
    assert [embed(name) for name in ("one", "other", "one")] == [1, 1, 0]


def test_of_three_models_the_one_that_was_in_use_longest_ago_loses_its_vectors(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(preparation: str) -> int:
        use(preparation, monkeypatch)
        with cars.open() as library:
            return library.embed()

    assert [embed(name) for name in ("one", "other", "third")] == [1, 1, 1]
    assert [embed(name) for name in ("other", "third", "one")] == [0, 0, 1]


def test_a_model_that_has_made_a_part_leaves_the_vectors_of_all_others(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(preparation: str, *, groups: int = 99) -> int:
        use(preparation, monkeypatch)
        stops = iter([False] * groups)
        with cars.open() as library:
            return library.embed(should_stop=lambda: next(stops, True))

    assert [embed("one"), embed("other")] == [1, 1]
    for number in range(65):
        cars.put(f"{number}.md", f"zebra {number}")
    cars.update()
    assert [embed("other"), embed("one")] == [65, 65]
    assert 0 < embed("third", groups=1) < 66
    assert [embed("other"), embed("one")] == [0, 0]


def test_another_version_of_the_program_looks_whether_its_vectors_are_the_same(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cars.open() as library:
        library.embed()
    monkeypatch.setattr(bookwheel.library, "__version__", "99")
    with cars.open() as library:
        assert (library.is_embedded, library.embed(), library.is_embedded) == (False, 0, True)


def test_without_an_embedder_words_do(cars: Shelf) -> None:
    with cars.open() as library:
        library.embed()
    with cars.open(embedder="none") as library:
        assert (library.embed(), library.is_embedded) == (0, True)
        assert find(library, "petrol") == ["garage.md"]
        assert find(library, "car maintenance") == []
        with pytest.raises(BadRequest, match="the embedder is `none`"):
            find(library, "petrol", SEMANTIC)


@pytest.mark.parametrize(
    ("flags", "lacks"),
    [
        ({}, "embedding_url"),
        ({"embedding_model": "m"}, "embedding_url"),
        ({"embedding_url": "http://127.0.0.1:1/v1"}, "embedding_model"),
    ],
)
def test_an_endpoint_without_address_or_model_ends_the_start(
    cars: Shelf, flags: dict[str, str], lacks: str
) -> None:
    with pytest.raises(BadRequest, match=f"embedder is 'http', but {lacks} is not set"):
        cars.open(embedder="http", **flags)


def test_by_meaning_alone_nothing_can_be_found_before_there_are_vectors(cars: Shelf) -> None:
    with cars.open() as library:
        assert find(library, "petrol") == ["garage.md"]
        with pytest.raises(BadRequest, match="no document has a vector of this model yet"):
            find(library, "petrol", SEMANTIC)


def test_f20_an_embedder_that_cannot_be_loaded_leaves_words_with_a_note(cars: Shelf) -> None:
    with cars.open() as library:
        library.embed()
    with cars.open(embedder="model2vec:/nowhere") as library:
        results = library.search(SearchRequest("petrol"))
        assert [hit.document for hit in results.hits] == ["garage.md"]
        assert results.relaxed[0].startswith("words alone were compared: The model '/nowhere'")
        with pytest.raises(BadRequest, match="cannot be loaded"):
            find(library, "petrol", SEMANTIC)
        library.warm()


def test_f20_an_endpoint_that_fails_is_not_asked_again_at_each_search(cars: Shelf) -> None:
    works = [True]

    def behave(asked: Asked) -> Answer:
        rows = [[1.0, float("petrol" in text)] for text in asked.body["input"]]
        return vectors(rows) if works[0] else Answer(b"{}", status=500)

    with serving(behave) as service:
        http = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**http) as library:
            assert library.embed() == 1
            assert find(library, "petrol", SEMANTIC) == ["garage.md"]
        works[0] = False
        with cars.open(**http) as library:
            for _ in range(3):
                results = library.search(SearchRequest("petrol"))
                assert [hit.document for hit in results.hits] == ["garage.md"]
                assert results.relaxed[-1].startswith("words alone were compared: ")
                asked = len(service.asked)
            with pytest.raises(Upstream):
                find(library, "petrol", SEMANTIC)
            assert len(service.asked) == asked


def test_searches_do_not_wait_for_an_endpoint_that_hangs(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "QUERY_SECONDS", 0.3)
    hangs = Event()

    def behave(asked: Asked) -> Answer:
        rows = [[1.0, float("petrol" in text)] for text in asked.body["input"]]
        if hangs.is_set():
            return vectors(rows)._replace(trickle=0.2)
        return vectors(rows)

    with serving(behave) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**flags) as library:
            library.embed()
            hangs.set()
            asked = len(service.asked)
            for _ in range(3):
                results = library.search(SearchRequest("petrol"))
                assert [hit.document for hit in results.hits] == ["garage.md"]
                assert results.relaxed[-1] == (
                    "words alone were compared: The embedding endpoint did not answer within 0.3 s"
                )
            assert len(service.asked) == asked + 1
        with cars.open(**flags) as library:
            said = library.search(SearchRequest("petrol")).relaxed[-1]
            assert said.endswith("did not answer within 0.3 s")


def test_a_search_does_not_wait_long_for_a_model_that_is_being_loaded(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cars.open() as library:
        library.embed()
    monkeypatch.setattr(models, "_LOADING_SECONDS", 0.01)
    with cars.open() as library, library._models._loading:
        results = library.search(SearchRequest("petrol"))
        assert [hit.document for hit in results.hits] == ["garage.md"]
        assert results.relaxed == ("words alone were compared: The model is still being loaded",)


def test_an_endpoint_of_which_there_are_no_vectors_yet_is_not_asked_for_queries(
    cars: Shelf,
) -> None:
    with cars.open() as library:
        library.embed()
    with serving(lambda asked: vectors([[1.0, 0.0]] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**flags) as library:
            results = library.search(SearchRequest("petrol"))
            said = "words alone were compared: no document has a vector of this model yet"
            assert results.relaxed == (said,)
            assert (library.knows_meaning, len(service.asked)) == (False, 1)
            library.embed()
            assert library.knows_meaning
            assert library.search(SearchRequest("petrol")).relaxed == ()


def test_an_endpoint_that_gives_other_vectors_under_the_same_name_makes_all_anew(
    cars: Shelf,
) -> None:
    row = [1.0, 0.0]
    with serving(lambda asked: vectors([row] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**flags) as library:
            assert (library.embed(), library.embed()) == (1, 0)
        row.append(0.0)
        with cars.open(**flags) as library:
            assert (library.embed(), library.embed()) == (1, 0)
            assert find(library, "petrol", SEMANTIC) == ["garage.md"]


def test_an_open_library_asks_with_the_model_that_has_taken_the_place_of_another(
    cars: Shelf,
) -> None:
    row, told = [1.0, 0.0], list[bool]()
    with serving(lambda asked: vectors([row] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**flags) as library:
            library.embed()
            library.when_model_is_other(lambda: told.append(True))
            assert find(library, "petrol", SEMANTIC) == ["garage.md"]
            row.append(0.0)
            said = [library.search(SearchRequest("petrol")).relaxed for _ in range(3)]
            assert said == [
                ("words alone were compared: The embedding endpoint gave 3 dimensions, not 2",),
                *[("words alone were compared: no document has a vector of this model yet",)] * 2,
            ]
            assert told == [True]
            assert (library.is_embedded, library.embed(), library.is_embedded) == (False, 1, True)
            assert find(library, "petrol", SEMANTIC) == ["garage.md"]


def test_an_open_library_learns_from_the_index_that_others_met_another_model(
    cars: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks nothing of a model that has no vectors, so it would never learn of it by asking."""
    for name in "_FOUND_SECONDS", "_MISSED_SECONDS", "_RETRY_SECONDS":
        monkeypatch.setattr(models, name, 0.0)
    row = [1.0, 0.0]
    with serving(lambda asked: vectors([row] * len(asked.body["input"]))) as service:
        flags = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with cars.open(**flags) as library:
            library.embed()
            for _ in range(2):  # those of the model before are kept
                row.append(0.0)
                with cars.open(**flags) as other:
                    assert other.embed() == 1
            said = "words alone were compared: no document has a vector of this model yet"
            assert library.search(SearchRequest("petrol")).relaxed == (said,)
            assert library.search(SearchRequest("petrol")).relaxed == ()


def test_warming_loads_the_model_and_the_vectors(cars: Shelf) -> None:
    with cars.open() as library:
        library.warm()
        assert library._models.loaded is None
        library.embed()
    with cars.open() as library:
        library.warm()
        assert library._models.loaded is not None
        assert isinstance(library._store, EmbeddedEngine)
        assert library._store._vectors._held is not None


def test_warming_before_there_is_an_index_does_nothing(shelf: Shelf) -> None:
    with shelf.open() as library:
        library.warm()
        assert library._models.loaded is None


def test_a_search_by_words_loads_neither_numpy_nor_a_model(cars: Shelf, tmp_path: Path) -> None:
    with cars.open() as library:
        library.embed()
    program = f"""
import sys
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest
from bookwheel.search import models
from bookwheel.settings import load
flags = {{"index": {str(cars.place / "index")!r}}}
settings = load(flags, use_start_folder=False, environment={{}})
with Library.open(settings, [{str(cars.folder)!r}]) as library:
    assert library.embed() == 0
    for mode in SearchMode.LEXICAL, SearchMode.HYBRID:
        print(len(library.search(SearchRequest("petrol", mode=mode)).hits),
              [name for name in ("numpy", "turbovec", "statistics", "bookwheel.engines.hiding")
               if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.splitlines() == ["1 []", "1 ['numpy']"], said.stderr
