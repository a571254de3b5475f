"""The floor of search: SQLite FTS5 over the same chunks, one row each, asked for any word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import apsw

from bench.corpus import Row

_WORD = re.compile(r"[^\W_]+")


class Fts5:
    """A full-text table with titles above headings above text."""

    def __init__(self, path: Path, rows: Iterable[Row]) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.pragma("mmap_size", 1 << 30)
        self._connection.execute(
            "CREATE VIRTUAL TABLE found USING fts5(title, heading, body, "
            "tokenize = 'porter unicode61')"
        )
        with self._connection:
            self._connection.executemany(
                "INSERT INTO found VALUES(?,?,?)",
                ((row.title, row.heading, row.body) for row in rows),
            )
        # Its best case: one segment, and the weights known before the query so that it may sort
        # by rank while it reads.
        self._connection.execute("INSERT INTO found(found) VALUES('optimize')")
        self._connection.execute("INSERT INTO found(found, rank) VALUES('rank', 'bm25(4, 0.5, 1)')")

    def close(self) -> None:
        """Close the table."""
        self._connection.close()

    def search(self, question: str) -> list[str]:
        """Return the snippets of the ten best chunks that hold any of the words."""
        rows = self._connection.execute(
            "SELECT rowid, title, heading, snippet(found, 2, '[', ']', '...', 32) FROM found "
            "WHERE found MATCH ? ORDER BY rank LIMIT 10",
            (any_word(question),),
        )
        return [str(row[3]) for row in rows]

    def retrieve(self, question: str) -> list[int]:
        """Return the numbers of the ten best chunks that hold any of the words."""
        rows = self._connection.execute(
            "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT 10",
            (any_word(question),),
        )
        return [int(row[0]) for row in rows]


def any_word(question: str) -> str:
    """Return a question as FTS5 takes it: any of its words."""
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(question.lower())))
