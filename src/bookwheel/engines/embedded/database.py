"""The SQLite file: where it lies, how it is opened, and what is refused on the way.

All SQL of the product lives in this folder and is parameterised.
"""

from __future__ import annotations

import errno
import os
import shlex
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from bookwheel.engines.embedded import checksums
from bookwheel.engines.embedded.leave import find_closed
from bookwheel.engines.embedded.schema import (
    APPLICATION_ID,
    FIRST_VERSION,
    SCHEMA_VERSION,
    migrate,
)
from bookwheel.errors import IndexDamaged, IndexUnusable
from bookwheel.safety.stopping import is_stopped

_STEPS = 20_000
"""So many instructions, a millisecond or less, are done before a reader looks whether to go on."""
_INCREMENTAL = 2
"""The mode in which SQLite can give freed pages back without writing the whole file anew."""
_KEPT_PAGES = 256
"""Free pages that are kept, since the next documents will take them."""
_PAGES_AT_ONCE = 2000
"""Pages that are given back at a time: a few milliseconds, in which nobody else may write."""
_MAGIC = b"SQLite format 3\0"


class IndexFiles(NamedTuple):
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
    def file(self) -> tuple[int, int] | None:
        """Return what tells the database from another that is put in its place; None if absent."""
        try:
            seen = self.database.stat()
        except OSError:
            return None
        return seen.st_dev, seen.st_ino

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


def unusable(place: IndexFiles, why: str, hint: str) -> IndexUnusable:
    """Return the error for an index that cannot be used, with what to do about it."""
    return IndexUnusable(
        f"The index {place.database} cannot be used: {why}.",
        hint=hint,
    )


def damaged(place: IndexFiles, why: str) -> IndexDamaged:
    """Return the error for an index that is broken."""
    return IndexDamaged(
        f"The index {place.database} cannot be used: {why}.",
        hint="`bookwheel doctor --repair` sets it aside and rebuilds it from your documents.",
    )


def closed(place: IndexFiles, what: Path) -> IndexUnusable:
    """Return the error for an index of which this process may not read a file."""
    if what.is_dir():
        why = f"the folder {what} may not be entered by this user"
        return unusable(
            place, why, "Let its owner change that, or name another place with --index."
        )
    opening = shlex.join(["chmod", "-R", "a+rX", str(place.database), str(place.lexical)])
    why = f"the file {what} may not be read by this user"
    return unusable(place, why, f"Its owner can change that: `{opening}`.")


def connect_writer(place: IndexFiles) -> apsw.Connection:
    """Open the database for writing, creating or migrating it as needed."""
    _refuse_foreign(place)
    try:
        checksums.load()
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
            migrate(connection)
    except (apsw.Error, OSError) as error:
        raise explain(place, error) from error
    return connection


def _create(place: IndexFiles) -> None:
    """Make an empty index under another name first: at its own place it is whole or absent."""
    making = place.database.with_name(place.database.name + ".making")
    for leftover in (making, *(making.with_name(making.name + end) for end in ("-wal", "-shm"))):
        leftover.unlink(missing_ok=True)
    with closing(apsw.Connection(str(making))) as connection:
        checksums.make_room(connection)
        connection.pragma("auto_vacuum", _INCREMENTAL)  # only now: the file is still empty
        connection.pragma("journal_mode", "wal")
        migrate(connection)
    making.replace(place.database)


def connect_reader(place: IndexFiles) -> tuple[apsw.Connection, bool]:
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
        checksums.load()
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
    """Give some of the pages that documents have left back to the disk; readers go on meanwhile."""
    free, pages = (int(connection.pragma(name)) for name in ("freelist_count", "page_count"))
    if free <= max(_KEPT_PAGES, pages // 10):
        return
    surplus = min(free - _KEPT_PAGES, _PAGES_AT_ONCE)
    connection.execute(f"PRAGMA incremental_vacuum({surplus:d})").fetchall()


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
    connection.pragma("cell_size_check", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("temp_store", "memory")


def _check_version(connection: apsw.Connection, place: IndexFiles) -> None:
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
    if version < FIRST_VERSION:
        raise damaged(place, "it was made by an early version whose indexes are not kept")
    if not checksums.are_verified(connection):
        raise damaged(place, "the sums of its pages are not verified")


def _refuse_foreign(place: IndexFiles) -> None:
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


def _not_ours(place: IndexFiles, header: bytes, why: str) -> IndexUnusable:
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


def explain(place: IndexFiles, error: Exception) -> IndexUnusable:
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
            return _explain_refusal(place)
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
        case apsw.IOError() | apsw.ExtensionLoadingError():
            return _explain_reading(place, error)
        case OSError():
            return _explain_system(place, error)
        case apsw.NoMemError() | apsw.InterruptError() | apsw.AbortError():
            return unusable(place, f"an operation was broken off ({error})", "Try again.")
        case _:
            return damaged(place, f"its database refused an operation ({error})")


def _explain_refusal(place: IndexFiles) -> IndexUnusable:
    """Tell what may not be read from what may not be written: the errors look alike."""
    what = find_closed((place.database, place.wal))
    if what is not None:
        return closed(place, what)
    if os.access(place.database.parent, os.W_OK) and find_closed((place.lock,)):
        why = "another user made it and alone may write it"
        return unusable(place, why, "Index as that user, or name another place with --index.")
    return unusable(
        place, "its folder cannot be written", "Give it a place that can be written with --index."
    )


def _explain_reading(place: IndexFiles, error: apsw.Error) -> IndexUnusable:
    if checksums.is_wrong(error):
        return damaged(place, "a page of it is not as it was written")
    if isinstance(error, apsw.ExtensionLoadingError):
        return unusable(
            place,
            f"the sums of its pages cannot be verified ({error})",
            "Install apsw as its own project packs it: `pip install --force-reinstall apsw`.",
        )
    return unusable(place, "the disk reported an error", "Check the disk, then run again.")


def _explain_system(place: IndexFiles, error: OSError) -> IndexUnusable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return explain(place, apsw.FullError())
    if error.errno == errno.EROFS:
        return explain(place, apsw.ReadOnlyError())
    return unusable(place, error.strerror or "the file system refused it", "Check --index.")
