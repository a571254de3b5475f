"""Reading the catalogue: collections, documents, their text, sections, chunks and links."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bookwheel.engines.asking import askable
from bookwheel.engines.base import CollectionState, Passage, Redactions
from bookwheel.engines.opensearch import filters as asking
from bookwheel.engines.opensearch import rows, schema, state
from bookwheel.engines.opensearch.filters import Query, any_value, below, every, of_rows, term
from bookwheel.engines.opensearch.recent import LostText, RowReader
from bookwheel.engines.opensearch.store import STEP, WINDOW, Source
from bookwheel.model import Document, Known, Link, Place, Section, Status
from bookwheel.query import Filters

_OK = term("status", str(Status.OK))
_BY_PATH = ("collection", "path")
_COUNTED = ("status", "extension", "language")
_MOST_KINDS = 10_000
_LOST: Source = {"spans": [[0, sys.maxsize, "lost"]]}
"""Nobody knows any more what must not be seen of such a document."""


class CatalogReader(RowReader):
    """Documents by name: what is there, and its text."""

    # Rows

    def _rows_at(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Source]:
        """Return the rows of documents by collection and path."""
        wanted: dict[str, list[str]] = {}
        for collection, path in places:
            wanted.setdefault(askable(collection), []).append(askable(path))
        self._settle()
        found: dict[tuple[str, str], Source] = {}
        for collection, paths in wanted.items():
            for first in range(0, len(paths), STEP):
                some = any_value("path", paths[first : first + STEP])
                query = every([term("collection", collection), some])
                for hit in self._scan(schema.DOCUMENTS, query, ("path",)):
                    found[collection, hit["_source"]["path"]] = hit["_source"]
        return found

    def _list(self, *conditions: Query, limit: int | None = None, skip: int = 0) -> list[Document]:
        self._settle()
        found = self._scan(schema.DOCUMENTS, every(conditions), _BY_PATH, limit=limit, skip=skip)
        return [rows.to_document(hit["_source"]) for hit in found]

    def _tally(self, field: str, *conditions: Query) -> dict[str, int]:
        """Return how many rows there are of each value of a field, most first."""
        order = [{"_count": "desc"}, {"_key": "asc"}]
        tally = {"terms": {"field": field, "size": _MOST_KINDS, "order": order}}
        body = {"size": 0, "query": every(conditions), "aggs": {"tally": tally}}
        answer = self._search(schema.DOCUMENTS, body)
        return {
            str(each["key"]): int(each["doc_count"])
            for each in answer["aggregations"]["tally"]["buckets"]
        }

    # Collections and counts

    @property
    def generation(self) -> int:
        return int(self._tables.read(state.COUNTERS).get("generation", 0))

    def collections(self) -> list[CollectionState]:
        return self._recall("collections", self._read_collections)

    def _read_collections(self) -> list[CollectionState]:
        known = self._tables.read(state.COLLECTIONS)
        counts = self._tally("collection", _OK) if known else {}
        return [
            rows.to_collection(name, known[name], counts.get(name, 0)) for name in sorted(known)
        ]

    def skipped(self, collection: str) -> dict[tuple[str, str], int]:
        known = self._tables.read(state.COLLECTIONS).get(collection, {})
        found = [(reason, kind, count) for reason, kind, count in known.get("skipped", ())]
        found.sort(key=lambda each: -each[2])
        return {(reason, kind): count for reason, kind, count in found}

    def languages(self) -> dict[str, int]:
        return self._recall("languages", lambda: self._tally("language", _OK))

    def status_counts(self, filters: Filters) -> dict[str, int]:
        return self._recall(filters, lambda: self._tally("status", *of_rows(filters)))

    def count_by(self, column: str, filters: Filters) -> dict[str, int]:
        assert column in _COUNTED
        return self._recall((column, filters), lambda: self._tally(column, _OK, *of_rows(filters)))

    def kinds(self, collection: str) -> dict[str, int]:
        self._settle()
        return self._tally("extension", _OK, term("collection", collection))

    def totals(self) -> tuple[int, int, int]:
        """Return how many documents there are, files that gave none, and chunks."""
        return self._recall("totals", self._read_totals)

    def _read_totals(self) -> tuple[int, int, int]:
        statuses = self._tally("status")
        good = statuses.pop(str(Status.OK), 0)
        return good, sum(statuses.values()), self._sum_chunks()

    def _sum_chunks(self, *conditions: Query) -> int:
        sums = {"chunks": {"sum": {"field": "chunks"}}}
        body = {"size": 0, "query": every(conditions), "aggs": sums}
        return int(self._search(schema.DOCUMENTS, body)["aggregations"]["chunks"]["value"])

    # Documents

    def document(self, collection: str, path: str) -> Document | None:
        row = self._rows_at([(collection, path)]).get((askable(collection), askable(path)))
        return rows.to_document(row) if row else None

    def documents_by_key(self, keys: Sequence[int]) -> dict[int, Document]:
        return {key: rows.to_document(row) for key, row in self._recent_rows(keys).items()}

    def list_documents(
        self, collection: str, *, folder: str = "", limit: int, offset: int
    ) -> tuple[list[Document], int]:
        conditions = (_OK, term("collection", collection), below(folder))
        found = self._list(*conditions, limit=limit, skip=offset)
        return found, self._count(schema.DOCUMENTS, every(conditions))

    def paths(self, collection: str) -> list[str]:
        self._settle()
        query = every([_OK, term("collection", collection)])
        found = self._scan(schema.DOCUMENTS, query, _BY_PATH, fields=(), step=WINDOW)
        return [hit["sort"][1] for hit in found]

    def folders(self, collection: str) -> Sequence[str]:
        """Return every folder above a document, at any depth."""
        return self._recall(("folders", collection), lambda: self._read_folders(collection))

    def _read_folders(self, collection: str) -> list[str]:
        found: list[str] = []
        sources = [{"folder": {"terms": {"field": "folder"}}}]
        composite: dict[str, Any] = {"size": WINDOW, "sources": sources}
        query = every([_OK, term("collection", collection)])
        while True:
            body = {"size": 0, "query": query, "aggs": {"all": {"composite": composite}}}
            answer = self._search(schema.DOCUMENTS, body)["aggregations"]["all"]
            found += [each["key"]["folder"] for each in answer["buckets"]]
            if "after_key" not in answer or len(answer["buckets"]) < WINDOW:
                return sorted(found)
            composite["after"] = answer["after_key"]

    def ledger(self, collection: str | None = None) -> list[Document]:
        bad: Query = {"bool": {"must_not": [_OK]}}
        place = asking.EVERYTHING if collection is None else term("collection", collection)
        return self._list(bad, place)

    def known(self, collection: str, folder: str = "") -> dict[str, Known]:
        self._settle()
        query = every([term("collection", collection), *([below(folder)] if folder else [])])
        wanted = ("key", "path", "status", "kept.size", "kept.modified_ns", "kept.racy")
        fields = (*wanted, "kept.digest")
        found = self._scan(schema.DOCUMENTS, query, ("path",), fields=fields, step=WINDOW)
        return {hit["_source"]["path"]: rows.to_known(hit["_source"]) for hit in found}

    # What belongs to a document

    def text(self, key: int) -> bytes:
        text, is_whole = self._consistently(lambda again: self._read_text(key, again))
        if not is_whole:
            raise LostText
        return text

    def _read_text(self, key: int, again: bool) -> tuple[bytes, bool]:
        row = self._recent_rows([key], again=again).get(key)
        count = row["kept"]["pieces"] if row else 0
        if row is None or not count:
            return b"", True
        ids = [f"{key}-{row['generation']}-{number}" for number in range(count)]
        found = self._get_many(schema.TEXTS, ids)
        if len(found) < count:
            return b"", False
        return b"".join(found[each]["_source"]["kept"]["text"].encode() for each in ids), True

    def _details(self, keys: Sequence[int], *fields: str) -> dict[int, Source]:
        """Return the parts of documents that are kept together.

        Of one that has lost them, all is to be hidden.
        """
        return self._consistently(lambda again: self._read_details(keys, fields, again))[0]

    def _read_details(
        self, keys: Sequence[int], fields: Sequence[str], again: bool
    ) -> tuple[dict[int, Source], bool]:
        found = self._recent_rows(keys, again=again)
        good = {key: row for key, row in found.items() if row["status"] == Status.OK}
        ids = {f"{key}-{row['generation']}": key for key, row in good.items()}
        parts = self._get_many(schema.TEXTS, list(ids), *(f"kept.{each}" for each in fields))
        details = dict.fromkeys(good, _LOST)
        details |= {ids[each]: part["_source"].get("kept", {}) for each, part in parts.items()}
        with_rules = {
            key: {"rules": row["kept"]["rules"], **details.get(key, {})}
            for key, row in found.items()
        }
        return with_rules, len(parts) == len(ids)

    def sections(self, key: int) -> list[Section]:
        return rows.to_sections(self._details([key], "sections").get(key, {}))

    def links(self, key: int) -> list[Link]:
        return rows.to_links(self._details([key], "links").get(key, {}))

    def places(self, key: int) -> list[Place]:
        return rows.to_places(self._details([key], "places").get(key, {}))

    def redactions(self, keys: Sequence[int]) -> dict[int, Redactions]:
        return {
            key: Redactions(details["rules"], rows.to_spans(details))
            for key, details in self._details(keys, "spans").items()
        }

    def headings(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        found = self._sections_at(wanted)
        return {place: [s.heading for s in each] for place, each in found.items() if each}

    def headings_above(
        self, wanted: Sequence[tuple[str, str, int]]
    ) -> dict[tuple[str, str, int], str]:
        found = self._sections_at([(collection, path) for collection, path, _ in wanted])
        above = {}
        for collection, path, line in wanted:
            before = [s for s in found.get((collection, path), ()) if s.start_line <= line]
            if before and before[-1].heading:
                above[collection, path, line] = before[-1].heading
        return above

    def _sections_at(
        self, wanted: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], list[Section]]:
        at = {
            place: row["key"]
            for place, row in self._rows_at(dict.fromkeys(wanted)).items()
            if row["status"] == Status.OK
        }
        details = self._details(list(at.values()), "sections") if at else {}
        return {place: rows.to_sections(details.get(key, {})) for place, key in at.items()}

    def passages(self, wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Passage]:
        return self._consistently(lambda again: self._read_passages(wanted, again))[0]

    def _read_passages(
        self, wanted: Sequence[tuple[int, int]], again: bool
    ) -> tuple[dict[tuple[int, int], Passage], bool]:
        found = self._recent_rows((key for key, _ in wanted), again=again)
        there = [
            (key, ordinal)
            for key, ordinal in dict.fromkeys(wanted)
            if key in found and 1 <= ordinal <= found[key]["chunks"]
        ]
        ids = {f"{key}-{found[key]['generation']}-{n}": (key, n) for key, n in there}
        parts = self._get_many(schema.PASSAGES, list(ids), "kept")
        passages = {
            pair: rows.to_passage(pair[0], parts[each]["_source"]["kept"])
            for each, pair in ids.items()
            if each in parts
        }
        return passages, len(parts) == len(ids)
