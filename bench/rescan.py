"""A look through unchanged folders: its CPU for 10,000 files, and that it reads no content."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from bench.clocks import Stopwatch
from bench.corpus import Corpus
from bench.figures import Figure, at_most
from bookwheel.safety import opener

LIMIT = 0.5


def measure(corpus: Corpus) -> list[Figure]:
    """Update in turn with a bare walk in a process that has started already."""
    library = corpus.library
    library.update()
    per_ten_thousand = 10_000 / max(1, len(corpus.documents))
    ours: list[float] = []
    floors: list[float] = []
    for _ in range(corpus.repeats):
        watch = Stopwatch()
        reports = library.update()
        ours.append(watch.read().cpu * per_ten_thousand)
        if any(report.changed for report in reports):
            raise RuntimeError("the folders changed during the measurement")
        watch = Stopwatch()
        walk(corpus.folders)
        floors.append(watch.read().cpu * per_ten_thousand)
    with reading() as read:
        library.update()
    middle, best = statistics.median(ours), min(ours)
    ratio = middle / max(statistics.median(floors), 1e-9)
    content = sum(document.size for document in corpus.documents)
    return [
        at_most(
            "no-op rescan, CPU for 10,000 files",
            *(middle, LIMIT),
            shown=f"{middle:.2f} s",
            target=f"< {LIMIT} s",
            how=f"median of {corpus.repeats}, best {best:.2f} s; {ratio:.1f} x os.walk and stat",
        ),
        at_most(
            "no-op rescan, content read",
            *(sum(read) / max(1, content), 0.01),
            shown=f"{sum(read) / 1e3:,.0f} kB",
            target="< 1 % of it",
            how="bytes that the one opener of files has read, and no reader was started; "
            f"the documents have {content / 1e6:,.1f} MB; what is read is ignore files",
        ),
    ]


def walk(folders: Sequence[str]) -> int:
    """Look at every file's size and time with the standard library; the floor."""
    files = 0
    for root in folders:
        for _, _, names, descriptor in os.fwalk(root):
            for name in names:
                files += os.stat(name, dir_fd=descriptor).st_size >= 0
    return files


@contextmanager
def reading() -> Iterator[list[int]]:
    """Give the sizes of all files of the folders that are read meanwhile, in this process alone.

    Documents are read by processes of their own: that one starts is refused.
    """
    read: list[int] = []
    is_over = False

    def refuse(event: str, _: object) -> None:
        if event == "subprocess.Popen" and not is_over:
            raise RuntimeError("a reader of documents was started")

    def count(descriptor: int, size: int) -> bytes:
        data = read_all(descriptor, size)
        read.append(len(data))
        return data

    read_all = opener.read_all
    sys.addaudithook(refuse)  # it stays, and is quiet afterwards
    with patch.object(opener, "read_all", count):
        yield read
    is_over = True
