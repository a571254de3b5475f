"""Giving vectors to documents that have none of the present model yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from bookwheel.engines.base import Engine, WritableEngine, model_text

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import Matrix
    from bookwheel.engines.passages import Passages

_DOCUMENTS = 64
_FIRST, _PASSAGES = 8, 256
"""Chunks that are embedded together: few at first, to see how quick the model is."""
_GROUP_SECONDS = 1.0
"""So long a slow model works on those that it is given together."""
_UNWRITTEN_SECONDS = 3.0
"""So much of its work, besides the present group, a process that is killed may lose."""
_AT_ONCE = 1_024
"""Chunks whose texts are held together."""
_Batch = list[tuple[str, "Passages"]]


def embed_missing(
    engine: WritableEngine,
    embedder: Embedder,
    *,
    shown: Engine | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    longest: float = inf,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Embed what lacks vectors, a few documents at a time; return how many chunks that were.

    What is done is kept when it is stopped, and search goes on meanwhile. The model reads what
    the engine `shown` gives it: where secrets are hidden, a model elsewhere must not get them.
    Documents of more than `longest` chunks are left out: one is not stopped within.
    """
    # Counted only for whoever wants to know: that goes through all documents.
    done, total = engine.embedded(embedder.fingerprint) if on_progress else (0, 0)
    before = done
    tell = on_progress or (lambda done, total: None)

    def write(rows: dict[int, Matrix]) -> None:
        nonlocal done
        engine.write_vectors(embedder.fingerprint, embedder.dimensions, rows)
        done += sum(map(len, rows.values()))
        tell(done, total)

    work = _Work(embedder, write, clock)
    after, before_round = 0, done
    while not should_stop():
        batch = (shown or engine).without_vectors(embedder.fingerprint, _DOCUMENTS, after=after)
        if not batch and done == before_round:
            break
        if not batch:  # It begins once more: somebody may have come in meanwhile.
            after, before_round = 0, done
            continue
        after = max(passages.document for _, passages in batch)
        tell(done, total)
        work.do([each for each in batch if len(each[1]) <= longest], should_stop)
    if done > before:
        engine.keep_vectors(embedder.fingerprint)
        tell(done, max(done, total))
    return done - before


class _Work:
    """What is embedded in groups as the model's pace allows, and not written yet."""

    def __init__(
        self,
        embedder: Embedder,
        write: Callable[[dict[int, Matrix]], None],
        clock: Callable[[], float],
    ) -> None:
        self._embedder, self._write, self._clock = embedder, write, clock
        self._rows: dict[int, Matrix] = {}
        self._most = _FIRST
        self._written_at = clock()

    def do(self, batch: _Batch, should_stop: Callable[[], bool]) -> None:
        """Embed the documents of a batch; at least some when it is to stop.

        What was embedded is written whatever happens: somebody interrupts it, or the model fails.
        """
        try:
            for number, some in enumerate(self._groups(batch)):
                if number and should_stop():
                    break
                self._embed(some)
                if self._clock() - self._written_at >= _UNWRITTEN_SECONDS:
                    self._flush()
        finally:
            self._flush()

    def _groups(self, batch: _Batch) -> Iterator[_Batch]:
        """Yield documents together until they have as many chunks as are embedded at once."""
        some: _Batch = []
        count = 0
        for each in batch:
            some.append(each)
            count += len(each[1])
            if count >= self._most:
                yield some
                some, count = [], 0
        if some:
            yield some

    def _embed(self, some: _Batch) -> None:
        started = self._clock()
        count = sum(len(passages) for _, passages in some)
        texts = (model_text(title, each) for title, passages in some for each in passages)
        vectors = _embed_texts(self._embedder, texts, count)
        start = 0
        for _, passages in some:
            end = start + len(passages)
            self._rows[passages.document] = vectors[start:end]
            start = end
        seconds = max(self._clock() - started, _GROUP_SECONDS * count / _PASSAGES)
        self._most = max(1, int(count * _GROUP_SECONDS / seconds))

    def _flush(self) -> None:
        rows, self._rows = self._rows, {}
        if rows:
            self._write(rows)
        self._written_at = self._clock()


def _embed_texts(embedder: Embedder, texts: Iterator[str], count: int) -> Matrix:
    """Return the vectors of so many texts; of very many as they are kept, in half precision."""
    if count <= _AT_ONCE:
        return embedder.embed(list(texts))
    import numpy as np

    vectors: Matrix = np.empty((count, embedder.dimensions), np.float16)
    for start in range(0, count, _AT_ONCE):
        some = list(islice(texts, _AT_ONCE))
        vectors[start : start + len(some)] = embedder.embed(some)
    return vectors
