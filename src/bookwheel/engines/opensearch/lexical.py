"""Entries by word: pages and passages that match, how rare a term is, and the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bookwheel.engines.asking import without_titles
from bookwheel.engines.base import Field, Found, Match, Vocabulary, rarity
from bookwheel.engines.opensearch import leases, schema
from bookwheel.engines.opensearch.address import Address
from bookwheel.engines.opensearch.catalog import CatalogReader
from bookwheel.engines.opensearch.filters import of_match, term
from bookwheel.engines.opensearch.store import SORT_ONLY, WINDOW

FILLER = "\x02"
"""A term that no query holds: between a title and a text, and in fields that have no other."""
_BY_SCORE: Sequence[Any] = ({"_score": "desc"}, {"document": "asc"})
_MOST_FREQUENCIES = 100_000
_TERMS_AT_ONCE = 100
_FIELDS: Mapping[str, Sequence[Field]] = {
    schema.PAGES: tuple(Field),
    schema.PASSAGES: tuple(field for field in Field if field is not Field.TITLE),
}


class _Learnt(NamedTuple):
    """The terms of a field that have been read, by length.

    Indexers write at the same time: a word of an older generation may come after one of a newer.
    So those that may not be all of their generation are read again the next time.
    """

    since: int
    settled: Vocabulary
    """Those of this generation and older ones."""
    words: Vocabulary


class LexicalReader(CatalogReader):
    """Entries by word."""

    def __init__(self, address: Address, *, api_key: str | None = None) -> None:
        super().__init__(address, api_key=api_key)
        self._vocabularies: dict[Field, _Learnt] = {}
        self._commits_seen: object = None

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        return self._match(schema.PAGES, of_match(match), limit, count=count)

    def match_passages(self, match: Match, limit: int) -> Found:
        """Return the chunks that match, none of a document that has been replaced since."""
        query = of_match(without_titles(match))
        wanted = limit
        while True:
            found = self._match(schema.PASSAGES, query, wanted, count=False)
            entries = self._living(found.entries)
            if len(entries) >= limit or len(found.entries) < wanted:
                return Found(tuple(entries[:limit]), len(entries[:limit]))
            wanted *= 2

    def match_each(
        self, matches: Sequence[Match], limit: int, *, count: bool = False
    ) -> list[Found]:
        """Return the pages of several matches, all asked for at once."""
        if limit > WINDOW:
            return [self.match_pages(match, limit, count=count) for match in matches]
        body = {"size": limit, "sort": [*_BY_SCORE], **SORT_ONLY, "track_total_hits": count}
        asked = [(schema.PAGES, {**body, "query": of_match(match)}) for match in matches]
        found = []
        for answer in self._search_many(asked, search_type="dfs_query_then_fetch"):
            entries = tuple(map(_page_entry, answer["hits"]["hits"]))
            total = int(answer["hits"]["total"]["value"]) if count else len(entries)
            found.append(Found(entries, total))
        return found

    def _match(self, kind: str, query: dict[str, Any], limit: int, *, count: bool) -> Found:
        entries: list[Any] = []
        total = 0
        is_page = kind == schema.PAGES
        sort = [*_BY_SCORE] if is_page else [*_BY_SCORE, {"ordinal": "asc"}, {"generation": "asc"}]
        after: list[Any] | None = None
        while True:
            size = min(WINDOW, max(0, limit - len(entries)))
            body: dict[str, Any] = {
                "query": query,
                "size": size,
                "sort": sort,
                **SORT_ONLY,
                "track_total_hits": count and after is None,
            }
            if after is not None:
                body["search_after"] = after
            hits = self._search(kind, body, search_type="dfs_query_then_fetch")["hits"]
            if count and after is None:
                total = int(hits["total"]["value"])
            entries += map(_page_entry if is_page else _passage_entry, hits["hits"])
            if len(hits["hits"]) < size or len(entries) >= limit:
                return Found(tuple(entries), total if count else len(entries))
            after = hits["hits"][-1]["sort"]

    def _living(self, entries: Sequence[Any]) -> list[tuple[int, int, float]]:
        """Return the entries whose document still has the generation they were made in."""
        now = self._fitting_rows([(key, generation) for key, _, _, generation in entries])
        return [
            (key, ordinal, score)
            for key, ordinal, score, generation in entries
            if key in now and now[key]["generation"] == generation
        ]

    # How rare terms are

    def page_count(self) -> int:
        return self._recall("pages", lambda: self._count(schema.PAGES, {"match_all": {}}))

    def _passage_count(self) -> int:
        return self._recall("passages", lambda: self._count(schema.PASSAGES, {"match_all": {}}))

    def frequency(self, field: Field, term: str) -> int:
        return self._frequencies(term)[schema.PAGES][field]

    def weight(self, field: Field, term: str, *, of_passages: bool = False) -> float:
        """Return what entries that hold a term are scored by, deleted ones counted as there."""
        kind = schema.PASSAGES if of_passages else schema.PAGES
        known: dict[str, dict[tuple[str, Field], float]] = self._recall("weights", dict)
        weights = known.get(term)
        if weights is None:
            if len(known) > _MOST_FREQUENCIES:
                known.clear()
            expected = getattr(self._own, "expected", ())
            new = self._read_weights([term, *(each for each in expected if each not in known)])
            known.update(new)
            weights = new[term]
        if (kind, field) in weights:
            return weights[kind, field]
        return rarity(0, self._passage_count() if of_passages else self.page_count())

    def _read_weights(self, terms: Sequence[str]) -> dict[str, dict[tuple[str, Field], float]]:
        """Ask how the cluster comes to the score of terms, in each field that holds them."""
        places = [
            (each, kind, field)
            for each in dict.fromkeys(terms)
            for kind, counts in self._frequencies(each).items()
            for field, count in counts.items()
            if count
        ]
        body = {"size": 1, "explain": True, "_source": False, "track_total_hits": False}
        asked = [(kind, {**body, "query": term(field, each)}) for each, kind, field in places]
        answers = self._search_many(asked, search_type="dfs_query_then_fetch") if asked else []
        found: dict[str, dict[tuple[str, Field], float]] = {each: {} for each in terms}
        for (each, kind, field), answer in zip(places, answers, strict=True):
            for hit in answer["hits"]["hits"]:
                found[each][kind, field] = _rarity_in(hit["_explanation"])
        return found

    def expect(self, terms: Iterable[str]) -> None:
        """Ask at once how many entries hold each of some terms."""
        terms = list(dict.fromkeys(terms))
        if len(terms) <= _TERMS_AT_ONCE:
            self._own.expected = terms
        known: dict[str, Any] = self._recall("frequencies", dict)
        new = [term for term in terms if term not in known]
        if len(known) + len(new) > _MOST_FREQUENCIES:
            known.clear()
        for first in range(0, len(new), _TERMS_AT_ONCE):
            known.update(self._read_frequencies(new[first : first + _TERMS_AT_ONCE]))

    def _frequencies(self, term: str) -> Mapping[str, Mapping[Field, int]]:
        """Return how many pages and passages hold a term, in each field."""
        known: dict[str, Mapping[str, Mapping[Field, int]]] = self._recall("frequencies", dict)
        found = known.get(term)
        if found is None:
            found = known[term] = self._read_frequencies([term])[term]
        return found

    def _read_frequencies(self, terms: Sequence[str]) -> dict[str, dict[str, dict[Field, int]]]:
        asked = []
        for kind, fields in _FIELDS.items():
            counted = {
                f"{number} {field}": term(field, each)
                for number, each in enumerate(terms)
                for field in fields
            }
            counts = {"in": {"filters": {"filters": counted}}}
            asked.append((kind, {"size": 0, "track_total_hits": False, "aggs": counts}))
        found: dict[str, dict[str, dict[Field, int]]] = {
            each: {kind: {} for kind in _FIELDS} for each in terms
        }
        for kind, answer in zip(_FIELDS, self._search_many(asked), strict=True):
            for name, bucket in answer["aggregations"]["in"]["buckets"].items():
                number, _, field = name.partition(" ")
                found[terms[int(number)]][kind][Field(field)] = int(bucket["doc_count"])
        return found

    # The vocabulary

    def vocabulary(self, field: Field = Field.EXACT) -> Vocabulary:
        """Return a field's terms by length; those of deleted pages may still be there."""
        self._recall(("vocabulary", field), lambda: self._learn(field))
        return self._vocabularies[field].words

    def _learn(self, field: Field) -> bool:
        """Read the terms that have come since the last time."""
        finished = leases.finished(self._counters)
        none = Vocabulary({})
        since, settled, _ = self._vocabularies.get(field, _Learnt(-1, none, none))
        query = {
            "bool": {
                "filter": [term("field", str(field)), {"range": {"generation": {"gt": since}}}]
            }
        }
        old = {length: list(each) for length, each in settled.items()}
        fresh: dict[int, list[str]] = {}
        order = ("generation", "word")
        for hit in self._scan(schema.WORDS, query, order, fields=(), step=WINDOW):
            generation, word = int(hit["sort"][0]), hit["sort"][1]
            is_settled = generation <= finished
            since = generation if is_settled else since
            (old if is_settled else fresh).setdefault(len(word), []).append(word)
        words = settled = Vocabulary(old)
        if fresh:
            more = {length: settled.get(length, ()) + tuple(each) for length, each in fresh.items()}
            words = Vocabulary(settled | more)
        self._vocabularies[field] = _Learnt(since, settled, words)
        return True

    def refresh(self) -> bool:
        """See what other processes committed; tell whether there was anything new."""
        self._current(again=True)
        before, self._commits_seen = self._commits_seen, self._commits
        return bool(self._commits_seen != before)


def _rarity_in(explanation: Mapping[str, Any]) -> float:
    """Return the part that the rarity of a term has in an explained score."""
    waiting = [explanation]
    for each in waiting:
        if str(each["description"]).startswith("idf"):
            return float(each["value"])
        waiting += each.get("details", ())
    return 1.0


def _page_entry(hit: dict[str, Any]) -> tuple[int, int, float]:
    score, document = hit["sort"][:2]
    return int(document), 0, float(score)


def _passage_entry(hit: dict[str, Any]) -> tuple[int, int, float, int]:
    score, document, ordinal, generation = hit["sort"]
    return int(document), int(ordinal), float(score), int(generation)
