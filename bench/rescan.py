"""A look through unchanged folders: its CPU for 10,000 files, and that it reads no content."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path

from bench.clocks import Stopwatch
from bench.corpus import Corpus
from bench.figures import Figure, at_most

LIMIT = 0.5
_IO = Path("/proc/self/io")


def measure(corpus: Corpus) -> list[Figure]:
    """Update in turn with a bare walk in a process that has started already."""
    library = corpus.library
    library.update()
    per_ten_thousand = 10_000 / max(1, len(corpus.documents))
    ours: list[float] = []
    floors: list[float] = []
    read: list[int] = []
    for _ in range(corpus.repeats):
        before = bytes_read()
        watch = Stopwatch()
        reports = library.update()
        ours.append(watch.read().cpu * per_ten_thousand)
        read.append(bytes_read() - before)
        if any(report.changed for report in reports):
            raise RuntimeError("the folders changed during the measurement")
        watch = Stopwatch()
        walk(corpus.folders)
        floors.append(watch.read().cpu * per_ten_thousand)
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
            *(max(read) / max(1, content), 0.01),
            shown=f"{max(read) / 1e3:,.0f} kB",
            target="< 1 % of it",
            how=f"bytes read by the process and its children, by /proc/self/io; the documents "
            f"have {content / 1e6:,.1f} MB; what is read is ignore files and the index itself",
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


def bytes_read() -> int:
    """Return the bytes that this process and its ended children have read; 0 where unknown."""
    if not _IO.exists():
        return 0
    return int(_IO.read_text(encoding="ascii").split()[1])
