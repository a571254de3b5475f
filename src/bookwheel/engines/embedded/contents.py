"""Reading what stands in a document: text, sections, chunks, links, places, what is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from bookwheel.engines.base import Passage, Redactions
from bookwheel.engines.embedded.catalog import decoding, marks
from bookwheel.model import Chunk, Link, Place, Section, Span

TRAIL_SEPARATOR = "\x1f"


def read_text(connection: apsw.Connection, key: int) -> bytes:
    """Return the whole text of a document."""
    row = connection.execute("SELECT text FROM texts WHERE document = ?", (key,)).fetchone()
    with decoding():
        return b"".join(row or ())


def read_part(connection: apsw.Connection, key: int, start: int, end: int) -> bytes:
    """Return a part of a document's text, however long that is."""
    blob = connection.blob_open("main", "texts", "text", key, False)
    try:
        blob.seek(start)
        return blob.read(end - start)
    finally:
        blob.close()


def read_sections(connection: apsw.Connection, key: int) -> list[Section]:
    """Return the sections of a document in order."""
    rows = connection.execute(
        "SELECT level, heading, start, end, start_line, end_line FROM sections "
        "WHERE document = ? ORDER BY ordinal",
        (key,),
    )
    return [Section(*row) for row in rows]


def read_headings_above(
    connection: apsw.Connection, wanted: Sequence[tuple[str, str, int]]
) -> dict[tuple[str, str, int], str]:
    """Return the last heading at or before a line of a document, for each that has one."""
    if not wanted:
        return {}
    rows = connection.execute(
        f"""SELECT w.column1, w.column2, w.column3,
        (SELECT s.heading FROM sections s WHERE s.document = d.id AND s.start_line <= w.column3
         ORDER BY s.ordinal DESC LIMIT 1)
        FROM (VALUES {",".join(["(?,?,?)"] * len(wanted))}) w
        CROSS JOIN collections c ON c.name = w.column1
        CROSS JOIN documents d ON d.collection = c.id AND d.path = w.column2
        WHERE d.status = 'ok'""",
        [value for place in wanted for value in place],
    )
    return {(name, path, line): heading for name, path, line, heading in rows if heading}


def read_headings(
    connection: apsw.Connection, wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], list[str]]:
    """Return the headings of documents, given by collection and path, in no certain order."""
    found: dict[tuple[str, str], list[str]] = {}
    if wanted:
        rows = connection.execute(
            f"""SELECT c.name, d.path, s.heading
            FROM (VALUES {",".join(["(?,?)"] * len(wanted))}) w
            CROSS JOIN collections c ON c.name = w.column1
            CROSS JOIN documents d ON d.collection = c.id AND d.path = w.column2
            CROSS JOIN sections s ON s.document = d.id""",
            [name for pair in wanted for name in pair],
        )
        for collection, path, heading in rows:
            found.setdefault((collection, path), []).append(heading)
    return found


def read_links(connection: apsw.Connection, key: int) -> list[Link]:
    """Return the links that go out of a document in order."""
    rows = connection.execute(
        "SELECT kind, target, text, context, line, key, other FROM links WHERE document = ? "
        "ORDER BY ordinal",
        (key,),
    )
    return [
        Link._make((*row[:5], tuple(key for key in row[5:] if key is not None))) for row in rows
    ]


def read_places(connection: apsw.Connection, key: int) -> list[Place]:
    """Return where the pages, slides or sheets of a document begin, in order."""
    rows = connection.execute(
        "SELECT start, label, row FROM places WHERE document = ? ORDER BY ordinal", (key,)
    )
    return [Place(*row) for row in rows]


def read_redactions(connection: apsw.Connection, keys: Sequence[int]) -> dict[int, Redactions]:
    """Return what must not be seen of documents, and by which rules that was found."""
    rules = connection.execute(
        f"SELECT id, rules FROM documents WHERE id IN ({marks(keys)})", tuple(keys)
    )
    found: dict[int, list[Span]] = {}
    rows = connection.execute(
        f"SELECT document, start, end, kind FROM spans WHERE document IN ({marks(keys)}) "
        "ORDER BY document, ordinal",
        tuple(keys),
    )
    for key, *span in rows:
        found.setdefault(key, []).append(Span(*span))
    return {key: Redactions(version, tuple(found.get(key, ()))) for key, version in rules}


def _chunk(row: Sequence[Any]) -> Chunk:
    """Return a chunk; within `decoding`."""
    ordinal, start, end, start_line, end_line, trail, pointer = row
    headings = tuple(trail.split(TRAIL_SEPARATOR)) if trail else ()
    return Chunk(ordinal, start, end, start_line, end_line, headings, pointer)


def read_chunks(connection: apsw.Connection, key: int) -> list[Chunk]:
    """Return the chunks of a document in order."""
    rows = connection.execute(
        "SELECT ordinal, start, end, start_line, end_line, trail, pointer FROM chunks "
        "WHERE document = ? ORDER BY ordinal",
        (key,),
    )
    with decoding():
        return [_chunk(row) for row in rows]


def read_passages(
    connection: apsw.Connection, wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], Passage]:
    """Return chunks with their own text; a chunk that is gone is absent."""
    pairs = list(wanted)
    if not pairs:
        return {}
    rows = connection.execute(
        f"""SELECT k.document, substr(t.text, k.start + 1, k.end - k.start), k.ordinal, k.start,
        k.end, k.start_line, k.end_line, k.trail, k.pointer
        FROM (VALUES {",".join(["(?,?)"] * len(pairs))}) w
        CROSS JOIN chunks k ON k.document = w.column1 AND k.ordinal = w.column2
        CROSS JOIN texts t ON t.document = k.document""",
        [number for pair in pairs for number in pair],
    )
    found = {}
    with decoding():
        for document, text, *chunk in rows:
            passage = Passage(document, _chunk(chunk), text.decode("utf-8", "replace"))
            found[document, passage.chunk.ordinal] = passage
    return found
