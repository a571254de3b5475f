"""Whole evaluations: a test set and somebody's own folder, through the library."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, Upstream
from bookwheel.evaluation.dataset import read_dataset
from bookwheel.evaluation.judged import Judged
from bookwheel.evaluation.metrics import Scores
from bookwheel.evaluation.result import Miss, Result
from bookwheel.evaluation.run import ASKED, evaluate_dataset, evaluate_folder
from bookwheel.indexing.pipeline import Progress
from bookwheel.settings import load
from tests.conftest import Shelf
from tests.embedders.endpoints import Answer, Asked, serving, vectors
from tests.evaluation.small import put_dataset


def timeless(result: Result) -> Result:
    """Return a result without what differs between runs, once that has been looked at."""
    assert 0 < result.p50_ms <= result.p95_ms
    assert result.index_seconds is None or result.index_seconds > 0
    assert result.bytes_per_document > 0
    return replace(result, p50_ms=0, p95_ms=0, index_seconds=None, bytes_per_document=0)


def test_a_test_set_is_indexed_asked_and_summed_up(tmp_path: Path) -> None:
    dataset = read_dataset(put_dataset(tmp_path / "small"), "small")
    place = tmp_path / "index"
    seen: list[Progress] = []

    result = evaluate_dataset(dataset, load(environment={}), place, on_progress=seen.append)

    # Query 2 has two relevant documents, one of which is not in the set.
    second = 1 / (1 + 1 / log2(3))
    assert timeless(result) == Result(
        name="small",
        documents=3,
        queries=2,
        left_out=2,
        unknown=2,
        scores=Scores((1 + second) / 2, 0.75, 1, 1),
        p50_ms=0,
        p95_ms=0,
        index_seconds=None,
        bytes_per_document=0,
        per_query={"1": 1, "2": second},
    )
    assert seen[0] == Progress("Indexing small", 3, 3)
    assert seen[-1] == Progress("Asking small", 2, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "small"]


def test_own_folders_are_asked_and_misses_say_what_came_first(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebras\n\nStripes.")
    shelf.put("deep/otter.md", "# Otters\n\nThey swim in rivers.")
    shelf.put("river.md", "# River\n\nA river, rivers, and swimming.")
    shelf.update()
    judged = [
        Judged("zebras", {"zebra.md": 2}),
        Judged("river", {"deep/otter.md": 2, "gone.md": 1}),
        Judged("quokka", {"zebra.md": 2}),
    ]

    with shelf.open() as library:
        result = evaluate_folder(library, judged, "notes")

    assert timeless(result).misses == (
        Miss(
            "river",
            ("deep/otter.md", "gone.md"),
            2,
            ("river.md (River)", "deep/otter.md (Otters)"),
        ),
        Miss("quokka", ("zebra.md",), None, ()),
    )
    assert (result.documents, result.queries, result.unknown) == (3, 3, 1)
    assert result.per_query["zebras"] == 1
    near = 'Document "gone.md" not found.'
    assert result.notes == (f"query 'river': {near} It counts as not found.",)


def test_a_query_whose_vector_cannot_be_had_is_not_measured_by_its_words(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebras\n\nStripes.")
    shelf.update()

    def behave(asked: Asked) -> Answer:
        if asked.body["input"] == ["stripes"]:
            return Answer(b"", 400)
        return vectors([[1.0, 0.0]] * len(asked.body["input"]))

    with serving(behave) as service:
        http = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with shelf.open(**http) as library:
            with pytest.raises(Upstream, match="'stripes' cannot be measured by meaning"):
                evaluate_folder(library, [Judged("stripes", {"zebra.md": 1})], "notes")
            assert library.is_embedded


def test_a_first_question_is_asked_before_time_is_taken(shelf: Shelf) -> None:
    """It waits for the model, which others find loaded."""
    shelf.put("zebra.md", "# Zebras\n\nStripes.")
    shelf.update()
    with serving(lambda asked: vectors([[1.0, 0.0]] * len(asked.body["input"]))) as service:
        http = {"embedder": "http", "embedding_url": service.url, "embedding_model": "m"}
        with shelf.open(**http) as library:
            library.embed()
        before = len(service.asked)
        with shelf.open(**http) as library:
            evaluate_folder(library, [Judged("stripes", {"zebra.md": 1})], "notes")
    asked = [each.body["input"] for each in service.asked[before:]]
    assert asked == [["dimensions"], ["a first question"], ["stripes"]]


def test_documents_of_several_folders_are_named_with_their_collection(shelf: Shelf) -> None:
    shelf.put("zebra.md", "# Zebras")
    papers = shelf.place / "papers"
    papers.mkdir()
    (papers / "zebra.md").write_text("# Zebras on paper", encoding="utf-8")
    folders = (shelf.folder, papers)
    shelf.update(*folders)

    with shelf.open(*folders) as library:
        result = evaluate_folder(
            library, [Judged("zebras on paper", {"papers/zebra.md": 2, "zebra.md": 1})], "both"
        )

    assert result.scores.hit == 1
    assert len(result.notes) == 1
    assert "names several documents" in result.notes[0]


def put_rivers(shelf: Shelf) -> list[Judged]:
    for number in range(6):
        shelf.put(f"{number}.md", f"# River {number}\n\nWater, and {number} boats.")
    shelf.update()
    return [Judged("water boats", {"1.md": 1}), Judged("river", {"2.md": 1})]


def test_a_second_look_that_ran_out_of_time_is_said_since_the_scores_depend_on_it(
    shelf: Shelf,
) -> None:
    judged = put_rivers(shelf)
    asked = ASKED._replace(rerank=True)

    with shelf.open(rerank_ms=1) as library:
        hurried = evaluate_folder(library, judged, "notes", asked=asked)
    with shelf.open(rerank_ms=600_000) as library:
        patient = evaluate_folder(library, judged, "notes", asked=asked)

    (note,) = hurried.notes
    assert "answers it was said, as of the first: in 0.001 s only 4 of 6 hits" in note
    assert patient.notes == ()


def test_a_second_look_without_its_model_is_not_measured(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = put_rivers(shelf)
    monkeypatch.setitem(sys.modules, "bookwheel.embedders.minilm", None)

    with shelf.open() as library:
        with pytest.raises(BadRequest, match="A second look cannot be measured"):
            evaluate_folder(library, judged, "notes", asked=ASKED._replace(rerank=True))
        assert evaluate_folder(library, judged, "notes").notes == ()
