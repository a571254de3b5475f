"""A document as the rows of the catalogue, and the seal by which a change of them is noticed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import apsw

from bookwheel.engines.embedded.contents import TRAIL_SEPARATOR
from bookwheel.model import Draft

PARTS = ("texts", "sections", "chunks", "links", "places", "spans", "names")
_STEP = 1000
COLUMNS = (
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

Rows = Callable[[], Iterable[tuple[Any, ...]]]
"""What gives rows anew each time: a long document has too many to be held beside it."""


class Parts(NamedTuple):
    """The rows that belong to one document, each without the document's key."""

    text: Callable[[], Iterable[bytes]] | None
    """What gives the text in pieces."""
    sections: Rows
    chunks: Rows
    links: Rows
    places: Rows
    spans: Rows
    names: Rows


def seal(row: Sequence[Any], parts: Parts) -> int:
    """Return a number that tells whether a document is still as it was written.

    What a rescan may note anew without writing the document is left out.
    """
    kept = [value for value, name in zip(row, COLUMNS, strict=False) if name not in _UNSEALED]
    total = 0
    for written in _write_out(kept, parts[1:]):
        total = zlib.crc32(written.encode("utf-8", "backslashreplace"), total)
    for piece in parts.text() if parts.text else ():
        total = zlib.crc32(piece, total)
    return total


def _write_out(kept: list[Any], parts: Iterable[Rows]) -> Iterator[str]:
    """Yield what `repr` makes of the row and the lists of a document, some rows at a time."""
    yield f"({kept!r}"
    for rows in parts:
        comma = ""
        yield ", ["
        for some in in_steps(rows()):
            yield comma + repr(some)[1:-1]
            comma = ", "
        yield "]"
    yield ")"


def in_steps(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in lists that are not too long."""
    left = iter(rows)
    while some := list(islice(left, _STEP)):
        yield some


def document_row(collection: int, draft: Draft, generation: int) -> tuple[Any, ...]:
    """Return a file as its row, the seal missing."""
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


def part_rows(draft: Draft) -> Parts:
    """Return the rows of all that belongs to a file."""
    parsed = draft.parsed
    if parsed is None:
        return Parts(None, *(_no_rows,) * 6)
    whole = () if draft.long else (parsed.text.encode(),)
    return Parts(
        draft.long.pieces if draft.long else lambda: whole,
        lambda: (
            (s.level, s.heading, s.start, s.end, s.start_line, s.end_line) for s in parsed.sections
        ),
        lambda: (
            (c.start, c.end, c.start_line, c.end_line, TRAIL_SEPARATOR.join(c.trail), c.pointer)
            for c in draft.chunks
        ),
        lambda: ((*link[:5], *(*link.keys, None, None)[:2]) for link in parsed.links),
        lambda: ((place.start, place.label, place.row) for place in parsed.places),
        lambda: map(tuple, draft.spans),
        lambda: ((name,) for name in draft.names),
    )


def _no_rows() -> Iterable[tuple[Any, ...]]:
    return ()


def read_sealed(connection: apsw.Connection, key: int) -> tuple[tuple[Any, ...], Parts, int]:
    """Return the row of a document, what belongs to it, and the seal it was written with."""
    columns = ", ".join(COLUMNS)
    *row, sealed = connection.execute(f"SELECT {columns} FROM documents WHERE id = ?", (key,)).get
    text = connection.execute("SELECT text FROM texts WHERE document = ?", (key,)).get
    pieces = None if text is None else lambda: (text,)
    parts = (partial(_saved_rows, connection, table, key) for table in PARTS[1:])
    return tuple(row), Parts(pieces, *parts), sealed


def _saved_rows(connection: apsw.Connection, table: str, key: int) -> Iterator[tuple[Any, ...]]:
    rows = connection.execute(f"SELECT * FROM {table} WHERE document = ? ORDER BY ordinal", (key,))
    return (row[2:] for row in rows)
