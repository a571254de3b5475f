"""Finishing or removing what a killed writer left between two steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bookwheel.engines.opensearch import entries, rows, schema
from bookwheel.engines.opensearch.cluster import Body
from bookwheel.engines.opensearch.filters import Query, every, term
from bookwheel.engines.opensearch.leases import EVERY
from bookwheel.engines.opensearch.store import Source
from bookwheel.engines.opensearch.writing import DocumentWriter
from bookwheel.model import Status
from bookwheel.text.entries import page_terms

_GENERATED = (schema.TEXTS, schema.PASSAGES)


class Recovery(DocumentWriter):
    """What the next holder of a lease does first."""

    def _recover(self, unfinished: Mapping[str, int]) -> None:
        """Bring in step what was written after some generation, by collection."""
        if not unfinished:
            return
        self._refresh_indices(schema.DOCUMENTS, schema.PAGES, *_GENERATED)
        since = min(unfinished.values())
        newer: Query = {"range": {"generation": {"gt": since}}}
        names = [term("collection", name) for name in unfinished if name != EVERY]
        conditions = [newer] if EVERY in unfinished else [newer, {"bool": {"should": names}}]
        fields = ("key", "generation", "status", "chunks")
        found = self._scan(schema.DOCUMENTS, every(conditions), ("key",), fields=fields)
        for hit in found:
            self._finish(hit["_source"])
        self._sweep(newer)

    def _finish(self, row: Source) -> None:
        """Make the page of a row that a writer did not come to, and delete what it replaced."""
        key, generation = row["key"], row["generation"]
        page = self._get_many(schema.PAGES, [key], "generation").get(str(key))
        is_good = row["status"] == Status.OK
        if is_good and (page is None or page["_source"]["generation"] != generation):
            self._must(self._cluster.bulk(self._page_actions(key, generation)))
        elif not is_good and page is not None:
            self._must(self._cluster.bulk([self._act(schema.PAGES, "delete", key)]))
        older = every([term("document", key), {"range": {"generation": {"lt": generation}}}])
        for kind in _GENERATED:
            self._delete_where(kind, older)

    def _page_actions(self, key: int, generation: int) -> Iterator[Body]:
        """Yield what makes the page of a document from its text, and adds its words."""
        row = self._row(key)
        if row is None:
            return
        document = rows.to_document(row)
        text = self.text(key)
        numbers = [(key, ordinal) for ordinal in range(1, document.chunks + 1)]
        chunks = [passage.chunk for passage in self.passages(numbers).values()]
        headings = [section.heading for section in self.sections(key)]
        terms = page_terms(document.title, text, chunks, headings, document.language)
        source = entries.page_entry(document, terms)
        yield self._act(schema.PAGES, "index", key, _source=source)
        yield from self._word_actions(entries.words_of(terms), generation)

    def _sweep(self, newer: Query) -> None:
        """Delete parts and pages that belong to no row, or to another generation of it."""
        for kind in (*_GENERATED, schema.PAGES):
            fields = ("document", "generation")
            hits = self._scan(kind, newer, ("document", "generation"), fields=fields)
            strays = self._strays((hit["_id"], hit["_source"]) for hit in hits)
            self._must(self._cluster.bulk(self._act(kind, "delete", each) for each in strays))

    def _strays(self, found: Iterable[tuple[str, Source]]) -> list[str]:
        every_one = list(found)
        now = self._rows([source["document"] for _, source in every_one], "generation")
        return [
            entry
            for entry, source in every_one
            if now.get(source["document"], {}).get("generation") != source["generation"]
        ]

    def _delete_where(self, kind: str, query: Query) -> None:
        path = f"/{self._indices.alias(kind)}/_delete_by_query"
        params = {"conflicts": "proceed", "refresh": "true"}
        self._cluster.ask("POST", path, {"query": query}, params)
