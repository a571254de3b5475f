"""Who may read the files of an index: what its folder allows, and which file keeps somebody out."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TABLE, OWN_TABLE = "meta.json", ".managed.json"
"""What the binding writes by way of temporary files, which nobody else may read, whatever the
umask says: at each commit, and once more when a merge ends in a thread of its own. The second one
is for who writes."""
_READING = 0o444
_AGAIN_SECONDS = 0.05
_PATIENCE_SECONDS = 0.2
"""So long a table may stay closed until whoever has written it comes to open it."""


def share(folder: Path) -> None:
    """Let everybody who may look into a folder read its tables too."""
    for name in (TABLE, OWN_TABLE):
        table = folder / name
        try:
            allowed, mode = folder.stat().st_mode & _READING, table.stat().st_mode
            if allowed & ~mode:
                table.chmod(stat.S_IMODE(mode) | allowed)
        except OSError:
            pass  # it was deleted, or the disk keeps no modes: readers name what is closed to them


@contextmanager
def sharing(folders: Sequence[Path]) -> Iterator[None]:
    """Share the tables of folders for as long as somebody writes there."""
    is_over = threading.Event()

    def share_all() -> None:
        while not is_over.wait(_AGAIN_SECONDS):
            for folder in folders:
                share(folder)

    thread = threading.Thread(target=share_all, name="bookwheel-share", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        for folder in folders:
            share(folder)


def find_closed(files: Iterable[Path]) -> Path | None:
    """Return the first file that may not be read, or the folder that may not be entered for it."""
    for file in files:
        if not os.access(file, os.R_OK):
            folders = (each for each in reversed(file.parents) if not os.access(each, os.X_OK))
            closed = next(folders, file)
            if closed.is_dir() or (closed == file and file.exists()):
                return closed
    return None


def wait_until_open(
    find: Callable[[], Path | None], *, sleep: Callable[[float], None] = time.sleep
) -> Path | None:
    """Return what stays closed: a table is so for a moment after another process has written it."""
    for _ in range(round(_PATIENCE_SECONDS / _AGAIN_SECONDS)):
        closed = find()
        if closed is None or closed.name != TABLE:
            return closed
        sleep(_AGAIN_SECONDS)
    return find()
