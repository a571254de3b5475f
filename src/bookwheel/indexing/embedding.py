"""Giving vectors to documents that have none of the present model yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from bookwheel.engines.base import Engine, WritableEngine, model_text

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import Matrix
    from bookwheel.engines.passages import Passages

_DOCUMENTS = 64
_PASSAGES = 256
_AT_ONCE = 1_024
"""Chunks whose texts are held together."""


def embed_missing(
    engine: WritableEngine,
    embedder: Embedder,
    *,
    shown: Engine | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> int:
    """Embed what lacks vectors, a few documents at a time; return how many chunks that were.

    What is done is kept when it is stopped, and search goes on meanwhile. The model reads what
    the engine `shown` gives it: where secrets are hidden, a model elsewhere must not get them.
    """
    # Counted only for whoever wants to know: that goes through all documents.
    done, total = engine.embedded(embedder.fingerprint) if on_progress else (0, 0)
    before = done
    on_progress = on_progress or (lambda done, total: None)
    after = 0
    while not should_stop():
        batch = (shown or engine).without_vectors(embedder.fingerprint, _DOCUMENTS, after=after)
        if not batch and not after:
            break
        # After the last of them it begins once more: somebody may have come in meanwhile.
        after = max((passages.document for _, passages in batch), default=0)
        if not batch:
            continue
        on_progress(done, total)
        rows = _embed(embedder, batch, should_stop)
        engine.write_vectors(embedder.fingerprint, embedder.dimensions, rows)
        done += sum(map(len, rows.values()))
    if done > before:
        engine.keep_vectors(embedder.fingerprint)
        on_progress(done, max(done, total))
    return done - before


def _embed(
    embedder: Embedder, batch: list[tuple[str, Passages]], should_stop: Callable[[], bool]
) -> dict[int, Matrix]:
    """Return vectors for the documents of a batch; at least for some when it is to stop."""
    rows: dict[int, Matrix] = {}
    for some in _groups(batch):
        if rows and should_stop():
            break
        texts = (model_text(title, each) for title, passages in some for each in passages)
        vectors = _embed_texts(embedder, texts, sum(len(passages) for _, passages in some))
        start = 0
        for _, passages in some:
            end = start + len(passages)
            rows[passages.document] = vectors[start:end]
            start = end
    return rows


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


def _groups(batch: list[tuple[str, Passages]]) -> Iterator[list[tuple[str, Passages]]]:
    """Yield documents together until they have as many chunks as are embedded at once."""
    some: list[tuple[str, Passages]] = []
    count = 0
    for each in batch:
        some.append(each)
        count += len(each[1])
        if count >= _PASSAGES:
            yield some
            some, count = [], 0
    if some:
        yield some
