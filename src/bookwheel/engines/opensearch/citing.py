"""Reading citations: links, met by the documents that have their keys for a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from bookwheel.engines.citations import LinkRow, Meanings, distinct
from bookwheel.engines.opensearch import rows, schema
from bookwheel.engines.opensearch.filters import any_value, every, term
from bookwheel.engines.opensearch.lexical import LexicalReader
from bookwheel.engines.opensearch.store import STEP
from bookwheel.model import Citation, Link
from bookwheel.text.choosing import Candidate
from bookwheel.text.targets import Origin, is_inside

_BY_PATH = ("collection", "path")
_MOST_CANDIDATES = 20
"""So many keys are looked at for each of the most cited documents: it may have several names."""


class _Target(NamedTuple):
    """A document that is cited: its key, and the keys of its names."""

    key: int
    names: tuple[int, ...]


class CitationReader(LexicalReader):
    """Links between documents."""

    def named(self, key: int) -> list[int]:
        """Return the documents that have a key for a name."""
        self._settle()
        found = self._scan(schema.DOCUMENTS, term("names", key), ("key",), fields=())
        return [int(hit["sort"][0]) for hit in found]

    def outgoing(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        """Return what each of some documents cites, in order, at most so many and none twice."""
        found: dict[int, list[Citation]] = {each: [] for each in keys}
        details = self._details(list(found), "links")
        links = {key: rows.to_links(each) for key, each in details.items()}
        for citation in distinct(self._resolve(links)):
            if len(found[citation.source]) < limit:
                found[citation.source].append(citation)
        return found

    def incoming(self, keys: Sequence[int], limit: int) -> dict[int, list[Citation]]:
        """Return what cites each of some documents in the order of paths, none twice."""
        self._settle()
        found: dict[int, list[Citation]] = {each: [] for each in keys}
        for target in self._targets(list(found)):
            found[target.key] = self._read_incoming(target, limit)
        return found

    def _targets(self, keys: Sequence[int]) -> list[_Target]:
        known = self._rows(keys, "names")
        return [_Target(key, tuple(row.get("names", ()))) for key, row in known.items()]

    def _read_incoming(self, target: _Target, limit: int) -> list[Citation]:
        if not target.names:
            return []
        query = {
            "bool": {
                "filter": [any_value("may_cite", target.names)],
                "must_not": [term("key", target.key)],
            }
        }
        found: list[Citation] = []
        sources = self._scan(schema.DOCUMENTS, query, _BY_PATH, fields=("key",))
        for some in _steps(int(hit["_source"]["key"]) for hit in sources):
            details = self._details(some, "links")
            links = {
                key: [
                    link
                    for link in rows.to_links(details.get(key, {}))
                    if set(link.keys) & set(target.names)
                ]
                for key in some
            }
            new = (one for one in self._resolve(links) if one.target == target.key)
            found = list(distinct([*found, *new]))
            if len(found) >= limit:
                break
        return found[:limit]

    def _resolve(self, links: dict[int, list[Link]]) -> Iterator[Citation]:
        """Yield the links of documents with the documents that they mean."""
        citing = [_row(key, link) for key, each in links.items() for link in each if link.keys]
        meanings = Meanings(self._read_names, self._read_origins)
        meanings.learn(citing)
        return meanings.resolve(citing)

    def _read_names(self, keys: Iterable[int]) -> Iterator[tuple[int, Candidate]]:
        wanted = set(keys)
        if not wanted:
            return
        self._settle()
        fields = ("key", "collection", "path", "names")
        query = every([any_value("names", sorted(wanted))])
        for hit in self._scan(schema.DOCUMENTS, query, ("key",), fields=fields):
            row: dict[str, Any] = hit["_source"]
            for name in wanted.intersection(row["names"]):
                yield name, Candidate(row["key"], row["collection"], row["path"])

    def _read_origins(self, keys: Iterable[int]) -> Iterator[tuple[int, Origin]]:
        found = self._rows(list(keys), "collection", "path", "kept.url")
        folders = {
            state.collection.name: PurePath(state.collection.path).name
            for state in self.collections()
        }
        for key, row in found.items():
            name = row["collection"]
            yield key, Origin(name, row["path"], row["kept"]["url"], folders.get(name, ""))

    def unresolved(self, collections: Sequence[str], limit: int) -> list[tuple[int, Link]]:
        """Return links to something of the library's own that is not there, with their source."""
        self._settle()
        found: list[tuple[int, Link]] = []
        query = every([any_value("collection", collections), {"exists": {"field": "cites"}}])
        sources = self._scan(schema.DOCUMENTS, query, _BY_PATH, fields=("key",))
        for some in _steps(int(hit["_source"]["key"]) for hit in sources):
            if len(found) >= limit:
                break
            found += self._lost_links(some)
        return found[:limit]

    def anchored(self, collections: Sequence[str], limit: int) -> list[Citation]:
        """Return links to a place inside of a document, which may be their own."""
        self._settle()
        found: list[Citation] = []
        query = every([any_value("collection", collections), {"term": {"anchors": True}}])
        sources = self._scan(schema.DOCUMENTS, query, _BY_PATH, fields=("key",))
        for some in _steps(int(hit["_source"]["key"]) for hit in sources):
            if len(found) >= limit:
                break
            found += self._anchored_links(some)
        return found[:limit]

    def _anchored_links(self, keys: Sequence[int]) -> Iterator[Citation]:
        details = self._details(keys, "links")
        links = [
            (key, link)
            for key in keys
            for link in rows.to_links(details.get(key, {}))
            if rows.has_anchor(link) and is_inside(link.kind, link.target)
        ]
        meanings = Meanings(self._read_names, self._read_origins)
        meanings.learn([_row(key, link) for key, link in links if link.keys])
        for key, link in links:
            is_own = link.target.startswith("#")
            target = key if is_own else meanings.target_of(_row(key, link)) if link.keys else None
            if target is not None:
                yield Citation(key, target, link._replace(keys=()))

    def _lost_links(self, keys: Sequence[int]) -> Iterator[tuple[int, Link]]:
        details = self._details(keys, "links")
        links = [
            (key, link)
            for key in keys
            for link in rows.to_links(details.get(key, {}))
            if link.keys and is_inside(link.kind, link.target)
        ]
        there = {name for name, _ in self._read_names(k for _, link in links for k in link.keys)}
        for key, link in links:
            if not there.intersection(link.keys):
                yield key, link._replace(keys=())

    def most_cited(self, limit: int) -> dict[int, int]:
        """Return the documents with the most links to them, and about how many each has."""
        self._settle()
        size = max(1, limit) * _MOST_CANDIDATES
        body = {"size": 0, "aggs": {"keys": {"terms": {"field": "cites", "size": size}}}}
        answer = self._search(schema.DOCUMENTS, body)
        keys = [int(each["key"]) for each in answer["aggregations"]["keys"]["buckets"]]
        named = dict.fromkeys(candidate.document for _, candidate in self._read_names(keys))
        counts = {each.key: self._count_sources(each) for each in self._targets(list(named))}
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return {key: count for key, count in ranked[:limit] if count}

    def _count_sources(self, target: _Target) -> int:
        query = {
            "bool": {
                "filter": [any_value("cites", target.names)],
                "must_not": [term("key", target.key)],
            }
        }
        return self._count(schema.DOCUMENTS, query)


def _row(document: int, link: Link) -> LinkRow:
    key, other = (*link.keys, None)[:2]
    return (document, *link[:5], key, other)


def _steps(keys: Iterable[int]) -> Iterator[list[int]]:
    some: list[int] = []
    for key in keys:
        some.append(key)
        if len(some) == STEP // 4:
            yield some
            some = []
    if some:
        yield some
