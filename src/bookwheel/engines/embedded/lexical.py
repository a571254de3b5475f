"""The word index: two tantivy indexes, one entry per page and one per chunk, holding no text.

Everything here is derived from the catalogue and disposable. A mark entry in each index names the
generation up to which it holds the catalogue; it is replaced in the same commit as the entries.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import tantivy
from tantivy import Query

from bookwheel.engines.asking import without_titles
from bookwheel.engines.base import Field, Found, Match, Vocabulary, rarity
from bookwheel.engines.embedded.binding import (
    WordsFailed,
    end_writer,
    guarded,
    open_again,
    open_index,
    shadowing,
)
from bookwheel.engines.embedded.leave import OWN_TABLE, find_closed, share, sharing
from bookwheel.engines.embedded.word_entries import (
    MARK,
    NOBODY,
    Entry,
    PageText,
    page_entry,
    passage_entry,
)
from bookwheel.engines.embedded.word_queries import build_query, every_entry
from bookwheel.text.entries import BORDER

LAYOUT_VERSION = 5
_REOPEN_AFTER = 50
_MOST_FREQUENCIES = 100_000
_HEAP = {"pages": 50_000_000, "passages": 80_000_000}
_MANY_WORDS = 50_000
"""A vocabulary that is larger takes long to read, and is not read again after every commit."""
_WORDS_A_SECOND = 10_000
"""For so many of its words it is kept one second, whatever is committed meanwhile."""
_MANY_PAGES = 20_000
_WEIGHED = 10
"""Of more pages that hold the words, so many times as are wanted are weighed by all there is."""
KINDS = ("pages", "passages")


class _Vocabulary(NamedTuple):
    """The terms of a field by their length, as of which commits, and until when they must do."""

    words: Vocabulary
    stamps: tuple[tuple[int, int], ...]
    kept_until: float


class WordIndex:
    """Both indexes, open for reading and, between `start_writing` and `stop_writing`, writing."""

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        self._paths = {kind: folder / kind for kind in KINDS}
        self._writers: dict[str, tantivy.IndexWriter] = {}
        self._sharing = ExitStack()
        self._is_open = False
        """Whether something was written that is not committed."""
        self._stamps: tuple[tuple[int, int], ...] = ()
        self._vocabularies: dict[Field, _Vocabulary] = {}
        self._frequencies: dict[Field, dict[str, int]] = {}
        self._is_fixed = False
        self._is_shadowed = readonly or any(map(_is_anothers, self._paths.values()))
        self._reloads = 0
        if not self._is_shadowed:
            with guarded():
                self._indexes = {kind: open_index(kind, path) for kind, path in self._paths.items()}
        self.reload()
        self._is_fixed = readonly

    @staticmethod
    def exists(folder: Path) -> bool:
        # Where a folder may not be entered, Path.exists would raise.
        return all(os.path.exists(folder / kind / "meta.json") for kind in KINDS)  # noqa: PTH110 - see above

    # Reading

    def reload(self) -> bool:
        """Look at the newest commits; tell whether there were any.

        While another process makes the index anew there is nothing to see, and the old stays; so it
        does where the new may not be read, or not yet.
        """
        if self._is_fixed:
            return False
        stamps = self._read_stamps()
        tables = (path / "meta.json" for path in self._paths.values())
        if stamps == self._stamps or (self._stamps and find_closed(tables)):
            return False
        try:
            with guarded():
                self._reload_indexes()
                self._pages = self._indexes["pages"].searcher()
                self._passages = self._indexes["passages"].searcher()
        except WordsFailed:
            if self._is_shadowed and self._read_stamps() != stamps:
                return self.reload()  # no lock keeps who writes from removing files meanwhile
            raise
        self._stamps = stamps
        self._frequencies = {}
        return True

    def _read_stamps(self) -> tuple[tuple[int, int], ...]:
        try:
            return tuple(_stamp_of(path / "meta.json") for path in self._paths.values())
        except (FileNotFoundError, PermissionError) as error:
            if self._stamps:
                return self._stamps
            raise WordsFailed(str(error)) from error

    def _reload_indexes(self) -> None:
        self._reloads += 1
        if self._is_shadowed:
            with shadowing(self._paths) as shadows:
                self._indexes = {kind: open_again(path) for kind, path in shadows.items()}
        elif not self._reopen_if_due():
            for index in self._indexes.values():
                index.reload()

    def _reopen_if_due(self) -> bool:
        """Open the indexes anew now and then, while nothing is written; tell whether it was done.

        One that is open remembers the name of every file that it ever mapped: whoever follows a
        folder that changes all day would grow by megabytes.
        """
        if self._reloads < _REOPEN_AFTER or self._writers:
            return False
        self._indexes = {kind: open_again(path) for kind, path in self._paths.items()}
        self._reloads = 0
        return True

    def generation(self) -> int:
        """Return the generation that both indexes hold; -1 where a mark is missing."""
        with guarded():
            return min(
                self._mark(self._indexes["pages"], self._pages),
                self._mark(self._indexes["passages"], self._passages),
            )

    @staticmethod
    def _mark(index: tantivy.Index, searcher: tantivy.Searcher) -> int:
        query = Query.term_query(index.schema, "document", MARK)
        hits = searcher.search(query, limit=1).hits
        values = searcher.fast_field_values("ordinal", [hits[0][1]]) if hits else []
        return int(values[0]) if values and values[0] is not None else -1

    def page_count(self) -> int:
        """Return how many pages there are, deleted ones not counted."""
        return max(0, self._pages.num_docs - 1)

    def frequency(self, field: Field, term: str) -> int:
        """Return how many pages hold a term; pages deleted lately may still count."""
        known = self._frequencies.setdefault(field, {})
        frequency = known.get(term)
        if frequency is None:
            with guarded():
                frequency = self._pages.doc_freq(field, term)
            if len(known) < _MOST_FREQUENCIES:
                known[term] = frequency
        return frequency

    def weight(self, field: Field, term: str, *, of_passages: bool) -> float:
        """Return what a term weighs in scores, by how few of all entries hold it."""
        searcher = self._passages if of_passages else self._pages
        with guarded():
            return rarity(searcher.doc_freq(field, term), searcher.num_docs)

    def vocabulary(self, field: Field) -> Vocabulary:
        """Return a field's terms by length.

        Those of deleted pages may still be there; where there are very many, those of the latest
        pages may not be there yet.
        """
        known = self._vocabularies.get(field)
        if known is None or (known.stamps != self._stamps and time.monotonic() >= known.kept_until):
            known = self._vocabularies[field] = self._read_vocabulary(field)
        return known.words

    def _read_vocabulary(self, field: Field) -> _Vocabulary:
        words: dict[int, list[str]] = {}
        stamps = self._stamps
        with guarded():
            every = self._pages.terms_with_prefix(field, "")
            for word, _ in every:
                words.setdefault(len(word), []).append(word)
        if field is Field.EXACT and BORDER.strip() in words.get(1, ()):
            words[1].remove(BORDER.strip())
        kept = len(every) / _WORDS_A_SECOND if len(every) > _MANY_WORDS else 0.0
        return _Vocabulary(Vocabulary(words), stamps, time.monotonic() + kept)

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        """Return the pages that match, best first.

        What adds to a score without being asked for is dear to look up for every page: where very
        many match, it decides among those that are best without it.
        """
        if match.bonus and self._may_match(match) > _MANY_PAGES:
            best = self._match_pages(match._replace(bonus=()), _WEIGHED * limit, count=count)
            documents = tuple(document for document, _, _ in best.entries)
            asked = match._replace(documents=documents, filters=None)
            return self._match_pages(asked, limit)._replace(total=best.total)
        return self._match_pages(match, limit, count=count)

    def _match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        with guarded():
            query = build_query(match, self._indexes["pages"].schema)
            return self._search(self._pages, query, limit, count=count, ordinals=False)

    def _may_match(self, match: Match) -> int:
        """Return about how many pages hold the words; 0 where not words alone decide."""
        is_bound = match.documents is not None or match.required is not None
        if is_bound or not match.clauses or self.page_count() <= _MANY_PAGES:
            return 0
        held = [
            max(self.frequency(term.field, term.text) for term in clause)
            for clause in match.clauses
        ]
        return min(held) if match.all_clauses else max(held)

    def match_passages(self, match: Match, limit: int) -> Found:
        """Return the chunks that match, best first."""
        with guarded():
            query = build_query(without_titles(match), self._indexes["passages"].schema)
            return self._search(self._passages, query, limit, count=False, ordinals=True)

    def documents(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return how many page entries and how many chunk entries each document has."""
        counts = []
        with guarded():
            for kind, searcher in (("pages", self._pages), ("passages", self._passages)):
                every = every_entry(self._indexes[kind].schema)
                hits = searcher.search(every, limit=max(1, searcher.num_docs), count=False).hits
                addresses = [address for _, address in hits]
                keys = searcher.fast_field_values("document", addresses) if addresses else []
                counts.append(dict(Counter(int(key) for key in keys if key is not None)))
        return counts[0], counts[1]

    @staticmethod
    def _search(
        searcher: tantivy.Searcher, query: Query, limit: int, *, count: bool, ordinals: bool
    ) -> Found:
        # A limit of zero makes the binding panic.
        result = searcher.search(query, limit=max(1, limit), count=count)
        hits = result.hits  # made anew at each asking
        if not hits:
            return Found((), 0)
        scores, addresses = map(list, zip(*hits, strict=True))
        documents: Sequence[object] = searcher.fast_field_values("document", addresses)
        numbers: Sequence[object] = (
            searcher.fast_field_values("ordinal", addresses) if ordinals else [0] * len(addresses)
        )
        entries: Any = tuple(zip(documents, numbers, scores, strict=True))
        if None in documents:
            entries = tuple(entry for entry in entries if entry[0] is not None)
        total = result.count if count else len(entries)  # type: ignore[attr-defined] # missing in the stub
        return Found(entries[: max(0, limit)], int(total or 0))

    # Writing

    @property
    def is_writing(self) -> bool:
        return bool(self._writers)

    def start_writing(self) -> None:
        """Open the writers; each index has one at a time, over all processes."""
        if not self._writers:
            self._sharing.enter_context(sharing([*self._paths.values()]))
        with guarded():
            self._reopen_if_due()
            for kind, index in self._indexes.items():
                if kind not in self._writers:
                    writer = index.writer(_HEAP[kind], 1)
                    # The first operation of a writer bears the number of the last commit, and a
                    # merge that is due may take it for done: nothing of worth may come first.
                    writer.delete_documents_by_term("document", NOBODY)
                    self._writers[kind] = writer

    def stop_writing(self) -> None:
        """Drop what was not committed and let the writers go.

        Merges that a commit has begun are waited for: rolling back would throw them away, and the
        next commit begin them anew.
        """
        writers, self._writers = self._writers, {}
        is_open, self._is_open = self._is_open, False
        with self._sharing:
            for writer in writers.values():
                if is_open:
                    # A writer that an error has killed cannot roll back: it holds nothing any more.
                    with suppress(WordsFailed), guarded():
                        writer.rollback()
                end_writer(writer)

    def delete(self, keys: Iterable[int]) -> None:
        """Delete the entries of documents; seen after the commit."""
        self._is_open = True
        with guarded():
            for key in keys:
                for writer in self._writers.values():
                    writer.delete_documents_by_term("document", key)

    def add(self, entry: Entry) -> None:
        """Add the entries of a document; seen after the commit."""
        self._is_open = True
        with guarded():
            page, text = page_entry(entry), PageText(entry.terms)
            for ordinal, passage in enumerate(entry.terms.passages, start=1):
                self._writers["passages"].add_document(passage_entry(entry.key, ordinal, passage))
                text.add(passage, page)
            text.finish(page)
            self._writers["pages"].add_document(page)

    def commit(self, generation: int) -> None:
        """Make what was added and deleted visible, together with its generation."""
        self._is_open = True
        with guarded():
            for kind, writer in self._writers.items():
                writer.delete_documents_by_term("document", MARK)
                mark = tantivy.Document()
                mark.add_integer("document", MARK)
                mark.add_integer("ordinal", generation)
                writer.add_document(mark)
                writer.commit()
                share(self._paths[kind])  # at once: the thread is for merges
        self._is_open = False

    def close(self) -> None:
        """Let go of files and threads."""
        self.stop_writing()


def _is_anothers(folder: Path) -> bool:
    """Tell whether there is such a folder and only others may write there."""
    mine = os.access(folder, os.W_OK) and find_closed([folder / OWN_TABLE]) is None
    return os.access(folder, os.F_OK) and not mine


def _stamp_of(file: Path) -> tuple[int, int]:
    """Return what differs after each commit: the file is replaced, and times alone may be equal."""
    seen = file.stat()
    return seen.st_mtime_ns, seen.st_ino


def discard(folder: Path) -> None:
    """Remove a folder of words or vectors: it can be made again from the catalogue."""
    shutil.rmtree(folder, ignore_errors=True)
