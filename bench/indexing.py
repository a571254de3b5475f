"""Indexing afresh: the CPU of `Library.update()` against the bare libraries in one process.

Both run in new processes, in turn; `python -m bench.indexing INDEX FOLDER...` is the product's.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from bench.clocks import Spent, run_python
from bench.corpus import Corpus, settings_for
from bench.figures import Figure, at_most
from bookwheel.library import Library

LIMIT = 1.6


def measure(corpus: Corpus) -> list[Figure]:
    """Index in turn with Bookwheel and with the floor, and compare the best of each."""
    files = write_list(corpus)
    ours: list[Spent] = []
    floors: list[Spent] = []
    for number in range(corpus.rounds):
        ours.append(run_update(corpus, corpus.work / f"update-{number}"))
        floors.append(run_floor(corpus, corpus.work / f"floor-{number}", files))
    best = min(ours, key=lambda spent: spent.cpu)
    floor = min(floors, key=lambda spent: spent.cpu)
    ratio = best.cpu / floor.cpu
    wall = min(each.wall for each in ours) / min(each.wall for each in floors)
    cores = max(each.cores for each in ours)
    return [
        at_most(
            "indexing, CPU",
            *(ratio, LIMIT),
            shown=f"{ratio:.2f} x",
            target=f"<= {LIMIT} x",
            how=f"{best.cpu:.1f} s against {floor.cpu:.1f} s with the bare libraries, "
            f"best of {corpus.rounds}; {len(corpus.documents):,} documents",
        ),
        Figure(
            "indexing, wall clock",
            *(wall, f"{wall:.2f} x"),
            how="against the same floor, which has one process",
        ),
        Figure(
            "indexing, cores at work",
            *(cores, f"{cores:.2f} of {os.cpu_count()}"),
            how="CPU by wall clock, best round; other jobs on the machine lower it",
        ),
    ]


def run_update(corpus: Corpus, place: Path) -> Spent:
    """Index with Bookwheel in a new process."""
    spent = run_python(["-m", "bench.indexing", str(place), *corpus.folders])
    shutil.rmtree(place)
    return spent


def run_floor(corpus: Corpus, place: Path, files: Path) -> Spent:
    """Index with the bare libraries in a new process; it must see the same chunks."""
    spent = run_python(["-m", "bench.floors.indexing", str(place), str(files)])
    chunks = int((place / "chunks").read_text(encoding="ascii"))
    if chunks != corpus.chunks:
        raise RuntimeError(f"the floor made {chunks} chunks, Bookwheel {corpus.chunks}")
    shutil.rmtree(place)
    return spent


def write_list(corpus: Corpus) -> Path:
    """Write which files the floor has to read: those that Bookwheel found to be documents."""
    folders = {each.name: each.path for each in corpus.library.collections}
    list_file = corpus.work / "files.tsv"
    lines = [f"{d.collection}\t{folders[d.collection]}\t{d.path}" for d in corpus.documents]
    list_file.write_text("\n".join(lines), encoding="utf-8")
    return list_file


if __name__ == "__main__":
    with Library.open(settings_for(Path(sys.argv[1])), sys.argv[2:]) as made:
        made.update()
