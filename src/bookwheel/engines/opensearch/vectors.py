"""Chunks by meaning: an index of vectors for each model, and each document's vectors as written."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bookwheel.engines.base import Found, Matrix, Vector
from bookwheel.engines.opensearch import schema, state
from bookwheel.engines.opensearch.citing import CitationReader
from bookwheel.engines.opensearch.filters import MOST_TERMS, Query, any_value, every, term
from bookwheel.engines.opensearch.leases import Lease
from bookwheel.engines.opensearch.rows import to_passage
from bookwheel.engines.opensearch.store import SORT_ONLY, WINDOW, Source
from bookwheel.engines.passages import Passages
from bookwheel.model import Status

if TYPE_CHECKING:
    import numpy as np

_MOST_CHUNKS = 4_096
_SPARE = 20
"""So many more chunks are asked for: some may be of documents that were just replaced."""
_PLACE = ("document", "ordinal", "generation")
_Near = tuple[int, int, float, int]


def model_id(fingerprint: str) -> str:
    """Return a name for a model that an index can bear."""
    return hashlib.blake2b(fingerprint.encode(), digest_size=6).hexdigest()


def vectors_kind(fingerprint: str) -> str:
    """Return the kind of index that holds the vectors of a model."""
    return f"vectors-{model_id(fingerprint)}"


def models_of(row: Mapping[str, Any]) -> list[str]:
    """Return the models that a document has vectors of."""
    return row.get("model") or []


def text_id(row: Mapping[str, Any], model: str) -> str:
    """Return where a document's vectors of a model lie."""
    return f"{row['key']}-{row['generation']}-v-{model}"


class VectorReader(CitationReader):
    """Vectors under the fingerprint of the model that made them."""

    _lease: Lease
    _embedding: dict[int, int]
    """Of which generation the chunks were that were last given out to be embedded."""

    def _models(self) -> dict[str, int]:
        """Return the dimensions of every model that any vector was ever written of."""
        return self._recall("models", lambda: dict(self._tables.read(state.MODELS)))

    def has_vectors(self) -> bool:
        """Tell whether any document has vectors, of whichever model."""
        return self._recall("has vectors", lambda: self._count_rows(_with_model()) > 0)

    def lacks_vectors(self, fingerprint: str) -> bool:
        """Tell whether any document with text has no vectors of a model."""
        self._settle()
        model = term("model", model_id(fingerprint))
        return self._count_rows({"bool": {"filter": [_CHUNKED], "must_not": [model]}}) > 0

    def _count_rows(self, query: Query) -> int:
        return self._count(schema.DOCUMENTS, query)

    def embedded(self, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks have vectors of a model, and how many there are."""
        self._settle()
        return self._sum_chunks(term("model", model_id(fingerprint))), self._sum_chunks()

    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, Passages]]:
        """Return title and chunks of some documents that have no vectors of a model yet."""
        self._settle()
        while some := self._lacking(fingerprint, limit, after):
            if found := self._read_whole(some):
                return found
            after = some[-1]["key"]
        return []

    def _lacking(self, fingerprint: str, limit: int, after: int) -> list[Source]:
        """Return rows without vectors: whoever writes gets those of its own collections only."""
        conditions: list[Query] = [_CHUNKED, {"range": {"key": {"gt": after}}}]
        if self._lease.held and (names := self._lease.names) is not None:
            conditions.append(any_value("collection", names))
        model = term("model", model_id(fingerprint))
        lacking = {"bool": {"filter": conditions, "must_not": [model]}}
        fields = ("key", "generation", "chunks", "kept.title")
        some: list[Source] = []
        chunks = 0
        for hit in self._scan(schema.DOCUMENTS, lacking, ("key",), fields=fields, limit=limit):
            chunks += hit["_source"]["chunks"]
            if some and chunks > _MOST_CHUNKS:
                break
            some.append(hit["_source"])
        return some

    def _read_whole(self, some: Sequence[Source]) -> list[tuple[str, Passages]]:
        """Return title and chunks of documents that are still as their rows say."""
        ids = {row["key"]: _ids(row["key"], row["generation"], row["chunks"]) for row in some}
        parts = self._get_many(schema.PASSAGES, [each for own in ids.values() for each in own])
        found = []
        for row in some:
            own = ids[row["key"]]
            if all(each in parts for each in own):
                self._embedding[row["key"]] = row["generation"]
                kept = [parts[each]["_source"]["kept"] for each in own]
                passages = [to_passage(row["key"], each) for each in kept]
                every = Passages(row["key"], len(passages), passages.__iter__)
                found.append((row["kept"]["title"], every))
        return found

    def open_vectors(self, fingerprint: str) -> None:
        """Nothing has to be loaded here: the cluster holds them."""

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found:
        """Return the chunks nearest to a vector, among all or only some documents."""
        if self._models().get(fingerprint) != len(query) or documents == [] or limit < 1:
            return Found((), 0)
        near: list[_Near] = []
        for some in _groups(documents):
            near += self._read_near(fingerprint, query, limit + _SPARE, some)
        near.sort(key=lambda each: (-each[2], each[0], each[1]))
        living = self._living_vectors(fingerprint, near)[:limit]
        return Found(tuple(living), len(living))

    def _read_near(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None
    ) -> list[_Near]:
        size = min(limit, WINDOW)
        knn: dict[str, Any] = {"vector": query.tolist(), "k": size}
        if documents is not None:
            knn["filter"] = any_value("document", documents)
        body = {
            "size": size,
            "query": {"knn": {"vector": knn}},
            **SORT_ONLY,
            "sort": [{"_score": "desc"}, *({each: "asc"} for each in _PLACE)],
        }
        hits = self._search(vectors_kind(fingerprint), body)["hits"]["hits"]
        return [
            (int(document), int(ordinal), _product(score), int(generation))
            for score, document, ordinal, generation in (hit["sort"] for hit in hits)
        ]

    def _living_vectors(
        self, fingerprint: str, near: Sequence[_Near]
    ) -> list[tuple[int, int, float]]:
        """Return the chunks whose document has not changed, nor its model, since."""
        now = self._fitting_rows([(key, generation) for key, _, _, generation in near])
        model = model_id(fingerprint)
        return [
            (key, ordinal, score)
            for key, ordinal, score, generation in near
            if key in now and now[key]["generation"] == generation and model in models_of(now[key])
        ]

    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]:
        """Return the vectors of some documents, one row per chunk."""
        dimensions = self._models().get(fingerprint)
        if dimensions is None:
            return {}
        found, is_whole = self._read_vectors(fingerprint, keys, dimensions, again=False)
        return (
            found if is_whole else self._read_vectors(fingerprint, keys, dimensions, again=True)[0]
        )

    def _read_vectors(
        self, fingerprint: str, keys: Sequence[int], dimensions: int, *, again: bool
    ) -> tuple[dict[int, Matrix], bool]:
        """Return vectors, and whether every document had them whose row says so."""
        found = self._recent_rows(keys, again=again)
        model = model_id(fingerprint)
        ids = {text_id(row, model): key for key, row in found.items() if model in models_of(row)}
        parts = self._get_many(schema.TEXTS, list(ids))
        matrices = {
            ids[each]: _to_matrix(part["_source"]["kept"]["vectors"], dimensions)
            for each, part in parts.items()
        }
        return matrices, len(parts) == len(ids)


_CHUNKED: Query = {"range": {"chunks": {"gt": 0}}}


def _with_model() -> Query:
    return every([{"exists": {"field": "model"}}, term("status", str(Status.OK))])


def _groups(documents: Sequence[int] | None) -> Iterator[Sequence[int] | None]:
    if documents is None:
        yield None
        return
    for first in range(0, len(documents), MOST_TERMS):
        yield documents[first : first + MOST_TERMS]


def _product(score: float) -> float:
    """Return the inner product that a score was made of."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _to_matrix(text: str, dimensions: int) -> Matrix:
    import numpy as np

    halves: np.ndarray[Any, Any] = np.frombuffer(base64.b64decode(text), np.float16)
    return halves.reshape(-1, dimensions).astype(np.float32)


def _ids(key: int, generation: int, chunks: int) -> list[str]:
    return [f"{key}-{generation}-{ordinal}" for ordinal in range(1, chunks + 1)]


def vector_actions(
    index: str, texts: str, row: Source, fingerprint: str, matrix: Matrix
) -> Iterator[Mapping[str, Any]]:
    """Yield the changes that write the vectors of a document."""
    import numpy as np

    key, generation = row["key"], row["generation"]
    halves = matrix.astype(np.float16)
    kept = {
        "collection": row["collection"],
        "model": model_id(fingerprint),
        "vectors": base64.b64encode(halves.tobytes()).decode(),
    }
    whole = {"document": key, "generation": generation, "kept": kept}
    where = text_id(row, kept["model"])
    yield {"_op_type": "index", "_index": texts, "_id": where, "_source": whole}
    for ordinal, vector in enumerate(halves.astype(np.float32), start=1):
        yield {
            "_op_type": "index",
            "_index": index,
            "_id": f"{key}-{generation}-{ordinal}",
            "_source": {
                "document": key,
                "generation": generation,
                "ordinal": ordinal,
                "vector": vector.tolist(),
            },
        }


def vector_mapping(dimensions: int) -> Mapping[str, Any]:
    """Return how an index of vectors is made."""
    method = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct"}
    return {
        "_source": {"excludes": ["vector"]},
        "properties": {
            "document": {"type": "long"},
            "generation": {"type": "long"},
            "ordinal": {"type": "long"},
            "vector": {"type": "knn_vector", "dimension": dimensions, "method": method},
        },
    }
