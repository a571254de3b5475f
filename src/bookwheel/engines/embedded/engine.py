"""The embedded engine: the catalogue and the word index kept in step, one writer at a time."""

from __future__ import annotations

import functools
import glob
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bookwheel.engines.base import Found, Matrix, Vector
from bookwheel.engines.embedded import catalog, database, health, lacking, lexical, writing
from bookwheel.engines.embedded.lexical import WordIndex
from bookwheel.engines.embedded.reader import Reader
from bookwheel.engines.embedded.word_entries import Entry
from bookwheel.engines.passages import Passages
from bookwheel.errors import Conflict, IndexUnusable
from bookwheel.model import Collection, Draft, FileState, Status

if TYPE_CHECKING:
    from bookwheel.engines.embedded.derived_vectors import DerivedVectors
    from bookwheel.engines.embedded.job_table import JobTable

_ASIDE, _KEPT = ".damaged-", 3
"""How what is set aside is called, and how many of these are kept: on a disk that goes on failing
they would fill it."""


class EmbeddedEngine(Reader):
    """One index on disk. Any number of processes may read it; one of them may write."""

    # Vectors

    @functools.cached_property
    def _vectors(self) -> DerivedVectors:
        from bookwheel.engines.embedded.derived_vectors import DerivedVectors

        return DerivedVectors(self._place, self._reading)

    def has_vectors(self) -> bool:
        """Tell whether any document has vectors, of whichever model."""
        return self._recall("has vectors", catalog.has_vectors)

    def lacks_vectors(self, fingerprint: str) -> bool:
        """Tell whether any document with text has no vectors of a model."""
        with self._reading() as connection:
            return lacking.lacks_vectors(connection, fingerprint)

    def embedded(self, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks have vectors of a model, and how many there are."""
        return self._vectors.count(fingerprint)

    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, Passages]]:
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

    def drop_vectors(self, besides: Sequence[str]) -> None:
        """Delete the vectors of all models but some."""
        from bookwheel.engines.embedded.vectors import drop_models

        with self._transaction() as connection:
            drop_models(connection, besides)

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

    # Writing

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
        self._has_grown = True
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

    def set_aside(self) -> str | None:
        """Move a broken database out of the way and drop what was derived from it.

        Return its name, or None where another process has done so since it was opened here.
        """
        self.close()
        aside = self._free_name()
        try:
            self._lock.acquire()
            if self._file is not None and self._file != self._place.file:
                return None
            self.on_anew()
            self._place.database.rename(aside)
            for suffix in ("-wal", "-shm"):
                beside = self._place.database.with_name(self._place.database.name + suffix)
                beside.unlink(missing_ok=True)
            lexical.discard(self._place.lexical)
            lexical.discard(self._place.vectors)
            name = glob.escape(self._place.database.name)
            every = sorted(aside.parent.glob(f"{name}{_ASIDE}*"))
            for older in every[:-_KEPT]:
                older.unlink(missing_ok=True)
        except OSError as error:
            raise database.explain(self._place, error) from error
        finally:
            self._file = None
            self._lock.release()
        return str(aside)

    def _free_name(self) -> Path:
        name = f"{self._place.database.name}{_ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
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
        self._require_leave()
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
