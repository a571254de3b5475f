"""The speed of search: CPU for each question against SQLite FTS5 over the same chunks.

Both get the same words, all of them, stop words too; any of them may match.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from bench.corpus import Corpus
from bench.figures import Figure, at_least
from bench.floors.fts5 import Fts5
from bookwheel.engines.base import Found, Match
from bookwheel.library import Library
from bookwheel.query import SearchRequest

Call = Callable[[], object]

SEARCH_TARGET = 5.0
RETRIEVAL_TARGET = 10.0
_TIMES = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """CPU seconds for each question: ours and the floor's, the best of several."""

    ours: tuple[float, ...]
    floor: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Return how many times less we took over all questions."""
        return sum(self.floor) / max(sum(self.ours), 1e-9)

    @property
    def text(self) -> str:
        medians = [statistics.median(each) * 1e3 for each in (self.ours, self.floor)]
        means = [statistics.fmean(each) * 1e3 for each in (self.ours, self.floor)]
        return (
            f"mean {means[0]:.2f} against {means[1]:.1f} ms, "
            f"median {medians[0]:.2f} against {medians[1]:.1f} ms"
        )


def measure(corpus: Corpus) -> list[Figure]:
    """Ask every question of both, in turn."""
    library = corpus.library
    fts5 = Fts5(corpus.work / "fts5.db", corpus.rows())
    try:
        search = compare(
            [
                (partial(library.search, SearchRequest(each)), partial(fts5.search, each))
                for each in corpus.questions
            ]
        )
        retrieval = compare(
            [
                (record_retrieval(library, each), partial(fts5.retrieve, each))
                for each in corpus.questions
            ]
        )
    finally:
        fts5.close()
    scope = f"{len(corpus.questions)} questions, {corpus.chunks:,} chunks"
    return [
        _row("search, limit 10, with snippets", search, SEARCH_TARGET, scope),
        _row("retrieval of pages and passages alone", retrieval, RETRIEVAL_TARGET, scope),
    ]


def _row(name: str, pair: Pair, target: float, scope: str) -> Figure:
    return at_least(
        f"{name}, CPU",
        *(pair.ratio, target),
        shown=f"{pair.ratio:.1f} x less",
        target=f">= {target:.0f} x less",
        how=f"than SQLite FTS5: {pair.text}; {scope}",
    )


def record_retrieval(library: Library, question: str) -> Call:
    """Search once and return the calls by which it asked the word index, to be made again."""
    engine = library._store
    calls: list[Call] = []

    def note(method: Callable[..., Found]) -> Callable[..., Found]:
        def noted(match: Match, limit: int, **options: bool) -> Found:
            # A limit of one is the speller's look whether a word may be seen.
            if limit > 1:
                calls.append(partial(method, match, limit, **options))
            return method(match, limit, **options)

        return noted

    with (
        patch.object(engine, "match_pages", note(engine.match_pages)),
        patch.object(engine, "match_passages", note(engine.match_passages)),
    ):
        library.search(SearchRequest(question))
    return lambda: [call() for call in calls]


def compare(pairs: Sequence[tuple[Call, Call]]) -> Pair:
    """Time each pair of calls in turn, several times, and keep the best of each."""
    ours, floor = [], []
    for first, second in pairs:
        first()
        timed = [(cpu_of(first), cpu_of(second)) for _ in range(_TIMES)]
        ours.append(min(pair[0] for pair in timed))
        floor.append(min(pair[1] for pair in timed))
    return Pair(tuple(ours), tuple(floor))


def cpu_of(call: Call) -> float:
    """Return the CPU seconds of one call."""
    began = time.process_time()
    call()
    return time.process_time() - began
