"""The floor of an update: changed files replaced by the bare libraries in stores of the same size.

`python -m bench.floors.update make INDEX STORE` fills plain stores with what an index holds, and
`... write STORE LIST` replaces the files of a list and prints the CPU seconds that it took.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import apsw
import tantivy

from bench.floors.indexing import TABLES, add_words, open_words, prepare, read_list, store
from bookwheel.engines.place import DATABASE

_COPIED = """
INSERT INTO documents SELECT d.id, c.name, d.path, d.extension, d.mime, d.size, d.title,
  d.description, d.tags, d.date, d.url, d.language, d.characters, d.chunks
  FROM ours.documents d JOIN ours.collections c ON c.id = d.collection WHERE d.status = 'ok';
INSERT INTO texts SELECT document, text FROM ours.texts;
INSERT INTO sections SELECT * FROM ours.sections;
INSERT INTO chunks SELECT * FROM ours.chunks;
INSERT INTO links SELECT document, ordinal, kind, target, text, context, line FROM ours.links;
"""
_PARTS = ("texts", "sections", "chunks", "links")


def make(index: Path, place: Path) -> None:
    """Fill the stores; the word index is copied as it is."""
    place.mkdir(parents=True)
    connection = _connect(place)
    connection.execute(TABLES)
    connection.execute("ATTACH ? AS ours", (str(index / DATABASE),))
    connection.execute("BEGIN")
    connection.execute(_COPIED)
    connection.execute("COMMIT")
    connection.pragma("wal_checkpoint", "truncate")
    connection.close()
    words = Path(f"{index / DATABASE}.words")
    for kind in ("pages", "passages"):
        shutil.copytree(words / kind, place / kind, ignore=shutil.ignore_patterns("*.lock"))


def write(place: Path, files: Path) -> float:
    """Replace the files of a list; return the CPU seconds from opening the writers to the end."""
    first = files.read_text(encoding="utf-8").splitlines()[0].split("\t")
    prepare(*first)  # loads what is loaded at first use
    connection = _connect(place)
    began = time.process_time()
    writers = open_words(place)
    connection.execute("BEGIN")
    for file in read_list(files):
        _drop(connection, writers, file.collection, file.path)
        add_words(writers, store(connection, file), file)
    connection.execute("COMMIT")
    for writer in writers.values():
        writer.commit()
        writer.wait_merging_threads()
    connection.close()
    return time.process_time() - began


def _connect(place: Path) -> apsw.Connection:
    connection = apsw.Connection(str(place / "floor.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("mmap_size", 1 << 30)
    return connection


def _drop(
    connection: apsw.Connection,
    writers: dict[str, tantivy.IndexWriter],
    collection: str,
    path: str,
) -> None:
    key = connection.execute(
        "DELETE FROM documents WHERE collection = ? AND path = ? RETURNING id", (collection, path)
    ).get
    for table in _PARTS:
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (key,))
    for writer in writers.values():
        writer.delete_documents_by_term("document", key)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        print(write(Path(sys.argv[2]), Path(sys.argv[3])))
