"""Reading citations: links joined with the documents that have their keys for a name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import TypeVar

import apsw

from bookwheel.engines.citations import LinkRow, Meanings, distinct
from bookwheel.engines.embedded.catalog import marks
from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate
from bookwheel.text.targets import Origin, is_inside

_LINK = "l.document, l.kind, l.target, l.text, l.context, l.line, l.key, l.other"
_HITS = f"""WITH wanted AS (
  SELECT n.document AS target, n.key FROM json_each(?) w
  CROSS JOIN names n ON n.document = w.value),
hits AS (
  SELECT w.target, l.document, l.ordinal FROM wanted w CROSS JOIN links l ON l.key = w.key
  UNION
  SELECT w.target, l.document, l.ordinal FROM wanted w CROSS JOIN links l ON l.other = w.key),
ranked AS (
  SELECT h.*, row_number() OVER (PARTITION BY h.target ORDER BY c.name, d.path, h.ordinal) AS rank
  FROM hits h CROSS JOIN documents d ON d.id = h.document
  CROSS JOIN collections c ON c.id = d.collection WHERE h.document <> h.target)
SELECT r.target, {_LINK} FROM ranked r
CROSS JOIN links l ON l.document = r.document AND l.ordinal = r.ordinal
WHERE r.rank > ? AND r.rank <= ? ORDER BY r.target, r.rank"""
_STEP = 500
"""So many values stand in one statement."""
_ALL = 1 << 62
"""More than any document has links."""
_Value = TypeVar("_Value")


def read_outgoing(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what each of some documents cites, in order, at most so many and none twice."""
    found: dict[int, list[Citation]] = {each: [] for each in documents}
    meanings = _meanings(connection)
    enough = _enough(limit)
    for some in _steps(list(found)):
        _add_outgoing(connection, meanings, found, some, (0, enough))
        short = [each for each in some if len(found[each]) < limit]
        _add_outgoing(connection, meanings, found, short, (enough, _ALL))
    return {each: own[:limit] for each, own in found.items()}


def _add_outgoing(
    connection: apsw.Connection,
    meanings: Meanings,
    found: dict[int, list[Citation]],
    documents: Sequence[int],
    between: tuple[int, int],
) -> None:
    """Add what documents cite by those of their links whose numbers lie between two."""
    rows = connection.execute(
        f"SELECT {_LINK} FROM json_each(?) w CROSS JOIN links l ON l.document = w.value "
        "WHERE l.ordinal >= ? AND l.ordinal < ? AND l.key IS NOT NULL "
        "ORDER BY l.document, l.ordinal",
        (json.dumps(documents), *between),
    ).fetchall()
    meanings.learn(rows)
    new: dict[int, list[Citation]] = {}
    for citation in meanings.resolve(rows):
        new.setdefault(citation.source, found[citation.source]).append(citation)
    found |= {each: list(distinct(own)) for each, own in new.items()}


def read_incoming(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what cites each of some documents in the order of paths, none twice."""
    found: dict[int, list[Citation]] = {each: [] for each in documents}
    meanings = _meanings(connection)
    waiting, size, offset = list(found), _enough(limit), 0
    while waiting:
        pages = _read_hits(connection, waiting, size, offset)
        meanings.learn([row for rows in pages.values() for row in rows])
        for each, rows in pages.items():
            new = (one for one in meanings.resolve(rows) if one.target == each)
            found[each] = list(distinct([*found[each], *new]))
        waiting = [key for key, rows in pages.items() if len(rows) == size]
        waiting = [key for key in waiting if len(found[key]) < limit]
        offset += size
        size *= 4
    return {each: own[:limit] for each, own in found.items()}


def _enough(limit: int) -> int:
    """Return among how many links there are mostly so many that lead to different documents."""
    return limit + limit // 2 + 8


def _read_hits(
    connection: apsw.Connection, documents: Sequence[int], size: int, offset: int
) -> dict[int, list[LinkRow]]:
    """Return so many of the links that may lead to each document, in the order of paths."""
    found: dict[int, list[LinkRow]] = {}
    rows = connection.execute(_HITS, (json.dumps(documents), offset, offset + size))
    for target, *link in rows:
        found.setdefault(target, []).append(tuple(link))
    return found


def read_unresolved(
    connection: apsw.Connection, collections: Sequence[str]
) -> Iterator[tuple[int, Link]]:
    """Yield the links to something of the library's own that is not there, with their source."""
    rows = connection.execute(
        f"""SELECT {_LINK} FROM collections c
        CROSS JOIN documents d ON d.collection = c.id
        CROSS JOIN links l ON l.document = d.id
        WHERE c.name IN ({marks(collections)}) AND l.key IS NOT NULL
        AND NOT EXISTS(SELECT 1 FROM names n WHERE n.key = l.key)
        AND (l.other IS NULL OR NOT EXISTS(SELECT 1 FROM names n WHERE n.key = l.other))
        ORDER BY c.name, d.path, l.ordinal""",
        tuple(collections),
    )
    for source, *link in rows:
        if is_inside(link[0], link[1]):
            yield source, Link(*link[:5])


def read_anchored(connection: apsw.Connection, collections: Sequence[str]) -> Iterator[Citation]:
    """Yield the links to a place inside of a document, which may be their own."""
    meanings = _meanings(connection)
    cursor = connection.execute(
        f"""SELECT {_LINK} FROM collections c
        CROSS JOIN documents d ON d.collection = c.id
        CROSS JOIN links l ON l.document = d.id
        WHERE c.name IN ({marks(collections)}) AND l.target LIKE '%#_%'
        ORDER BY c.name, d.path, l.ordinal""",
        tuple(collections),
    )
    rows = [row for row in cursor if is_inside(row[1], row[2])]
    for some in _steps(rows):
        meanings.learn([row for row in some if row[6] is not None])
        for row in some:
            is_own = row[2].startswith("#")
            target = row[0] if is_own else meanings.target_of(row) if row[6] is not None else None
            if target is not None:
                yield Citation(row[0], target, Link(*row[1:6]))


def count_incoming(connection: apsw.Connection, limit: int) -> dict[int, int]:
    """Return the documents with the most links to them, and about how many each has."""
    rows = connection.execute(
        """SELECT n.document, count(DISTINCT l.document) AS sources FROM names n
        CROSS JOIN links l ON l.key = n.key WHERE l.document <> n.document
        GROUP BY n.document ORDER BY sources DESC, n.document LIMIT ?""",
        (limit,),
    )
    return {int(document): int(count) for document, count in rows}


def find_named(connection: apsw.Connection, key: int) -> list[int]:
    """Return the documents that have a key for a name."""
    return [
        row[0] for row in connection.execute("SELECT document FROM names WHERE key = ?", (key,))
    ]


def _meanings(connection: apsw.Connection) -> Meanings:
    return Meanings(partial(_read_names, connection), partial(_read_origins, connection))


def _read_names(
    connection: apsw.Connection, keys: Iterable[int]
) -> Iterator[tuple[int, Candidate]]:
    rows = connection.execute(
        """SELECT n.key, d.id, c.name, d.path FROM json_each(?) w
        CROSS JOIN names n ON n.key = w.value
        CROSS JOIN documents d ON d.id = n.document
        CROSS JOIN collections c ON c.id = d.collection""",
        (json.dumps([*keys]),),
    )
    for key, *candidate in rows:
        yield key, Candidate._make(candidate)


def _read_origins(
    connection: apsw.Connection, documents: Iterable[int]
) -> Iterator[tuple[int, Origin]]:
    rows = connection.execute(
        """SELECT d.id, c.name, d.path, d.url, c.path FROM json_each(?) w
        CROSS JOIN documents d ON d.id = w.value
        CROSS JOIN collections c ON c.id = d.collection""",
        (json.dumps([*documents]),),
    )
    for document, name, path, url, place in rows:
        yield document, Origin(name, path, url, PurePath(place).name)


def _steps(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    for start in range(0, len(values), _STEP):
        yield values[start : start + _STEP]
