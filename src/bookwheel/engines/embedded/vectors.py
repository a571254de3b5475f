"""Vectors in the catalogue: a row per document and model, its chunks' vectors one after another.

They are kept as half-precision numbers under the fingerprint of the model that made them. A stamp
that every change raises tells whoever holds vectors in memory what has changed since.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import apsw
import numpy as np

from bookwheel.engines.base import Matrix, Passage
from bookwheel.engines.embedded import catalog, contents
from bookwheel.engines.embedded.catalog import decoding, marks
from bookwheel.engines.embedded.lacking import find_model, forget_whole
from bookwheel.engines.embedded.nearest import Part
from bookwheel.engines.passages import Passages
from bookwheel.model import Chunk

_STEP = 500
_MOST_AT_ONCE = 2_000_000
"""Bytes of a document's text that are held while its chunks are gone through."""
_HALF_SHIFT = 13
_HALF_MASK = np.int32(0x8FFFE000 - (1 << 32))
_HALF_SCALE = np.float32(2.0**112)
"""How a half-precision number becomes a single one: sign, exponent and digits are moved to where
they stand in that, and the exponent then counts from where it counts there."""


def add_model(connection: apsw.Connection, fingerprint: str, dimensions: int) -> int:
    """Return the number of a model, making it known first."""
    connection.execute(
        "INSERT OR IGNORE INTO models(fingerprint, dimensions) VALUES(?,?)",
        (fingerprint, dimensions),
    )
    found = find_model(connection, fingerprint)
    assert found is not None
    return found[0]


def save_vectors(connection: apsw.Connection, model: int, rows: Mapping[int, Matrix]) -> None:
    """Write the vectors of documents; those that are gone meanwhile are left out."""
    stamp = connection.execute(
        "UPDATE meta SET value = value + 1 WHERE key = 'vectors' RETURNING value"
    ).get
    for key, matrix in rows.items():
        data = np.ascontiguousarray(matrix, np.float16).reshape(-1).view(np.uint8).data
        row = connection.execute(
            "INSERT INTO vectors(document, model, stamp, checksum, vectors) "
            "SELECT id, ?, ?, ?, ? FROM documents WHERE id = ? AND chunks = ? "
            "ON CONFLICT DO UPDATE SET stamp = excluded.stamp, checksum = excluded.checksum, "
            "vectors = excluded.vectors RETURNING id",
            (model, stamp, zlib.crc32(data), apsw.zeroblob(len(data)), key, len(matrix)),
        ).get
        if row is not None:
            with connection.blob_open("main", "vectors", "vectors", row, True) as blob:
                blob.write(data)


def drop_models(connection: apsw.Connection, besides: Sequence[str]) -> None:
    """Delete the vectors of all models but some."""
    rows = connection.execute(
        f"SELECT id FROM models WHERE fingerprint NOT IN ({marks(besides)}) "
        "AND EXISTS(SELECT 1 FROM vectors WHERE model = models.id)",
        tuple(besides),
    )
    for (model,) in list(rows):
        connection.execute("DELETE FROM vectors WHERE model = ?", (model,))
        forget_whole(connection, model)


def read_stamp(connection: apsw.Connection) -> int:
    """Return the number of the last change of vectors."""
    with decoding():
        return int(catalog.read_meta(connection, "vectors"))


def count_chunks(connection: apsw.Connection, model: int) -> tuple[int, int]:
    """Return how many chunks have vectors of a model, and how many there are."""
    row = connection.execute(
        "SELECT total(d.chunks * (v.document IS NOT NULL)), total(d.chunks) FROM documents d "
        "LEFT JOIN vectors v ON v.document = d.id AND v.model = ?",
        (model,),
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def read_texts(connection: apsw.Connection, key: int, count: int) -> Passages:
    """Return all chunks of a document, which has so many, with their texts."""
    chunks = contents.read_chunks(connection, key)
    if len(chunks) != count:
        raise apsw.CorruptError("a document has lost chunks")
    if chunks[-1].end > _MOST_AT_ONCE:
        return Passages(key, count, lambda: _read_by_and_by(connection, key, chunks))
    read = list(_with_texts(key, chunks, contents.read_text(connection, key), 0))
    return Passages(key, count, lambda: iter(read))


def _read_by_and_by(
    connection: apsw.Connection, key: int, chunks: Sequence[Chunk]
) -> Iterator[Passage]:
    """Yield the passages of a long document, of whose text a part is read at a time."""
    first = 0
    while first < len(chunks):
        start = chunks[first].start
        last = bisect_right(chunks, start + _MOST_AT_ONCE, first + 1, key=lambda each: each.end)
        end = max(chunk.end for chunk in chunks[first:last])
        data = contents.read_part(connection, key, start, end)
        yield from _with_texts(key, chunks[first:last], data, start)
        first = last


def _with_texts(key: int, chunks: Sequence[Chunk], data: bytes, begin: int) -> Iterator[Passage]:
    for chunk in chunks:
        text = data[chunk.start - begin : chunk.end - begin]
        yield Passage(key, chunk, text.decode("utf-8", "replace"))


def read_changes(
    connection: apsw.Connection, model: int, dimensions: int, since: int
) -> Iterator[tuple[int, Matrix]]:
    """Yield documents whose vectors were written after a stamp, in the order of their keys."""
    # Said outright, since SQLite would go through all of the model for their order.
    index = "INDEXED BY vectors_by_stamp" if since >= 0 else ""
    rows = connection.execute(
        f"SELECT document, checksum, vectors FROM vectors {index} WHERE model = ? AND stamp > ? "
        "ORDER BY document",
        (model, since),
    )
    for key, checksum, blob in rows:
        _check(blob, checksum)
        yield int(key), as_matrix(blob, dimensions)


def read_parts(
    connection: apsw.Connection, model: int, dimensions: int, most: int
) -> Iterator[Part]:
    """Yield all vectors of a model in the order of keys, of a document so many at a time."""
    rows = connection.execute(
        "SELECT id, document, checksum FROM vectors WHERE model = ? ORDER BY document", (model,)
    )
    for row, key, checksum in rows:
        total, first = 0, 1
        with connection.blob_open("main", "vectors", "vectors", row, False) as blob:
            while data := blob.read(most * 2 * dimensions):
                total = zlib.crc32(data, total)
                yield Part(int(key), first, as_matrix(data, dimensions))
                first += most
        if total != checksum:
            raise _damaged()


def list_dropped(connection: apsw.Connection, model: int, since: int) -> list[int]:
    """Return documents whose vectors of a model were dropped after a stamp."""
    rows = connection.execute(
        "SELECT document FROM dropped_vectors WHERE stamp > ? AND model = ?", (since, model)
    )
    return [int(key) for (key,) in rows]


def count_dropped(connection: apsw.Connection, model: int) -> int:
    """Return how many notes of dropped vectors of a model there are."""
    counted = "SELECT count(*) FROM dropped_vectors WHERE model = ?"
    return int(connection.execute(counted, (model,)).get)


def list_documents(connection: apsw.Connection, model: int, dimensions: int) -> dict[int, int]:
    """Return how many vectors of a model each document has."""
    rows = connection.execute(
        "SELECT document, length(vectors) FROM vectors WHERE model = ? ORDER BY document", (model,)
    )
    return {int(key): int(size) // (2 * dimensions) for key, size in rows}


def read_floor(connection: apsw.Connection) -> int:
    """Return the stamp since which all that was dropped is still noted."""
    return int(catalog.read_meta(connection, "vectors_floor") or 0)


def forget_dropped(connection: apsw.Connection) -> None:
    """Forget what was dropped; whoever holds older vectors must read them anew."""
    stamp = read_stamp(connection)
    connection.execute("DELETE FROM dropped_vectors")
    connection.execute("INSERT OR REPLACE INTO meta VALUES('vectors_floor', ?)", (stamp,))


def read_matrices(
    connection: apsw.Connection, model: int, dimensions: int, keys: Sequence[int]
) -> dict[int, Matrix]:
    """Return the vectors of some documents, one row per chunk."""
    found: dict[int, Matrix] = {}
    for first in range(0, len(keys), _STEP):
        some = keys[first : first + _STEP]
        rows = connection.execute(
            f"SELECT document, checksum, vectors FROM vectors WHERE model = ? "
            f"AND document IN ({marks(some)})",
            (model, *some),
        )
        found |= _split(list(rows), dimensions)
    return found


def _split(rows: list[tuple[int, int, bytes]], dimensions: int) -> dict[int, Matrix]:
    """Return the vectors of each row, decoded all at once, which is far quicker."""
    for _, checksum, blob in rows:
        _check(blob, checksum)
    whole = as_matrix(b"".join(blob for _, _, blob in rows), dimensions)
    found: dict[int, Matrix] = {}
    start = 0
    for key, _, blob in rows:
        end = start + len(blob) // (2 * dimensions)
        found[int(key)] = whole[start:end]
        start = end
    return found


def read_rows(
    connection: apsw.Connection, model: int, dimensions: int, wanted: Iterable[tuple[int, int]]
) -> Matrix:
    """Return single vectors by document and chunk number, in the order of these.

    Each is read where it lies: SQL would read all vectors of its document for it.
    """
    width = 2 * dimensions
    found: list[bytes] = []
    for key, pairs in groupby(sorted(wanted), itemgetter(0)):
        row = connection.execute(
            "SELECT id FROM vectors WHERE model = ? AND document = ?", (model, key)
        ).get
        with connection.blob_open("main", "vectors", "vectors", row, False) as blob:
            for _, ordinal in pairs:
                if ordinal * width > blob.length():
                    raise _damaged()
                blob.seek((ordinal - 1) * width)
                found.append(blob.read(width))
    return as_matrix(b"".join(found), dimensions)


def _check(blob: object, checksum: object) -> None:
    if not isinstance(blob, bytes) or zlib.crc32(blob) != checksum:
        raise _damaged()


def _damaged() -> apsw.CorruptError:
    return apsw.CorruptError("the vectors of a document are damaged")


def as_matrix(blob: bytes, dimensions: int) -> Matrix:
    """Return stored vectors as numbers to reckon with.

    Shifted into place as bits, and then to their size: twice as fast as numpy's own way where the
    processor's is not used. It holds for all numbers that are finite, as these are.
    """
    with decoding():
        bits = np.frombuffer(blob, np.int16).reshape(-1, dimensions).astype(np.int32)
    bits <<= _HALF_SHIFT
    bits &= _HALF_MASK
    numbers = bits.view(np.float32)
    numbers *= _HALF_SCALE
    return numbers
