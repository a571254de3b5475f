"""Writing the catalogue: every change is one transaction and raises the generation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

import apsw

from bookwheel.engines.embedded.catalog import marks
from bookwheel.engines.embedded.document_rows import (
    COLUMNS,
    PARTS,
    Parts,
    document_row,
    in_steps,
    part_rows,
    seal,
)
from bookwheel.model import Collection, Draft, FileState


def next_generation(connection: apsw.Connection) -> int:
    """Raise the generation within the present transaction and return it."""
    return int(
        connection.execute(
            "UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value"
        ).get
    )


def save_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Set a value of the meta table."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))


def save_collections(connection: apsw.Connection, collections: Iterable[Collection]) -> None:
    """Add collections or bring what is known of them up to date."""
    for each in collections:
        connection.execute(
            """INSERT INTO collections(name, path, alias, description, version, source, language,
            include, exclude, access, redact) VALUES(?,?,?,?,?,?,?,?,?,?,?)
            ON CONFLICT(name) DO UPDATE SET path = excluded.path, alias = excluded.alias,
            description = excluded.description,
            version = excluded.version, source = excluded.source, language = excluded.language,
            include = excluded.include, exclude = excluded.exclude,
            access = excluded.access, redact = excluded.redact""",
            (
                each.name,
                each.path,
                each.alias,
                each.description,
                each.version,
                each.source,
                each.language,
                json.dumps(each.include),
                json.dumps(each.exclude),
                each.access,
                each.redact,
            ),
        )


def collection_ids(connection: apsw.Connection) -> dict[str, int]:
    """Return the numbers of the collections by name."""
    rows = connection.execute("SELECT name, id FROM collections")
    return {str(name): int(key) for name, key in rows}


def save_draft(
    connection: apsw.Connection, collection: int, draft: Draft, generation: int
) -> tuple[int, bool]:
    """Write one file whole; return its key and whether it was there before."""
    before = connection.execute(
        "SELECT id FROM documents WHERE collection = ? AND path = ?", (collection, draft.path)
    ).fetchone()
    parts = part_rows(draft)
    row = document_row(collection, draft, generation)
    row = (*row, seal(row, parts))
    if before:
        key = int(before[0])
        _drop_parts(connection, key)
        connection.execute(
            f"UPDATE documents SET {', '.join(name + ' = ?' for name in COLUMNS)} WHERE id = ?",
            (*row, key),
        )
    else:
        connection.execute(
            f"INSERT INTO documents({', '.join(COLUMNS)}) VALUES({marks(COLUMNS)})",
            row,
        )
        key = connection.last_insert_rowid()
    _save_parts(connection, key, parts)
    return key, bool(before)


def _save_parts(connection: apsw.Connection, key: int, parts: Parts) -> None:
    if parts.text is not None:
        _save_text(connection, key, parts.text)
    for table, rows in zip(PARTS[1:], parts[1:], strict=True):
        numbered = ((key, number, *row) for number, row in enumerate(rows(), start=1))
        for some in in_steps(numbered):
            connection.executemany(f"INSERT INTO {table} VALUES({marks(some[0])})", some)


def _save_text(connection: apsw.Connection, key: int, text: Callable[[], Iterable[bytes]]) -> None:
    """Write a text; one in several pieces is never held whole."""
    sizes = [len(piece) for piece in text()]
    if len(sizes) == 1:
        connection.execute("INSERT INTO texts VALUES(?,?)", (key, *text()))
        return
    connection.execute("INSERT INTO texts VALUES(?,?)", (key, apsw.zeroblob(sum(sizes))))
    with connection.blob_open("main", "texts", "text", key, True) as blob:
        for piece in text():
            blob.write(piece)


def _drop_parts(connection: apsw.Connection, key: int) -> None:
    for table in PARTS:
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (key,))
    connection.execute(
        "DELETE FROM vectors WHERE document = ? AND model IN (SELECT id FROM models)", (key,)
    )


def save_states(
    connection: apsw.Connection, collection: int, states: Mapping[str, FileState]
) -> None:
    """Note how unchanged files look now, so that the next scan need not read them."""
    connection.executemany(
        "UPDATE documents SET size = ?, modified_ns = ?, racy = ? "
        "WHERE collection = ? AND path = ?",
        [(s.size, s.modified_ns, s.racy, collection, path) for path, s in states.items()],
    )


def remove_documents(
    connection: apsw.Connection, collection: int, paths: Sequence[str], generation: int
) -> list[int]:
    """Remove files from the catalogue; return the keys of those that were there."""
    keys = []
    for path in paths:
        row = connection.execute(
            "DELETE FROM documents WHERE collection = ? AND path = ? RETURNING id",
            (collection, path),
        ).fetchone()
        if row:
            _drop_parts(connection, row[0])
            connection.execute("INSERT INTO removed VALUES(?,?)", (row[0], generation))
            keys.append(int(row[0]))
    return keys


def save_scan(
    connection: apsw.Connection,
    collection: int,
    *,
    device: int,
    skipped: Mapping[tuple[str, str], int],
    at: float,
) -> None:
    """Note that a collection was looked through, and what was passed over."""
    connection.execute(
        "UPDATE collections SET device = ?, scanned_at = ? WHERE id = ?", (device, at, collection)
    )
    connection.execute("DELETE FROM skipped WHERE collection = ?", (collection,))
    connection.executemany(
        "INSERT INTO skipped VALUES(?,?,?,?)",
        [(collection, reason, extension, n) for (reason, extension), n in skipped.items()],
    )


def forget_collection(connection: apsw.Connection, collection: int) -> None:
    """Remove a collection that has no files left."""
    connection.execute("DELETE FROM skipped WHERE collection = ?", (collection,))
    connection.execute("DELETE FROM collections WHERE id = ?", (collection,))


def drop_tombstones(connection: apsw.Connection, generation: int) -> None:
    """Forget removals that the word index has seen."""
    connection.execute("DELETE FROM removed WHERE generation <= ?", (generation,))
