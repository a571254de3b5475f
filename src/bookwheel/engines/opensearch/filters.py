"""Filters and matches as queries of the cluster: the only place where those are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bookwheel.engines.asking import askable, day_number, in_order
from bookwheel.engines.base import Condition, Every, Field, Holds, InOrder, Match, Term, Without
from bookwheel.query import Filters
from bookwheel.text.words import normal_title

Query = dict[str, Any]
EVERYTHING: Query = {"match_all": {}}
NOTHING: Query = {"match_none": {}}
_LONGEST_TERM = 8_000
MOST_TERMS = 60_000
"""Values that one condition may name."""


def term(field: str, value: str | int, weight: float | None = None) -> Query:
    if isinstance(value, str):
        if len(value) > _LONGEST_TERM:
            return NOTHING
        value = askable(value)
    if weight is None:
        return {"term": {field: {"value": value}}}
    return {"term": {field: {"value": value, "boost": weight}}}


def any_value(field: str, values: Sequence[str] | Sequence[int]) -> Query:
    """Return what entries meet that have one of some values."""
    kept = [askable(v) if isinstance(v, str) else v for v in values]
    kept = [v for v in kept if isinstance(v, int) or len(v) <= _LONGEST_TERM]
    if len(kept) <= MOST_TERMS:
        return {"terms": {field: kept}}
    steps = range(0, len(kept), MOST_TERMS)
    return some([{"terms": {field: kept[first : first + MOST_TERMS]}} for first in steps])


def some(queries: Sequence[Query]) -> Query:
    """Return what entries meet that meet any of some queries."""
    if not queries:
        return NOTHING
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": list(queries), "minimum_should_match": 1}}


def every(queries: Iterable[Query]) -> Query:
    """Return what entries meet that meet all of some queries, whatever they score."""
    return {"bool": {"filter": list(queries)}}


def below(folder: str) -> Query:
    """Return what rows below a folder meet."""
    return term("folder", askable(folder).strip("/")) if folder.strip("/") else EVERYTHING


def of_rows(filters: Filters) -> list[Query]:
    """Return the filters by collection, type and place, as far as rows know of them."""
    wanted = []
    if filters.collections:
        wanted.append(any_value("collection", filters.collections))
    if filters.extensions:
        wanted.append(any_value("extension", filters.extensions))
    if filters.folders:
        wanted.append(some([below(folder) for folder in filters.folders]))
    if filters.within:
        wanted.append(_within(filters))
    return wanted


def of_pages(filters: Filters) -> list[Query]:
    """Return all filters as the entries of pages know them."""
    wanted = of_rows(filters)
    if filters.tags:
        wanted.append(any_value("tag", [normal_title(tag) for tag in filters.tags]))
    if filters.years:
        wanted.append(any_value("year", filters.years))
    if filters.date_from or filters.date_to:
        first = day_number(filters.date_from or "0001-01-01")
        last = day_number(filters.date_to or "9999-12-31")
        wanted.append({"range": {"date": {"gte": first, "lte": last}}})
    return wanted


def _within(filters: Filters) -> Query:
    return some(
        [every([term("collection", name), below(folder)]) for name, folder in filters.within]
    )


def of_match(match: Match) -> Query:
    """Return a match as one query."""
    must: list[Query] = []
    should: list[Query] = []
    words = [_clause(clause) for clause in match.clauses]
    if match.all_clauses:
        must += words
    elif words and match.required is None:
        must.append(some(words))
    else:
        should += words
    must += [_in_order(phrase) for phrase in in_order(match.phrases)]
    for title in match.titles:
        same = {"filter": term("same_title", title), "boost": match.title_bonus}
        should.append({"constant_score": same})
    should += [_clause((each,)) for each in match.bonus]
    filters = _conditions(match)
    excluded = [_term(each) for each in match.excluded]
    excluded += [_in_order(phrase) for phrase in in_order(match.excluded_phrases)]
    only_should = should and not must and not filters and not excluded
    return {
        "bool": {
            "must": must,
            "should": should,
            "filter": filters or ([] if must or only_should else [EVERYTHING]),
            "must_not": excluded,
            "minimum_should_match": 1 if only_should else 0,
        }
    }


def _clause(clause: tuple[Term, ...]) -> Query:
    return some([_term(each, each.weight) for each in clause])


def _term(each: Term, weight: float | None = None) -> Query:
    return _unless(term(each.field, each.text, weight), each.unless)


def _unless(query: Query, marks: Sequence[str]) -> Query:
    """Return what entries with none of some marks meet."""
    if not marks:
        return query
    return {"bool": {"must": [query], "must_not": [any_value(Field.HIDDEN, marks)]}}


def _conditions(match: Match) -> list[Query]:
    wanted = []
    if match.documents is not None:
        wanted.append(any_value("document", match.documents) if match.documents else NOTHING)
    if match.filters is not None:
        wanted += of_pages(match.filters)
    if match.required is not None:
        wanted.append(_required(match.required))
    return wanted


def _phrase(words: tuple[str, ...]) -> Query:
    """Return what entries meet that hold words just as they stand."""
    if len(words) == 1:
        return term(Field.EXACT, words[0])
    if not all(_is_one_term(word) for word in words):
        return NOTHING
    return {"match_phrase": {Field.EXACT: {"query": " ".join(map(askable, words))}}}


def _is_one_term(word: str) -> bool:
    return 0 < len(word) <= _LONGEST_TERM and len(word.split()) == 1 and word.split()[0] == word


def _in_order(condition: InOrder) -> Query:
    return _unless(_words_in_order(condition), condition.unless)


def _words_in_order(condition: InOrder) -> Query:
    if not condition.gap or len(condition.words) == 1:
        return _phrase(condition.words) if condition.words else NOTHING
    words = [{"span_term": {Field.EXACT: askable(word)}} for word in condition.words]
    return {"span_near": {"clauses": words, "slop": condition.gap, "in_order": True}}


def _required(condition: Condition) -> Query:
    """Return an expression as one query; one that has no parts is met by nothing."""
    if isinstance(condition, InOrder):
        return _in_order(condition)
    if isinstance(condition, Holds):
        return some([_term(each) for each in condition.terms])
    if isinstance(condition, Without):
        return {"bool": {"must_not": [_required(condition.part)]}}
    parts = [_required(part) for part in condition.parts]
    if not parts:
        return NOTHING
    return every(parts) if isinstance(condition, Every) else some(parts)
