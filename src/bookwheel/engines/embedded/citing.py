"""Reading citations: links joined with the documents that have their keys for a name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import apsw

from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate, likeliest
from bookwheel.text.targets import Origin, confidence, is_inside

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
_Row = tuple[Any, ...]
_Value = TypeVar("_Value")


def read_outgoing(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what each of some documents cites, in order, at most so many and none twice."""
    found: dict[int, list[Citation]] = {each: [] for each in documents}
    meanings = _Meanings(connection)
    enough = _enough(limit)
    for some in _steps(list(found)):
        _add_outgoing(connection, meanings, found, some, (0, enough))
        short = [each for each in some if len(found[each]) < limit]
        _add_outgoing(connection, meanings, found, short, (enough, _ALL))
    return {each: own[:limit] for each, own in found.items()}


def _add_outgoing(
    connection: apsw.Connection,
    meanings: _Meanings,
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
    found |= {each: list(_distinct(own)) for each, own in new.items()}


def read_incoming(
    connection: apsw.Connection, documents: Sequence[int], limit: int
) -> dict[int, list[Citation]]:
    """Return what cites each of some documents in the order of paths, none twice."""
    found: dict[int, list[Citation]] = {each: [] for each in documents}
    meanings = _Meanings(connection)
    waiting, size, offset = list(found), _enough(limit), 0
    while waiting:
        pages = _read_hits(connection, waiting, size, offset)
        meanings.learn([row for rows in pages.values() for row in rows])
        for each, rows in pages.items():
            new = (one for one in meanings.resolve(rows) if one.target == each)
            found[each] = list(_distinct([*found[each], *new]))
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
) -> dict[int, list[_Row]]:
    """Return so many of the links that may lead to each document, in the order of paths."""
    found: dict[int, list[_Row]] = {}
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
        WHERE c.name IN ({_marks(collections)}) AND l.key IS NOT NULL
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
    meanings = _Meanings(connection)
    cursor = connection.execute(
        f"""SELECT {_LINK} FROM collections c
        CROSS JOIN documents d ON d.collection = c.id
        CROSS JOIN links l ON l.document = d.id
        WHERE c.name IN ({_marks(collections)}) AND l.target LIKE '%#_%'
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


class _Meanings:
    """Tells which documents links mean; what was looked up once is remembered."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._named: dict[int, list[Candidate]] = {}
        self._origins: dict[int, Origin] = {}

    def learn(self, rows: Sequence[_Row]) -> None:
        """Look up at once all that the links of some rows may mean."""
        keys = {key for row in rows for key in row[6:8] if key is not None}
        self._learn_names(keys.difference(self._named))
        unsure = {row[0] for row in rows if len(self._candidates(row)) > 1}
        self._learn_origins(unsure.difference(self._origins))

    def _learn_names(self, keys: Iterable[int]) -> None:
        self._named |= {key: [] for key in keys}
        rows = self._connection.execute(
            """SELECT n.key, d.id, c.name, d.path FROM json_each(?) w
            CROSS JOIN names n ON n.key = w.value
            CROSS JOIN documents d ON d.id = n.document
            CROSS JOIN collections c ON c.id = d.collection""",
            (json.dumps([*keys]),),
        )
        for key, *candidate in rows:
            self._named[key].append(Candidate._make(candidate))

    def _learn_origins(self, documents: Iterable[int]) -> None:
        rows = self._connection.execute(
            """SELECT d.id, c.name, d.path, d.url, c.path FROM json_each(?) w
            CROSS JOIN documents d ON d.id = w.value
            CROSS JOIN collections c ON c.id = d.collection""",
            (json.dumps([*documents]),),
        )
        for document, name, path, url, place in rows:
            self._origins[document] = Origin(name, path, url, PurePath(place).name)

    def _candidates(self, row: _Row) -> Sequence[Candidate]:
        return self._named[row[6]] or self._named.get(row[7], ())

    def target_of(self, row: _Row) -> int | None:
        """Return the document that a link means."""
        candidates = self._candidates(row)
        if len(candidates) > 1:
            return likeliest(row[1], row[2], self._origins[row[0]], candidates).document
        return candidates[0].document if candidates else None

    def resolve(self, rows: Iterable[_Row]) -> Iterator[Citation]:
        """Yield links with the documents that they mean, those of a document to itself left out."""
        for row in rows:
            target = self.target_of(row)
            if target != row[0]:
                yield Citation(row[0], target, Link._make((*row[1:6], row[6:7])))


def _distinct(citations: Iterable[Citation]) -> Iterable[Citation]:
    """Return the surest link of each document to each other one, or to each address."""
    found: dict[tuple[int, int | None, tuple[int, ...]], Citation] = {}
    for each in citations:
        what = (each.source, each.target, () if each.target else each.link.keys)
        other = found.setdefault(what, each)
        if other is not each and confidence(each.link.kind) > confidence(other.link.kind):
            found[what] = each
    return found.values()


def _steps(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    for start in range(0, len(values), _STEP):
        yield values[start : start + _STEP]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
