"""The floor of indexing: the same readers, terms and stores in one process and nothing else.

No scan, no ledger, no workers, no pipes, no generations: what is left is work that any indexer
with these libraries has to do. Run as `python -m bench.floors.indexing PLACE LIST`, where the
list holds one `collection TAB folder TAB path` per line.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import tantivy

from bookwheel.engines.base import Field
from bookwheel.engines.embedded import lexical, word_entries
from bookwheel.formats.registry import extension_of, mime_type, read
from bookwheel.model import Chunk, PageTerms, Parsed
from bookwheel.text.chunking import chunk
from bookwheel.text.entries import page_terms
from bookwheel.text.language import base_language, detect_language

_STEP = 1000
_DATE = "2026-01-01"
TABLES = """
CREATE TABLE documents(
  id INTEGER PRIMARY KEY, collection TEXT, path TEXT, extension TEXT, mime TEXT, size INTEGER,
  title TEXT, description TEXT, tags TEXT, date TEXT, url TEXT, language TEXT, characters INTEGER,
  chunks INTEGER, UNIQUE(collection, path));
CREATE TABLE texts(document INTEGER PRIMARY KEY, text BLOB);
CREATE TABLE sections(document INTEGER, ordinal INTEGER, level INTEGER, heading TEXT,
  start INTEGER, end INTEGER, start_line INTEGER, end_line INTEGER,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE chunks(document INTEGER, ordinal INTEGER, start INTEGER, end INTEGER,
  start_line INTEGER, end_line INTEGER, trail TEXT, pointer TEXT,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE links(document INTEGER, ordinal INTEGER, kind TEXT, target TEXT, text TEXT,
  context TEXT, line INTEGER, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file as read, cut and analysed."""

    collection: str
    path: str
    size: int
    parsed: Parsed
    chunks: list[Chunk]
    language: str
    terms: PageTerms


def prepare(collection: str, folder: str, path: str) -> Prepared:
    """Read one file with the readers and the analysis of Bookwheel."""
    data = Path(folder, path).read_bytes()
    parsed = read(data, path)
    chunks = list(chunk(parsed))
    language = base_language(parsed.language) or detect_language(parsed.text)
    headings = [section.heading for section in parsed.sections]
    terms = page_terms(parsed.title, parsed.text.encode(), chunks, headings, language)
    return Prepared(collection, path, len(data), parsed, chunks, language, terms)


def store(connection: apsw.Connection, file: Prepared) -> int:
    """Insert one document into SQLite and return its key."""
    parsed, extension = file.parsed, extension_of(file.path)
    connection.execute(
        "INSERT INTO documents VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            *(file.collection, file.path, extension, mime_type(extension), file.size),
            *(parsed.title, parsed.description, json.dumps(parsed.tags), _DATE, parsed.url),
            *(file.language, len(parsed.text), len(file.chunks)),
        ),
    )
    key = connection.last_insert_rowid()
    connection.execute("INSERT INTO texts VALUES(?,?)", (key, parsed.text.encode()))
    connection.executemany(
        "INSERT INTO sections VALUES(?,?,?,?,?,?,?,?)",
        [
            (key, n, s.level, s.heading, s.start, s.end, s.start_line, s.end_line)
            for n, s in enumerate(parsed.sections, start=1)
        ],
    )
    connection.executemany(
        "INSERT INTO chunks VALUES(?,?,?,?,?,?,?,?)",
        [
            (
                key,
                c.ordinal,
                c.start,
                c.end,
                c.start_line,
                c.end_line,
                " > ".join(c.trail),
                c.pointer,
            )
            for c in file.chunks
        ],
    )
    connection.executemany(
        "INSERT INTO links VALUES(?,?,?,?,?,?,?)",
        [
            (key, n, link.kind, link.target, link.text, link.context, link.line)
            for n, link in enumerate(parsed.links, start=1)
        ],
    )
    return key


def add_words(writers: dict[str, tantivy.IndexWriter], key: int, file: Prepared) -> None:
    """Add one document's page and chunks to tantivy."""
    page = word_entries.page_entry(
        word_entries.Entry(
            *(key, file.collection, file.path, extension_of(file.path), file.parsed.title),
            *(file.parsed.tags, _DATE, file.terms),
        )
    )
    text = word_entries.PageText(file.terms)
    for ordinal, passage in enumerate(file.terms.passages, start=1):
        entry = tantivy.Document()
        entry.add_integer("document", key)
        entry.add_integer("ordinal", ordinal)
        entry.add_text(Field.HEADING, passage.heading)
        entry.add_text(Field.BODY, passage.body)
        entry.add_text(Field.EXACT, passage.exact)
        entry.add_text(Field.NAMES, passage.names)
        writers["passages"].add_document(entry)
        text.add(passage, page)
    text.finish(page)
    writers["pages"].add_document(page)


def open_words(place: Path) -> dict[str, tantivy.IndexWriter]:
    """Open both indexes, made if need be with the product's own schema, with one thread each."""
    writers = {}
    for kind, heap in lexical._HEAP.items():
        (place / kind).mkdir(exist_ok=True)
        index = tantivy.Index(word_entries.schema_of(kind), path=str(place / kind))
        terms = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", terms)
        writers[kind] = index.writer(heap, 1)
    return writers


def read_list(path: Path) -> Iterator[Prepared]:
    """Yield the files that a list names."""
    for line in path.read_text(encoding="utf-8").splitlines():
        collection, folder, name = line.split("\t")
        yield prepare(collection, folder, name)


def main(place: Path, files: Path) -> int:
    """Index the files of a list; return how many chunks they gave."""
    # Its best case: nothing here makes cycles, and large heaps are dear to look through.
    gc.disable()
    place.mkdir()
    connection = apsw.Connection(str(place / "floor.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.execute(TABLES)
    writers = open_words(place)
    chunks = 0
    connection.execute("BEGIN")
    for number, file in enumerate(read_list(files), start=1):
        add_words(writers, store(connection, file), file)
        chunks += len(file.chunks)
        if not number % _STEP:
            connection.execute("COMMIT; BEGIN")
    connection.execute("COMMIT")
    connection.close()
    for writer in writers.values():
        writer.commit()
        writer.wait_merging_threads()
    return chunks


if __name__ == "__main__":
    place = Path(sys.argv[1])
    count = main(place, Path(sys.argv[2]))
    (place / "chunks").write_text(str(count), encoding="ascii")
