"""Giving vectors to documents that have none of the present model yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bookwheel.engines.base import Engine, Passage, model_text

if TYPE_CHECKING:
    from bookwheel.embedders.base import Embedder
    from bookwheel.engines.base import Matrix

_DOCUMENTS = 64
_PASSAGES = 1_024


def embed_missing(
    engine: Engine,
    embedder: Embedder,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> int:
    """Embed what lacks vectors, a few documents at a time; return how many chunks that were.

    What is done is kept when it is stopped, and search goes on meanwhile.
    """
    done, total = engine.embedded(embedder.fingerprint)
    before = done
    while not should_stop():
        batch = engine.without_vectors(embedder.fingerprint, _DOCUMENTS)
        if not batch:
            break
        on_progress(done, total)
        rows = _embed(embedder, batch, should_stop)
        engine.write_vectors(embedder.fingerprint, embedder.dimensions, rows)
        done += sum(map(len, rows.values()))
    if done > before:
        engine.keep_vectors(embedder.fingerprint)
        on_progress(done, max(done, total))
    return done - before


def _embed(
    embedder: Embedder, batch: list[tuple[str, list[Passage]]], should_stop: Callable[[], bool]
) -> dict[int, Matrix]:
    """Return vectors for each document of a batch; for none that was not finished when stopped."""
    import numpy as np

    texts = [model_text(title, each) for title, passages in batch for each in passages]
    parts = []
    for first in range(0, len(texts), _PASSAGES):
        if should_stop():
            return {}
        parts.append(embedder.embed(texts[first : first + _PASSAGES]))
    vectors = np.concatenate(parts)
    rows: dict[int, Matrix] = {}
    start = 0
    for _, passages in batch:
        end = start + len(passages)
        rows[passages[0].document] = vectors[start:end]
        start = end
    return rows
