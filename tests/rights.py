"""Being somebody who may do with files no more than their modes and owners say."""

from __future__ import annotations

import os
from pathlib import Path

# Root reads and writes what it likes unless it gives that up.
AS_READER = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()
_ANOTHER = 12345


def give_away(place: Path) -> None:
    """Let what lies below a place belong to another user; where this one may not, it stays ours.

    To a reader that comes to the same as being another one, who could enter neither the folders
    that pytest makes nor, maybe, the one that Python lies in.
    """
    for path in (place, *place.rglob("*")):
        try:
            os.chown(path, _ANOTHER, _ANOTHER)
        except OSError:
            return  # no root, or one of a few users: modes alone say what a reader may
