"""An indexing run on a disk that fails, at each of its writes, syncs and truncations in turn.

`python -m tests.faults.failing_disk FOLDER DOCUMENTS STEP` fails every STEP-th of them, once and
for good. Prints how many there were and what was bad as JSON. What the word index writes does not
pass through here; full disks (F04) fail that.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bookwheel.library import Library
from tests.engines.embedded.scenes import Faults, FaultyDisk, outcome
from tests.faults.whole import everything, open_library
from tests.indoors import IndoorPool
from tests.temporary import remove


def write_documents(folder: Path, count: int) -> None:
    """Write documents that say they are old."""
    for number in range(count):
        _write(folder, number, "old")


def change_documents(folder: Path, count: int) -> None:
    """Change two of three documents: delete one, write another anew; and add as many."""
    for number in range(0, count, 3):
        (folder / f"{number % 7}" / f"{number}.md").unlink()
        _write(folder, number + 1, "new")
        _write(folder, number + count, "new")


def _write(folder: Path, number: int, age: str) -> None:
    path = folder / f"{number % 7}" / f"{number}.md"
    path.parent.mkdir(exist_ok=True)
    words = " ".join(f"w{number}x{each}" for each in range(30))
    path.write_text(f"# Page {number}\n\n{age}ling [x](1.md)\n\n{words}\n", encoding="utf-8")
    at = 10**18 + number * 10**9 + (10**9 if age == "new" else 0)
    os.utime(path, ns=(at, at))


def of_documents(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key.startswith("/")}


def fail_everywhere(home: Path, count: int, step: int) -> Iterator[str | None]:
    """Fail a run at each point; give what was bad, or None."""
    faults = Faults()
    disk = FaultyDisk(faults)
    tree, base = home / "tree", home / "base"
    tree.mkdir()
    write_documents(tree, count)
    with open_library(tree, base) as library:
        library.update()
        old = of_documents(everything(library))
    change_documents(tree, count)
    with open_library(tree, home / "fresh") as fresh:
        fresh.update()
        expected = everything(fresh)
    for once in (True, False):
        point = 1
        while True:
            place = home / f"{once}-{point}"
            shutil.copytree(base, place)
            faults.count, faults.fail_at, faults.once = 0, point, once
            said = outcome(lambda place=place: _update(tree, place))  # type: ignore[misc] # at once
            was_reached = faults.count >= point
            faults.fail_at = None
            if not was_reached:
                break
            with open_library(tree, place) as library:
                trouble = _judge(library, said, old, expected)
            yield f"{point}, {'once' if once else 'for good'}: {trouble}" if trouble else None
            remove(place)
            point += step
    del disk


def _update(tree: Path, place: Path) -> str:
    with open_library(tree, place) as library:
        library.update()
    return "done"


def _judge(library: Library, said: str, old: dict[str, Any], expected: dict[str, Any]) -> str:
    """Say what is wrong after a fault: each document must be as before or after, and mend."""
    if said != "done" and not said.startswith("IndexUnusable: "):
        return f"a wrong refusal: {said}"
    found, new = of_documents(everything(library)), of_documents(expected)
    mixed = [
        path
        for path in {*found, *old, *new}
        if found.get(path) not in (old.get(path), new.get(path))
    ]
    if mixed or library.check():
        return f"{said}: a mixture: {mixed} {library.check()}"
    if said == "done" and found != new:
        return "told as written, and was not"
    library.update()
    after = everything(library)
    differing = [key for key in expected if after.get(key) != expected[key]]
    return f"{said}: not mended by the next run: {differing}" if differing else ""


def main(home: Path, count: int, step: int) -> None:
    """Tell how it went."""
    judged = list(fail_everywhere(home, count, step))
    bad = [each for each in judged if each]
    sys.stdout.write(json.dumps({"points": len(judged), "bad": bad}))


if __name__ == "__main__":
    with patch("bookwheel.indexing.pipeline.WorkerPool", IndoorPool):
        main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
