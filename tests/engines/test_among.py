"""The nearest chunks among pages that meet conditions: the same however they are come by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from bookwheel.engines import among
from bookwheel.engines.among import nearest_among
from bookwheel.engines.base import Found, Match, Vector
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.query import Filters
from tests.search.shelf import Shelf

MODEL = "model"
PAGES = 60


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    """Return pages whose vectors turn step by step away from the first one's."""
    shelf = Shelf(Path(tmp_path_factory.mktemp("among")))
    shelf.put({f"{'odd' if n % 2 else 'even'}/{n:02}.md": f"# Page {n}\n" for n in range(PAGES)})
    keys = {path: shelf.engine.document("shelf", path) for path in shelf.engine.paths("shelf")}
    rows = {}
    for path, document in keys.items():
        assert document is not None
        turn = int(path.partition("/")[2][:2]) / PAGES
        rows[document.key] = np.array([[np.cos(turn), np.sin(turn)]], np.float32)
    shelf.engine.begin_writing()
    shelf.engine.write_vectors(MODEL, 2, rows)
    shelf.engine.end_writing()
    yield shelf.engine
    shelf.close()


class Watched:
    """An engine of which is noted whether pages were named to its vectors."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self._engine = engine
        self.named: list[bool] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found:
        self.named.append(documents is not None)
        return self._engine.nearest(fingerprint, query, limit, documents)


def find(engine: EmbeddedEngine, wanted: int, **filters: tuple[str, ...]) -> tuple[Found, Watched]:
    watched = Watched(engine)
    query = np.array([1, 0], np.float32)
    conditions = Match((), filters=Filters(**filters))  # type: ignore[arg-type] # its own kinds
    return nearest_among(watched, conditions, MODEL, query, wanted), watched  # type: ignore[arg-type] # a stand-in


def test_where_many_pages_meet_the_conditions_none_is_named_and_the_nearest_are_the_same(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_name, watched = find(engine, 5, folders=("odd",))
    assert watched.named == [True]
    monkeypatch.setattr(among, "_MOST_NAMED", 10)
    by_sight, watched = find(engine, 5, folders=("odd",))
    assert watched.named == [False]
    assert by_sight == by_name
    paths = [engine.documents_by_key([key])[key].path for key, _, _ in by_sight.entries]
    assert paths == ["odd/01.md", "odd/03.md", "odd/05.md", "odd/07.md", "odd/09.md"]


def test_pages_are_named_where_too_few_of_the_nearest_meet_the_conditions(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(among, "_MOST_NAMED", 10)
    monkeypatch.setattr(among, "_SPARE", 1)
    monkeypatch.setattr(among, "_MOST_LOOKED_AT", 9)
    found, watched = find(engine, 5, folders=("odd",))  # ten would have to be looked at
    assert watched.named == [True]
    assert len(found.entries) == 5
    monkeypatch.setattr(among, "_MOST_LOOKED_AT", 10)
    monkeypatch.setattr(among, "_leave", lambda *_: ())  # as where none of the nearest does
    again, watched = find(engine, 5, folders=("odd",))
    assert watched.named == [False, True]
    assert again == found


def test_a_condition_that_all_or_none_meet_is_no_trouble(engine: EmbeddedEngine) -> None:
    every, watched = find(engine, 3, folders=("odd", "even"))
    assert watched.named == [False]
    assert len(every.entries) == 3
    assert find(engine, 3, folders=("nowhere",))[0] == Found((), 0)
