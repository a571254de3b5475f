"""How many documents there are: by status, type and language, within filters, and in all."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from bookwheel.engines.asking import askable
from bookwheel.engines.embedded.catalog import below, marks
from bookwheel.query import Filters

_COUNTED = ("status", "extension", "language")


def count_statuses(connection: apsw.Connection, filters: Filters) -> dict[str, int]:
    """Return how many files of each status lie in the scope of the filters."""
    return _count(connection, "status", filters, [])


def count_by(connection: apsw.Connection, column: str, filters: Filters) -> dict[str, int]:
    """Return how many documents in the scope of the filters there are of each kind."""
    return _count(connection, column, filters, ["d.status = 'ok'"])


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
        values += [bound for folder in filters.folders for bound in below(folder)]
    if filters.within:
        whole, parts = "c.name = ?", "c.name = ? AND d.path >= ? AND d.path < ?"
        where.append(_any_of([parts if folder else whole for _, folder in filters.within]))
        for name, folder in filters.within:
            values += [askable(name), *(below(folder) if folder else ())]
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


def count_skipped(connection: apsw.Connection, collection: str) -> dict[tuple[str, str], int]:
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
