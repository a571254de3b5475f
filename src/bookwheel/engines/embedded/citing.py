"""Reading citations: links joined with the documents that have their keys for a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate, likeliest
from bookwheel.text.targets import Origin, confidence, is_inside

_LINK = "l.document, l.kind, l.target, l.text, l.context, l.line, l.key, l.other"
_HITS = """WITH wanted AS (SELECT key FROM names WHERE document = ?), hits AS (
  SELECT document, ordinal FROM links WHERE key IN (SELECT key FROM wanted)
  UNION SELECT document, ordinal FROM links
  WHERE other IS NOT NULL AND other IN (SELECT key FROM wanted))"""
_STEP = 500
"""So many values stand in one statement."""
_Row = tuple[Any, ...]


def read_outgoing(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what each of some documents cites, in order, at most so many and none twice."""
    found: dict[int, list[Citation]] = {each: [] for each in documents}
    for some in _steps(list(found)):
        rows = connection.execute(
            f"SELECT {_LINK} FROM links l WHERE l.document IN ({_marks(some)}) "
            "AND l.key IS NOT NULL ORDER BY l.document, l.ordinal",
            some,
        ).fetchall()
        for citation in _distinct(_resolve(connection, rows)):
            own = found[citation.source]
            if len(own) < limit:
                own.append(citation)
    return found


def read_incoming(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what cites each of some documents in the order of paths, none twice."""
    return {each: _read_incoming(connection, each, limit) for each in documents}


def _read_incoming(connection: apsw.Connection, document: int, limit: int) -> list[Citation]:
    found: list[Citation] = []
    size, offset = 2 * limit + 20, 0
    while True:
        rows = connection.execute(
            f"""{_HITS} SELECT {_LINK} FROM (
              SELECT h.document, h.ordinal, c.name, d.path FROM hits h
              CROSS JOIN documents d ON d.id = h.document
              CROSS JOIN collections c ON c.id = d.collection
              WHERE h.document <> ? ORDER BY c.name, d.path, h.ordinal LIMIT ? OFFSET ?) s
            CROSS JOIN links l ON l.document = s.document AND l.ordinal = s.ordinal
            ORDER BY s.name, s.path, s.ordinal""",
            (document, document, size, offset),
        ).fetchall()
        found += [each for each in _resolve(connection, rows) if each.target == document]
        distinct = list(_distinct(found))
        if len(distinct) >= limit or len(rows) < size:
            return distinct[:limit]
        offset += size
        size *= 4


def read_unresolved(
    connection: apsw.Connection, collections: Sequence[str]
) -> Iterator[tuple[int, Link]]:
    """Yield the links to something of the library's own that is not there, with their source."""
    rows = connection.execute(
        f"""SELECT {_LINK} FROM collections c
        CROSS JOIN documents d ON d.collection = c.id
        CROSS JOIN links l ON l.document = d.id
        WHERE c.name IN ({_marks(collections)}) AND l.key IS NOT NULL
        AND NOT EXISTS(SELECT 1 FROM names n WHERE n.key = l.key)
        AND (l.other IS NULL OR NOT EXISTS(SELECT 1 FROM names n WHERE n.key = l.other))
        ORDER BY c.name, d.path, l.ordinal""",
        tuple(collections),
    )
    for source, *link in rows:
        if is_inside(link[0], link[1]):
            yield source, Link(*link[:5])


def count_incoming(connection: apsw.Connection, limit: int) -> dict[int, int]:
    """Return the documents with the most links to them, and about how many each has."""
    rows = connection.execute(
        """SELECT n.document, count(DISTINCT l.document) AS sources FROM names n
        CROSS JOIN links l ON l.key = n.key WHERE l.document <> n.document
        GROUP BY n.document ORDER BY sources DESC, n.document LIMIT ?""",
        (limit,),
    )
    return {int(document): int(count) for document, count in rows}


def count_links(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many links cite anything, and how many of those lead to a document."""
    total = connection.execute("SELECT count(*) FROM links WHERE key IS NOT NULL").get
    met = connection.execute(
        """SELECT count(*) FROM links l WHERE l.key IS NOT NULL AND (
        EXISTS(SELECT 1 FROM names n WHERE n.key = l.key)
        OR EXISTS(SELECT 1 FROM names n WHERE n.key = l.other))"""
    ).get
    return int(total), int(met)


def find_named(connection: apsw.Connection, key: int) -> list[int]:
    """Return the documents that have a key for a name."""
    return [
        row[0] for row in connection.execute("SELECT document FROM names WHERE key = ?", (key,))
    ]


def _resolve(connection: apsw.Connection, rows: Sequence[_Row]) -> Iterator[Citation]:
    """Yield links with the documents that they mean, links of a document to itself left out."""
    named = _read_named(connection, {key for row in rows for key in row[6:8] if key is not None})
    origins = _Origins(connection)
    for row in rows:
        candidates = named.get(row[6]) or named.get(row[7])
        target = None
        if candidates:
            target = candidates[0].document
            if len(candidates) > 1:
                target = likeliest(row[1], row[2], origins.of(row[0]), candidates).document
        if target != row[0]:
            yield Citation(row[0], target, Link._make((*row[1:6], row[6:7])))


class _Origins:
    """Where documents lie, looked up when a choice depends on it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[int, Origin] = {}

    def of(self, document: int) -> Origin:
        if document not in self._known:
            row = self._connection.execute(
                "SELECT c.name, d.path, d.url FROM documents d JOIN collections c "
                "ON c.id = d.collection WHERE d.id = ?",
                (document,),
            ).fetchone()
            self._known[document] = Origin(*(row or ("", "", None)))
        return self._known[document]


def _read_named(connection: apsw.Connection, keys: Iterable[int]) -> dict[int, list[Candidate]]:
    named: dict[int, list[Candidate]] = {}
    for some in _steps(list(keys)):
        rows = connection.execute(
            f"""SELECT n.key, d.id, c.name, d.path FROM names n
            CROSS JOIN documents d ON d.id = n.document
            CROSS JOIN collections c ON c.id = d.collection
            WHERE n.key IN ({_marks(some)})""",
            some,
        )
        for key, *candidate in rows:
            named.setdefault(key, []).append(Candidate(*candidate))
    return named


def _distinct(citations: Iterable[Citation]) -> Iterable[Citation]:
    """Return the surest link of each document to each other one, or to each address."""
    found: dict[tuple[int, int | None, tuple[int, ...]], Citation] = {}
    for each in citations:
        what = (each.source, each.target, () if each.target else each.link.keys)
        other = found.setdefault(what, each)
        if confidence(each.link.kind) > confidence(other.link.kind):
            found[what] = each
    return found.values()


def _steps(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), _STEP):
        yield values[start : start + _STEP]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
