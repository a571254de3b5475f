"""Vectors as they are asked for: held in memory in step with the catalogue, and kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from typing import NamedTuple

import apsw
import numpy as np

from bookwheel.engines.base import Found, Matrix, Vector
from bookwheel.engines.embedded import catalog, lacking, nearest, vectors
from bookwheel.engines.embedded.database import IndexFiles
from bookwheel.engines.embedded.nearest import NearestVectors, Part
from bookwheel.engines.passages import Passages

_LAYOUT_VERSION = 1
_BATCH = 4_096
_SAMPLE = 4_096
_MOST_DROPPED = 1_000

Reading = Callable[[], AbstractContextManager[apsw.Connection]]


class _Lately(NamedTuple):
    """What was read last, of which catalogue and model and at which stamp."""

    catalogue: object
    model: int
    stamp: int
    rows: Mapping[int, Matrix]


class DerivedVectors:
    """The vectors of one place; of one model at a time, the one that was asked for last."""

    def __init__(self, place: IndexFiles, reading: Reading) -> None:
        self._place = place
        self._reading = reading
        self._held: tuple[list[object], NearestVectors] | None = None
        self._asking = threading.Lock()
        self._lately = _Lately(None, 0, 0, {})

    def count(self, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks have vectors of a model, and how many there are."""
        with self._reading() as connection:
            model = lacking.find_model(connection, fingerprint)
            return vectors.count_chunks(connection, model[0] if model else 0)

    def missing(self, fingerprint: str, limit: int, after: int) -> list[tuple[str, Passages]]:
        """Return title and chunks of some documents that have no vectors of a model yet."""
        with self._reading() as connection:
            model = lacking.find_model(connection, fingerprint)
            keys = lacking.list_without(connection, model[0] if model else 0, limit, after)
            documents = catalog.read_documents(connection, keys)
            return [
                (document.title, vectors.read_texts(connection, key, document.chunks))
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
        with self._reading() as connection, catalog.snapshot(connection):
            model = lacking.find_model(connection, fingerprint)
            return self._read(connection, model, keys) if model else {}

    def _read(
        self, connection: apsw.Connection, model: tuple[int, int], keys: Sequence[int]
    ) -> dict[int, Matrix]:
        """Return vectors of documents; those of a question are asked for more than once.

        Always in one order: the last digit of a product depends on where its row stands.
        """
        read_from = catalog.read_meta(connection, "id"), model[0], vectors.read_stamp(connection)
        lately = self._lately
        known = lately.rows if lately[:3] == read_from else {}
        missing = [key for key in keys if key not in known]
        read = vectors.read_matrices(connection, *model, missing) if missing else {}
        every = {key: known[key] for key in keys if key in known} | read
        found = dict(sorted(every.items(), key=itemgetter(0)))
        self._lately = _Lately(*read_from, found)
        return found

    def open(self, fingerprint: str) -> None:
        """Load the vectors of a model."""
        with self._asking, self._reading() as connection, catalog.snapshot(connection):
            model = lacking.find_model(connection, fingerprint)
            if model is not None:
                self._current(connection, fingerprint, model)

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None
    ) -> Found:
        """Return the chunks nearest to a vector."""
        with self._asking, self._reading() as connection, catalog.snapshot(connection):
            model = lacking.find_model(connection, fingerprint)
            if model is None or model[1] != len(query):
                return Found((), 0)
            held = self._current(connection, fingerprint, model)
            near = held.search(
                query,
                limit,
                lambda wanted: self._read(connection, model, wanted),
                documents,
            )
            return Found(tuple(near), len(near))

    def keep(self, connection: apsw.Connection, fingerprint: str) -> None:
        """Save what is quick to open where there is much of it, and forget old notes."""
        model = lacking.find_model(connection, fingerprint)
        dropped = vectors.count_dropped(connection, model[0]) if model else 0
        is_crowded = dropped > _MOST_DROPPED
        with self._asking:
            held = self._current(connection, fingerprint, model) if model else None
            if model and held and held.is_settled:
                # What is saved must be no older than the notes that tell what it lacks.
                self._save(_load(connection, *model) if is_crowded else held)
        if is_crowded:
            vectors.forget_dropped(connection)
        if model:
            lacking.note_whole(connection, model[0])

    def _save(self, held: NearestVectors) -> None:
        assert self._held is not None
        made_from = self._held[0]
        self._held = made_from, held
        if held.is_saved or not held.is_settled:
            return
        try:
            held.save(self._place.vectors, made_from)
        except OSError:
            pass  # it only saves time: whoever finds none makes it anew from the catalogue

    def _current(
        self, connection: apsw.Connection, fingerprint: str, model: tuple[int, int]
    ) -> NearestVectors:
        """Return the vectors of a model as the catalogue has them now."""
        made_from = [catalog.read_meta(connection, "id"), fingerprint, _LAYOUT_VERSION]
        held = self._held[1] if self._held and self._held[0] == made_from else None
        floor, stamp = vectors.read_floor(connection), vectors.read_stamp(connection)
        if held is None or held.is_worn or not floor <= held.stamp <= stamp:
            kept = NearestVectors.load(self._place.vectors, made_from, model[1])
            oldest = max(floor, held.settled_stamp + 1 if held else 0)
            held = kept if kept and oldest <= kept.stamp <= stamp else _load(connection, *model)
        if held.stamp != stamp:
            held.drop(vectors.list_dropped(connection, model[0], held.stamp))
            held.add(vectors.read_changes(connection, *model, held.stamp))
            held.stamp = stamp
        self._held = made_from, held
        return held


def _load(connection: apsw.Connection, model: int, dimensions: int) -> NearestVectors:
    """Read all vectors of a model: as they are if they are few, else quantised."""
    held = NearestVectors(dimensions, vectors.read_stamp(connection))
    counts = vectors.list_documents(connection, model, dimensions)
    if sum(counts.values()) <= nearest.EXACT_MOST:
        held.add(vectors.read_changes(connection, model, dimensions, -1))
    else:
        parts = vectors.read_parts(connection, model, dimensions, _BATCH)
        held.settle(_batches(parts), _draw(connection, model, dimensions, counts))
    return held


def _draw(
    connection: apsw.Connection, model: int, dimensions: int, counts: Mapping[int, int]
) -> Matrix:
    """Return a fair sample of the vectors."""
    documents = np.repeat(list(counts), list(counts.values()))
    ordinals = np.concatenate([np.arange(1, count + 1) for count in counts.values()])
    chosen = np.random.default_rng(0).permutation(len(documents))[:_SAMPLE]
    pairs = zip(documents[chosen].tolist(), ordinals[chosen].tolist(), strict=True)
    return vectors.read_rows(connection, model, dimensions, pairs)


def _batches(parts: Iterator[Part]) -> Iterator[list[Part]]:
    batch: list[Part] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += len(part.rows)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
