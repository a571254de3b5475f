"""The database file: how it is opened, and what is refused on the way."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from bookwheel.engines.embedded import database
from bookwheel.engines.embedded.database import IndexFiles, connect_reader, connect_writer
from bookwheel.engines.embedded.schema import SCHEMA_VERSION
from bookwheel.errors import IndexDamaged, IndexUnusable
from tests.conftest import opened_below
from tests.engines.drafts import draft, fill, found
from tests.engines.embedded.scenes import engine_in

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


def _state(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(".lock")
    }


def _foreign(path: Path, *, journal: str = "delete", application: int = 0) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(f"PRAGMA application_id = {application}")
        connection.execute("CREATE TABLE bookmarks(url TEXT)")
        connection.execute("INSERT INTO bookmarks VALUES('https://example.org/')")
        connection.commit()


@pytest.mark.requirement("A-041")
@pytest.mark.parametrize(
    "kind", ["png", "text", "garbage", "sqlite", "sqlite in wal mode", "sqlite of a program"]
)
def test_a_file_of_another_kind_is_refused_clearly_and_stays_as_it_is(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "catalog.db"
    match kind:
        case "png":
            path.write_bytes(PNG)
        case "text":
            path.write_bytes(b"my diary\n")
        case "garbage":
            path.write_bytes(os.urandom(5000).replace(b"SQLite", b"......"))
        case "sqlite":
            _foreign(path)
        case "sqlite in wal mode":
            _foreign(path, journal="wal")
        case _:
            _foreign(path, application=0x0F055112)
    before = _state(tmp_path)
    engine = engine_in(tmp_path)
    for act in (engine.begin_writing, engine.collections):
        with pytest.raises(IndexUnusable) as refusal:
            act()
        assert type(refusal.value) is IndexUnusable
        assert refusal.value.message in (
            f"The index {path} cannot be used: the file is no Bookwheel index.",
            f"The index {path} cannot be used: the file is a database of another program.",
        )
        assert refusal.value.hint == "Name another place with --index."
    engine.close()
    assert _state(tmp_path) == before


@pytest.mark.requirement("A-041")
def test_a_place_below_a_file_is_refused_clearly_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "diary").write_bytes(b"dear diary")
    engine = engine_in(tmp_path / "diary")
    with pytest.raises(IndexUnusable, match="a file lies where its folder should be"):
        engine.begin_writing()
    assert not engine.exists
    assert (tmp_path / "diary").read_bytes() == b"dear diary"


@pytest.mark.requirement("A-041")
def test_a_place_that_cannot_be_written_is_refused_clearly() -> None:
    engine = engine_in(Path("/proc/self/nowhere"))
    with pytest.raises(IndexUnusable, match="cannot be used"):
        engine.begin_writing()
    assert not engine.exists


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").mkdir()
    with pytest.raises(IndexUnusable, match="Is a directory"):
        engine_in(tmp_path).begin_writing()


@pytest.mark.requirement("R-072")
def test_the_database_is_in_wal_mode_for_writers_and_readers(tmp_path: Path) -> None:
    place = IndexFiles(tmp_path / "catalog.db")
    with closing(connect_writer(place)) as writer, closing(connect_reader(place)[0]) as reader:
        assert writer.pragma("journal_mode") == reader.pragma("journal_mode") == "wal"
    with closing(sqlite3.connect(place.database)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_index_in_another_mode_is_brought_back_to_wal(tmp_path: Path) -> None:
    place = IndexFiles(tmp_path / "catalog.db")
    connect_writer(place).close()
    with closing(connect_writer(place)) as writer:
        writer.pragma("journal_mode", "delete")
    with closing(connect_writer(place)) as writer:
        assert writer.pragma("journal_mode") == "wal"


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_f21_a_newer_format_is_refused_and_the_file_stays_as_it_is(
    tmp_path: Path, journal: str
) -> None:
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    engine.close()
    path = tmp_path / "catalog.db"
    with closing(connect_writer(IndexFiles(path))) as newer:
        newer.pragma("journal_mode", journal)
        newer.pragma("user_version", SCHEMA_VERSION + 1)
    before = path.read_bytes()
    for act in (engine.begin_writing, engine.collections):
        with pytest.raises(IndexUnusable) as refusal:
            act()
        assert type(refusal.value) is IndexUnusable
        assert refusal.value.message == (
            f"The index {path} cannot be used: it was written by a newer Bookwheel "
            f"(format {SCHEMA_VERSION + 1}, this one knows {SCHEMA_VERSION})."
        )
    engine.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        "cut in the header",
        "cut by a page",
        "first page zeroed",
        "all zeroed",
        "magic flipped",
        "owner flipped",
        "version lost",
        "garbage pages",
    ],
)
def test_a_broken_index_of_ours_is_told_from_a_foreign_file(tmp_path: Path, damage: str) -> None:
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    engine.close()
    path = tmp_path / "catalog.db"
    data = bytearray(path.read_bytes())
    match damage:
        case "cut in the header":
            del data[50:]
        case "cut by a page":
            del data[-4096:]
        case "first page zeroed":
            data[:4096] = bytes(4096)
        case "all zeroed":
            data[:] = bytes(len(data))
            shutil.rmtree(tmp_path / "catalog.db.words")
        case "magic flipped":
            data[3] ^= 4
        case "owner flipped":
            data[70] ^= 1
        case "version lost":
            data[60:64] = bytes(4)
        case _:
            data[100:] = os.urandom(len(data) - 100)
    path.write_bytes(data)
    with pytest.raises(IndexDamaged, match="cannot be used"):
        list(engine_in(tmp_path).check())
    with pytest.raises(IndexDamaged, match="cannot be used"):
        engine_in(tmp_path).begin_writing()


@pytest.mark.parametrize("contents", [None, b""])
def test_an_absent_or_empty_file_becomes_an_index(tmp_path: Path, contents: bytes | None) -> None:
    if contents is not None:
        (tmp_path / "catalog.db").write_bytes(contents)
    engine = engine_in(tmp_path)
    assert not engine.exists
    fill(engine, draft("a.md", "walrus"))
    assert (engine.exists, found(engine, "walrus")) == (True, ["a.md"])
    engine.close()


def test_f21_a_broken_off_creation_does_not_stand_in_the_way(tmp_path: Path) -> None:
    for name in ("catalog.db.making", "catalog.db.making-wal", "catalog.db.making-shm"):
        (tmp_path / name).write_bytes(b"half done")
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    engine.close()
    assert [p.name for p in tmp_path.iterdir() if "making" in p.name] == []


def test_a_new_index_appears_whole(tmp_path: Path) -> None:
    place = IndexFiles(tmp_path / "catalog.db")
    connect_writer(place).close()
    assert not place.has_log
    with closing(sqlite3.connect(f"{place.database.as_uri()}?immutable=1", uri=True)) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert other.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone() == (0,)


def test_a_refused_opening_leaves_no_file_open(tmp_path: Path) -> None:
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    engine.close()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as other:
        other.execute("PRAGMA user_version = 99")
    before = opened_below(tmp_path)
    refusals = []
    for connect in (connect_writer, connect_reader):
        with pytest.raises(IndexUnusable) as refusal:
            connect(IndexFiles(tmp_path / "catalog.db"))
        refusals.append(refusal)
        assert opened_below(tmp_path) == before


def test_reading_changes_nothing_in_the_folder(tmp_path: Path) -> None:
    fill(engine := engine_in(tmp_path), draft("a.md", "walrus"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert found(engine, "walrus") == ["a.md"]
    reader = engine_in(tmp_path)
    reader.collections()
    reader.close()
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    own = {path for path in after if path.name.endswith((".lock", "-shm"))}
    assert {p: t for p, t in after.items() if p not in own} == {
        p: t for p, t in before.items() if p not in own
    }
    engine.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    place = IndexFiles(tmp_path / "catalog.db")
    connect_writer(place).close()
    connection, readonly = connect_reader(place)
    with closing(connection), pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM meta")
    assert not readonly


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (apsw.CorruptError(), IndexDamaged, "it is damaged"),
        (apsw.NotADBError(), IndexDamaged, "it is damaged"),
        (apsw.SQLError("no such column: x"), IndexDamaged, "no such column: x"),
        (apsw.FullError(), IndexUnusable, "the disk is full"),
        (OSError(28, "No space left on device"), IndexUnusable, "the disk is full"),
        (OSError(30, "Read-only file system"), IndexUnusable, "its folder cannot be written"),
        (apsw.CantOpenError(), IndexUnusable, "its folder cannot be written"),
        (PermissionError(13, "Permission denied"), IndexUnusable, "its folder cannot be written"),
        (apsw.BusyError(), IndexUnusable, "another process holds it for too long"),
        (apsw.IOError(), IndexUnusable, "the disk reported an error"),
        (apsw.NoMemError("out of memory"), IndexUnusable, "an operation was broken off"),
        (OSError(5, "Input/output error"), IndexUnusable, "Input/output error"),
    ],
)
def test_every_trouble_is_put_in_words(
    error: Exception, kind: type[IndexUnusable], words: str
) -> None:
    said = database.explain(IndexFiles(Path("/x/catalog.db")), error)
    assert type(said) is kind
    assert said.message.startswith("The index /x/catalog.db cannot be used: ")
    assert words in said.message
    assert said.hint
