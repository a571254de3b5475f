"""Finding by meaning on many chunks: its cost beside words, its memory, what it misses, and
whether known pages are still found.
"""

from __future__ import annotations

import json
import math
import shutil
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

from bench import quality
from bench.clocks import REPOSITORY
from bench.corpus import Corpus, settings_for
from bench.figures import Figure, at_least, at_most
from bench.scale_probe import anonymous
from bench.search_speed import compare
from bookwheel.embedders.base import Embedder
from bookwheel.engines.embedded import lacking, vectors
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.engines.embedded.nearest import EXACT_MOST
from bookwheel.library import Library
from bookwheel.query import SearchMode, SearchRequest

SPEED_TARGET = 3.0
MEMORY_TARGET = 1.2
RECALL_TARGET = 0.99
KNOWN_LOSS = 0.01
_MEGABYTE = 1e6


def measure(corpus: Corpus) -> list[Figure]:
    """Embed a copy of the index, and enough copies of the folders, and measure on both."""
    index = corpus.work / "meaning"
    shutil.copytree(corpus.index, index)
    with corpus.open(index) as library:
        library.embed()
        known = _known_items(corpus, library)
    copies = math.ceil(corpus.many_chunks / max(1, corpus.chunks))
    if copies > 1:
        index = _repeat(corpus, copies)
    with Library.open(settings_for(index)) as library:
        embedder = library.embedder
        assert embedder is not None
        chunks = library._store.embedded(embedder.fingerprint)[0]
        return [
            _speed(corpus, library, chunks),
            _memory(index, chunks, embedder.dimensions),
            _recall(corpus, library, embedder, chunks),
            *known,
        ]


def _repeat(corpus: Corpus, copies: int) -> Path:
    """Index the folders several times over, each time below another path."""
    folder, index = corpus.work / "many", corpus.work / "many-index"
    for number in range(copies):
        for each in corpus.folders:
            shutil.copytree(each, folder / str(number) / Path(each).name, symlinks=True)
    with corpus.open(index, [str(folder)]) as library:
        library.update()
        library.embed()
    return index


def _speed(corpus: Corpus, library: Library, chunks: int) -> Figure:
    pair = compare(
        [
            (
                partial(library.search, SearchRequest(each)),
                partial(library.search, SearchRequest(each, mode=SearchMode.LEXICAL)),
            )
            for each in corpus.questions
        ]
    )
    ours, words = (statistics.median(each) for each in (pair.ours, pair.floor))
    ratio = ours / max(words, 1e-9)
    return at_most(
        "search by words and meaning, CPU",
        *(ratio, SPEED_TARGET),
        shown=f"{ratio:.1f} x",
        target=f"<= {SPEED_TARGET:.0f} x",
        how=f"of words alone, medians: {ours * 1e3:.2f} against {words * 1e3:.2f} ms; "
        f"{len(corpus.questions)} questions, {chunks:,} chunks",
    )


def _memory(index: Path, chunks: int, dimensions: int) -> Figure:
    command = [sys.executable, "-m", "bench.meaning", str(index)]
    said = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    added = json.loads(said.stdout)
    raw = chunks * dimensions
    ratio = added / max(raw, 1)
    shown = f"{added / _MEGABYTE:.1f} MB"
    how = f"{ratio:.2f} x one byte per number, {raw / _MEGABYTE:.1f} MB; {chunks:,} chunks"
    if chunks <= EXACT_MOST:  # held as they are
        return Figure("memory for vectors", added, shown, how=how)
    return at_most(
        "memory for vectors",
        *(ratio, MEMORY_TARGET),
        shown=shown,
        target=f"<= {MEMORY_TARGET} x one byte per number",
        how=how,
    )


def _recall(corpus: Corpus, library: Library, embedder: Embedder, chunks: int) -> Figure:
    """Compare with all vectors, chunk by chunk; chunks that are equally near are as good."""
    engine = library._store
    assert isinstance(engine, EmbeddedEngine)
    model = lacking.find_model(engine._reader(), embedder.fingerprint)
    assert model is not None
    rows = [matrix for _, matrix in vectors.read_changes(engine._reader(), *model, -1)]
    every = np.concatenate(rows)
    found = wanted = 0
    for question in corpus.questions:
        query = embedder.embed_query(question)
        best = np.sort(every @ query)[::-1][:10]
        scores = [score for *_, score in engine.nearest(embedder.fingerprint, query, 10).entries]
        wanted += len(best)
        found += sum(score >= best[-1] - 1e-5 for score in scores)
    return at_least(
        "the ten nearest chunks that are found",
        *(found / wanted, RECALL_TARGET),
        shown=f"{found / wanted:.4f}",
        target=f">= {RECALL_TARGET}",
        how=f"of those that comparing every vector finds; {len(corpus.questions)} questions, "
        f"{chunks:,} chunks",
    )


def _known_items(corpus: Corpus, library: Library) -> list[Figure]:
    """Return how much is lost of what words alone find."""
    words = quality.ask(corpus, library, SearchMode.LEXICAL)
    both = quality.ask(corpus, library, SearchMode.HYBRID)
    return [
        at_least(
            f"{kind}, {'hit@1' if which == 'hit1' else 'hit@10'}, with meaning",
            *(getattr(both[kind], which), getattr(words[kind], which) - KNOWN_LOSS),
            shown=f"{getattr(both[kind], which):.3f}",
            target=f">= words alone - {KNOWN_LOSS}",
            how=f"words alone {getattr(words[kind], which):.3f}; {both[kind].queries} pages",
        )
        for kind, which, _ in quality.TARGETS
    ]


def added_by_vectors(index: Path) -> int:
    """Return the bytes of memory of its own that this process gains by opening the vectors."""
    import turbovec  # noqa: F401 - its own memory is not that of vectors

    with Library.open(settings_for(index)) as library:
        embedder = library.embedder
        assert embedder is not None
        library.search(SearchRequest("anything", mode=SearchMode.LEXICAL))
        query = embedder.embed_query("anything")
        before = anonymous()
        library._store.nearest(embedder.fingerprint, query, 10)
        return anonymous() - before


if __name__ == "__main__":
    sys.stdout.write(json.dumps(added_by_vectors(Path(sys.argv[1]))))
