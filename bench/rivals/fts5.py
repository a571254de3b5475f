"""The floor: a table of SQLite FTS5 with a row for each page, as anyone could write it.

`python -m bench.rivals.fts5 DOCS FILE` makes the table.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import apsw

from bench.clocks import REPOSITORY
from bench.rivals.askers import InsideAsker
from bench.rivals.base import INSIDE, LIMIT, Asker, Command, Rival
from bench.rivals.questions import read_pages

_WORD = re.compile(r"[^\W_]+")
_MAKE = (
    "CREATE VIRTUAL TABLE pages USING fts5(path UNINDEXED, title, body, "
    "tokenize = 'porter unicode61')"
)
_FIND = "SELECT path FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 4, 1) LIMIT ?"


class Fts5(Rival):
    """Part of SQLite, so there is nothing to install."""

    name = "SQLite FTS5"
    asked = "all words; where that finds nothing any of them"
    where = "nothing to do, it is a part of SQLite"
    ways = (INSIDE,)

    def install(self) -> None:
        """It is there."""

    def version(self) -> str:
        return apsw.sqlitelibversion()

    def installed(self) -> int:
        return 0

    def index(self) -> Command:
        made = [str(self.docs), str(self.place / "pages.db")]
        return Command(
            [sys.executable, "-m", "bench.rivals.fts5", *made], {"PYTHONPATH": str(REPOSITORY)}
        )

    def rescan(self) -> None:
        return None

    def asking(self, way: str) -> Asker:
        connection = apsw.Connection(str(self.place / "pages.db"))

        def search(query: str) -> list[str]:
            for words in (all_words(query), any_word(query)):
                found = connection.execute(_FIND, (words, LIMIT)).fetchall() if words else []
                if found:
                    return [str(row[0]) for row in found]
            return []

        return InsideAsker(search, connection.close)


def all_words(query: str) -> str:
    """Return a query for pages with every word."""
    return " ".join(f'"{word}"' for word in _WORD.findall(query))


def any_word(query: str) -> str:
    """Return a query for pages with any of the words."""
    return " OR ".join(f'"{word}"' for word in _WORD.findall(query))


def make(docs: Path, file: Path) -> None:
    """Read the Markdown files of a folder into a table."""
    connection = apsw.Connection(str(file))
    connection.execute(_MAKE)
    with connection:
        rows = ((page.document, page.title, page.text) for page in read_pages(docs))
        connection.executemany("INSERT INTO pages VALUES(?,?,?)", rows)
    connection.execute("INSERT INTO pages(pages) VALUES('optimize')")
    connection.close()


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
