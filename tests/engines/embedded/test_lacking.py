"""Finding the documents that lack vectors: by what was written since none did, not among all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bookwheel.engines.embedded.lacking
from bookwheel.engines.embedded.engine import EmbeddedEngine
from tests.engines.drafts import draft, fill
from tests.engines.embedded.scenes import engine_in
from tests.engines.test_every_vectors import ONE, OTHER, give

ROW = np.ones((1, 2), np.float32) / np.float32(2**0.5)


def whole(folder: Path, number: int) -> EmbeddedEngine:
    """Return an engine with so many documents, all of them with vectors."""
    engine = engine_in(folder)
    paths = [f"{each}.md" for each in range(number)]
    fill(engine, *[draft(path, f"walrus {path}") for path in paths])
    give(engine, dict.fromkeys(paths, ROW))
    engine.begin_writing()
    engine.keep_vectors(ONE)
    engine.end_writing()
    return engine


def lacking(engine: EmbeddedEngine, fingerprint: str = ONE) -> list[str]:
    keys = [passages.document for _, passages in engine.without_vectors(fingerprint, 99)]
    return [each.path for each in engine.documents_by_key(keys).values()]


def steps(engine: EmbeddedEngine, work: Callable[[], object]) -> int:
    """Return how many instructions SQLite needs."""
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    connection = engine._reader()
    connection.set_progress_handler(step, 1)
    work()
    connection.set_progress_handler(None)
    return count


@pytest.mark.parametrize("most", [1, 1_000])
def test_what_was_written_since_all_had_vectors_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(bookwheel.engines.embedded.lacking, "_MOST_WRITTEN", most)
    engine = whole(tmp_path, 9)
    assert (engine.lacks_vectors(ONE), lacking(engine)) == (False, [])
    fill(engine, draft("3.md", "heron"), draft("new.md", "zebra"))
    assert (engine.lacks_vectors(ONE), engine.lacks_vectors(OTHER)) == (True, True)
    assert lacking(engine) == ["3.md", "new.md"]
    assert engine.embedded(ONE) == (8, 10)
    engine.begin_writing()
    engine.remove("notes", ["new.md"])
    engine.end_writing()
    give(engine, {"3.md": ROW})
    assert (engine.lacks_vectors(ONE), lacking(engine)) == (False, [])
    engine.close()


def test_that_all_had_vectors_is_forgotten_when_they_are_dropped(tmp_path: Path) -> None:
    engine = whole(tmp_path, 3)
    engine.begin_writing()
    engine.drop_vectors([OTHER])
    engine.end_writing()
    assert (engine.lacks_vectors(ONE), lacking(engine)) == (True, ["0.md", "1.md", "2.md"])
    engine.close()


def test_what_is_looked_at_does_not_grow_with_the_number_of_documents(tmp_path: Path) -> None:
    needed = []
    for number in (20, 200):
        engine = whole(tmp_path / str(number), number)
        fill(engine, draft("3.md", "heron"))
        needed.append(
            (
                steps(engine, lambda: lacking(engine)),  # noqa: B023 - called at once
                steps(engine, lambda: engine.lacks_vectors(ONE)),  # noqa: B023 - called at once
            )
        )
        engine.close()
    assert needed[0] == needed[1]
