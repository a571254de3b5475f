"""Vectors in step with the catalogue: kept on disk, shared between processes, damaged, many."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.engines.base import Matrix, Vector
from bookwheel.engines.embedded import derived_vectors, nearest
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.embedded.nearest import NearestVectors
from bookwheel.engines.embedded.vectors import as_matrix
from bookwheel.errors import IndexDamaged
from tests.engines.drafts import draft, fill, key_of, problems
from tests.engines.embedded.scenes import engine_in, play
from tests.engines.embedded.test_nearest import clustered
from tests.engines.test_every_vectors import ONE, OTHER, give

FEW = 40
_ROWS = clustered(400, 16)


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an index of more documents than are compared one by one, with vectors, closed."""
    monkeypatch.setattr(nearest, "EXACT_MOST", FEW)
    engine = engine_in(tmp_path)
    fill(engine, *[draft(f"{number}.md", f"page {number}") for number in range(2 * FEW)])
    give(engine, {f"{number}.md": vector(number) for number in range(2 * FEW)})
    engine.close()
    return tmp_path


def vector(number: int) -> Matrix:
    return _ROWS[number : number + 1]


def near(engine: EmbeddedEngine, query: Vector, limit: int = 5) -> list[str]:
    found = engine.nearest(ONE, query, limit).entries
    named = engine.documents_by_key([key for key, _, _ in found])
    return [named[key].path for key, _, _ in found]


def true(numbers: list[int], query: Vector, limit: int = 5) -> list[str]:
    """Return what must be nearest when the documents of these numbers have their own vectors."""
    best = sorted(numbers, key=lambda number: -float(_ROWS[number] @ query))
    return [f"{number}.md" for number in best[:limit]]


def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note from where vectors are taken when they are not in memory."""
    seen: list[str] = []
    load, read = NearestVectors.load, derived_vectors._load

    def loading(*arguments: object) -> NearestVectors | None:
        found = load(*arguments)  # type: ignore[arg-type] # handed on as they came
        seen.extend(["kept"] if found else [])
        return found

    def reading(*arguments: object) -> NearestVectors:
        seen.append("made anew")
        return read(*arguments)  # type: ignore[arg-type] # handed on as they came

    monkeypatch.setattr(NearestVectors, "load", loading)
    monkeypatch.setattr(derived_vectors, "_load", reading)
    return seen


def test_many_vectors_are_opened_from_what_was_kept(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = loads(monkeypatch)
    engine = engine_in(many)
    assert near(engine, _ROWS[3]) == true(list(range(2 * FEW)), _ROWS[3])
    assert near(engine, _ROWS[4])[0] == "4.md"
    assert seen == ["kept"]
    engine.close()


def harm_note(folder: Path) -> None:
    (folder / "made-from.json").write_text("{", encoding="utf-8")


def harm_codes(folder: Path) -> None:
    (file,) = folder.glob("*.tv")
    file.write_bytes(file.read_bytes()[:-100])


@pytest.mark.parametrize("harm", [shutil.rmtree, harm_note, harm_codes])
def test_what_was_kept_and_is_damaged_is_made_anew_and_kept_again(
    many: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    harm(many / "catalog.db.vectors")
    seen = loads(monkeypatch)
    engine = engine_in(many)
    assert near(engine, _ROWS[3]) == true(list(range(2 * FEW)), _ROWS[3])
    assert seen == ["made anew"]
    give(engine, {"3.md": vector(3)})
    engine.close()
    again = engine_in(many)
    assert near(again, _ROWS[3]) == true(list(range(2 * FEW)), _ROWS[3])
    assert seen == ["made anew", "kept"]
    again.close()


def test_what_was_kept_of_another_catalogue_is_not_taken(many: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    engine = engine_in(other)
    fill(engine, *[draft(f"{number}.md", f"page {number}") for number in range(2 * FEW)])
    give(engine, {f"{number}.md": vector(number + 100) for number in range(2 * FEW)})
    engine.close()
    shutil.rmtree(other / "catalog.db.vectors")
    shutil.copytree(many / "catalog.db.vectors", other / "catalog.db.vectors")
    engine = engine_in(other)
    assert near(engine, _ROWS[103], 1) == ["3.md"]
    engine.close()


def test_a_disk_that_cannot_keep_them_does_not_stop_the_work(many: Path) -> None:
    shutil.rmtree(many / "catalog.db.vectors")
    (many / "catalog.db.vectors").write_bytes(b"")  # a file where the folder should be
    engine = engine_in(many)
    give(engine, {"3.md": vector(300)})
    assert near(engine, _ROWS[300], 1) == ["3.md"]
    engine.close()


def test_changes_after_many_were_loaded_are_seen(many: Path) -> None:
    engine = engine_in(many)
    assert near(engine, _ROWS[3], 1) == ["3.md"]
    fill(engine, draft("3.md", "changed"), draft("new.md", "new"))
    engine.begin_writing()
    engine.remove("notes", ["5.md"])
    engine.commit()
    engine.end_writing()
    left = [number for number in range(2 * FEW) if number not in (3, 5)]
    assert near(engine, _ROWS[3], 60) == true(left, _ROWS[3], 60)
    give(engine, {"3.md": vector(200), "new.md": vector(201)})
    assert near(engine, _ROWS[200], 1) == ["3.md"]
    assert near(engine, _ROWS[201], 1) == ["new.md"]
    engine.close()
    again = engine_in(many)
    assert near(again, _ROWS[200], 1) == ["3.md"]
    assert "5.md" not in near(again, _ROWS[5], 99)
    again.close()


@pytest.mark.parametrize("count", [3, 2 * FEW])
def test_another_process_changes_them(many: Path, count: int) -> None:
    engine = engine_in(many)
    assert near(engine, _ROWS[0], 1) == ["0.md"]
    assert play("embed", many, count) is None
    assert near(engine, np.full(16, 0.25, np.float32), count) != []
    ones = engine.vectors(ONE, [key_of(engine, "0.md"), key_of(engine, "2.md")])
    assert all(np.allclose(each, 0.25) for each in ones.values())
    best = engine.nearest(ONE, np.full(16, 0.25, np.float32), count).entries
    assert [round(score, 2) for _, _, score in best] == [1.0] * count
    engine.close()


def test_when_few_become_many_and_few_again_the_answers_stay_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "EXACT_MOST", FEW)
    engine = engine_in(tmp_path)
    for first in range(0, 4 * FEW, 10):
        numbers = range(first, first + 10)
        fill(engine, *[draft(f"{number}.md", f"page {number}") for number in numbers])
        give(engine, {f"{number}.md": vector(number) for number in numbers})
        everything = list(range(first + 10))
        assert near(engine, _ROWS[7]) == true(everything, _ROWS[7])
    assert (tmp_path / "catalog.db.vectors" / "made-from.json").exists()
    engine.begin_writing()
    engine.remove("notes", [f"{number}.md" for number in range(FEW, 4 * FEW)])
    engine.commit()
    engine.end_writing()
    for _ in range(2):
        assert near(engine, _ROWS[7], FEW) == true(list(range(FEW)), _ROWS[7], FEW)
    engine.close()


def test_notes_of_what_was_dropped_are_forgotten_in_time(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived_vectors, "_MOST_DROPPED", 10)
    other = engine_in(many)
    assert near(other, _ROWS[3], 1) == ["3.md"]
    engine = engine_in(many)
    for number in range(11):
        fill(engine, draft(f"{number}.md", f"changed {number}"))
    give(engine, {f"{number}.md": vector(number + 100) for number in range(8)})
    assert _count(many, "dropped_vectors") == 0
    left = [f"{number}.md" for number in (8, 9, 10)]
    assert not set(left) & set(near(other, _ROWS[8], 99))
    assert near(other, _ROWS[103], 1) == ["3.md"]
    engine.close()
    other.close()
    seen = loads(monkeypatch)
    again = engine_in(many)
    assert near(again, _ROWS[103], 1) == ["3.md"]
    assert not set(left) & set(near(again, _ROWS[8], 99))
    assert seen == ["kept"]
    again.close()


def _count(folder: Path, table: str) -> int:
    connection = apsw.Connection(str(folder / "catalog.db"))
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").get)
    finally:
        connection.close()


def test_vectors_of_another_model_are_neither_compared_nor_loaded(many: Path) -> None:
    engine = engine_in(many)
    assert near(engine, _ROWS[3], 1) == ["3.md"]
    give(engine, {f"{number}.md": vector(3) for number in range(10, 60)}, OTHER)
    every = list(range(2 * FEW))
    assert near(engine, _ROWS[3], 99) == true(every, _ROWS[3], 99)
    engine.close()
    again = engine_in(many)
    assert near(again, _ROWS[3], 99) == true(every, _ROWS[3], 99)
    again.close()


def test_an_index_that_was_set_aside_leaves_no_vectors_in_memory(many: Path) -> None:
    engine = engine_in(many)
    assert near(engine, _ROWS[3], 1) == ["3.md"]
    engine.set_aside()
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    give(engine, {"a.md": vector(5), "b.md": vector(3)})
    assert near(engine, _ROWS[3], 9) == ["b.md", "a.md"]
    engine.close()


# Damage


def change(folder: Path, statement: str) -> None:
    connection = apsw.Connection(str(folder / "catalog.db"))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "harm",
    [
        "vectors = zeroblob(length(vectors))",
        "vectors = substr(vectors, 1, 7)",
        "vectors = 'text'",
        "checksum = checksum + 1",
    ],
)
def test_damaged_vectors_are_named_and_never_passed_over(tmp_path: Path, harm: str) -> None:
    engine = engine_in(tmp_path)
    fill(engine, draft("a.md", "seal"), draft("b.md", "otter"))
    give(engine, {"a.md": vector(1), "b.md": vector(2)})
    engine.close()
    change(tmp_path, f"UPDATE vectors SET {harm} WHERE document = 1")
    engine = engine_in(tmp_path)
    with pytest.raises(IndexDamaged):
        near(engine, _ROWS[1])
    with pytest.raises(IndexDamaged):
        engine.vectors(ONE, [key_of(engine, "a.md")])
    assert problems(engine) == ["the vectors of 1 documents are not as they were written"]
    engine.close()


def test_a_row_that_was_cut_short_is_named_where_many_are_quantised(many: Path) -> None:
    change(many, "UPDATE vectors SET vectors = substr(vectors, 1, 7) WHERE document = 4")
    engine = engine_in(many)
    with pytest.raises(IndexDamaged):
        near(engine, _ROWS[3])
    engine.close()


def test_a_document_that_lost_chunks_is_damage_and_no_endless_work(tmp_path: Path) -> None:
    engine = engine_in(tmp_path)
    fill(engine, draft("a.md", "seal"))
    engine.close()
    change(tmp_path, "DELETE FROM chunks")
    engine = engine_in(tmp_path)
    with pytest.raises(IndexDamaged):
        engine.without_vectors(ONE, 9)
    engine.close()


# Threads


def test_threads_ask_while_another_writes(many: Path) -> None:
    engine, writer = engine_in(many), engine_in(many)
    done = threading.Event()
    wrong: list[object] = []

    def ask(number: int) -> None:
        while not done.is_set():
            try:
                if near(engine, _ROWS[number], 1) != [f"{number}.md"]:
                    wrong.append(number)
            except Exception as error:
                wrong.append(error)
                raise

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for round_ in range(8):
        numbers = range(10 + 5 * round_, 15 + 5 * round_)
        fill(writer, *[draft(f"{number}.md", f"round {round_}") for number in numbers])
        give(writer, {f"{number}.md": vector(number + 150) for number in numbers})
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert near(engine, _ROWS[160], 1) == ["10.md"]
    engine.close()
    writer.close()


@given(st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1))
def test_stored_numbers_are_read_as_they_were_written(numbers: list[float]) -> None:
    stored = np.array(numbers, np.float16)
    assert np.array_equal(as_matrix(stored.tobytes(), 1)[:, 0], stored.astype(np.float32))


def test_vectors_come_in_the_order_of_keys_whatever_was_asked_before(many: Path) -> None:
    engine = engine_in(many)
    keys = list(engine.vectors(ONE, range(1, 30)))

    engine.vectors(ONE, [keys[5], keys[2]])
    again = engine.vectors(ONE, [keys[7], keys[5], keys[1]])

    assert list(again) == [keys[1], keys[5], keys[7]]
    fresh = engine_in(many)
    assert all((again[key] == fresh.vectors(ONE, [key])[key]).all() for key in again)
    engine.close()
    fresh.close()
