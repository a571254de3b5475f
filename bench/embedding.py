"""The speed of the static embedder: texts a second of CPU against a bare tokenizer and look-up.

The floor cuts the texts with the Rust tokenizer that the model was made with and takes the rows
of the table; it neither adds them up nor brings them to length.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from tokenizers import Tokenizer

from bench.corpus import Corpus
from bench.figures import Figure, at_least
from bookwheel.embedders import static
from bookwheel.embedders.static import StaticEmbedder

TARGET = 0.7
_MOST = 20_000
_BATCH = 256


def measure(corpus: Corpus) -> list[Figure]:
    """Embed the chunks in turn with the floor; the best round of each counts."""
    texts = [f"{row.title} > {row.heading}\n{row.body}" for row in islice(corpus.rows(), _MOST)]
    bare = Floor()
    rounds = [_round(texts, bare) for _ in range(corpus.rounds)]
    new, known, floor = (min(column) for column in zip(*rounds, strict=True))
    return [
        _row("embedding, words new to it", texts, new, floor),
        _row("embedding, words met before", texts, known, floor),
    ]


class Floor:
    """The tokenizer and the table, and nothing else."""

    def __init__(self) -> None:
        table, vocabulary = static._files()
        self._tokenizer = Tokenizer.from_file(str(vocabulary))
        self._table = static.map_tensor(table, static._TENSOR)

    def look_up(self, texts: Sequence[str]) -> None:
        """Cut the texts and take the rows of each."""
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            for cut in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                self._table[np.array(cut.ids, np.int64)]


def _round(texts: Sequence[str], floor: Floor) -> tuple[float, float, float]:
    model = StaticEmbedder()
    return (
        _cpu(lambda: model.embed(texts)),
        _cpu(lambda: model.embed(texts)),
        _cpu(lambda: floor.look_up(texts)),
    )


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-9)


def _row(name: str, texts: Sequence[str], ours: float, floor: float) -> Figure:
    return at_least(
        f"{name}, CPU",
        *(floor / ours, TARGET),
        shown=f"{floor / ours:.2f} x the speed",
        target=f">= {TARGET} x",
        how=f"of tokenizer and look-up: {len(texts) / ours:,.0f} against "
        f"{len(texts) / floor:,.0f} chunks a second; {len(texts):,} chunks",
    )
