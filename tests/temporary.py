"""Where tests write: into memory where the system has a disk there with room.

An index syncs whatever it writes, and thousands of tests make one; no test can lose its power.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 1024**3
"""Bytes: several times what all tests hold at once."""


def write_to_memory() -> None:
    """Let this process and what it starts write there, unless TMPDIR says where."""
    if "TMPDIR" not in os.environ and is_fit(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # to be looked up again


def is_fit(place: Path) -> bool:
    """Tell whether a place has room, and lets programs that lie there be run."""
    try:
        disk = os.statvfs(place)
    except OSError:
        return False
    runs = not disk.f_flag & os.ST_NOEXEC
    return runs and os.access(place, os.W_OK) and disk.f_bavail * disk.f_frsize >= ROOM


def remove(folder: Path) -> None:
    """Remove a folder of an index that was closed: a thread of the binding may still tidy in it."""
    for pause in (0.1, 0.5, 2.0):
        try:
            shutil.rmtree(folder)
        except OSError:
            time.sleep(pause)
        else:
            return
    shutil.rmtree(folder)
