"""Vectors in memory: exact while they are few, quantised with a small exact tail when many."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookwheel.engines.base import Matrix, Vector

EXACT_MOST = 20_000
"""Up to so many chunks every vector is compared; beyond, those that a quantised scan proposes."""
_BITS = 4
_PROPOSED = 200
"""So many are proposed for exact rescoring of a hundred: ten in a thousand are missed at 100, two
at 200. Of more, fewer beyond those that are asked for will do: what is missed is the last."""
_LARGEST_TAIL = 0.2
_FEW = 256
_NOTE = "made-from.json"

Fetch = Callable[[Sequence[int]], Mapping[int, Matrix]]
"""Returns the exact vectors of documents, one row per chunk; whoever asks needs them whole next."""


class Part(NamedTuple):
    """Vectors of a document's chunks from one on: of a long one not all at once."""

    document: int
    first: int
    rows: Matrix


_Near = list[tuple[int, int, float]]


class NearestVectors:
    """The vectors of one model, by document and chunk; not safe to change while it is asked."""

    def __init__(self, dimensions: int, stamp: int = 0) -> None:
        self.dimensions = dimensions
        self.stamp = stamp
        self._quantised: Any = None
        self.settled_stamp = -1
        self.is_saved = False
        """Whether the quantised part lies on disk as it is here."""
        self._settled = 0
        """Rows that the quantised index holds; those after them are the exact tail."""
        self._documents: NDArray[np.int64] = np.zeros(0, np.int64)
        self._ordinals: NDArray[np.int32] = np.zeros(0, np.int32)
        self._alive: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._exact: Matrix = np.zeros((0, dimensions), np.float32)

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def is_worn(self) -> bool:
        """Tell whether so much has changed that it should be made anew."""
        tail = len(self) - self._settled
        dead = len(self) - int(self._alive.sum())
        most = max(EXACT_MOST, int(_LARGEST_TAIL * len(self)))
        return dead > most or (tail > most if self._settled else tail > EXACT_MOST)

    @property
    def is_settled(self) -> bool:
        """Tell whether there are so many that most are quantised."""
        return self._quantised is not None

    def add(self, rows: Iterable[tuple[int, Matrix]]) -> None:
        """Add documents with a vector for each chunk; those known before are replaced."""
        parts = list(rows)
        if not parts:
            return
        self.drop([document for document, _ in parts])
        counts = [len(matrix) for _, matrix in parts]
        documents = np.repeat(np.array([key for key, _ in parts], np.int64), counts)
        ordinals = np.concatenate([np.arange(1, count + 1, dtype=np.int32) for count in counts])
        self._append(documents, ordinals)
        self._exact = np.concatenate([self._exact, *[matrix for _, matrix in parts]])
        self._let_go_of_dead()

    def _let_go_of_dead(self) -> None:
        """Drop exact rows of what was replaced, once there are more of them than of others."""
        alive = self._alive[self._settled :]
        living = int(alive.sum())
        if len(alive) - living <= max(_FEW, living):
            return
        kept = np.concatenate([np.ones(self._settled, np.bool_), alive])
        self._documents, self._ordinals = self._documents[kept], self._ordinals[kept]
        self._alive, self._exact = self._alive[kept], self._exact[alive]

    def drop(self, documents: Sequence[int]) -> None:
        """Forget documents."""
        if len(self) and documents:
            self._alive &= ~np.isin(self._documents, np.array(documents, np.int64))

    def _append(self, documents: NDArray[np.int64], ordinals: NDArray[np.int32]) -> None:
        self._documents = np.concatenate([self._documents, documents])
        self._ordinals = np.concatenate([self._ordinals, ordinals])
        self._alive = np.concatenate([self._alive, np.ones(len(documents), np.bool_)])

    def settle(self, batches: Iterable[Sequence[Part]], sample: Matrix) -> None:
        """Take everything into the quantised index; `sample` is a fair draw of the vectors."""
        from turbovec import TurboQuantIndex

        quantised = TurboQuantIndex(dim=_padded(self.dimensions), bit_width=_BITS)
        try:
            quantised.calibrate(_pad(sample))
        except ValueError:
            pass  # texts that are all alike: no spread to fit, and none is needed to tell them
        documents, ordinals = [], []
        for batch in batches:
            quantised.add(_pad(np.concatenate([part.rows for part in batch])))
            for key, first, rows in batch:
                documents.append(np.full(len(rows), key, np.int64))
                ordinals.append(np.arange(first, first + len(rows), dtype=np.int32))
        self._append(np.concatenate(documents), np.concatenate(ordinals))
        self._settled, self.settled_stamp = len(self), self.stamp
        self._quantised = quantised
        quantised.prepare()

    # Asking

    def search(
        self, query: Vector, limit: int, fetch: Fetch, documents: Sequence[int] | None = None
    ) -> _Near:
        """Return the nearest chunks, best first, among all or only some documents."""
        allowed = self._alive
        if documents is not None:
            among = np.isin(self._documents, np.fromiter(documents, np.int64, len(documents)))
            allowed = allowed & among
        near = self._search_settled(query, limit, fetch, allowed[: self._settled])
        near += self._search_exact(query, limit, allowed[self._settled :])
        near.sort(key=lambda each: (-each[2], each[0], each[1]))
        return near[:limit]

    def _search_exact(self, query: Vector, limit: int, allowed: NDArray[np.bool_]) -> _Near:
        rows = np.flatnonzero(allowed)
        if not len(rows):
            return []
        whole = len(rows) == len(self._exact)
        scores = (self._exact if whole else self._exact[rows]) @ query
        best = _top(scores, limit)
        places = rows[best] + self._settled
        return self._near(places, scores[best])

    def _search_settled(
        self, query: Vector, limit: int, fetch: Fetch, allowed: NDArray[np.bool_]
    ) -> _Near:
        if self._quantised is None or not allowed.any():
            return []
        wanted = limit + max(_PROPOSED // 2, limit // 10)
        mask = None if allowed.all() else np.ascontiguousarray(allowed)
        _, places = self._quantised.search(_pad(query.reshape(1, -1)), wanted, mask=mask)
        rows = places[0]
        documents, ordinals = self._documents[rows].tolist(), self._ordinals[rows].tolist()
        exact = fetch([*dict.fromkeys(documents)])
        if not exact:
            return []
        pairs = zip(documents, ordinals, strict=True)
        kept = [pair for pair in pairs if pair[0] in exact]
        # Only the rows that were proposed: all of their documents would be five times as many.
        scores = np.array([exact[document][ordinal - 1] for document, ordinal in kept]) @ query
        return [(*kept[i], float(scores[i])) for i in _top(scores, limit)]

    def _near(self, places: NDArray[np.int64], scores: NDArray[np.float32]) -> _Near:
        documents, ordinals = self._documents[places], self._ordinals[places]
        return [
            (int(document), int(ordinal), float(score))
            for document, ordinal, score in zip(documents, ordinals, scores, strict=True)
        ]

    # Keeping the quantised part on disk

    def save(self, folder: Path, made_from: list[object]) -> None:
        """Write the quantised part; what is there stays whole until the new one is."""
        folder.mkdir(parents=True, exist_ok=True)
        codes, rows = _names(folder, self.settled_stamp)
        self._quantised.write(str(codes), durable=False)
        with rows.open("wb") as file:
            every = (self._documents, self._ordinals, self._alive)
            np.savez(file, *[array[: self._settled] for array in every])
        note = _Note(made_from, self.settled_stamp, [_checksum(codes), _checksum(rows)])
        making = folder / "made-from.making"
        making.write_text(json.dumps(note._asdict()), encoding="utf-8")
        making.replace(folder / _NOTE)
        self.is_saved = True
        for old in folder.iterdir():
            if old not in (codes, rows) and old.name != _NOTE:
                old.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path, made_from: list[object], dimensions: int) -> NearestVectors | None:
        """Return what was saved, if it was made from the same and is whole; None otherwise."""
        note = _read_note(folder)
        if note is None or note.made_from != made_from:
            return None
        from turbovec import TurboQuantIndex

        codes, rows = _names(folder, note.stamp)
        found = cls(dimensions, note.stamp)
        try:
            if [_checksum(codes), _checksum(rows)] != note.checksums:
                return None
            found._quantised = TurboQuantIndex.load(str(codes))
            with np.load(rows) as arrays:
                found._documents, found._ordinals, found._alive = arrays.values()
        except (OSError, ValueError):
            return None  # half written, or taken away just now: it is made anew
        found._settled, found.settled_stamp = len(found._documents), note.stamp
        found.is_saved = True
        return found


class _Note(NamedTuple):
    """What was saved: what it was made from, as of which stamp, and how to know it is whole."""

    made_from: list[object]
    stamp: int
    checksums: list[int]


def _names(folder: Path, stamp: int) -> tuple[Path, Path]:
    return folder / f"{stamp}.tv", folder / f"{stamp}.npz"


def _read_note(folder: Path) -> _Note | None:
    try:
        return _Note(**json.loads((folder / _NOTE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _checksum(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            total = zlib.crc32(part, total)
    return total


def _padded(dimensions: int) -> int:
    """Return the dimensions with which vectors can be quantised: a multiple of eight."""
    return -(-dimensions // 8) * 8


def _pad(rows: Matrix) -> Matrix:
    """Fill rows up with zeros, which change no angle."""
    lacking = _padded(rows.shape[1]) - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, lacking))) if lacking else rows


def _top(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Return the places of the highest scores, best first."""
    if len(scores) <= limit:
        return np.argsort(-scores, kind="stable")
    best = np.argpartition(-scores, limit)[:limit]
    return best[np.argsort(-scores[best], kind="stable")]
