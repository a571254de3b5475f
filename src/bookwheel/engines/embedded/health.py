"""Checks of the stores that are able to fail: pages, documents against their seals, entries."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import apsw

from bookwheel.engines.base import Match
from bookwheel.engines.embedded import catalog
from bookwheel.engines.embedded.document_rows import read_sealed, seal
from bookwheel.engines.embedded.lexical import WordIndex
from bookwheel.query import Filters


def check_catalog(connection: apsw.Connection) -> Iterator[str]:
    """Say what is wrong with the database itself and with what it holds."""
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield f"the database is damaged: {message}"
    broken = sum(not _is_sealed(connection, key) for key in _keys(connection))
    if broken:
        yield f"{broken} documents are not as they were written"
    yield from _check_vectors(connection)
    for table in ("texts", "sections", "chunks", "links", "names", "vectors"):
        strays = connection.execute(
            f"SELECT count(*) FROM {table} WHERE document NOT IN (SELECT id FROM documents)"
        ).get
        if strays:
            yield f"{strays} rows of {table} belong to no document"
    yield from _check_tallies(connection)


def _check_vectors(connection: apsw.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT checksum, vectors FROM vectors NOT INDEXED")
    broken = sum(not isinstance(blob, bytes) or crc32(blob) != check for check, blob in rows)
    if broken:
        yield f"the vectors of {broken} documents are not as they were written"


def _keys(connection: apsw.Connection) -> list[int]:
    return [key for (key,) in connection.execute("SELECT id FROM documents NOT INDEXED")]


def _is_sealed(connection: apsw.Connection, key: int) -> bool:
    try:
        row, parts, sealed = read_sealed(connection, key)
        has_text = parts.text is not None
        return seal(row, parts) == sealed and has_text == (row[8] == "ok")
    except (TypeError, ValueError):  # a row is lost, or a value is of another type than written
        return False


def _check_tallies(connection: apsw.Connection) -> Iterator[str]:
    counted = connection.execute(
        """SELECT collection, status, extension, language, count(*) FROM documents
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"""
    )
    kept = connection.execute(
        """SELECT collection, status, extension, language, documents FROM tallies
        WHERE documents <> 0 ORDER BY 1, 2, 3, 4"""
    )
    if list(counted) != list(kept):
        yield "the counts of documents are wrong"
    lost = connection.execute(
        "SELECT count(*) FROM documents WHERE collection NOT IN (SELECT id FROM collections)"
    ).get
    if lost:
        yield f"{lost} documents belong to no collection"


def check_words(connection: apsw.Connection, words: WordIndex) -> Iterator[str]:
    """Say where the word index does not hold what the catalogue has."""
    pages, passages = words.documents()
    chunks = dict(connection.execute("SELECT id, chunks FROM documents WHERE status = 'ok'"))
    if pages != dict.fromkeys(chunks, 1):
        yield f"the word index holds {len(pages)} pages, the catalogue {len(chunks)}"
    if passages != {key: count for key, count in chunks.items() if count}:
        yield (
            f"the word index holds {sum(passages.values())} passages, "
            f"the catalogue {sum(chunks.values())}"
        )
    for state in catalog.read_collections(connection):
        name = state.collection.name
        found = words.match_pages(Match((), filters=Filters((name,))), 1, count=True)
        if found.total != state.documents:
            yield f"the word index holds {found.total} pages of {name}, not {state.documents}"
