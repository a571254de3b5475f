"""Finishing or removing what a killed writer left between two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import NamedTuple

from bookwheel.engines.hiding import stored_terms
from bookwheel.engines.opensearch import entries, rows, schema, state
from bookwheel.engines.opensearch.cluster import PATIENCE_SECONDS, Body
from bookwheel.engines.opensearch.filters import Query, any_value, every, term
from bookwheel.engines.opensearch.filters import some as any_of
from bookwheel.engines.opensearch.leases import EVERY
from bookwheel.engines.opensearch.recent import LostText
from bookwheel.engines.opensearch.store import Source
from bookwheel.engines.opensearch.vector_writing import VectorWriter
from bookwheel.model import Chunk, Document, PageTerms, Status

_GENERATED = (schema.TEXTS, schema.PASSAGES)
_STEP = 200
_Made = tuple[int, int]
"""A document and the generation in which a part of it was written."""


class Kept(NamedTuple):
    """What the cluster has of a document to make its entries from."""

    text: bytes
    chunks: tuple[Chunk, ...]
    terms: PageTerms


class Recovery(VectorWriter):
    """What the next holder of a lease does first."""

    def _count_on(self) -> None:
        """Go on counting after what there is, where the counters are lost: keys are used once."""
        if self._tables.read(state.COUNTERS):
            return
        self._refresh_indices(schema.DOCUMENTS)
        names = {"keys": "key", "generation": "generation"}
        asked = {name: {"max": {"field": field}} for name, field in names.items()}
        answer = self._search(schema.DOCUMENTS, {"size": 0, "aggs": asked})["aggregations"]
        last = {name: int(answer[name]["value"] or 0) for name in names}
        if any(last.values()):
            self._tables.change(
                state.COUNTERS,
                lambda data: data.update(
                    {each: max(last[each], data.get(each, 0)) for each in last}
                ),
            )

    def _recover(self, unfinished: Mapping[str, int]) -> None:
        """Bring in step what was written after some generation, by collection."""
        if not unfinished:
            return
        self._refresh_indices(schema.DOCUMENTS, schema.PAGES, *_GENERATED)
        since = min(unfinished.values())
        newer: Query = {"range": {"generation": {"gt": since}}}
        own = [] if EVERY in unfinished else [any_value("collection", list(unfinished))]
        theirs = every([newer, *own])
        fields = ("key", "generation", "status", "chunks")
        found = self._scan(schema.DOCUMENTS, theirs, ("key",), fields=fields)
        while some := [hit["_source"] for hit in islice(found, _STEP)]:
            self._finish(some)
        self._sweep(schema.PAGES, theirs, {EVERY})
        for kind in _GENERATED:  # which cannot be asked for by their collection
            self._sweep(kind, newer, unfinished.keys())

    def _finish(self, some: Sequence[Source]) -> None:
        """Make the pages of rows that a writer did not come to, and delete what they replaced."""
        pages = self._get_many(schema.PAGES, [row["key"] for row in some], "generation")
        actions: list[Body] = []
        older: list[Query] = []
        for row in some:
            key, generation = row["key"], row["generation"]
            page = pages.get(str(key))
            if row["status"] != Status.OK:
                actions += [self._act(schema.PAGES, "delete", key)] if page else []
            elif page is None or page["_source"]["generation"] != generation:
                actions += self._page_actions(key, generation)
            before = {"range": {"generation": {"lt": generation}}}
            older.append(every([term("document", key), before]))
        self._must(self._bulk(actions))
        for kind in _GENERATED:
            self._delete_where(kind, any_of(older))

    def _page_actions(self, key: int, generation: int) -> Iterator[Body]:
        """Yield what makes the page of a document from its text, and adds its words."""
        row = self._row(key)
        if row is None:
            return
        document = rows.to_document(row)
        kept = self._read_kept(document)
        if kept is None:
            return
        source = entries.page_entry(document, kept.terms)
        yield self._act(schema.PAGES, "index", key, _source=source)
        yield from self._word_actions(entries.words_of(kept.terms), generation)

    def _read_kept(self, document: Document) -> Kept | None:
        """Return the words of a document from its text in the cluster; None where that is lost."""
        key = document.key
        numbers = [(key, ordinal) for ordinal in range(1, document.chunks + 1)]
        chunks = tuple(passage.chunk for passage in self.passages(numbers).values())
        if len(chunks) < document.chunks:
            return None
        try:
            text = self.text(key)
        except LostText:
            return None
        headings = [section.heading for section in self.sections(key)]
        found = self.redactions([key]).get(key)
        spans = found.spans if found else ()
        terms = stored_terms(document, text, chunks=chunks, headings=headings, spans=spans)
        return Kept(text, chunks, terms)

    def _sweep(self, kind: str, query: Query, names: Set[str]) -> None:
        """Delete parts or pages that belong to no row, or to another generation of it.

        Those of other collections are left alone: somebody may be about to write their row.
        """
        made: dict[_Made, str | None] = {}
        fields = ("document", "generation", "kept.collection")
        for hit in self._scan(kind, query, ("document", "generation"), fields=fields):
            source = hit["_source"]
            place = source["document"], source["generation"]
            made[place] = source.get("kept", {}).get("collection")
        strays = self._strays(made, names)
        for first in range(0, len(strays), _STEP):
            some = [
                every([term("document", key), term("generation", generation)])
                for key, generation in strays[first : first + _STEP]
            ]
            self._delete_where(kind, any_of(some))

    def _strays(self, made: Mapping[_Made, str | None], names: Set[str]) -> list[_Made]:
        now = self._rows([key for key, _ in made], "generation", "collection")
        found = []
        for (key, generation), collection in made.items():
            row = now.get(key, {})
            is_theirs = EVERY in names or (collection or row.get("collection")) in names
            if is_theirs and row.get("generation") != generation:
                found.append((key, generation))
        return found

    def _delete_where(self, kind: str, query: Query) -> None:
        path = f"/{self._indices.alias(kind)}/_delete_by_query"
        params = {
            "conflicts": "proceed",
            "refresh": "true",
            "request_timeout": PATIENCE_SECONDS,
        }
        self._cluster.ask("POST", path, {"query": query}, params)
