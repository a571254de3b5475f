"""Several searches at once: the model is asked for the vectors of all their queries together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from bookwheel.engines.base import Engine, Matrix, Vector
from bookwheel.errors import Upstream
from bookwheel.search.interpret import interpret, query_languages
from bookwheel.search.meaning import Embedder
from bookwheel.search.near_words import WordModel


class QueriesEmbedder(Embedder, Protocol):
    """A model that takes several queries in one go."""

    def embed_queries(self, texts: Sequence[str]) -> Matrix: ...


class EmbedderOfBatch:
    """A model as the searches of one batch see it: asked once, and not again if it fails."""

    def __init__(self, embedder: QueriesEmbedder, texts: Iterable[str]) -> None:
        self._embedder = embedder
        self._texts = list(dict.fromkeys(texts))
        self._vectors: dict[str, Vector] = {}
        self._trouble: Upstream | None = None
        self.fingerprint = embedder.fingerprint
        self.weight = embedder.weight
        self.unrelated = embedder.unrelated
        if isinstance(embedder, WordModel):
            self.embed_words = embedder.embed_words
            self.is_word = embedder.is_word

    def embed_query(self, text: str) -> Vector:
        """Return the vector of one of the queries, having asked for those of all."""
        if self._trouble:
            raise self._trouble
        if not self._vectors:
            try:
                rows = self._embedder.embed_queries(self._texts)
            except Upstream as error:
                self._trouble = error
                raise
            self._vectors = dict(zip(self._texts, rows, strict=True))
        return self._vectors[text]


def embedder_of_batch(
    engine: Engine, embedder: QueriesEmbedder, queries: Iterable[str]
) -> EmbedderOfBatch:
    """Return a model that will be asked for the vectors of these queries in one go."""
    languages = query_languages(engine)
    plain = (interpret(text, languages).plain for text in queries)
    return EmbedderOfBatch(embedder, [text for text in plain if text])
