"""Indices of another version: new ones are built beside them, and all are switched at once.

Rows and texts are copied, words are made anew from the texts. The tables of `state` and vectors
have no schema to change: those are read as a whole, these are made anew with another model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from bookwheel.engines.opensearch import entries, rows, schema
from bookwheel.engines.opensearch.cluster import PATIENCE_SECONDS, Body
from bookwheel.engines.opensearch.filters import term
from bookwheel.engines.opensearch.leases import Lease
from bookwheel.engines.opensearch.recovery import Recovery
from bookwheel.engines.opensearch.store import Source
from bookwheel.errors import IndexUnusable
from bookwheel.model import Status

_STEP = 100
_LOOK_SECONDS = 0.5
_LEAVE_SECONDS = 3.0
"""For so long what was replaced stays: searches that have begun look into it yet."""


class Rebuild(Recovery):
    """Brings indices to the present version; no file is read, and search goes on."""

    def _renew(self) -> None:
        """Build anew what another version has made, holding all collections for so long."""
        there = self._indices.present()
        old = {
            kind: there[kind]
            for kind in (*schema.COPIED, *schema.ANALYSED)
            if kind in there and there[kind] != self._indices.name(kind)
        }
        if old:
            schema.refuse_newer(old.values())
            self._build(there, [*old])
            time.sleep(_LEAVE_SECONDS)
        for name in self._indices.replaced():
            self._indices.delete(name)

    def _build(self, there: Mapping[str, str], kinds: Sequence[str]) -> None:
        lease = Lease(self._tables)
        unfinished = lease.acquire(None)
        try:
            copied = [kind for kind in schema.COPIED if kind in kinds]
            for kind in (*copied, *schema.ANALYSED):
                self._indices.create_beside(kind)
            for kind in copied:
                self._copy(there[kind], self._indices.name(kind), lease)
            self._fill_beside()
            lease.hold()
            self._indices.switch((*copied, *schema.ANALYSED), there)
            self._recover(unfinished)
        except BaseException:
            lease.release(is_finished=not unfinished)
            raise
        lease.release()
        self._forget_known()

    def _copy(self, source: str, target: str, lease: Lease) -> None:
        """Let the cluster copy an index, which may take long; nobody else may write meanwhile."""
        self._cluster.ask(
            "POST", f"/{source}/_refresh", None, {"request_timeout": PATIENCE_SECONDS}
        )
        asked = {"source": {"index": source}, "dest": {"index": target}}
        begun = self._cluster.ask("POST", "/_reindex", asked, {"wait_for_completion": "false"})
        while not (task := self._cluster.ask("GET", f"/_tasks/{begun['task']}"))["completed"]:
            lease.hold()
            time.sleep(_LOOK_SECONDS)
        if "error" in task or task["response"]["failures"]:
            raise IndexUnusable(
                f"The cluster could not copy the index {source}.",
                hint="It is used as it was. The cluster's log says why.",
            )

    def _fill_beside(self) -> None:
        self._refresh_indices(schema.DOCUMENTS)
        good = term("status", str(Status.OK))
        some: list[Source] = []
        known: set[str] = set()
        for hit in self._scan(schema.DOCUMENTS, good, ("key",)):
            some.append(hit["_source"])
            if len(some) == _STEP:
                self._must(self._cluster.bulk(self._beside(some, known), by_alias=False))
                some = []
        self._must(self._cluster.bulk(self._beside(some, known), by_alias=False))

    def _beside(self, some: list[Source], known: set[str]) -> Iterator[Body]:
        """Yield what writes the words of documents into the indices that are being built."""
        for row in some:
            document = rows.to_document(row)
            kept = self._read_kept(document)
            if kept is None:
                continue  # the others must not wait for it
            text, chunks, terms = kept
            page = entries.page_entry(document, terms)
            yield self._new(schema.PAGES, str(document.key), page)
            for name, source in entries.passage_entries(document, terms, chunks, text):
                yield self._new(schema.PASSAGES, name, source)
            for field, word in entries.words_of(terms):
                name = f"{field}:{word}"
                if name not in known:
                    known.add(name)
                    yield self._new(
                        schema.WORDS, name, entries.word_entry(field, word, document.generation)
                    )

    def _new(self, kind: str, entry: str, source: Source) -> Body:
        name = self._indices.name(kind)
        return {"_op_type": "index", "_index": name, "_id": entry, "_source": source}
