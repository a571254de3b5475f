"""Vectors in a cluster that several indexers share: whose they are, and of which text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.engines.opensearch.engine import OpenSearchEngine
from bookwheel.engines.opensearch.vectors import vectors_kind
from bookwheel.model import FileState
from tests.cluster.library import open_engine
from tests.engines.drafts import draft, fill, key_of, problems
from tests.engines.test_every_vectors import ONE, X, Y, lacking, near, rows

pytestmark = pytest.mark.cluster


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[OpenSearchEngine]:
    """Give an engine with two documents, each in a collection of its own."""
    made = open_engine(tmp_path)
    assert isinstance(made, OpenSearchEngine)
    fill(made, draft("a.md", "walrus"), draft("b.md", "otter", collection="papers"))
    yield made
    made.close()


def meanwhile(engine: OpenSearchEngine, monkeypatch: pytest.MonkeyPatch, do: Any) -> None:
    """Let something happen once, after the next vectors are written and before their row is."""
    plain: Callable[[Any], None] = engine._must

    def must(failures: Any) -> None:
        plain(failures)
        monkeypatch.setattr(engine, "_must", plain)
        do()

    monkeypatch.setattr(engine, "_must", must)


def test_an_indexer_gives_vectors_to_its_own_collections_only(engine: OpenSearchEngine) -> None:
    own, others = key_of(engine, "a.md"), key_of(engine, "b.md", "papers")
    assert lacking(engine) == [("a", 1), ("b", 1)]
    engine.begin_writing(["notes"])
    assert lacking(engine) == [("a", 1)]
    engine.write_vectors(ONE, 3, {own: rows(X), others: rows(Y)})
    assert lacking(engine) == []
    engine.end_writing()
    assert (near(engine, X), lacking(engine)) == (["a.md 1"], [("b", 1)])
    assert problems(engine) == []


def test_a_document_that_was_replaced_while_it_was_embedded_lacks_vectors_still(
    engine: OpenSearchEngine,
) -> None:
    key = key_of(engine, "a.md")
    engine.begin_writing(["notes"])
    assert lacking(engine) == [("a", 1)]
    engine.write([draft("a.md", "penguin")])
    engine.commit()
    engine.write_vectors(ONE, 3, {key: rows(X)})
    assert (near(engine, X), engine.vectors(ONE, [key])) == ([], {})
    assert lacking(engine) == [("a", 1)]
    engine.write_vectors(ONE, 3, {key: rows(Y)})
    assert (near(engine, Y), lacking(engine), problems(engine)) == (["a.md 1"], [], [])


def test_a_document_that_is_replaced_while_its_vectors_are_written_lacks_them_still(
    engine: OpenSearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(engine, "a.md")
    engine.begin_writing(["notes"])
    assert lacking(engine) == [("a", 1)]
    meanwhile(engine, monkeypatch, lambda: engine.write([draft("a.md", "penguin")]))
    engine.write_vectors(ONE, 3, {key: rows(X)})
    assert (near(engine, X), engine.vectors(ONE, [key])) == ([], {})
    assert lacking(engine) == [("a", 1)]
    engine._refresh_indices(vectors_kind(ONE))
    assert engine._count(vectors_kind(ONE), {"match_all": {}}) == 0
    assert problems(engine) == []


def test_a_file_that_is_only_looked_at_meanwhile_gets_its_vectors(
    engine: OpenSearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(engine, "a.md")
    engine.begin_writing(["notes"])
    look = FileState(7, 8, b"digest")
    meanwhile(engine, monkeypatch, lambda: engine.touch("notes", {"a.md": look}))
    engine.write_vectors(ONE, 3, {key: rows(X)})
    assert (near(engine, X), lacking(engine), problems(engine)) == (["a.md 1"], [], [])


def test_vectors_that_are_gone_are_told(engine: OpenSearchEngine) -> None:
    engine.begin_writing()
    engine.write_vectors(ONE, 3, {key_of(engine, "a.md"): rows(X)})
    engine._delete_where(vectors_kind(ONE), {"match_all": {}})
    engine.end_writing()
    assert problems(engine) == ["the cluster holds 0 vectors of 1 that the catalogue tells of"]


def test_a_document_without_its_text_keeps_no_other_from_its_vectors(
    engine: OpenSearchEngine,
) -> None:
    engine.begin_writing()
    engine._delete_where("passages", {"term": {"document": key_of(engine, "a.md")}})
    assert [title for title, _ in engine.without_vectors(ONE, 1)] == ["b"]
