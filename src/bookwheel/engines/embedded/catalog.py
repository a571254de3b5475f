"""Reading the catalogue: which collections and documents there are, how many, and how new."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from bookwheel.engines.asking import askable
from bookwheel.engines.base import CollectionState
from bookwheel.model import Collection, Document, Known, Status
from bookwheel.query import Filters

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


def _below(folder: str) -> tuple[str, str]:
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
    bounds = (askable(collection), *_below(folder))
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


def count_statuses(connection: apsw.Connection, filters: Filters) -> dict[str, int]:
    """Return how many files of each status lie in the scope of the filters."""
    return _count(connection, "status", filters, [])


def count_by(connection: apsw.Connection, column: str, filters: Filters) -> dict[str, int]:
    """Return how many documents in the scope of the filters there are of each kind."""
    return _count(connection, column, filters, ["d.status = 'ok'"])


_COUNTED = ("status", "extension", "language")


def _count(
    connection: apsw.Connection, column: str, filters: Filters, where: list[str]
) -> dict[str, int]:
    assert column in _COUNTED
    by_path = filters.folders or any(folder for _, folder in filters.within)
    table, number = ("documents d", "count(*)") if by_path else ("tallies d", "sum(documents)")
    conditions, values = _conditions(filters)
    rows = connection.execute(
        f"SELECT d.{column}, {number} FROM {table} JOIN collections c ON c.id = d.collection "
        f"WHERE {' AND '.join(['1', *where, *conditions])} GROUP BY d.{column}",
        tuple(values),
    )
    return {str(name): int(count) for name, count in rows if count}


def _conditions(filters: Filters) -> tuple[list[str], list[str]]:
    """Return the filters by collection, type and place as SQL, and its values."""
    where: list[str] = []
    values: list[str] = []
    if filters.collections:
        where.append(f"c.name IN ({marks(filters.collections)})")
        values += map(askable, filters.collections)
    if filters.extensions:
        where.append(f"d.extension IN ({marks(filters.extensions)})")
        values += map(askable, filters.extensions)
    if filters.folders:
        where.append(_any_of(["d.path >= ? AND d.path < ?"] * len(filters.folders)))
        values += [bound for folder in filters.folders for bound in _below(folder)]
    if filters.within:
        whole, parts = "c.name = ?", "c.name = ? AND d.path >= ? AND d.path < ?"
        where.append(_any_of([parts if folder else whole for _, folder in filters.within]))
        for name, folder in filters.within:
            values += [askable(name), *(_below(folder) if folder else ())]
    return where, values


def _any_of(conditions: Sequence[str]) -> str:
    return "(" + " OR ".join(conditions) + ")"


def count_kinds(connection: apsw.Connection, collection: str) -> dict[str, int]:
    """Return how many documents of each extension a collection has, most first."""
    rows = connection.execute(
        "SELECT t.extension, sum(t.documents) AS n FROM tallies t JOIN collections c "
        "ON c.id = t.collection WHERE c.name = ? AND t.status = 'ok' "
        "GROUP BY t.extension HAVING n > 0 ORDER BY n DESC, t.extension",
        (askable(collection),),
    )
    return {str(name): int(count) for name, count in rows}


def count_totals(connection: apsw.Connection) -> tuple[int, int, int]:
    """Return how many documents there are, files that gave none, and chunks."""
    row = connection.execute(
        "SELECT count(*) FILTER (WHERE status = 'ok'), count(*) FILTER (WHERE status <> 'ok'), "
        "coalesce(sum(chunks), 0) FROM documents"
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1]), int(row[2])


def list_skipped(connection: apsw.Connection, collection: str) -> dict[tuple[str, str], int]:
    """Return how many files the last scan passed over, by reason and extension."""
    rows = connection.execute(
        "SELECT s.reason, s.extension, s.count FROM skipped s JOIN collections c "
        "ON c.id = s.collection WHERE c.name = ? ORDER BY s.count DESC",
        (collection,),
    )
    return {(reason, extension): count for reason, extension, count in rows}


def count_languages(connection: apsw.Connection) -> dict[str, int]:
    """Return how many documents there are in each language."""
    rows = connection.execute(
        "SELECT language, sum(documents) FROM tallies WHERE status = 'ok' GROUP BY language"
    )
    return {str(name): int(count) for name, count in rows}


def has_vectors(connection: apsw.Connection) -> bool:
    """Tell whether any document has vectors, of whichever model."""
    return bool(connection.execute("SELECT EXISTS(SELECT 1 FROM vectors)").get)


WHOLE = "vectors_whole"


def read_whole(connection: apsw.Connection) -> tuple[int, int, int] | None:
    """Return when every document last had vectors of one model: model, generation and stamp.

    Vectors go only with what they were made of, which gets a new generation, or are replaced by
    those of another model, which get a new stamp: whatever lacks them now came later.
    """
    value = read_meta(connection, WHOLE)
    with decoding():
        model, generation, stamp = json.loads(value) if value is not None else (0, 0, 0)
        return (int(model), int(generation), int(stamp)) if value is not None else None


def lacks_vectors(connection: apsw.Connection) -> bool:
    """Tell whether any document with text has no vectors at all."""
    whole = read_whole(connection)
    lately, values = ("d.generation > ? AND ", (whole[1],)) if whole else ("", ())
    return bool(
        connection.execute(
            f"SELECT EXISTS(SELECT 1 FROM documents d WHERE {lately}d.chunks > 0 "
            "AND NOT EXISTS(SELECT 1 FROM vectors v WHERE v.document = d.id))",
            values,
        ).get
    )


def read_known(connection: apsw.Connection, collection: str, folder: str = "") -> dict[str, Known]:
    """Return what is remembered of every file of a collection, or of those below a folder."""
    rows = connection.execute(
        "SELECT d.path, d.id, d.size, d.modified_ns, d.racy, d.digest, d.status FROM collections c "
        "JOIN documents d ON d.collection = c.id WHERE c.name = ?"
        + (" AND d.path >= ? AND d.path < ?" if folder else ""),
        (collection, *(_below(folder) if folder else ())),
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
