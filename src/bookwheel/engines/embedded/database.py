"""The SQLite file: how it is opened, its schema, and what is refused or repaired on the way.

All SQL of the product lives in this folder and is parameterised.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from bookwheel.errors import IndexDamaged, IndexUnusable
from bookwheel.safety.stopping import is_stopped

APPLICATION_ID = 0x424B574C
SCHEMA_VERSION = 3
_FIRST_VERSION = 3
"""Older ones were never released: such an index is made anew."""
_STEPS = 20_000
"""So many instructions, a millisecond or less, are done before a reader looks whether to go on."""
_INCREMENTAL = 2
"""The mode in which SQLite can give freed pages back without writing the whole file anew."""
_KEPT_PAGES = 256
"""Free pages that are kept, since the next documents will take them."""
_PAGES_AT_ONCE = 2000
"""Pages that are given back at a time: a few milliseconds, in which nobody else may write."""
_MAGIC = b"SQLite format 3\0"

_JOBS = """
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, folder TEXT NOT NULL,
  "full" INTEGER NOT NULL, priority INTEGER NOT NULL, state TEXT NOT NULL, asked INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', owner INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0, asked_at REAL NOT NULL, started_at REAL, finished_at REAL);
"""
_MIGRATIONS = (
    """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE collections(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT NOT NULL, alias TEXT,
  description TEXT, version TEXT, source TEXT, language TEXT, include TEXT NOT NULL,
  exclude TEXT NOT NULL, access TEXT, redact TEXT, device INTEGER, scanned_at REAL);
CREATE TABLE documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, path TEXT NOT NULL,
  extension TEXT NOT NULL, mime TEXT NOT NULL, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
  racy INTEGER NOT NULL, digest BLOB NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  title TEXT NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL, author TEXT NOT NULL,
  date TEXT NOT NULL, source TEXT NOT NULL, url TEXT, language TEXT NOT NULL,
  words INTEGER NOT NULL, characters INTEGER NOT NULL, chunks INTEGER NOT NULL,
  rules TEXT NOT NULL, generation INTEGER NOT NULL, seal INTEGER NOT NULL,
  UNIQUE(collection, path));
CREATE TABLE tallies(
  collection INTEGER, status TEXT, extension TEXT, language TEXT, documents INTEGER NOT NULL,
  PRIMARY KEY(collection, status, extension, language)) WITHOUT ROWID;
CREATE TRIGGER tally_added AFTER INSERT ON documents BEGIN
  INSERT INTO tallies VALUES(new.collection, new.status, new.extension, new.language, 1)
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER tally_removed AFTER DELETE ON documents BEGIN
  UPDATE tallies SET documents = documents - 1 WHERE collection = old.collection
  AND status = old.status AND extension = old.extension AND language = old.language;
END;
CREATE TRIGGER tally_changed AFTER UPDATE OF status, language ON documents
WHEN old.status <> new.status OR old.language <> new.language BEGIN
  UPDATE tallies SET documents = documents - 1 WHERE collection = old.collection
  AND status = old.status AND extension = old.extension AND language = old.language;
  INSERT INTO tallies VALUES(new.collection, new.status, new.extension, new.language, 1)
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE INDEX documents_by_generation ON documents(generation);
CREATE INDEX documents_not_ok ON documents(collection, status) WHERE status <> 'ok';
CREATE TABLE texts(document INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE sections(
  document INTEGER, ordinal INTEGER, level INTEGER NOT NULL, heading TEXT NOT NULL,
  start INTEGER NOT NULL, end INTEGER NOT NULL, start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE chunks(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, trail TEXT NOT NULL,
  pointer TEXT NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE links(
  document INTEGER, ordinal INTEGER, kind TEXT NOT NULL, target TEXT NOT NULL, text TEXT NOT NULL,
  context TEXT NOT NULL, line INTEGER NOT NULL, key INTEGER, other INTEGER,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE INDEX links_by_key ON links(key) WHERE key IS NOT NULL;
CREATE INDEX links_by_other ON links(other) WHERE other IS NOT NULL;
CREATE TABLE names(
  document INTEGER, ordinal INTEGER, key INTEGER NOT NULL,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE INDEX names_by_key ON names(key);
CREATE TABLE places(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, label TEXT NOT NULL,
  row INTEGER NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE spans(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
  kind TEXT NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE models(
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE vectors(
  document INTEGER PRIMARY KEY, model INTEGER NOT NULL, stamp INTEGER NOT NULL,
  checksum INTEGER NOT NULL, vectors BLOB NOT NULL);
CREATE INDEX vectors_by_stamp ON vectors(stamp);
CREATE TABLE dropped_vectors(document INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);
CREATE INDEX dropped_vectors_by_stamp ON dropped_vectors(stamp);
CREATE TRIGGER vectors_dropped AFTER DELETE ON vectors BEGIN
  UPDATE meta SET value = value + 1 WHERE key = 'vectors';
  INSERT OR REPLACE INTO dropped_vectors
  SELECT old.document, value FROM meta WHERE key = 'vectors';
END;
CREATE TABLE removed(document INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE INDEX removed_by_generation ON removed(generation);
CREATE TABLE skipped(
  collection INTEGER, reason TEXT, extension TEXT, count INTEGER NOT NULL,
  PRIMARY KEY(collection, reason, extension)) WITHOUT ROWID;
"""
    + _JOBS,
)


class Place(NamedTuple):
    """Where an index lies: one database file and what is derived from it beside it."""

    database: Path

    @property
    def lexical(self) -> Path:
        return self.database.with_name(self.database.name + ".words")

    @property
    def vectors(self) -> Path:
        return self.database.with_name(self.database.name + ".vectors")

    @property
    def lock(self) -> Path:
        return self.database.with_name(self.database.name + ".lock")

    @property
    def wal(self) -> Path:
        return self.database.with_name(self.database.name + "-wal")

    @property
    def has_log(self) -> bool:
        """Tell whether changes lie beside the database that are not merged into it yet."""
        try:
            return self.wal.stat().st_size > 0
        except OSError:
            return False

    @property
    def stamp(self) -> Path:
        """Return the file that says what the word index was made from."""
        return self.lexical / "made-from.json"


def size_of(file: Path) -> int:
    """Return how many bytes a file holds; 0 for a folder, and for a file that has gone."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def unusable(place: Place, why: str, hint: str) -> IndexUnusable:
    """Return the error for an index that cannot be used, with what to do about it."""
    return IndexUnusable(
        f"The index {place.database} cannot be used: {why}.",
        hint=hint,
    )


def damaged(place: Place, why: str) -> IndexDamaged:
    """Return the error for an index that is broken."""
    return IndexDamaged(
        f"The index {place.database} cannot be used: {why}.",
        hint="`bookwheel doctor --repair` sets it aside and rebuilds it from your documents.",
    )


def connect_writer(place: Place) -> apsw.Connection:
    """Open the database for writing, creating or migrating it as needed."""
    _refuse_foreign(place)
    try:
        place.database.parent.mkdir(parents=True, exist_ok=True)
        if not place.database.exists() or not place.database.stat().st_size:
            _create(place)
        with _closed_on_error(apsw.Connection(str(place.database))) as connection:
            _configure(connection)
            # Before anything that could change the file of a newer version.
            _check_version(connection, place)
            connection.pragma("journal_mode", "wal")
            # Words and vectors are derived from what is here and sync it: it must not come back
            # from a power failure older than they are.
            connection.pragma("synchronous", "full")
            _migrate(connection, place)
    except (apsw.Error, OSError) as error:
        raise explain(place, error) from error
    return connection


def _create(place: Place) -> None:
    """Make an empty index under another name first: at its own place it is whole or absent."""
    making = place.database.with_name(place.database.name + ".making")
    for leftover in (making, *(making.with_name(making.name + end) for end in ("-wal", "-shm"))):
        leftover.unlink(missing_ok=True)
    with closing(apsw.Connection(str(making))) as connection:
        connection.pragma("auto_vacuum", _INCREMENTAL)  # only now: the file is still empty
        connection.pragma("journal_mode", "wal")
        _migrate(connection, place)
    making.replace(place.database)


def connect_reader(place: Place) -> tuple[apsw.Connection, bool]:
    """Open the database for reading; the second value tells that its medium is read-only."""
    _refuse_foreign(place)
    # access() tells a read-only mount from a writable one for root too.
    immutable = not os.access(place.database.parent, os.W_OK)
    try:
        if immutable and place.has_log:
            raise unusable(
                place,
                "its folder is read-only and holds changes not yet merged",
                "Run `bookwheel index` once where the folder can be written.",
            )
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        suffix = "?immutable=1" if immutable else "?mode=ro"
        with _closed_on_error(
            apsw.Connection(_uri(place.database) + suffix, flags=flags)
        ) as connection:
            _configure(connection)
            connection.pragma("query_only", True)
            connection.set_progress_handler(is_stopped, _STEPS)
            _check_version(connection, place)
    except (apsw.Error, OSError) as error:
        raise explain(place, error) from error
    return connection, immutable


def give_back(connection: apsw.Connection) -> None:
    """Give some of the pages that documents have left back to the disk; readers go on meanwhile.

    A file that was made before that was possible is written anew once, when half of it is free.
    """
    free, pages = (int(connection.pragma(name)) for name in ("freelist_count", "page_count"))
    if free <= max(_KEPT_PAGES, pages // 10):
        return
    if int(connection.pragma("auto_vacuum")) == _INCREMENTAL:
        surplus = min(free - _KEPT_PAGES, _PAGES_AT_ONCE)
        connection.execute(f"PRAGMA incremental_vacuum({surplus:d})").fetchall()
    elif free > pages // 2:
        connection.pragma("auto_vacuum", _INCREMENTAL)
        connection.execute("VACUUM")


@contextmanager
def _closed_on_error(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def _configure(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(10_000)
    connection.pragma("mmap_size", 1 << 30)
    connection.pragma("cell_size_check", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("temp_store", "memory")


def _migrate(connection: apsw.Connection, place: Place) -> None:
    """Bring an older or new database to the present schema, in one transaction."""
    version = int(connection.pragma("user_version"))
    if version == SCHEMA_VERSION:
        return
    with connection:
        for script in _MIGRATIONS[max(0, version - _FIRST_VERSION + 1) :]:
            connection.execute(script)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute(
            "INSERT OR IGNORE INTO meta VALUES('generation', 0), ('vectors', 0), "
            "('id', lower(hex(randomblob(8))))"
        )


def _check_version(connection: apsw.Connection, place: Place) -> None:
    version = int(connection.pragma("user_version"))
    if version > SCHEMA_VERSION:
        raise unusable(
            place,
            f"it was written by a newer Bookwheel (format {version}, this one knows "
            f"{SCHEMA_VERSION})",
            "Upgrade Bookwheel, or name another place with --index.",
        )
    if version <= 0:
        raise damaged(place, "it has lost its contents")
    if version < _FIRST_VERSION:
        raise damaged(place, "it was made by an early version whose indexes are not kept")


def _refuse_foreign(place: Place) -> None:
    """Refuse a file that is no index of ours, before anything could change it."""
    try:
        with place.database.open("rb") as file:
            header = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return
    except OSError as error:
        raise explain(place, error) from error
    if not header:
        return
    if not header.startswith(_MAGIC):
        raise _not_ours(place, header, "the file is no Bookwheel index")
    if len(header) < 100:
        raise _not_ours(place, header, "the file is cut short")
    page_size, pages, application = _read_header(header)
    if application != APPLICATION_ID:
        raise _not_ours(place, header, "the file is a database of another program")
    # While a log lies beside it the header may be older than the file: SQLite sorts that out.
    if not place.has_log and size < page_size * pages:
        raise damaged(place, "the file is cut short")


def _not_ours(place: Place, header: bytes, why: str) -> IndexUnusable:
    """Return the error for a file that does not look like ours: damaged, if it once was.

    What was made from it lies beside an index of ours, and zeros are what a disk leaves behind:
    no other program's file begins with them.
    """
    if place.stamp.exists() or not any(header):
        return damaged(place, f"{why}, or is damaged")
    return unusable(place, why, "Name another place with --index.")


def _read_header(header: bytes) -> tuple[int, int, int]:
    page_size = struct.unpack(">H", header[16:18])[0]
    pages = struct.unpack(">I", header[28:32])[0]
    application = struct.unpack(">I", header[68:72])[0]
    return (65536 if page_size == 1 else page_size), pages, application


def explain(place: Place, error: Exception) -> IndexUnusable:
    """Turn what SQLite or the file system said into words for the operator."""
    match error:
        case apsw.CorruptError() | apsw.NotADBError():
            return damaged(place, "it is damaged")
        case apsw.FullError():
            return unusable(
                place,
                "the disk is full",
                "Free some room and run the command again; what was indexed is kept.",
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | PermissionError():
            return unusable(
                place,
                "its folder cannot be written",
                "Give it a place that can be written with --index.",
            )
        case NotADirectoryError() | FileExistsError():
            return unusable(
                place,
                "a file lies where its folder should be",
                "Give it another place with --index.",
            )
        case apsw.BusyError() | apsw.LockedError():
            return unusable(
                place, "another process holds it for too long", "Try again in a moment."
            )
        case apsw.IOError():
            return unusable(place, "the disk reported an error", "Check the disk, then run again.")
        case OSError():
            return _explain_system(place, error)
        case apsw.NoMemError() | apsw.InterruptError() | apsw.AbortError():
            return unusable(place, f"an operation was broken off ({error})", "Try again.")
        case _:
            return damaged(place, f"its database refused an operation ({error})")


def _explain_system(place: Place, error: OSError) -> IndexUnusable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return explain(place, apsw.FullError())
    if error.errno == errno.EROFS:
        return explain(place, apsw.ReadOnlyError())
    return unusable(place, error.strerror or "the file system refused it", "Check --index.")
