"""One of several processes on one index: searches, and writes whenever the lock is free.

`python -m tests.faults.crowd FOLDER NAME`; tells what it did in FOLDER/NAME.log until its standard
input is closed.
"""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import Conflict
from tests.engines.drafts import NOTES, draft, found


def main() -> None:
    """Take part until told to stop."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    engine = EmbeddedEngine(folder / "catalog.db")
    log = os.open(folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    seen = 0
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        try:
            engine.begin_writing()
        except Conflict:
            seen = _search(engine, seen, log)
        else:
            _write(engine, name, log)
    engine.close()
    os.write(log, b"stopped\n")


def _search(engine: EmbeddedEngine, seen: int, log: int) -> int:
    """Search beside the writer; what was found once must be found again."""
    if not engine.exists:
        return seen
    try:
        engine.refresh()
        now = len(found(engine, "walrus"))
    except Conflict:  # the writer is still making the first index
        return seen
    if now < seen:
        os.write(log, b"lost some\n")
    return now


def _write(engine: EmbeddedEngine, name: str, log: int) -> None:
    engine.declare([NOTES])
    number = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        path = f"{name}-{number}.md"
        engine.write([draft(path, f"walrus {name}")])
        os.write(log, f"wrote {path}\n".encode())
        if number % 3 == 2:
            engine.commit()
            os.write(log, b"committed\n")
        number += 1
    engine.commit()
    engine.end_writing()


if __name__ == "__main__":
    main()
