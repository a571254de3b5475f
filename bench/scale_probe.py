"""What is measured in a process of its own at one size; prints JSON.

python -m bench.scale_probe embed|search|update INDEX [ORDER]
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.clocks import Stopwatch
from bench.corpus import settings_for
from bench.recombined import Recombined
from bookwheel.library import Library
from bookwheel.query import Filters, SearchMode, SearchRequest

WARM = 10
FEW, HALF = ("00",), tuple(f"{number:02}" for number in range(12))
"""Folders that hold one of 23 documents, and about half of them."""
_KINDS: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "words": {"mode": SearchMode.LEXICAL},
    "few": {"filters": Filters(folders=FEW)},
    "half": {"filters": Filters(folders=HALF)},
}


def anonymous(pid: int | str = "self") -> int:
    """Return the bytes of a process that no file stands behind."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def embed(index: Path) -> dict[str, Any]:
    """Give all documents their vectors."""
    with Library.open(settings_for(index)) as library:
        return {"chunks": library.embed()}


def search(index: Path, questions: list[str]) -> dict[str, Any]:
    """Ask every question in each way; return CPU seconds, and the size of the index."""
    with Library.open(settings_for(index)) as library:
        library.warm()
        gc.freeze()  # as the processes that answer for a server do
        for kind in _KINDS:
            for question in questions[:WARM]:
                library.search(SearchRequest(question, **_KINDS[kind]))
        took = {kind: [_ask(library, each, kind) for each in questions[WARM:]] for kind in _KINDS}
        _, _, chunks = library._store.totals()
        disk = library._store.disk_bytes()
    return {"took": took, "chunks": chunks, "disk": disk}


def _ask(library: Library, question: str, kind: str) -> float:
    began = time.process_time()
    library.search(SearchRequest(question, **_KINDS[kind]))
    return time.process_time() - began


def update(index: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Change the same documents several times and bring them in; return CPU seconds for each.

    The first time is not counted: a server has loaded what it needs for that long before.
    """
    documents = Recombined(order["folders"], order["seed"])
    tree, numbers = Path(order["tree"]), order["numbers"]
    took: dict[str, list[float]] = {"update": [], "embed": [], "rescan": []}
    with Library.open(settings_for(index)) as library:
        library.warm()
        name = library.collections[0].name
        for edition in order["editions"]:
            paths = documents.write(tree, numbers, edition)
            folder = paths[0].rpartition("/")[0]
            took["update"].append(_spend(lambda: library.update(name, folder)))  # noqa: B023
            took["embed"].append(_spend(library.embed))
            took["rescan"].append(_spend(library.update))
    return {name: values[1:] for name, values in took.items()}


def _spend(work: Callable[[], object]) -> float:
    watch = Stopwatch()
    work()
    return watch.read().cpu


def main(kind: str, index: Path, order: str | None = None) -> dict[str, Any]:
    """Do one of them."""
    if kind == "embed":
        return embed(index)
    assert order is not None
    said = json.loads(Path(order).read_text(encoding="utf-8"))
    return search(index, said) if kind == "search" else update(index, said)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])))
