"""Queries of the word index: the only place where the engine's query objects are made."""

from __future__ import annotations

from collections.abc import Sequence

import tantivy
from tantivy import Occur, Query

from bookwheel.engines.asking import askable, day_number, in_order
from bookwheel.engines.base import Condition, Every, Field, Holds, InOrder, Match, Term, Without
from bookwheel.engines.embedded.word_entries import MARK, NOBODY
from bookwheel.query import Filters
from bookwheel.text.words import normal_title

_LARGEST = 2**63 - 1


def build_query(match: Match, schema: tantivy.Schema) -> Query:
    """Return what finds the entries that match, and weighs them."""
    parts: list[tuple[Occur, Query]] = []
    words = [_clause(clause, schema) for clause in match.clauses]
    if match.all_clauses:
        parts += [(Occur.Must, word) for word in words]
    elif words and match.required is None:
        parts.append((Occur.Must, _any(words)))
    else:
        parts += [(Occur.Should, word) for word in words]
    for phrase in in_order(match.phrases):
        parts.append((Occur.Must, _required(phrase, schema)))
    for title in match.titles:
        same = Query.term_query(schema, "same_title", title)
        parts.append((Occur.Should, Query.const_score_query(same, match.title_bonus)))
    # Filters must not add to the score, so they are wrapped in a constant one of zero.
    for must in _conditions(match, schema):
        parts.append((Occur.Must, Query.const_score_query(must, 0.0)))
    for term in match.excluded:
        parts.append((Occur.MustNot, _term(term, schema)))
    for phrase in in_order(match.excluded_phrases):
        parts.append((Occur.MustNot, _required(phrase, schema)))
    bonus = [(Occur.Should, _clause((term,), schema)) for term in match.bonus]
    return _combine(parts, bonus, _named(match, schema), schema)


def _clause(clause: tuple[Term, ...], schema: tantivy.Schema) -> Query:
    return _any([Query.boost_query(_term(term, schema), term.weight) for term in clause])


def _term(term: Term, schema: tantivy.Schema) -> Query:
    return _unless(Query.term_query(schema, term.field, term.text), term.unless, schema)


def _unless(query: Query, marks: tuple[str, ...], schema: tantivy.Schema) -> Query:
    """Return what entries with none of some marks meet."""
    if not marks:
        return query
    marked = [(Occur.MustNot, Query.term_query(schema, Field.HIDDEN, mark)) for mark in marks]
    return Query.boolean_query([(Occur.Must, query), *marked])


def _conditions(match: Match, schema: tantivy.Schema) -> list[Query]:
    conditions = []
    if match.filters is not None:
        conditions += _filters(match.filters, schema)
    if match.required is not None:
        conditions.append(_required(match.required, schema))
    return conditions


def _named(match: Match, schema: tantivy.Schema) -> list[tuple[Occur, Query]]:
    """Return what only the entries of the documents meet that a match names, if it names any."""
    if match.documents is None:
        return []
    # Term by term: a set of terms is looked up three times as slowly.
    documents = match.documents or (NOBODY,)
    some = _any([Query.term_query(schema, "document", number) for number in documents])
    return [(Occur.Must, Query.const_score_query(some, 0.0))]


def _any(queries: Sequence[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _combine(
    parts: list[tuple[Occur, Query]],
    bonus: list[tuple[Occur, Query]],
    named: list[tuple[Occur, Query]],
    schema: tantivy.Schema,
) -> Query:
    if not bonus or all(occur is not Occur.Must for occur, _ in parts):
        parts, named = [*parts, *named], []
    occurs = {occur for occur, _ in parts}
    if Occur.Must not in occurs:
        parts, bonus = [*parts, *bonus], []
        if Occur.MustNot in occurs or not parts:
            # Exclusions alone find nothing, and a bonus is not asked for: every entry is meant.
            parts.append((Occur.Must, Query.const_score_query(every_entry(schema), 0.0)))
    query = Query.boolean_query(parts)
    for part in bonus:
        # One in the other: the engine then looks such a term up for what it has found, while of
        # several side by side it would read every entry.
        query = Query.boolean_query([(Occur.Must, query), part])
    # Outermost, since whatever is put into another is copied each time, and these are many.
    return Query.boolean_query([(Occur.Must, query), *named]) if named else query


def every_entry(schema: tantivy.Schema) -> Query:
    """Return what every entry but the mark meets."""
    kind = tantivy.FieldType.Integer
    return Query.range_query(schema, "document", kind, MARK + 1, _LARGEST)


def _phrase(words: tuple[str, ...], schema: tantivy.Schema, *, gap: int = 0) -> Query:
    # The binding panics on a phrase of one word.
    if len(words) == 1:
        return Query.term_query(schema, Field.EXACT, words[0])
    return Query.phrase_query(schema, Field.EXACT, list(words), gap)


def _required(condition: Condition, schema: tantivy.Schema) -> Query:
    """Return an expression as one query; one that has no parts is met by nothing."""
    if isinstance(condition, InOrder):
        words = _phrase(condition.words, schema, gap=condition.gap)
        return _unless(words, condition.unless, schema)
    if isinstance(condition, Holds):
        terms = [_term(term, schema) for term in condition.terms]
        return _any(terms) if terms else Query.empty_query()
    if isinstance(condition, Without):
        part = (Occur.MustNot, _required(condition.part, schema))
        return Query.boolean_query([(Occur.Must, every_entry(schema)), part])
    parts = [_required(part, schema) for part in condition.parts]
    if not parts:
        return Query.empty_query()
    occur = Occur.Must if isinstance(condition, Every) else Occur.Should
    return Query.boolean_query([(occur, part) for part in parts])


def _filters(filters: Filters, schema: tantivy.Schema) -> list[Query]:
    conditions = []
    sets = {
        "collection": filters.collections,
        "extension": filters.extensions,
        "folder": _folders(filters),
        "tag": tuple(normal_title(tag) for tag in filters.tags),
        "year": filters.years,
    }
    for name, values in sets.items():
        if values:
            conditions.append(Query.term_set_query(schema, name, [*map(askable, values)]))
    if filters.within:
        conditions.append(_any([_place(name, folder, schema) for name, folder in filters.within]))
    if filters.date_from or filters.date_to:
        conditions.append(
            Query.range_query(
                schema,
                "date",
                tantivy.FieldType.Integer,
                day_number(filters.date_from or "0001-01-01"),
                day_number(filters.date_to or "9999-12-31"),
            )
        )
    return conditions


def _place(collection: str, folder: str, schema: tantivy.Schema) -> Query:
    """Return what the entries below a folder of a collection meet."""
    whole = Query.term_query(schema, "collection", askable(collection))
    if not folder.strip("/"):
        return whole
    inside = Query.term_query(schema, "folder", askable(folder.strip("/")))
    return Query.boolean_query([(Occur.Must, whole), (Occur.Must, inside)])


def _folders(filters: Filters) -> tuple[str, ...]:
    """Return the folders as the entries name them; none where one of them is the root."""
    folders = tuple(folder.strip("/") for folder in filters.folders)
    return folders if all(folders) else ()
