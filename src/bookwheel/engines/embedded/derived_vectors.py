"""Vectors as they are asked for: held in memory in step with the catalogue, and kept on disk."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import apsw
import numpy as np

from bookwheel.engines.base import Found, Matrix, Passage, Vector
from bookwheel.engines.embedded import catalog, vectors
from bookwheel.engines.embedded.database import Place
from bookwheel.engines.embedded.nearest import EXACT_MOST, NearestVectors

_LAYOUT_VERSION = 1
_BATCH = 4_096
_SAMPLE = 4_096
_MOST_DROPPED = 1_000

Reading = Callable[[], AbstractContextManager[apsw.Connection]]
_Rows = list[tuple[int, Matrix]]


class DerivedVectors:
    """The vectors of one place; of one model at a time, the one that was asked for last."""

    def __init__(self, place: Place, reading: Reading) -> None:
        self._place = place
        self._reading = reading
        self._held: tuple[str, NearestVectors] | None = None
        self._asking = threading.Lock()

    def count(self, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks have vectors of a model, and how many there are."""
        with self._reading() as connection:
            model = vectors.find_model(connection, fingerprint)
            return vectors.count_chunks(connection, model[0] if model else 0)

    def missing(self, fingerprint: str, limit: int) -> list[tuple[str, list[Passage]]]:
        """Return title and chunks of some documents that have no vectors of a model yet."""
        with self._reading() as connection:
            model = vectors.find_model(connection, fingerprint)
            keys = vectors.list_without(connection, model[0] if model else 0, limit)
            documents = catalog.read_documents(connection, keys)
            return [
                (document.title, vectors.read_texts(connection, key))
                for key, document in documents.items()
            ]

    def write(
        self,
        connection: apsw.Connection,
        fingerprint: str,
        dimensions: int,
        rows: Mapping[int, Matrix],
    ) -> None:
        """Write the vectors of documents, within a transaction."""
        model = vectors.add_model(connection, fingerprint, dimensions)
        vectors.save_vectors(connection, model, rows)

    def read(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]:
        """Return the vectors of some documents, one row per chunk."""
        with self._reading() as connection:
            model = vectors.find_model(connection, fingerprint)
            return vectors.read_matrices(connection, *model, keys) if model else {}

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None
    ) -> Found:
        """Return the chunks nearest to a vector."""
        with self._asking, self._reading() as connection, catalog.snapshot(connection):
            held = self._current(connection, fingerprint)
            if held is None or held.dimensions != len(query):
                return Found((), 0)
            near = held.search(
                query,
                limit,
                lambda wanted: vectors.read_rows(connection, held.dimensions, wanted),
                documents,
            )
            return Found(tuple(near), len(near))

    def keep(self, connection: apsw.Connection, fingerprint: str) -> None:
        """Save what is quick to open, when there is much of it and much has changed."""
        with self._asking:
            held = self._current(connection, fingerprint)
            if held is None:
                return
            made_from = self._made_from(connection, fingerprint)
            if held.is_settled and not held.is_kept(self._place.vectors, made_from):
                held.save(self._place.vectors, made_from)
        if len(vectors.list_dropped(connection, 0)) > _MOST_DROPPED:
            vectors.forget_dropped(connection)

    def _current(self, connection: apsw.Connection, fingerprint: str) -> NearestVectors | None:
        """Return the vectors of a model as the catalogue has them now."""
        model = vectors.find_model(connection, fingerprint)
        if model is None:
            return None
        held = self._held[1] if self._held and self._held[0] == fingerprint else None
        floor = vectors.read_floor(connection)
        if held is None or held.is_worn or held.stamp < floor:
            made_from = self._made_from(connection, fingerprint)
            kept = NearestVectors.load(self._place.vectors, made_from, model[1])
            oldest = max(floor, held.settled_stamp + 1 if held else 0)
            held = kept if kept and kept.stamp >= oldest else _load(connection, *model)
        stamp = vectors.read_stamp(connection)
        if held.stamp != stamp:
            held.drop(vectors.list_dropped(connection, held.stamp))
            held.add(list(vectors.read_changes(connection, *model, held.stamp)))
            held.stamp = stamp
        self._held = fingerprint, held
        return held

    @staticmethod
    def _made_from(connection: apsw.Connection, fingerprint: str) -> list[object]:
        return [catalog.read_meta(connection, "id"), fingerprint, _LAYOUT_VERSION]


def _load(connection: apsw.Connection, model: int, dimensions: int) -> NearestVectors:
    """Read all vectors of a model: as they are if they are few, else quantised."""
    held = NearestVectors(dimensions, vectors.read_stamp(connection))
    counts = vectors.list_documents(connection, model, dimensions)
    rows = vectors.read_changes(connection, model, dimensions, -1)
    if sum(counts.values()) <= EXACT_MOST:
        held.add(list(rows))
    else:
        sample = _draw(connection, model, dimensions, list(counts))
        held.settle(_batches(rows), sample)
    return held


def _draw(connection: apsw.Connection, model: int, dimensions: int, keys: list[int]) -> Matrix:
    """Return a fair sample: from documents all over the catalogue, rows from all over them."""
    some = keys[:: max(1, len(keys) // 1_000)]
    matrices = vectors.read_matrices(connection, model, dimensions, some).values()
    rows = np.concatenate(list(matrices))
    chosen = np.random.default_rng(0).permutation(len(rows))[:_SAMPLE]
    return np.ascontiguousarray(rows[chosen])


def _batches(rows: Iterator[tuple[int, Matrix]]) -> Iterator[_Rows]:
    batch: _Rows = []
    size = 0
    for row in itertools.chain(rows):
        batch.append(row)
        size += len(row[1])
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
