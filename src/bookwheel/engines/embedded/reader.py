"""Reading the catalogue and the word index of one index on disk."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from bookwheel import model
from bookwheel.engines.base import (
    CollectionState,
    Field,
    Found,
    Match,
    Passage,
    Redactions,
    Vocabulary,
)
from bookwheel.engines.embedded import catalog, citing, contents, counts, database
from bookwheel.engines.embedded.store import Store
from bookwheel.model import Citation, Document, Known, Link, Section
from bookwheel.query import Filters


class Reader(Store):
    """What is in the index: documents by name, pages and passages by words."""

    @property
    def generation(self) -> int:
        with self._reading() as connection:
            return catalog.read_generation(connection)

    def collections(self) -> list[CollectionState]:
        return self._recall("collections", catalog.read_collections)

    def document(self, collection: str, path: str) -> Document | None:
        with self._reading() as connection:
            return catalog.read_document(connection, collection, path)

    def documents_by_key(self, keys: Sequence[int]) -> dict[int, Document]:
        with self._reading() as connection:
            return catalog.read_documents(connection, keys)

    def list_documents(
        self, collection: str, *, folder: str = "", limit: int, offset: int
    ) -> tuple[list[Document], int]:
        with self._reading() as connection:
            return catalog.list_documents(connection, collection, folder, limit, offset)

    def paths(self, collection: str) -> list[str]:
        with self._reading() as connection:
            return catalog.list_paths(connection, collection)

    def folders(self, collection: str) -> Sequence[str]:
        """Return every folder above a document, at any depth."""
        return self._recall(
            ("folders", collection), lambda reader: catalog.list_folders(reader, collection)
        )

    def text(self, key: int) -> bytes:
        with self._reading() as connection:
            return contents.read_text(connection, key)

    def sections(self, key: int) -> list[Section]:
        with self._reading() as connection:
            return contents.read_sections(connection, key)

    def headings(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        with self._reading() as connection:
            return contents.read_headings(connection, wanted)

    def headings_above(
        self, wanted: Sequence[tuple[str, str, int]]
    ) -> dict[tuple[str, str, int], str]:
        with self._reading() as connection:
            return contents.read_headings_above(connection, wanted)

    def links(self, key: int) -> list[Link]:
        with self._reading() as connection:
            return contents.read_links(connection, key)

    def outgoing(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        with self._reading() as connection, catalog.snapshot(connection):
            return citing.read_outgoing(connection, keys, limit)

    def incoming(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        with self._reading() as connection, catalog.snapshot(connection):
            return citing.read_incoming(connection, keys, limit)

    def most_cited(self, limit: int) -> dict[int, int]:
        with self._reading() as connection:
            return citing.count_incoming(connection, limit)

    def unresolved(self, collections: Sequence[str], limit: int) -> list[tuple[int, Link]]:
        with self._reading() as connection, catalog.snapshot(connection):
            return list(itertools.islice(citing.read_unresolved(connection, collections), limit))

    def anchored(self, collections: Sequence[str], limit: int) -> list[Citation]:
        with self._reading() as connection, catalog.snapshot(connection):
            return list(itertools.islice(citing.read_anchored(connection, collections), limit))

    def named(self, key: int) -> list[int]:
        with self._reading() as connection:
            return citing.find_named(connection, key)

    def places(self, key: int) -> list[model.Place]:
        with self._reading() as connection:
            return contents.read_places(connection, key)

    def redactions(self, keys: Sequence[int]) -> dict[int, Redactions]:
        with self._reading() as connection:
            return contents.read_redactions(connection, keys)

    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]:
        with self._reading() as connection:
            return contents.read_passages(connection, wanted)

    def languages(self) -> dict[str, int]:
        return self._recall("languages", counts.count_languages)

    def ledger(self, collection: str | None = None) -> list[Document]:
        with self._reading() as connection:
            return catalog.list_ledger(connection, collection)

    def status_counts(self, filters: Filters) -> dict[str, int]:
        return self._recall(filters, lambda reader: counts.count_statuses(reader, filters))

    def count_by(self, column: str, filters: Filters) -> dict[str, int]:
        return self._recall(
            (column, filters), lambda reader: counts.count_by(reader, column, filters)
        )

    def kinds(self, collection: str) -> dict[str, int]:
        with self._reading() as connection:
            return counts.count_kinds(connection, collection)

    def totals(self) -> tuple[int, int, int]:
        """Return how many documents there are, files that gave none, and chunks."""
        return self._recall("totals", counts.count_totals)

    def disk_bytes(self) -> int:
        """Return what the index takes on the disk."""
        place = self._place
        files = [place.database, place.wal, *place.lexical.glob("**/*")]
        files += [place.vectors, *place.vectors.glob("**/*")]
        return sum(map(database.size_of, files))

    def facts(self) -> dict[str, str]:
        """Return what an operator may want to know of the store besides; nothing here."""
        return {}

    def require_whole(self) -> None:
        """Raise IndexUnusable where no search is answered, for want of leave to read or write."""
        self._require_leave()
        if self.readonly:  # what is not in step here stays so
            self._ask(lambda _: None)

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        with self._reading() as connection:
            return counts.count_skipped(connection, collection)

    def known(self, collection: str, folder: str = "") -> dict[str, Known]:
        with self._reading() as connection:
            return catalog.read_known(connection, collection, folder)

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        return self._ask(lambda words: words.match_pages(match, limit, count=count))

    def match_each(
        self, matches: Sequence[Match], limit: int, *, count: bool = False
    ) -> list[Found]:
        """Return the pages of several matches, as if each was asked for alone."""
        return [self.match_pages(match, limit, count=count) for match in matches]

    def expect(self, terms: Iterable[str]) -> None:
        """Nothing is far away here."""

    def match_passages(self, match: Match, limit: int) -> Found:
        return self._ask(lambda words: words.match_passages(match, limit))

    def frequency(self, field: Field, term: str) -> int:
        return self._ask(lambda words: words.frequency(field, term))

    def weight(self, field: Field, term: str, *, of_passages: bool = False) -> float:
        return self._ask(lambda words: words.weight(field, term, of_passages=of_passages))

    def page_count(self) -> int:
        return self._ask(lambda words: words.page_count())

    def vocabulary(self, field: Field = Field.EXACT) -> Vocabulary:
        return self._ask(lambda words: words.vocabulary(field))

    def refresh(self) -> bool:
        """See what other processes committed; tell whether there was anything new."""
        return self._ask(lambda _: self._derived.refresh())
