"""The embedded engine: the catalogue and the word index kept in step, one writer at a time."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import apsw

from bookwheel.engines.base import CollectionState, Field, Found, Match, Passage
from bookwheel.engines.embedded import catalog, database, health, lexical, writing
from bookwheel.engines.embedded.database import Place
from bookwheel.engines.embedded.lexical import Entry, WordIndex
from bookwheel.engines.embedded.lock import WriterLock
from bookwheel.errors import Conflict, IndexDamaged, IndexUnusable
from bookwheel.model import Collection, Document, Draft, FileState, Known, Link, Section, Status
from bookwheel.query import Filters
from bookwheel.text.entries import page_terms
from bookwheel.text.words import ANALYSIS_VERSION

_REPLAY_STEP = 500


class EmbeddedEngine:
    """One index on disk. Any number of processes may read it; one of them may write."""

    def __init__(self, file: Path, *, on_replay: Callable[[int, int], None] | None = None) -> None:
        self._place = Place(file)
        self._lock = WriterLock(self._place.lock)
        self._threads = threading.local()
        self._readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._words: WordIndex | None = None
        self._on_replay = on_replay
        self.readonly = False

    @property
    def place(self) -> Place:
        return self._place

    # Opening and closing

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at this place."""
        return self._place.database.exists() and self._place.database.stat().st_size > 0

    def _reader(self) -> apsw.Connection:
        """Return this thread's connection for reading."""
        connection: apsw.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection, self.readonly = database.connect_reader(self._place)
            self._threads.connection = connection
            self._readers.append(connection)
        return connection

    @contextlib.contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        """Give a connection and turn what goes wrong into words for the operator."""
        try:
            yield self._reader()
        except apsw.Error as error:
            raise database.explain(self._place, error) from error

    def _word_index(self) -> WordIndex:
        """Return the word index, bringing it up to date where no other process does."""
        if self._words is None:
            generation = self.generation
            if self._is_current() and self._open_words().generation() >= generation:
                return self._open_words()
            self._catch_up()
        return self._open_words()

    def _catch_up(self) -> None:
        try:
            self.begin_writing()
        except Conflict:
            if not self._is_current():
                raise
        else:
            self.end_writing()

    def _open_words(self) -> WordIndex:
        if self._words is None:
            try:
                self._words = WordIndex(self._place.lexical, readonly=self.readonly)
            except (ValueError, OSError) as error:
                raise database.damaged(self._place, "its word index is damaged") from error
        return self._words

    def close(self) -> None:
        """Close what was opened; what was not committed is replayed at the next opening."""
        if self._lock.held:
            self.end_writing()
        if self._words is not None:
            self._words.close()
            self._words = None
        for connection in self._readers:
            connection.close()
        self._readers.clear()
        self._threads = threading.local()

    # Reading

    @property
    def generation(self) -> int:
        with self._reading() as connection:
            return int(catalog.read_meta(connection, "generation") or 0)

    def collections(self) -> list[CollectionState]:
        with self._reading() as connection:
            return catalog.read_collections(connection)

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

    def text(self, key: int) -> bytes:
        with self._reading() as connection:
            return catalog.read_text(connection, key)

    def sections(self, key: int) -> list[Section]:
        with self._reading() as connection:
            return catalog.read_sections(connection, key)

    def links(self, key: int) -> list[Link]:
        with self._reading() as connection:
            return catalog.read_links(connection, key)

    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]:
        with self._reading() as connection:
            return catalog.read_passages(connection, wanted)

    def languages(self) -> dict[str, int]:
        with self._reading() as connection:
            return catalog.count_languages(connection)

    def ledger(self, collection: str | None = None) -> list[Document]:
        with self._reading() as connection:
            return catalog.list_ledger(connection, collection)

    def status_counts(self, filters: Filters) -> dict[str, int]:
        with self._reading() as connection:
            return catalog.count_statuses(connection, filters)

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        with self._reading() as connection:
            return catalog.list_skipped(connection, collection)

    def known(self, collection: str) -> dict[str, Known]:
        with self._reading() as connection:
            return catalog.read_known(connection, collection)

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        return self._word_index().match_pages(match, limit, count=count)

    def match_passages(self, match: Match, limit: int) -> Found:
        return self._word_index().match_passages(match, limit)

    def frequency(self, field: Field, term: str) -> int:
        return self._word_index().frequency(field, term)

    def page_count(self) -> int:
        return self._word_index().page_count()

    def vocabulary(self) -> Mapping[int, Sequence[str]]:
        return self._word_index().vocabulary()

    def refresh(self) -> bool:
        """See what other processes committed; tell whether there was anything new."""
        return self._word_index().reload()

    # Writing

    def begin_writing(self) -> None:
        """Become the one writer, and bring the word index up to the catalogue."""
        if self._lock.held:
            return
        try:
            self._lock.acquire()
        except OSError as error:
            raise database.explain(self._place, error) from error
        try:
            self._writer = database.connect_writer(self._place)
            if not self._is_current() or self._lag():
                self._start_words()
        except BaseException:
            self.end_writing()
            raise

    def _lag(self) -> int:
        """Return by how many generations the word index is behind the catalogue."""
        try:
            return abs(self.generation - self._open_words().generation())
        except IndexDamaged:
            return 1

    def _start_words(self) -> WordIndex:
        """Return the word index ready for writing, in step with the catalogue."""
        if self._words is not None and self._words.is_writing:
            return self._words
        if not self._is_current():
            self._reset_words()
        try:
            self._open_words().start_writing()
        except (IndexUnusable, ValueError, OSError):
            # Derived and disposable: what cannot be opened is made again from the catalogue.
            self._reset_words()
            self._open_words().start_writing()
        self._replay()
        return self._open_words()

    def end_writing(self) -> None:
        """Let other processes write."""
        try:
            if self._words is not None:
                self._words.stop_writing()
            if self._writer is not None:
                with contextlib.suppress(apsw.Error):
                    self._writer.pragma("wal_checkpoint", "truncate")
                self._writer.close()
                self._writer = None
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        assert self._writer is not None, "begin_writing comes first"
        connection = self._writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except apsw.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise database.explain(self._place, error) from error

    def declare(self, collections: Iterable[Collection]) -> None:
        """Make collections known, or bring what is known of them up to date."""
        with self._transaction() as connection:
            writing.save_collections(connection, collections)

    def forget(self, collection: str) -> None:
        """Remove a collection and all its documents."""
        self.remove(collection, list(self.known(collection)))
        with self._transaction() as connection:
            number = writing.collection_ids(connection).get(collection)
            if number is not None:
                writing.forget_collection(connection, number)

    def write(self, drafts: Sequence[Draft]) -> None:
        """Write files whole, all of them in one transaction."""
        if not drafts:
            return
        words = self._start_words()
        entries: list[Entry] = []
        stale: list[int] = []
        with self._transaction() as connection:
            numbers = writing.collection_ids(connection)
            generation = writing.next_generation(connection)
            for draft in drafts:
                number = numbers[draft.collection]
                key, replaced = writing.save_draft(connection, number, draft, generation)
                if replaced:
                    stale.append(key)
                if draft.status is Status.OK and draft.parsed and draft.terms:
                    entries.append(_entry(key, draft))
        words.delete(stale)
        for entry in entries:
            words.add(entry)

    def touch(self, collection: str, states: Mapping[str, FileState]) -> None:
        """Note how unchanged files look now."""
        if states:
            with self._transaction() as connection:
                number = writing.collection_ids(connection)[collection]
                writing.save_states(connection, number, states)

    def remove(self, collection: str, paths: Sequence[str]) -> int:
        """Remove files; return how many were there."""
        if not paths:
            return 0
        words = self._start_words()
        with self._transaction() as connection:
            number = writing.collection_ids(connection)[collection]
            generation = writing.next_generation(connection)
            keys = writing.remove_documents(connection, number, paths, generation)
        words.delete(keys)
        return len(keys)

    def mark_scanned(
        self, collection: str, *, device: int, skipped: Mapping[tuple[str, str], int], at: float
    ) -> None:
        """Note that a collection was looked through."""
        with self._transaction() as connection:
            number = writing.collection_ids(connection)[collection]
            writing.save_scan(connection, number, device=device, skipped=skipped, at=at)

    def commit(self) -> None:
        """Make what was written searchable."""
        generation = self.generation
        words = self._start_words()
        try:
            words.commit(generation)
        except (ValueError, OSError) as error:
            raise database.unusable(
                self._place,
                "its word index cannot be written",
                "Free some room on the disk and run again; no document is lost.",
            ) from error
        with self._transaction() as connection:
            writing.drop_tombstones(connection, generation)
        words.reload()

    # The derived index

    def _stamp(self) -> str:
        """Return what the word index must agree with: this catalogue, layout and analysis."""
        with self._reading() as connection:
            identity = catalog.read_meta(connection, "id")
        return json.dumps([identity, lexical.LAYOUT_VERSION, ANALYSIS_VERSION])

    def _is_current(self) -> bool:
        """Tell whether the word index on disk was made from this catalogue by this version."""
        stamp = self._place.lexical / "made-from.json"
        try:
            made_from = stamp.read_text(encoding="utf-8")
        except OSError:
            return False
        return made_from == self._stamp() and WordIndex.exists(self._place.lexical)

    def _reset_words(self) -> None:
        if self._words is not None:
            self._words.close()
            self._words = None
        lexical.discard(self._place.lexical)
        self._open_words()
        (self._place.lexical / "made-from.json").write_text(self._stamp(), encoding="utf-8")

    def note(self, name: str) -> str | None:
        """Return what was noted about the index under a name."""
        with self._reading() as connection:
            value = catalog.read_meta(connection, f"note:{name}")
        return None if value is None else str(value)

    def set_note(self, name: str, value: str) -> None:
        """Note something about the index."""
        with self._transaction() as connection:
            writing.save_meta(connection, f"note:{name}", value)

    def set_aside(self) -> Path:
        """Move a broken database out of the way and drop what was derived from it."""
        self.close()
        self._lock.acquire()
        try:
            aside = self._place.database.with_name(
                f"{self._place.database.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
            )
            self._place.database.rename(aside)
            for suffix in ("-wal", "-shm"):
                beside = self._place.database.with_name(self._place.database.name + suffix)
                beside.unlink(missing_ok=True)
            lexical.discard(self._place.lexical)
        finally:
            self._lock.release()
        return aside

    def rebuild_words(self) -> None:
        """Make the word index anew from the catalogue."""
        self._open_words().stop_writing()
        self._reset_words()
        self._open_words().start_writing()
        self._replay()

    def _replay(self) -> None:
        """Bring into the word index what the catalogue has and it has not."""
        words = self._open_words()
        mark = words.generation()
        generation = self.generation
        if mark > generation:
            self._reset_words()
            self._open_words().start_writing()
            words, mark = self._open_words(), -1
        if mark == generation:
            return
        with self._reading() as connection:
            written, removed = catalog.changed_since(connection, mark)
        words.delete(removed)
        for done in range(0, len(written), _REPLAY_STEP):
            if self._on_replay:
                self._on_replay(done, len(written))
            self._replay_documents(written[done : done + _REPLAY_STEP])
        words.commit(generation)
        words.reload()

    def _replay_documents(self, keys: Sequence[int]) -> None:
        words = self._open_words()
        words.delete(keys)
        with self._reading() as connection:
            for document in catalog.read_documents(connection, keys).values():
                if document.status is not Status.OK:
                    continue
                text = catalog.read_text(connection, document.key)
                chunks = catalog.read_chunks(connection, document.key)
                headings = [s.heading for s in catalog.read_sections(connection, document.key)]
                terms = page_terms(document.title, text, chunks, headings, document.language)
                words.add(
                    Entry(
                        document.key,
                        document.collection,
                        document.path,
                        document.extension,
                        document.title,
                        document.tags,
                        document.date,
                        terms,
                    )
                )

    def check(self) -> Iterator[str]:
        """Look through both stores and say each thing that is wrong."""
        with self._reading() as connection:
            yield from health.check_catalog(connection)
            yield from health.check_words(connection, self._word_index())


def _entry(key: int, draft: Draft) -> Entry:
    assert draft.parsed is not None
    assert draft.terms is not None
    return Entry(
        key,
        draft.collection,
        draft.path,
        draft.extension,
        draft.parsed.title,
        draft.parsed.tags,
        draft.date,
        draft.terms,
    )
