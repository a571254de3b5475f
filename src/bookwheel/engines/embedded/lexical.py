"""The word index: two tantivy indexes, one entry per page and one per chunk, holding no text.

Everything here is derived from the catalogue and disposable. A mark entry in each index names the
generation up to which it holds the catalogue; it is replaced in the same commit as the entries.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import tantivy
from tantivy import Occur, Query

from bookwheel.engines.base import Field, Found, Match, Term
from bookwheel.model import PageTerms
from bookwheel.query import Filters
from bookwheel.text.words import normal_title

LAYOUT_VERSION = 1
_MARK = -1
_HEAP = {"pages": 50_000_000, "passages": 80_000_000}
_KINDS = ("pages", "passages")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the word index needs to know of one document."""

    key: int
    collection: str
    path: str
    extension: str
    title: str
    tags: tuple[str, ...]
    date: str
    terms: PageTerms


def _schema(kind: str) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # Signed: deleting by a term of an unsigned field silently deletes nothing.
    builder.add_integer_field("document", indexed=True, fast=True)
    builder.add_integer_field("ordinal", fast=True)
    for field in (Field.TITLE, Field.HEADING, Field.BODY, Field.NAMES):
        builder.add_text_field(field, tokenizer_name="terms", index_option="freq")
    builder.add_text_field(Field.EXACT, tokenizer_name="terms", index_option="position")
    if kind == "pages":
        for name in ("collection", "extension", "folder", "tag", "same_title", "kind"):
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
        builder.add_integer_field("date", indexed=True, fast=True)
    return builder.build()


def day_number(date: str) -> int:
    """Return a date of the form YYYY-MM-DD as one comparable number; 0 for none."""
    digits = date[:10].replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isascii() and digits.isdigit() else 0


def folder_terms(path: str) -> list[str]:
    """Return a term for every folder above a path."""
    return [str(parent) for parent in PurePosixPath(path).parents if parent.name]


class WordIndex:
    """Both indexes, open for reading and, between `start_writing` and `stop_writing`, writing."""

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        self._folder = folder
        self._shadow: tempfile.TemporaryDirectory[str] | None = None
        if readonly:
            folder = self._shadow_of(folder)
        self._paths = {kind: folder / kind for kind in _KINDS}
        self._indexes = {kind: self._open(kind, readonly=readonly) for kind in _KINDS}
        self._writers: dict[str, tantivy.IndexWriter] = {}
        self._stamps: tuple[int, ...] = ()
        self._vocabulary: dict[int, list[str]] | None = None
        self.reload()

    @staticmethod
    def exists(folder: Path) -> bool:
        return all((folder / kind / "meta.json").exists() for kind in _KINDS)

    def _shadow_of(self, folder: Path) -> Path:
        """Return a writable folder of links: tantivy makes lock files even for reading."""
        self._shadow = tempfile.TemporaryDirectory(prefix="bookwheel-")
        shadow = Path(self._shadow.name)
        for kind in _KINDS:
            (shadow / kind).mkdir()
            for file in (folder / kind).iterdir():
                (shadow / kind / file.name).symlink_to(file)
        return shadow

    def _open(self, kind: str, *, readonly: bool) -> tantivy.Index:
        path = self._paths[kind]
        if not readonly and not (path / "meta.json").exists():
            path.mkdir(parents=True, exist_ok=True)
            index = tantivy.Index(_schema(kind), path=str(path))
        else:
            index = tantivy.Index.open(str(path))
        # A tokenizer is not stored with the index and must be named again at each opening.
        terms = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", terms)
        index.config_reader(reload_policy="manual")
        return index

    # Reading

    def reload(self) -> bool:
        """Look at the newest commits; tell whether there were any."""
        stamps = tuple((path / "meta.json").stat().st_mtime_ns for path in self._paths.values())
        if stamps == self._stamps:
            return False
        for index in self._indexes.values():
            index.reload()
        self._stamps = stamps
        self._pages = self._indexes["pages"].searcher()
        self._passages = self._indexes["passages"].searcher()
        self._vocabulary = None
        return True

    def generation(self) -> int:
        """Return the generation that both indexes hold; -1 where a mark is missing."""
        return min(
            self._mark(self._indexes["pages"], self._pages),
            self._mark(self._indexes["passages"], self._passages),
        )

    @staticmethod
    def _mark(index: tantivy.Index, searcher: tantivy.Searcher) -> int:
        query = Query.term_query(index.schema, "document", _MARK)
        hits = searcher.search(query, limit=1).hits
        values = searcher.fast_field_values("ordinal", [hits[0][1]]) if hits else []
        return int(values[0]) if values and values[0] is not None else -1

    def page_count(self) -> int:
        """Return how many pages there are, deleted ones not counted."""
        return max(0, self._pages.num_docs - 1)

    def passage_count(self) -> int:
        """Return how many chunks there are, deleted ones not counted."""
        return max(0, self._passages.num_docs - 1)

    def frequency(self, field: Field, term: str) -> int:
        """Return how many pages hold a term; pages deleted lately may still count."""
        return self._pages.doc_freq(field, term)

    def vocabulary(self) -> dict[int, list[str]]:
        """Return the words as written, by length; words of deleted pages may still be there."""
        if self._vocabulary is None:
            words: dict[int, list[str]] = {}
            for word, _ in self._pages.terms_with_prefix(Field.EXACT, ""):
                words.setdefault(len(word), []).append(word)
            self._vocabulary = words
        return self._vocabulary

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        """Return the pages that match, best first."""
        query = self._query(match, self._indexes["pages"].schema)
        return self._search(self._pages, query, limit, count=count, ordinals=False)

    def match_passages(self, match: Match, limit: int) -> Found:
        """Return the chunks that match, best first."""
        query = self._query(match, self._indexes["passages"].schema)
        return self._search(self._passages, query, limit, count=False, ordinals=True)

    @staticmethod
    def _search(
        searcher: tantivy.Searcher, query: Query, limit: int, *, count: bool, ordinals: bool
    ) -> Found:
        # A limit of zero makes the binding panic.
        result = searcher.search(query, limit=max(1, limit), count=count)
        addresses = [address for _, address in result.hits]
        if not addresses:
            return Found((), 0)
        documents = searcher.fast_field_values("document", addresses)
        numbers: Sequence[object] = (
            searcher.fast_field_values("ordinal", addresses) if ordinals else [0] * len(addresses)
        )
        entries = tuple(
            (int(document), int(number), float(hit[0]))  # type: ignore[call-overload] # numbers are ints
            for hit, document, number in zip(result.hits, documents, numbers, strict=True)
            if document is not None
        )
        total = result.count if count else len(entries)  # type: ignore[attr-defined] # missing in the stub
        return Found(entries, int(total or 0))

    # Building queries: the only place where the engine's query objects are made

    def _query(self, match: Match, schema: tantivy.Schema) -> Query:
        parts: list[tuple[Occur, Query]] = []
        words = [self._clause(clause, schema) for clause in match.clauses]
        if match.all_clauses:
            parts += [(Occur.Must, word) for word in words]
        elif words:
            parts.append((Occur.Must, _any(words)))
        for phrase in match.phrases:
            parts.append((Occur.Must, _phrase(phrase, schema)))
        for term in match.bonus:
            parts.append((Occur.Should, self._clause((term,), schema)))
        for title in match.titles:
            same = Query.term_query(schema, "same_title", title)
            parts.append((Occur.Should, Query.const_score_query(same, match.title_bonus)))
        # Filters must not add to the score, so they are wrapped in a constant one of zero.
        for must in self._conditions(match, schema):
            parts.append((Occur.Must, Query.const_score_query(must, 0.0)))
        for term in match.excluded:
            parts.append((Occur.MustNot, Query.term_query(schema, term.field, term.text)))
        for phrase in match.excluded_phrases:
            parts.append((Occur.MustNot, _phrase(phrase, schema)))
        if all(occur == Occur.MustNot for occur, _ in parts):
            # A query of exclusions alone finds nothing: every page is meant.
            every = Query.const_score_query(Query.term_query(schema, "kind", "page"), 0.0)
            parts.append((Occur.Must, every))
        return Query.boolean_query(parts)

    @staticmethod
    def _clause(clause: tuple[Term, ...], schema: tantivy.Schema) -> Query:
        return _any(
            [
                Query.boost_query(Query.term_query(schema, term.field, term.text), term.weight)
                for term in clause
            ]
        )

    @staticmethod
    def _conditions(match: Match, schema: tantivy.Schema) -> list[Query]:
        conditions = []
        if match.documents is not None:
            documents = list(match.documents) or [_MARK - 1]
            conditions.append(Query.term_set_query(schema, "document", documents))
        if match.filters is not None:
            conditions += _filters(match.filters, schema)
        return conditions

    # Writing

    @property
    def is_writing(self) -> bool:
        return bool(self._writers)

    def start_writing(self) -> None:
        """Open the writers; each index has one at a time, over all processes."""
        for kind, index in self._indexes.items():
            if kind not in self._writers:
                self._writers[kind] = index.writer(_HEAP[kind], 1)

    def stop_writing(self) -> None:
        """Drop what was not committed and let the writers go."""
        for writer in self._writers.values():
            writer.rollback()
            writer.wait_merging_threads()
        self._writers.clear()

    def delete(self, keys: Iterable[int]) -> None:
        """Delete the entries of documents; seen after the commit."""
        for key in keys:
            for writer in self._writers.values():
                writer.delete_documents_by_term("document", key)

    def add(self, entry: Entry) -> None:
        """Add the entries of a document; seen after the commit."""
        passages = self._writers["passages"]
        terms = entry.terms
        for ordinal, passage in enumerate(terms.passages, start=1):
            chunk = tantivy.Document()
            chunk.add_integer("document", entry.key)
            chunk.add_integer("ordinal", ordinal)
            chunk.add_text(Field.HEADING, passage.heading)
            chunk.add_text(Field.BODY, passage.body)
            chunk.add_text(Field.EXACT, passage.exact)
            chunk.add_text(Field.NAMES, passage.names)
            passages.add_document(chunk)
        self._writers["pages"].add_document(_page(entry))

    def commit(self, generation: int) -> None:
        """Make what was added and deleted visible, together with its generation."""
        for writer in self._writers.values():
            writer.delete_documents_by_term("document", _MARK)
            mark = tantivy.Document()
            mark.add_integer("document", _MARK)
            mark.add_integer("ordinal", generation)
            writer.add_document(mark)
            writer.commit()

    def close(self) -> None:
        """Let go of files and threads."""
        self.stop_writing()
        if self._shadow is not None:
            self._shadow.cleanup()


def _page(entry: Entry) -> tantivy.Document:
    terms = entry.terms
    page = tantivy.Document()
    page.add_integer("document", entry.key)
    page.add_integer("ordinal", 0)
    page.add_text("kind", "page")
    page.add_text("collection", entry.collection)
    page.add_text("extension", entry.extension)
    for folder in folder_terms(entry.path):
        page.add_text("folder", folder)
    for tag in entry.tags:
        page.add_text("tag", normal_title(tag))
    page.add_integer("date", day_number(entry.date))
    page.add_text("same_title", normal_title(entry.title))
    page.add_text(Field.TITLE, terms.title)
    page.add_text(Field.HEADING, terms.headings)
    page.add_text(Field.BODY, "".join([passage.body for passage in terms.passages]))
    # A gap of unmatched terms would be dearer than the rare phrase found across title and text.
    exact = [terms.title_exact, *[passage.exact for passage in terms.passages]]
    page.add_text(Field.EXACT, "".join(exact))
    names = [terms.title_names, *[passage.names for passage in terms.passages]]
    page.add_text(Field.NAMES, "".join(names))
    return page


def _any(queries: Sequence[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _phrase(words: tuple[str, ...], schema: tantivy.Schema) -> Query:
    # The binding panics on a phrase of one word.
    if len(words) == 1:
        return Query.term_query(schema, Field.EXACT, words[0])
    return Query.phrase_query(schema, Field.EXACT, list(words))


def _filters(filters: Filters, schema: tantivy.Schema) -> list[Query]:
    conditions = []
    sets = {
        "collection": filters.collections,
        "extension": filters.extensions,
        "folder": filters.folders,
        "tag": tuple(normal_title(tag) for tag in filters.tags),
    }
    for name, values in sets.items():
        if values:
            conditions.append(Query.term_set_query(schema, name, list(values)))
    if filters.date_from or filters.date_to:
        conditions.append(
            Query.range_query(
                schema,
                "date",
                tantivy.FieldType.Integer,
                day_number(filters.date_from or "0001-01-01"),
                day_number(filters.date_to or "9999-12-31"),
            )
        )
    return conditions


def discard(folder: Path) -> None:
    """Remove a word index; it can be made again from the catalogue."""
    shutil.rmtree(folder, ignore_errors=True)
