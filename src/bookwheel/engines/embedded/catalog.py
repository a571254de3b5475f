"""Reading the catalogue: which collections and documents there are, and how new."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from bookwheel.engines.asking import askable
from bookwheel.engines.base import CollectionState
from bookwheel.model import Collection, Document, Known, Status

_DOCUMENT = """d.id, c.name, d.path, d.title, d.description, d.tags, d.extension, d.mime, d.size,
 d.modified_ns, d.author, d.date, d.source, d.language, d.words, d.characters, d.chunks, d.status,
 d.reason, d.generation"""
_TAGS, _STATUS = 5, 17
_STATUSES = {str(status): status for status in Status}


class decoding:  # noqa: N801 - used as a function; a generator would cost more than most rows
    """Take a row that makes no sense for what it is: damage that SQLite does not see."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (TypeError, ValueError, LookupError, AttributeError)):
            raise apsw.CorruptError("a row makes no sense") from error


def _document(row: Sequence[Any]) -> Document:
    fields = list(row)
    with decoding():
        tags = fields[_TAGS]
        fields[_TAGS] = tuple(json.loads(tags)) if tags != "[]" else ()
        fields[_STATUS] = _STATUSES[fields[_STATUS]]
    return Document._make(fields)


def marks(values: Sequence[object]) -> str:
    """Return the placeholders for a list of values."""
    return ",".join("?" * len(values))


def read_meta(connection: apsw.Connection, key: str) -> Any:
    """Return a value of the meta table, or None."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Let everything that is read meanwhile be of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # a page that cannot be read has ended it
            connection.execute("ROLLBACK")


def read_collections(connection: apsw.Connection) -> list[CollectionState]:
    """Return every collection with the number of its documents."""
    rows = connection.execute(
        """SELECT name, path, alias, description, version, source, language, include, exclude,
        access, redact, (SELECT coalesce(sum(documents), 0) FROM tallies t
         WHERE t.collection = c.id AND t.status = 'ok'),
        scanned_at, device FROM collections c ORDER BY name"""
    )
    with decoding():
        return [
            CollectionState(
                Collection(
                    *row[:7], *(tuple(json.loads(patterns)) for patterns in row[7:9]), *row[9:11]
                ),
                documents=row[11],
                scanned_at=row[12],
                device=row[13],
            )
            for row in rows
        ]


def read_document(connection: apsw.Connection, collection: str, path: str) -> Document | None:
    """Return one file's entry whatever its status."""
    row = connection.execute(
        f"SELECT {_DOCUMENT} FROM collections c JOIN documents d ON d.collection = c.id "
        "WHERE c.name = ? AND d.path = ?",
        (askable(collection), askable(path)),
    ).fetchone()
    return _document(row) if row else None


def read_documents(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, Document]:
    """Return documents by key; those that are gone are absent."""
    rows = connection.execute(
        f"SELECT {_DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection "
        f"WHERE d.id IN ({marks(keys)})",
        tuple(keys),
    )
    return {row[0]: _document(row) for row in rows}


def below(folder: str) -> tuple[str, str]:
    """Return the bounds between which the paths below a folder sort."""
    prefix = askable(folder).strip("/")
    return (prefix + "/", prefix + "0") if prefix else ("", "\U0010ffff")


def list_documents(
    connection: apsw.Connection, collection: str, folder: str, limit: int, offset: int
) -> tuple[list[Document], int]:
    """Return a page of a collection's documents in the order of their paths, and how many."""
    where = (
        "FROM collections c JOIN documents d ON d.collection = c.id WHERE c.name = ? "
        "AND d.status = 'ok' AND d.path >= ? AND d.path < ?"
    )
    bounds = (askable(collection), *below(folder))
    total = connection.execute(f"SELECT count(*) {where}", bounds).get
    rows = connection.execute(
        f"SELECT {_DOCUMENT} {where} ORDER BY d.path LIMIT ? OFFSET ?", (*bounds, limit, offset)
    )
    return [_document(row) for row in rows], total


def list_paths(connection: apsw.Connection, collection: str) -> list[str]:
    """Return the ids of a collection's documents in order."""
    rows = connection.execute(
        "SELECT d.path FROM collections c JOIN documents d ON d.collection = c.id "
        "WHERE c.name = ? AND d.status = 'ok' ORDER BY d.path",
        (collection,),
    )
    return [row[0] for row in rows]


def list_folders(connection: apsw.Connection, collection: str) -> list[str]:
    """Return the folders that hold documents, at any depth, in order."""
    paths = list_paths(connection, collection)
    parents = dict.fromkeys(path.rpartition("/")[0] for path in paths)
    every = {
        folder[:end]
        for folder in parents
        for end in (*(at for at, letter in enumerate(folder) if letter == "/"), len(folder))
    }
    return sorted(every - {""})


def list_ledger(connection: apsw.Connection, collection: str | None) -> list[Document]:
    """Return the files that are no documents, with their status and reason."""
    rows = connection.execute(
        f"SELECT {_DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection "
        "WHERE d.status <> 'ok' AND (? IS NULL OR c.name = ?) ORDER BY c.name, d.path",
        (collection, collection),
    )
    return [_document(row) for row in rows]


def has_vectors(connection: apsw.Connection) -> bool:
    """Tell whether any document has vectors, of whichever model."""
    return bool(connection.execute("SELECT EXISTS(SELECT 1 FROM vectors)").get)


def read_known(connection: apsw.Connection, collection: str, folder: str = "") -> dict[str, Known]:
    """Return what is remembered of every file of a collection, or of those below a folder."""
    rows = connection.execute(
        "SELECT d.path, d.id, d.size, d.modified_ns, d.racy, d.digest, d.status FROM collections c "
        "JOIN documents d ON d.collection = c.id WHERE c.name = ?"
        + (" AND d.path >= ? AND d.path < ?" if folder else ""),
        (collection, *(below(folder) if folder else ())),
    )
    with decoding():
        return {
            path: Known(key, size, modified, bool(racy), digest, _STATUSES[status])
            for path, key, size, modified, racy, digest, status in rows
        }


def read_generation(connection: apsw.Connection) -> int:
    """Return the number of the last change."""
    with decoding():
        return int(read_meta(connection, "generation"))


def changed_since(
    connection: apsw.Connection, generation: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the documents written after a generation, each by key and generation, in the order
    of these, and the keys of documents removed."""
    written = connection.execute(
        "SELECT id, generation FROM documents WHERE generation > ? ORDER BY generation",
        (generation,),
    )
    removed = connection.execute("SELECT document FROM removed WHERE generation > ?", (generation,))
    return list(written), [row[0] for row in removed]
