"""How soon a change can be found: seconds from writing a file to seeing it under `watch`.

Works on a copy of the folders, since it writes; the copy keeps times, so the index stays good.
"""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import Corpus
from bench.figures import Figure, at_most
from bookwheel.library import Library
from bookwheel.query import SearchRequest

LIMIT = 2.0
_PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.01


def measure(corpus: Corpus) -> list[Figure]:
    """Create, edit, rename and delete, each time waiting until a reader sees it."""
    folders = copy_folders(corpus)
    index = corpus.work / "watched-index"
    shutil.copytree(corpus.index, index)
    ready, stop = threading.Event(), threading.Event()
    watcher = threading.Thread(target=follow, args=(corpus, index, folders, ready, stop))
    watcher.start()
    try:
        if not ready.wait(_PATIENCE_SECONDS * 10):
            raise RuntimeError("the watched folders were not ready in time")
        with corpus.open(index, folders) as reader:
            waits = list(change(reader, Path(folders[0]), -(-corpus.repeats // 3)))
    finally:
        stop.set()
        watcher.join()
    kinds = {kind: statistics.median(w for k, w in waits if k == kind) for kind, _ in waits}
    middle = statistics.median(wait for _, wait in waits)
    worst = max(wait for _, wait in waits)
    each = ", ".join(f"{kind} {wait:.2f}" for kind, wait in kinds.items())
    return [
        at_most(
            "change to searchable, worst",
            *(worst, LIMIT),
            shown=f"{worst:.2f} s",
            target=f"<= {LIMIT:.0f} s",
            how=f"median {middle:.2f} s of {len(waits)} changes ({each}); "
            f"{len(corpus.documents):,} documents watched",
        )
    ]


def copy_folders(corpus: Corpus) -> list[str]:
    """Copy the folders with the times of their files."""
    copies = []
    for number, folder in enumerate(corpus.folders):
        copy = corpus.work / f"watched-{number}" / Path(folder).name
        shutil.copytree(folder, copy, symlinks=True)
        copies.append(str(copy))
    return copies


def follow(
    corpus: Corpus, index: Path, folders: list[str], ready: threading.Event, stop: threading.Event
) -> None:
    """Watch the folders until told to stop, as a server would in a thread of its own."""
    with corpus.open(index, folders) as library:
        library.update()
        library.watch(on_update=lambda _: ready.set(), should_stop=stop.is_set)


def change(reader: Library, folder: Path, rounds: int) -> Iterator[tuple[str, float]]:
    """Yield the kind of each change and how long it took to be seen."""
    # The first update of the watch may come just before it listens.
    time.sleep(0.5)
    for number in range(rounds):
        first, second = f"zqfresh{number}ux", f"zqedited{number}ux"
        file, moved = folder / f"fresh-{number}.md", folder / f"moved-{number}.md"
        file.write_text(f"# Fresh\n\nA page with {first}.\n", encoding="utf-8")
        yield "create", wait_for(reader, first, [file.name])
        file.write_text(f"# Fresh\n\nA page with {second}.\n", encoding="utf-8")
        yield "edit", wait_for(reader, second, [file.name])
        file.rename(moved)
        yield "rename", wait_for(reader, second, [moved.name])
        moved.unlink()
        yield "delete", wait_for(reader, second, [])


def found(reader: Library, word: str) -> list[str]:
    """Return the documents that hold a word exactly."""
    return [hit.document for hit in reader.search(SearchRequest(word, fuzzy=False)).hits]


def wait_for(reader: Library, word: str, documents: list[str]) -> float:
    """Return how long it took until a word was found in these documents and no others."""
    began = time.perf_counter()
    while found(reader, word) != documents:
        if time.perf_counter() - began > _PATIENCE_SECONDS:
            raise RuntimeError(f"{documents or 'the deletion'} was not seen in time")
        time.sleep(_LOOK_SECONDS)
    return time.perf_counter() - began
