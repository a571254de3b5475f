"""A sum on every page of the database, which SQLite itself verifies whenever it reads the page.

SQLite's own extension does that, and comes with apsw. It takes its place in front of the files of
every database of the process, and does nothing for those that have no room for sums.
"""

from __future__ import annotations

import threading
from pathlib import Path

import apsw

_NAME = "cksmvfs"
_EXTENSION = Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"
"""Named outright, since asking apsw for the place takes longer than opening an index."""
_ROOM = 8
"""Bytes at the end of each page, by which the extension knows that a sum is wanted."""
_loading = threading.Lock()


def load() -> None:
    """See to it that sums are written and verified from now on; raises apsw.Error if not."""
    with _loading:
        if _NAME in apsw.vfs_names():
            return
        with apsw.Connection(":memory:") as connection:
            connection.enable_load_extension(True)
            connection.load_extension(str(_EXTENSION))
        connection.close()


def make_room(connection: apsw.Connection) -> None:
    """Give the pages of a database room for their sums; only while it is still empty."""
    connection.reserve_bytes(None, _ROOM)


def are_verified(connection: apsw.Connection) -> bool:
    """Tell whether the pages of a database have sums, and these are looked at."""
    return bool(connection.pragma("checksum_verification"))


def is_wrong(error: apsw.Error) -> bool:
    """Tell a page that is not as it was written from a disk that cannot be read."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
