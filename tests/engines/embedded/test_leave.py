"""Who may read an index: whoever may enter its folders; others are told which file is closed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bookwheel.engines.embedded.binding import WordsFailed
from bookwheel.engines.embedded.leave import find_closed, wait_until_open
from bookwheel.errors import IndexDamaged, IndexUnusable
from tests.engines.drafts import NOTES, draft, fill, found
from tests.engines.embedded.scenes import engine_in, play_without_rights
from tests.waiting import wait_until

PATIENCE = 20.0


@contextmanager
def masked(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(place: Path) -> dict[str, int]:
    """Return who may read each file below a place."""
    files = (path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.stat().st_mode & 0o444 for path in files}


def tables(index: Path) -> list[Path]:
    found = [*index.rglob("meta.json"), *index.rglob(".managed.json")]
    assert len(found) == 4
    return found


def modes_of(files: list[Path]) -> set[int]:
    return {file.stat().st_mode & 0o777 for file in files}


@pytest.mark.parametrize(("mask", "allowed"), [(0o022, 0o444), (0o027, 0o440), (0o077, 0o400)])
def test_all_of_an_index_may_be_read_by_whom_the_umask_allows_but_for_the_lock(
    tmp_path: Path, mask: int, allowed: int
) -> None:
    with masked(mask):
        engine = engine_in(tmp_path / "index")
        for number in range(10):  # of eight segments one is made
            fill(engine, draft(f"{number}.md", f"walrus {number}"))
        engine.close()

    found = modes(tmp_path)
    assert found.pop("index/catalog.db.lock") == 0o400
    assert len(found) > 10
    # SQLite takes away from 644 what the umask says, and all else from 666.
    assert found == dict.fromkeys(found, allowed)


def test_what_a_merge_writes_while_documents_are_written_is_shared_at_once(tmp_path: Path) -> None:
    with masked(0o022):
        engine = engine_in(tmp_path)
        fill(engine, draft("a.md", "walrus"))
        engine.begin_writing()
        engine.write([draft("b.md", "walrus")])
        for table in tables(tmp_path):
            table.chmod(0o600)
        wait_until(lambda: modes_of(tables(tmp_path)) == {0o644}, PATIENCE)
        engine.close()


def test_what_a_commit_writes_is_shared_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bookwheel.engines.embedded.leave._AGAIN_SECONDS", 60)
    with masked(0o022):
        engine = engine_in(tmp_path)
        engine.begin_writing()
        engine.declare([NOTES])
        engine.write([draft("a.md", "walrus")])
        engine.commit()
        assert modes_of([*tmp_path.rglob("meta.json")]) == {0o644}
        engine.close()


def test_what_was_closed_each_time_it_was_asked_is_no_damage(tmp_path: Path) -> None:
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    assert found(engine, "walrus") == ["a.md"]
    for table in tmp_path.rglob("meta.json"):
        table.unlink()  # as bad a look as that of one that is closed

    def deny(_: object) -> None:
        raise WordsFailed("the word index of pages is closed (os error 13)")

    with pytest.raises(IndexUnusable) as caught:
        engine._ask(deny)
    assert not isinstance(caught.value, IndexDamaged)
    engine.close()


def test_what_a_killed_writer_left_closed_is_shared_by_the_next(tmp_path: Path) -> None:
    with masked(0o022):
        fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
        for table in tables(tmp_path):
            table.chmod(0o600)
        engine.begin_writing()
        engine.end_writing()
        engine.close()

    assert modes_of(tables(tmp_path)) == {0o644}


def test_who_only_reads_what_another_writes_sees_each_commit_once_it_may(tmp_path: Path) -> None:
    index = tmp_path / "index"
    closed = (
        f"IndexUnusable: The index {index}/catalog.db cannot be used: the file "
        f"{index}/catalog.db.words/pages/meta.json may not be read by this user."
    )
    assert play_without_rights("closed_to_readers", tmp_path) == {
        "before": ["a.md"],
        "refresh": False,
        "closed": ["a.md"],
        "opened meanwhile": closed,
        "checked meanwhile": closed,
        "asked meanwhile": closed,
        "written meanwhile": f"IndexUnusable: The index {index}/catalog.db cannot be used: "
        "another user made it and alone may write it.",
        "refresh after": True,
        "after": ["a.md", "b.md"],
        "opened after": ["a.md", "b.md"],
    }


def test_the_file_or_folder_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    index = tmp_path / "index"
    words = index / "catalog.db.words"
    told = play_without_rights("closed_files", tmp_path)
    segment = told.pop("segment")

    begin = f"IndexUnusable: The index {index}/catalog.db cannot be used: the"
    assert told == {
        "index": f"{begin} folder {index} may not be entered by this user.",
        "catalog.db": f"{begin} file {index}/catalog.db may not be read by this user.",
        "catalog.db.words": f"{begin} folder {words} may not be entered by this user.",
        "pages": f"{begin} folder {words}/pages may not be entered by this user.",
        "made-from.json": f"{begin} file {words}/made-from.json may not be read by this user.",
    }
    assert segment.startswith(f"{begin} file {words}/pages/")
    assert segment.endswith(".idx may not be read by this user.")


def test_what_is_not_there_is_not_closed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    missing = [tmp_path / "none", tmp_path / "none" / "inner", tmp_path / "file" / "inner"]
    assert find_closed(missing) is None


@pytest.mark.parametrize(
    ("name", "answers", "pauses"),
    [("meta.json", 3, 3), ("meta.json", 99, 4), ("a.idx", 99, 0)],
)
def test_a_table_alone_is_waited_for_and_not_long(name: str, answers: int, pauses: int) -> None:
    closed, slept = [Path(name)] * answers, list[float]()
    said = wait_until_open(lambda: closed.pop() if closed else None, sleep=slept.append)
    assert said == (None if answers == 3 else Path(name))
    assert len(slept) == pauses
