"""The interface every engine meets: a catalogue of documents, and a match for words.

An engine stores and finds; it does not interpret, correct, rank by meaning, cut or redact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bookwheel.model import (
    Chunk,
    Citation,
    Collection,
    Counts,
    Document,
    Draft,
    FileState,
    Job,
    Known,
    Link,
    Place,
    Priority,
    Section,
    Span,
)
from bookwheel.query import Filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bookwheel.engines.passages import Passages

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]
else:  # numpy is slow to import, and only what reckons with vectors needs it
    Vector = Matrix = Any


class Field(StrEnum):
    """The parts of an entry that hold terms."""

    TITLE = "title"
    HEADING = "heading"
    BODY = "body"
    EXACT = "exact"
    NAMES = "names"
    HIDDEN = "hidden"
    """Marks of words that stand in an entry only where it is redacted."""

    __hash__ = str.__hash__  # that of enumerations is no native one


class Term(NamedTuple):
    """A term in one field and what a match of it is worth; not met by entries with some marks."""

    field: Field
    text: str
    weight: float
    unless: tuple[str, ...] = ()


class Holds(NamedTuple):
    """Met by an entry with any of some terms."""

    terms: tuple[Term, ...]


class InOrder(NamedTuple):
    """Met where exact words stand in this order with at most so many others between them.

    Not met by entries with some marks.
    """

    words: tuple[str, ...]
    gap: int = 0
    unless: tuple[str, ...] = ()


class Every(NamedTuple):
    """Met where each of its parts is."""

    parts: tuple[Condition, ...]


class Some(NamedTuple):
    """Met where at least one of its parts is."""

    parts: tuple[Condition, ...]


class Without(NamedTuple):
    """Met where its part is not."""

    part: Condition


Condition = Holds | InOrder | Every | Some | Without
Phrase = tuple[str, ...] | InOrder


class Vocabulary(dict[int, tuple[str, ...]]):
    """The terms of a field by their length; those that begin alike are sorted out once.

    In tuples and as keys: Python's garbage collector goes through long lists and sets again and
    again.
    """

    def __init__(self, words: Mapping[int, Iterable[str]]) -> None:
        super().__init__((length, tuple(some)) for length, some in words.items())
        self._by_letter: dict[int, dict[str, tuple[str, ...]]] = {}
        self._known: dict[int, dict[str, None]] = {}

    @cached_property
    def characters(self) -> frozenset[str]:
        """All characters of all terms."""
        return frozenset().union(*(frozenset("".join(some)) for some in self.values()))

    def of_length(self, length: int) -> KeysView[str]:
        """Return the terms of a length as a set, for those who ask for certain ones."""
        known = self._known.get(length)
        if known is None:
            known = self._known[length] = dict.fromkeys(self.get(length, ()))
        return known.keys()

    def beginning(self, letter: str, length: int) -> tuple[str, ...]:
        """Return the terms of a length that begin with a letter, in the order of all."""
        known = self._by_letter.get(length)
        if known is None:
            parts: dict[str, list[str]] = {}
            for word in self.get(length, ()):
                parts.setdefault(word[0], []).append(word)
            known = {first: tuple(some) for first, some in parts.items()}
            self._by_letter[length] = known
        return known.get(letter, ())


class Match(NamedTuple):
    """What entries to find: each clause is one word of the query, met by any of its terms.

    With `all_clauses` every clause must be met, otherwise at least one. `bonus` terms add to the
    score without being asked for. Phrases must stand as written, excluded terms and phrases
    nowhere; filters hold throughout. Where a condition is required, it alone says what must be
    there, and clauses weigh.
    """

    clauses: tuple[tuple[Term, ...], ...]
    all_clauses: bool = False
    bonus: tuple[Term, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    excluded: tuple[Term, ...] = ()
    excluded_phrases: tuple[Phrase, ...] = ()
    titles: tuple[str, ...] = ()
    title_bonus: float = 0.0
    filters: Filters | None = None
    documents: tuple[int, ...] | None = None
    required: Condition | None = None


class Found(NamedTuple):
    """Entries in order of score: (document, chunk ordinal or 0 for the page, score)."""

    entries: tuple[tuple[int, int, float], ...]
    total: int


class Redactions(NamedTuple):
    """What must not be seen of one text, and by which rules that was found."""

    rules: str
    spans: tuple[Span, ...]


class Passage(NamedTuple):
    """A chunk together with its own text."""

    document: int
    chunk: Chunk
    text: str


def model_text(title: str, passage: Passage) -> str:
    """Return what a model reads of a chunk: where it stands, and its text."""
    return " > ".join((title, *passage.chunk.trail)) + "\n" + passage.text


class CollectionState(NamedTuple):
    """A collection as the engine knows it."""

    collection: Collection
    documents: int
    scanned_at: float | None
    device: int | None
    host: str = ""
    """The machine that it was indexed on last, where several share the index."""


class Catalog(Protocol):
    """Documents by name: what is there, and its text."""

    def collections(self) -> list[CollectionState]: ...
    def document(self, collection: str, path: str) -> Document | None: ...
    def documents_by_key(self, keys: Sequence[int]) -> dict[int, Document]: ...
    def list_documents(
        self, collection: str, *, folder: str = "", limit: int, offset: int
    ) -> tuple[list[Document], int]: ...
    def paths(self, collection: str) -> list[str]: ...
    def folders(self, collection: str) -> Sequence[str]: ...
    def text(self, key: int) -> bytes: ...
    def sections(self, key: int) -> list[Section]: ...
    def headings(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]: ...
    def headings_above(
        self, wanted: Sequence[tuple[str, str, int]]
    ) -> dict[tuple[str, str, int], str]: ...
    def links(self, key: int) -> list[Link]: ...
    def outgoing(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]: ...
    def incoming(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]: ...
    def most_cited(self, limit: int) -> dict[int, int]: ...
    def unresolved(self, collections: Sequence[str], limit: int) -> list[tuple[int, Link]]: ...
    def anchored(self, collections: Sequence[str], limit: int) -> list[Citation]: ...
    def named(self, key: int) -> list[int]: ...
    def places(self, key: int) -> list[Place]: ...
    def redactions(self, keys: Sequence[int]) -> dict[int, Redactions]: ...
    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]: ...
    def languages(self) -> dict[str, int]: ...
    def ledger(self, collection: str | None = None) -> list[Document]: ...
    def status_counts(self, filters: Filters) -> dict[str, int]: ...
    def kinds(self, collection: str) -> dict[str, int]: ...
    def count_by(self, column: str, filters: Filters) -> dict[str, int]: ...
    def skipped(self, collection: str) -> dict[tuple[str, str], int]: ...


def rarity(holding: int, of: int) -> float:
    """Return what entries are scored by that hold a term, if so many of so many do."""
    return math.log(1 + (max(of - holding, 0) + 0.5) / (holding + 0.5))


class LexicalIndex(Protocol):
    """Entries by word.

    `expect` says which terms will be asked about, and `match_each` asks several things at once: so
    an engine that is far away need not be asked for each by itself.
    """

    def expect(self, terms: Iterable[str]) -> None: ...
    def match_each(
        self, matches: Sequence[Match], limit: int, *, count: bool = False
    ) -> list[Found]: ...
    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found: ...
    def match_passages(self, match: Match, limit: int) -> Found: ...
    def frequency(self, field: Field, term: str) -> int: ...
    def weight(self, field: Field, term: str, *, of_passages: bool = False) -> float: ...
    def page_count(self) -> int: ...
    def vocabulary(self, field: Field = Field.EXACT) -> Vocabulary: ...


class VectorIndex(Protocol):
    """Chunks by meaning: vectors under the fingerprint of the model that made them."""

    def has_vectors(self) -> bool: ...
    def lacks_vectors(self, fingerprint: str) -> bool:
        """Tell whether any document with text has no vectors of a model."""

    def embedded(self, fingerprint: str) -> tuple[int, int]: ...
    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, Passages]]:
        """Return title and chunks of some documents that lack vectors, in order of their keys."""

    def open_vectors(self, fingerprint: str) -> None: ...
    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found: ...
    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]: ...


class JobQueue(Protocol):
    """Folders to be indexed, kept with the index so that any process can ask for one.

    Jobs are only run by whoever is writing: what seems to run when one begins to write was left
    behind. Asking needs no writer lock.
    """

    def add(
        self, collection: str, folder: str, *, full: bool, priority: Priority
    ) -> tuple[Job, bool]: ...
    def plan(self, places: Sequence[tuple[str, str]], *, full: bool) -> list[Job]: ...
    def take(self) -> Job | None: ...
    def start(self, number: int) -> None: ...
    def note(self, number: int, counts: Counts) -> None: ...
    def finish(self, number: int, counts: Counts, *, error: str = "") -> None: ...
    def release(self) -> None: ...
    def job(self, number: int) -> Job | None: ...
    def jobs(self) -> list[Job]: ...


class Engine(Catalog, LexicalIndex, VectorIndex, Protocol):
    """The whole store, as it is read."""

    @property
    def hides(self) -> bool: ...
    @property
    def generation(self) -> int: ...
    def refresh(self) -> bool: ...
    def note(self, name: str) -> str | None: ...


class WritableEngine(Engine, Protocol):
    """The store as it is written: after `begin_writing`, which one process at a time can have.

    A shared one is open to several indexers: each has some collections to itself, and leaves the
    others alone.
    """

    @property
    def exists(self) -> bool: ...
    @property
    def is_shared(self) -> bool: ...
    @property
    def home(self) -> Path: ...
    @property
    def location(self) -> str: ...

    on_damage: Callable[[], None]
    """Called when a question cannot be answered because the index is broken."""
    on_anew: Callable[[], None]
    """Called when another index comes in the place of this one."""

    @property
    def own_paths(self) -> list[Path]: ...
    @property
    def queue(self) -> JobQueue: ...
    @property
    def is_written(self) -> bool: ...
    def begin_writing(self, collections: Iterable[str] | None = None) -> None: ...
    def end_writing(self) -> None: ...
    def declare(self, collections: Iterable[Collection]) -> None: ...
    def forget(self, collection: str) -> None: ...
    def known(self, collection: str, folder: str = "") -> dict[str, Known]: ...
    def write(self, drafts: Iterable[Draft]) -> None: ...
    def touch(self, collection: str, states: Mapping[str, FileState]) -> None: ...
    def remove(self, collection: str, paths: Sequence[str]) -> int: ...
    def mark_scanned(
        self, collection: str, *, device: int, skipped: Mapping[tuple[str, str], int], at: float
    ) -> None: ...
    def write_vectors(
        self, fingerprint: str, dimensions: int, rows: Mapping[int, Matrix]
    ) -> None: ...
    def keep_vectors(self, fingerprint: str) -> None: ...
    def drop_vectors(self, besides: Sequence[str]) -> None:
        """Delete the vectors of all models but some."""

    def commit(self) -> None: ...
    def set_note(self, name: str, value: str) -> None: ...
    def totals(self) -> tuple[int, int, int]: ...
    def disk_bytes(self) -> int: ...
    def facts(self) -> dict[str, str]: ...
    def require_whole(self) -> None:
        """Raise IndexUnusable where a part of the index cannot be read just now."""

    def check(self) -> Iterator[str]: ...
    def set_aside(self) -> str | None:
        """Move a broken index out of the way; None where another process has done so."""

    def close(self) -> None: ...
