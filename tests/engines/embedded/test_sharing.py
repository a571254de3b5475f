"""Several processes and threads on one index at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from bookwheel.errors import Conflict
from tests.engines.drafts import draft, fill, found, problems
from tests.engines.embedded.scenes import engine_in
from tests.engines.embedded.test_lock import holder


def test_a_reader_in_another_process_sees_each_commit_when_it_looks_again(index: Path) -> None:
    reader = engine_in(index)
    assert found(reader, "walrus") == ["a.md", "b.md", "c.md"]
    with holder(index) as writer:
        for name in ("d.md", "e.md"):
            _tell(writer, name)
            assert reader.refresh()
            assert name in found(reader, "walrus")
            assert not reader.refresh()
    reader.close()


def _tell(writer: subprocess.Popen[str], name: str) -> None:
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{name}\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "written\n"


def test_f07_a_reader_becomes_writer_when_the_other_is_killed(index: Path) -> None:
    reader = engine_in(index)
    assert found(reader, "walrus") == ["a.md", "b.md", "c.md"]
    with holder(index) as writer:
        _tell(writer, "d.md")
        writer.kill()
        writer.wait()
        fill(reader, draft("e.md", "walrus"))
    assert found(reader, "walrus") == ["a.md", "b.md", "c.md", "d.md", "e.md"]
    assert problems(reader) == []
    reader.close()


def test_a_new_writer_leaves_no_file_of_the_former_one_behind(index: Path) -> None:
    reader = engine_in(index)
    assert found(reader, "walrus") == ["a.md", "b.md", "c.md"]
    with holder(index) as writer:
        for number in range(3):
            _tell(writer, f"{number}.md")
        assert writer.stdin is not None
        writer.stdin.close()
        writer.wait()
    for number in range(12):
        fill(reader, draft("x.md", f"walrus {number}"))
    reader.close()
    for kind in ("pages", "passages"):
        folder = index / "catalog.db.words" / kind
        meta = json.loads((folder / "meta.json").read_bytes())
        living = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        on_disk = {f.name.split(".")[0] for f in folder.iterdir() if len(f.stem) >= 32}
        assert on_disk == living


def test_of_two_who_see_damage_the_second_keeps_what_the_first_has_made_anew(index: Path) -> None:
    first, second = engine_in(index), engine_in(index)
    for engine in (first, second):
        assert found(engine, "walrus") == ["a.md", "b.md", "c.md"]
    assert first.set_aside()
    fill(first, draft("anew.md", "walrus"))
    assert second.set_aside() is None
    assert found(second, "walrus") == found(first, "walrus") == ["anew.md"]
    assert problems(second) == []
    assert len(list(index.glob("*.damaged-*"))) == 1
    first.close()
    second.close()


def test_a_reader_follows_to_the_index_that_another_process_puts_in_the_place_of_its_own(
    index: Path,
) -> None:
    reader, other = engine_in(index), engine_in(index)
    assert found(reader, "walrus") == ["a.md", "b.md", "c.md"]
    other.set_aside()
    fill(other, draft("c.md", "walrus"), draft("b.md", "penguin"))
    other.close()
    assert sum(state.documents for state in reader.collections()) == 2
    assert found(reader, "walrus") == ["c.md"]
    assert found(reader, "penguin") == ["b.md"]
    reader.close()


def test_an_index_whose_words_another_process_is_making_says_that_they_are_not_there_yet(
    index: Path,
) -> None:
    reader = engine_in(index)
    with holder(index) as writer:
        shutil.rmtree(reader.own_paths[1])
        with pytest.raises(Conflict, match="is being made and cannot be searched yet"):
            found(reader, "walrus")
        writer.kill()
    reader.close()


def test_whoever_follows_to_another_index_tells_so(index: Path) -> None:
    told: list[bool] = []
    engine = engine_in(index)
    engine.on_anew = lambda: told.append(engine.exists)
    assert len(found(engine, "walrus")) == 3
    assert told == []

    other = engine_in(index)
    assert found(other, "walrus")
    other.set_aside()
    fill(other, draft("d.md", "walrus"))
    other.close()

    assert found(engine, "walrus") == ["d.md"]
    assert told == [True]
    engine.close()


def test_before_an_index_is_set_aside_and_before_an_empty_one_is_made_it_is_told(
    index: Path,
) -> None:
    told: list[bool] = []
    engine = engine_in(index)
    engine.on_anew = lambda: told.append(engine.exists)
    assert found(engine, "walrus")

    engine.set_aside()
    assert told == [True]
    fill(engine, draft("d.md", "walrus"))
    assert told == [True, False]
    engine.close()


def test_many_threads_ask_at_once_from_the_first_moment(index: Path) -> None:
    shutil.rmtree(index / "catalog.db.words")
    engine = engine_in(index)
    start = threading.Barrier(8)
    answers: list[object] = []

    def ask() -> None:
        start.wait()
        try:
            answers.append((found(engine, "walrus"), engine.readonly, len(engine.collections())))
        except BaseException as error:
            answers.append(error)
            raise

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [(["a.md", "b.md", "c.md"], False, 2)] * 8
    engine.close()


def test_a_thread_that_searches_first_does_not_end_the_writing_of_another(index: Path) -> None:
    engine = engine_in(index)
    engine.begin_writing()
    answers: list[list[str]] = []
    engine._derived.close()
    thread = threading.Thread(target=lambda: answers.append(found(engine, "walrus")))
    thread.start()
    thread.join()
    engine.write([draft("d.md", "walrus")])
    engine.commit()
    engine.end_writing()
    assert answers == [["a.md", "b.md", "c.md"]]
    assert found(engine, "walrus") == ["a.md", "b.md", "c.md", "d.md"]
    engine.close()


def test_threads_that_search_first_do_not_end_a_writing_that_begins(index: Path) -> None:
    for number in range(10):
        shutil.rmtree(index / "catalog.db.words")
        engine = engine_in(index)
        threads = [threading.Thread(target=found, args=(engine, "walrus")) for _ in range(3)]
        for thread in threads:
            thread.start()
        fill(engine, draft(f"{number}.md", "walrus"))
        for thread in threads:
            thread.join()
        assert len(found(engine, "walrus")) == 4 + number
        assert problems(engine) == []
        engine.close()
