"""Writing the catalogue: every change is one transaction and raises the generation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from bookwheel.engines.embedded.contents import TRAIL_SEPARATOR
from bookwheel.model import Collection, Draft, FileState

_PARTS = ("texts", "sections", "chunks", "links", "places", "spans", "names")


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
    parts = _part_rows(draft)
    row = _document_row(collection, draft, generation)
    row = (*row, seal(row, parts))
    if before:
        key = int(before[0])
        _drop_parts(connection, key)
        connection.execute(
            f"UPDATE documents SET {', '.join(name + ' = ?' for name in _COLUMNS)} WHERE id = ?",
            (*row, key),
        )
    else:
        connection.execute(
            f"INSERT INTO documents({', '.join(_COLUMNS)}) VALUES({','.join('?' * len(_COLUMNS))})",
            row,
        )
        key = connection.last_insert_rowid()
    _save_parts(connection, key, parts)
    return key, bool(before)


class Parts(NamedTuple):
    """The rows that belong to one document, each without the document's key."""

    text: Callable[[], Iterable[bytes]] | None
    """What gives the text in pieces."""
    sections: list[tuple[Any, ...]]
    chunks: list[tuple[Any, ...]]
    links: list[tuple[Any, ...]]
    places: list[tuple[Any, ...]]
    spans: list[tuple[Any, ...]]
    names: list[tuple[Any, ...]]


def seal(row: Sequence[Any], parts: Parts) -> int:
    """Return a number that tells whether a document is still as it was written.

    What a rescan may note anew without writing the document is left out.
    """
    kept = [value for value, name in zip(row, _COLUMNS, strict=False) if name not in _UNSEALED]
    rows = repr((kept, *parts[1:]))
    total = zlib.crc32(rows.encode("utf-8", "backslashreplace"))
    for piece in parts.text() if parts.text else ():
        total = zlib.crc32(piece, total)
    return total


_COLUMNS = (
    "collection",
    "path",
    "extension",
    "mime",
    "size",
    "modified_ns",
    "racy",
    "digest",
    "status",
    "reason",
    "title",
    "description",
    "tags",
    "author",
    "date",
    "source",
    "url",
    "language",
    "words",
    "characters",
    "chunks",
    "rules",
    "generation",
    "seal",
)
_UNSEALED = frozenset(("size", "modified_ns", "racy"))


def _document_row(collection: int, draft: Draft, generation: int) -> tuple[Any, ...]:
    parsed = draft.parsed
    return (
        collection,
        draft.path,
        draft.extension,
        draft.mime,
        draft.state.size,
        draft.state.modified_ns,
        draft.state.racy,
        draft.state.digest,
        str(draft.status),
        draft.reason,
        parsed.title if parsed else "",
        parsed.description if parsed else "",
        json.dumps(parsed.tags, ensure_ascii=False) if parsed and parsed.tags else "[]",
        parsed.author or "" if parsed else "",
        draft.date,
        draft.source,
        parsed.url if parsed else None,
        draft.language,
        draft.words,
        draft.characters,
        len(draft.chunks) if parsed else 0,
        draft.rules,
        generation,
    )


def _part_rows(draft: Draft) -> Parts:
    parsed = draft.parsed
    if parsed is None:
        return Parts(None, [], [], [], [], [], [])
    whole = () if draft.rest else (parsed.text.encode(),)
    return Parts(
        draft.rest.texts if draft.rest else lambda: whole,
        [(s.level, s.heading, s.start, s.end, s.start_line, s.end_line) for s in parsed.sections],
        [
            (c.start, c.end, c.start_line, c.end_line, TRAIL_SEPARATOR.join(c.trail), c.pointer)
            for c in draft.chunks
        ],
        [(*link[:5], *(*link.keys, None, None)[:2]) for link in parsed.links],
        [(place.start, place.label, place.row) for place in parsed.places],
        [tuple(span) for span in draft.spans],
        [(name,) for name in draft.names],
    )


def _save_parts(connection: apsw.Connection, key: int, parts: Parts) -> None:
    if parts.text is not None:
        _save_text(connection, key, parts.text)
    for table, rows in zip(_PARTS[1:], parts[1:], strict=True):
        if rows:
            marks = ",".join("?" * (len(rows[0]) + 2))
            connection.executemany(
                f"INSERT INTO {table} VALUES({marks})",
                ((key, number, *row) for number, row in enumerate(rows, start=1)),
            )


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


def read_sealed(connection: apsw.Connection, key: int) -> tuple[tuple[Any, ...], Parts, int]:
    """Return the row of a document, what belongs to it, and the seal it was written with."""
    columns = ", ".join(_COLUMNS)
    *row, sealed = connection.execute(f"SELECT {columns} FROM documents WHERE id = ?", (key,)).get
    text = connection.execute("SELECT text FROM texts WHERE document = ?", (key,)).get
    pieces = None if text is None else lambda: (text,)
    parts = [
        [
            row[2:]
            for row in connection.execute(
                f"SELECT * FROM {table} WHERE document = ? ORDER BY ordinal", (key,)
            )
        ]
        for table in _PARTS[1:]
    ]
    return tuple(row), Parts(pieces, *parts), sealed


def _drop_parts(connection: apsw.Connection, key: int) -> None:
    for table in (*_PARTS, "vectors"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (key,))


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
