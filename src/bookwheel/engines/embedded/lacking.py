"""Which documents lack vectors of a model: looked for among what was written since none did.

It is asked before every answer, and loads neither vectors nor what reckons with them.
"""

from __future__ import annotations

import json

import apsw

from bookwheel.engines.embedded.catalog import decoding, read_generation, read_meta
from bookwheel.engines.embedded.writing import save_meta

_MOST_CHUNKS = 4_096
_MOST_WRITTEN = 1_000
"""Of more documents, those without vectors are found batch by batch in the order of keys."""
_WHOLE = "vectors_whole"
_LACKING = (
    "d.chunks > 0 AND NOT EXISTS(SELECT 1 FROM vectors v WHERE v.model = ? AND v.document = d.id)"
)


def find_model(connection: apsw.Connection, fingerprint: str) -> tuple[int, int] | None:
    """Return the number of a model and its dimensions, if any vector of it was ever written."""
    row = connection.execute(
        "SELECT id, dimensions FROM models WHERE fingerprint = ?", (fingerprint,)
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else None


def note_whole(connection: apsw.Connection, model: int) -> None:
    """Note that every document has vectors of a model, if that is so."""
    if not list_without(connection, model, 1, 0):
        save_meta(connection, _WHOLE, json.dumps((model, read_generation(connection))))


def forget_whole(connection: apsw.Connection, model: int) -> None:
    """Forget that every document had vectors of a model."""
    if _whole_since(connection, model) is not None:
        connection.execute("DELETE FROM meta WHERE key = ?", (_WHOLE,))


def _whole_since(connection: apsw.Connection, model: int) -> int | None:
    """Return the generation at which every document last had vectors of a model, if known.

    Vectors go only with what they were made of, which gets a new generation: whatever lacks them
    now came later.
    """
    value = read_meta(connection, _WHOLE)
    if value is None:
        return None
    with decoding():
        whose, generation, *_ = json.loads(value)
        return int(generation) if whose == model else None


def lacks_vectors(connection: apsw.Connection, fingerprint: str) -> bool:
    """Tell whether any document with text has no vectors of a model."""
    found = find_model(connection, fingerprint)
    model = found[0] if found else 0
    since = _whole_since(connection, model)
    lately, values = ("", [model]) if since is None else ("d.generation > ? AND ", [since, model])
    return bool(
        connection.execute(
            f"SELECT EXISTS(SELECT 1 FROM documents d WHERE {lately}{_LACKING})", values
        ).get
    )


def list_without(connection: apsw.Connection, model: int, limit: int, after: int) -> list[int]:
    """Return some documents that have no vectors of a model yet; fewer where they are long.

    Only keys above `after` are looked at: whoever goes through all need not see each many times.
    """
    since = _little_since(connection, model)
    source, values = "documents d WHERE d.id > ?", [after]
    if since is not None:  # said outright, since SQLite would go through all for their order
        source = (
            "documents d INDEXED BY documents_by_generation WHERE d.generation > ? AND d.id > ?"
        )
        values = [since, after]
    rows = connection.execute(
        f"SELECT d.id, d.chunks FROM {source} AND {_LACKING} ORDER BY d.id LIMIT ?",
        (*values, model, limit),
    )
    found: list[int] = []
    chunks = 0
    for key, count in rows:
        chunks += count
        if found and chunks > _MOST_CHUNKS:
            break
        found.append(int(key))
    return found


def _little_since(connection: apsw.Connection, model: int) -> int | None:
    """Return the same generation, if so little was written since that this is of use."""
    since = _whole_since(connection, model)
    if since is None:
        return None
    written = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM documents WHERE generation > ? LIMIT ?)",
        (since, _MOST_WRITTEN + 1),
    ).get
    return None if written > _MOST_WRITTEN else since
