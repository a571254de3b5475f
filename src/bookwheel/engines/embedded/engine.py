"""The embedded engine: the catalogue and the word index kept in step, one writer at a time."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from bookwheel import model
from bookwheel.engines.base import (
    CollectionState,
    Field,
    Found,
    Match,
    Matrix,
    Passage,
    Redactions,
    Vector,
)
from bookwheel.engines.embedded import catalog, citing, database, health, lexical, writing
from bookwheel.engines.embedded.database import Place
from bookwheel.engines.embedded.derived import DerivedWords
from bookwheel.engines.embedded.lexical import WordIndex, WordsFailed
from bookwheel.engines.embedded.lock import WriterLock
from bookwheel.engines.embedded.word_entries import Entry
from bookwheel.errors import Conflict, IndexDamaged, IndexUnusable
from bookwheel.model import (
    Citation,
    Collection,
    Document,
    Draft,
    FileState,
    Known,
    Link,
    Section,
    Status,
)
from bookwheel.query import Filters
from bookwheel.safety.stopping import Stopped, go_on, is_stopped

if TYPE_CHECKING:
    from bookwheel.engines.embedded.derived_vectors import DerivedVectors
    from bookwheel.engines.embedded.job_table import JobTable

_Answer = TypeVar("_Answer")
_VERSION, _MOST_KNOWN = "version", 100


class _Reading:
    """A connection while it is read; no generator, which would cost as much as a small query."""

    def __init__(self, place: Place, connect: Callable[[], apsw.Connection]) -> None:
        self._place = place
        self._connect = connect

    def __enter__(self) -> apsw.Connection:
        go_on()
        try:
            return self._connect()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise database.explain(self._place, error) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.InterruptError) and is_stopped():
            raise Stopped from None
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise database.explain(self._place, error) from error


class EmbeddedEngine:
    """One index on disk. Any number of processes may read it; one of them may write."""

    def __init__(self, file: Path, *, on_replay: Callable[[int, int], None] | None = None) -> None:
        self._place = Place(file)
        self._lock = WriterLock(self._place.lock)
        self._threads = threading.local()
        self._readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._derived = DerivedWords(self._place, self._reading, on_replay)
        self._beginning = threading.RLock()
        self._is_ready = False
        self.readonly = False

    hides = False
    """It holds texts as they are; who may see what is the affair of others."""

    is_shared = False
    """Whoever writes it holds all its collections."""

    @property
    def home(self) -> Path:
        """The file beside which all of this library lies."""
        return self._place.database

    @property
    def location(self) -> str:
        """Where the index lies, for people."""
        return str(self._place.database)

    @property
    def own_paths(self) -> list[Path]:
        """The files that the engine keeps, which are no documents."""
        place = self._place
        return [place.database, place.lexical, place.vectors, place.lock, place.wal]

    # Opening and closing

    @property
    def exists(self) -> bool:
        """Tell whether there is an index at this place."""
        try:
            return self._place.database.stat().st_size > 0
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise database.explain(self._place, error) from error

    def _reader(self) -> apsw.Connection:
        """Return this thread's connection for reading."""
        connection: apsw.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection, self.readonly = database.connect_reader(self._place)
            self._threads.connection = connection
            self._readers.append(connection)
        return connection

    def _reading(self) -> _Reading:
        """Give a connection and turn what goes wrong into words for the operator."""
        return _Reading(self._place, self._reader)

    def _word_index(self) -> WordIndex:
        """Return the word index, bringing it up to date where no other process does."""
        if not self._is_ready:
            with self._beginning:
                self._make_ready()
        return self._derived.open(readonly=self.readonly)

    def _make_ready(self) -> None:
        if self._is_ready or self._lock.held:
            return
        if not self._is_in_step():
            self._catch_up()
        self._is_ready = True

    def _is_in_step(self) -> bool:
        if not self._derived.is_current():
            return False
        try:
            return self._derived.is_in_step(readonly=self.readonly)
        except WordsFailed as error:
            if error.is_passing:
                raise
            self._derived.close()
            return False

    def _catch_up(self) -> None:
        try:
            self.begin_writing()
        except IndexDamaged:
            raise
        except (Conflict, IndexUnusable):
            # Another process is at it, or there is no room: what there is can be searched.
            if self.readonly or not self._derived.is_current():
                raise
        else:
            self.end_writing()

    def _ask(self, question: Callable[[WordIndex], _Answer]) -> _Answer:
        """Put a question to the word index; one that is found damaged is made anew first."""
        go_on()
        try:
            return question(self._word_index())
        except WordsFailed as error:
            if not self._derived.find_damage() or not self._make_words_anew():
                raise self._failed(error) from error
        try:
            return question(self._word_index())
        except WordsFailed as error:
            raise self._failed(error) from error

    def _make_words_anew(self) -> bool:
        """Make the word index anew from the catalogue, unless a thread of ours is writing it."""
        with self._beginning:
            if self._lock.held:
                return False
            self.begin_writing()
            try:
                with self._keeping_words():
                    self._derived.reset()
                    self._derived.start()
            finally:
                self.end_writing()
            return True

    def _failed(self, error: WordsFailed) -> IndexUnusable:
        if error.is_passing or not self._derived.find_damage():
            return database.unusable(
                self._place,
                f"its word index failed ({error})",
                "Free some room, memory or files and run again; no document is lost.",
            )
        return database.damaged(self._place, "its word index is damaged")

    def close(self) -> None:
        """Close what was opened; what was not committed is replayed at the next opening."""
        if self._lock.held:
            self.end_writing()
        self._close_readers()

    def _close_readers(self) -> None:
        self._is_ready = False
        self._derived.close()
        for connection in self._readers:
            _close(connection)
        self._readers.clear()
        self._threads = threading.local()

    # Reading

    def _recall(self, name: Hashable, read: Callable[[apsw.Connection], _Answer]) -> _Answer:
        """Return what every search asks for, read again only after someone has committed."""
        with self._reading() as connection:
            version = connection.execute("PRAGMA data_version").get
            known: dict[Hashable, Any] = getattr(self._threads, "known", {})
            if known.get(_VERSION) != version or len(known) > _MOST_KNOWN:
                known = self._threads.known = {_VERSION: version}
            if name not in known:
                known[name] = read(connection)
            answer: _Answer = known[name]
            return answer

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
            return catalog.read_text(connection, key)

    def sections(self, key: int) -> list[Section]:
        with self._reading() as connection:
            return catalog.read_sections(connection, key)

    def headings(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        with self._reading() as connection:
            return catalog.read_headings(connection, wanted)

    def headings_above(
        self, wanted: Sequence[tuple[str, str, int]]
    ) -> dict[tuple[str, str, int], str]:
        with self._reading() as connection:
            return catalog.read_headings_above(connection, wanted)

    def links(self, key: int) -> list[Link]:
        with self._reading() as connection:
            return catalog.read_links(connection, key)

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
            return catalog.read_places(connection, key)

    def redactions(self, keys: Sequence[int]) -> dict[int, Redactions]:
        with self._reading() as connection:
            return catalog.read_redactions(connection, keys)

    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]:
        with self._reading() as connection:
            return catalog.read_passages(connection, wanted)

    def languages(self) -> dict[str, int]:
        return self._recall("languages", catalog.count_languages)

    def ledger(self, collection: str | None = None) -> list[Document]:
        with self._reading() as connection:
            return catalog.list_ledger(connection, collection)

    def status_counts(self, filters: Filters) -> dict[str, int]:
        return self._recall(filters, lambda reader: catalog.count_statuses(reader, filters))

    def count_by(self, column: str, filters: Filters) -> dict[str, int]:
        return self._recall(
            (column, filters), lambda reader: catalog.count_by(reader, column, filters)
        )

    def kinds(self, collection: str) -> dict[str, int]:
        with self._reading() as connection:
            return catalog.count_kinds(connection, collection)

    def totals(self) -> tuple[int, int, int]:
        """Return how many documents there are, files that gave none, and chunks."""
        return self._recall("totals", catalog.count_totals)

    def disk_bytes(self) -> int:
        """Return what the index takes on the disk."""
        place = self._place
        files = [place.database, place.wal, *place.lexical.glob("**/*")]
        files += [place.vectors, *place.vectors.glob("**/*")]
        return sum(map(database.size_of, files))

    def facts(self) -> dict[str, str]:
        """Return what an operator may want to know of the store besides; nothing here."""
        return {}

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        with self._reading() as connection:
            return catalog.list_skipped(connection, collection)

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

    def vocabulary(self, field: Field = Field.EXACT) -> Mapping[int, Sequence[str]]:
        return self._ask(lambda words: words.vocabulary(field))

    # Vectors

    @functools.cached_property
    def _vectors(self) -> DerivedVectors:
        from bookwheel.engines.embedded.derived_vectors import DerivedVectors

        return DerivedVectors(self._place, self._reading)

    def has_vectors(self) -> bool:
        """Tell whether any document has vectors, of whichever model."""
        return self._recall("has vectors", catalog.has_vectors)

    def lacks_vectors(self) -> bool:
        """Tell whether any document with text has no vectors at all."""
        with self._reading() as connection:
            return catalog.lacks_vectors(connection)

    def embedded(self, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks have vectors of a model, and how many there are."""
        return self._vectors.count(fingerprint)

    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, list[Passage]]]:
        """Return title and chunks of some documents that have no vectors of a model yet."""
        return self._vectors.missing(fingerprint, limit, after)

    def write_vectors(self, fingerprint: str, dimensions: int, rows: Mapping[int, Matrix]) -> None:
        """Write the vectors of documents, all in one transaction."""
        with self._transaction() as connection:
            self._vectors.write(connection, fingerprint, dimensions, rows)

    def keep_vectors(self, fingerprint: str) -> None:
        """Keep beside the catalogue what makes a large number of vectors quick to open."""
        with self._transaction() as connection:
            self._vectors.keep(connection, fingerprint)

    def open_vectors(self, fingerprint: str) -> None:
        """Load what the first question would have to wait for."""
        self._vectors.open(fingerprint)

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found:
        """Return the chunks nearest to a vector, among all or only some documents."""
        return self._vectors.nearest(fingerprint, query, limit, documents)

    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]:
        """Return the vectors of some documents, one row per chunk."""
        return self._vectors.read(fingerprint, keys)

    def refresh(self) -> bool:
        """See what other processes committed; tell whether there was anything new."""
        return self._ask(WordIndex.reload)

    # Writing

    @property
    def is_written(self) -> bool:
        """Tell whether a process is writing now, this one or another."""
        return self._lock.is_taken

    def begin_writing(self, collections: Iterable[str] | None = None) -> None:
        """Become the one writer, of whatever collections, and bring the word index in step."""
        # Threads that catch up begin and end in one go, lest one should end another's writing.
        with self._beginning:
            if not self._lock.held:
                self._begin_writing()

    def _begin_writing(self) -> None:
        try:
            self._lock.acquire()
        except OSError as error:
            raise database.explain(self._place, error) from error
        try:
            if self.readonly:
                self._close_readers()  # it was so when they were opened
            self._writer = database.connect_writer(self._place)
            with self._keeping_words():
                if not self._is_in_step():
                    self._derived.start()
        except BaseException:
            self.end_writing()
            raise

    @contextlib.contextmanager
    def _keeping_words(self) -> Iterator[None]:
        """Let go of a word index that cannot be written: the next start replays what it lacks."""
        try:
            yield
        except WordsFailed as error:
            self._derived.stop()
            raise database.unusable(
                self._place,
                "its word index cannot be written",
                "Free some room on the disk and run again; no document is lost.",
            ) from error

    def end_writing(self) -> None:
        """Let other processes write."""
        try:
            self._derived.stop()
            writer, self._writer = self._writer, None
            if writer is not None:
                with contextlib.suppress(apsw.Error):
                    database.give_back(writer)
                    writer.pragma("wal_checkpoint", "truncate")
                _close(writer)
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
        self.commit()

    def write(self, drafts: Iterable[Draft]) -> None:
        """Write files whole, all of them in one transaction.

        Each draft is let go of before the next: one whose text is long takes a lot of memory.
        """
        every = iter(drafts)
        draft = next(every, None)
        if draft is None:
            return
        with self._keeping_words():
            words = self._derived.start()
        entries: dict[int, Entry] = {}
        stale: list[int] = []
        with self._transaction() as connection:
            numbers = writing.collection_ids(connection)
            generation = writing.next_generation(connection)
            while draft is not None:
                number = numbers[draft.collection]
                key, replaced = writing.save_draft(connection, number, draft, generation)
                if replaced:
                    stale.append(key)
                    entries.pop(key, None)
                if draft.status is Status.OK and draft.parsed and draft.terms:
                    entries[key] = _entry(key, draft)
                draft = next(every, None)
        with self._keeping_words():
            words.delete(stale)
            for key in list(entries):
                words.add(entries.pop(key))

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
        with self._keeping_words():
            words = self._derived.start()
        with self._transaction() as connection:
            number = writing.collection_ids(connection)[collection]
            generation = writing.next_generation(connection)
            keys = writing.remove_documents(connection, number, paths, generation)
        with self._keeping_words():
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
        with self._keeping_words():
            words = self._derived.start()
            words.commit(generation)
            words.reload()
        with self._transaction() as connection:
            writing.drop_tombstones(connection, generation)

    @functools.cached_property
    def queue(self) -> JobTable:
        """The folders that are to be indexed."""
        from bookwheel.engines.embedded.job_table import JobTable

        return JobTable(self._place, self._reading, self._transaction)

    # Upkeep

    def drafts(self, collection: str) -> Iterator[Draft]:
        """Yield the files of a collection as they were written, for another engine."""
        from bookwheel.engines.embedded.export import read_drafts

        with self._reading() as connection:
            yield from read_drafts(connection, collection)

    def models(self) -> Sequence[tuple[str, int]]:
        """Return the models that vectors were written of, with their dimensions."""
        from bookwheel.engines.embedded.export import list_models

        with self._reading() as connection:
            return list_models(connection)

    def note(self, name: str) -> str | None:
        """Return what was noted about the index under a name."""
        with self._reading() as connection:
            value = catalog.read_meta(connection, f"note:{name}")
        return None if value is None else str(value)

    def set_note(self, name: str, value: str) -> None:
        """Note something about the index."""
        with self._transaction() as connection:
            writing.save_meta(connection, f"note:{name}", value)

    def set_aside(self) -> str:
        """Move a broken database out of the way and drop what was derived from it."""
        self.close()
        aside = self._free_name()
        try:
            self._lock.acquire()
            self._place.database.rename(aside)
            for suffix in ("-wal", "-shm"):
                beside = self._place.database.with_name(self._place.database.name + suffix)
                beside.unlink(missing_ok=True)
            lexical.discard(self._place.lexical)
            lexical.discard(self._place.vectors)
        except OSError as error:
            raise database.explain(self._place, error) from error
        finally:
            self._lock.release()
        return str(aside)

    def _free_name(self) -> Path:
        name = f"{self._place.database.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        places = (self._place.database.with_name(each) for each in names)
        return next(place for place in places if not place.exists())

    def check(self) -> Iterator[str]:
        """Look through both stores and say each thing that is wrong."""
        with self._reading() as connection, catalog.snapshot(connection):
            yield from health.check_catalog(connection)
        if not self._place.stamp.exists() and not self._lock.held:
            # Ended before it was made for the first time: that is no damage.
            troubles = self._bring_in_step()
            if troubles is not None:
                yield from troubles
                return
        damage = self._derived.find_damage()
        yield from damage
        if not damage:
            yield from self._ask(self._check_words)

    def _bring_in_step(self) -> list[str] | None:
        """Make or replay the word index; None when that was done, else what is to be said."""
        try:
            self.begin_writing()
            self.end_writing()
        except Conflict:
            return []  # another process is writing, and will bring it in step
        except IndexUnusable as error:
            return [f"the word index is behind the catalogue. {error.message}"]
        return None

    def _check_words(self, words: WordIndex) -> list[str]:
        if not self._lock.held and not self._derived.is_in_step():
            troubles = self._bring_in_step()
            if troubles is not None:
                return troubles
            words = self._word_index()
        with self._reading() as connection, catalog.snapshot(connection):
            if words.generation() != catalog.read_generation(connection):
                return []  # somebody has begun to write just now
            return list(health.check_words(connection, words))


def _close(connection: apsw.Connection) -> None:
    """Close a connection; what a failing disk says to that helps nobody."""
    with contextlib.suppress(apsw.Error):
        connection.close()


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
