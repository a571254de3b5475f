"""What a caller sees of a hit: title, heading trail, pointer, snippet and a score from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.engines.base import Engine, Passage
from bookwheel.model import Document
from bookwheel.query import SearchHit, SearchIn, Snippet
from bookwheel.safety.redact import make_safe
from bookwheel.search.interpret import Question, exact_words
from bookwheel.search.operators import Phrase, leaves
from bookwheel.search.plan import Clause, Plan, Planner, asked_for
from bookwheel.search.rank import Ranked
from bookwheel.text.entries import file_name
from bookwheel.text.matching import Finder
from bookwheel.text.snippets import Cutting, cut_snippet
from bookwheel.text.words import normal_title

# What a word of the question counts by where the hit has it, and by whether it stands as typed.
_IN_TITLE = 1.0
_IN_PASSAGE = 0.85
_IN_PAGE = 0.7
_RESPELT = 0.9
_ANY_LANGUAGE = ("en",)
"""Words as they are written are the same in each."""


class _Seen(NamedTuple):
    """A hit as far as its own title and passage tell."""

    item: Ranked
    document: Document
    passage: Passage | None
    text: str
    cutting: Cutting
    in_title: frozenset[str]
    missing: tuple[Clause, ...]
    """The words that stand in neither; the page may have them elsewhere."""


def show(
    engine: Engine, planner: Planner, plan: Plan, ranked: Sequence[Ranked], whole: frozenset[int]
) -> tuple[SearchHit, ...]:
    """Return the hits as they are shown; documents gone meanwhile are left out."""
    documents = engine.documents_by_key([item.document for item in ranked])
    passages = engine.passages([(item.document, item.chunk) for item in ranked])
    seen = []
    clauses = _counted(plan)
    worth = term_worth(plan)
    unmarked = unmarked_terms(plan)
    finders: dict[str, Finder] = {}
    for item in ranked:
        document = documents.get(item.document)
        if document is None:
            continue
        passage = passages.get((item.document, item.chunk))
        finder = finders.get(document.language)
        if finder is None:
            finder = Finder(worth, document.language, unmarked)
            finders[document.language] = finder
        length = plan.request.snippet_length
        seen.append(_see(item, clauses, document, passage, finder, worth, length))
    held = held_words(engine, planner, [each for each in seen if each.document.key not in whole])
    hits: list[SearchHit] = []
    ceiling = 1.0
    total = sum(clause.worth for clause, _ in clauses)
    for each in seen:
        words = held.get(each.document.key)
        by_words = _score(plan, clauses, total, each, words)
        ceiling = min(ceiling, max(by_words, round(each.item.meaning, 4)))
        hits.append(_hit(each, ceiling))
    return tuple(hits)


def with_snippets(plan: Plan, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Return hits that were made without snippets with the snippets that the plan asks for."""
    worth, unmarked = term_worth(plan), unmarked_terms(plan)
    finders = {hit.language: Finder(worth, hit.language, unmarked) for hit in hits}
    length = plan.request.snippet_length
    return tuple(
        hit._replace(
            snippet=_snippet(cut_snippet(hit.passage, finders[hit.language], worth, length))
        )
        for hit in hits
    )


def _snippet(cutting: Cutting) -> Snippet:
    return Snippet(make_safe(cutting.text), cutting.marks, cutting.cut_before, cutting.cut_after)


def held_words(engine: Engine, planner: Planner, partly: Sequence[_Seen]) -> dict[int, set[str]]:
    """Return which words each of some documents holds beyond its title and passage."""
    held: dict[int, set[str]] = {each.document.key: set() for each in partly}
    asked: dict[Clause, list[int]] = {}
    for each in partly:
        for clause in each.missing:
            asked.setdefault(clause, []).append(each.document.key)
    matches = [planner.single(clause, tuple(documents)) for clause, documents in asked.items()]
    every = engine.match_each(matches, len(partly)) if matches else []
    for clause, found in zip(asked, every, strict=True):
        for document, _, _ in found.entries:
            held[document].add(clause.word)
    return held


def term_worth(plan: Plan) -> dict[str, float]:
    """Return for each term that counts as a match how telling it is."""
    worth = {
        term: clause.worth for clause in plan.clauses for term in (*clause.exact, *clause.stems)
    }
    for phrase in plan.question.phrases:
        worth.update(dict.fromkeys(phrase, 1.0))
    return worth


def unmarked_terms(plan: Plan) -> frozenset[str]:
    """Return the terms of words such as *a* in a question that has better ones.

    In quotes they are as much asked for as the others.
    """
    asked = asked_for(plan)
    better = {term for clause in asked for term in (*clause.exact, *clause.stems)}
    quoted = {term for phrase in plan.question.phrases for term in phrase}
    if plan.question.expression is not None:
        for piece in leaves(plan.question.expression):
            if isinstance(piece, Phrase):
                quoted.update(exact_words(piece.text, _ANY_LANGUAGE))
    empty = {
        term
        for clause in plan.clauses
        if clause.empty and clause not in asked
        for term in (*clause.exact, *clause.stems)
    }
    return frozenset(empty - better - quoted)


_Counted = list[tuple[Clause, frozenset[str]]]


def _counted(plan: Plan) -> _Counted:
    """Return the words that count for the score, each with the terms that stand for it."""
    return [
        (clause, frozenset((*clause.exact, *clause.stems)))
        for clause in plan.clauses
        if clause.known or not clause.filler
    ]


def _see(
    item: Ranked,
    clauses: _Counted,
    document: Document,
    passage: Passage | None,
    finder: Finder,
    worth: dict[str, float],
    snippet_length: int,
) -> _Seen:
    text = passage.text if passage else document.description
    cutting = cut_snippet(text, finder, worth, snippet_length)
    in_title = finder.terms(document.title)
    found = in_title | cutting.matched
    missing = [clause for clause, terms in clauses if clause.known and terms.isdisjoint(found)]
    return _Seen(item, document, passage, text, cutting, in_title, tuple(missing))


def _hit(seen: _Seen, score: float) -> SearchHit:
    document, passage, cutting = seen.document, seen.passage, seen.cutting
    trail = tuple(make_safe(heading) for heading in passage.chunk.trail) if passage else ()
    return SearchHit(
        collection=document.collection,
        document=document.path,
        title=make_safe(document.title),
        heading=trail[-1] if trail else make_safe(""),
        trail=trail,
        pointer=passage.chunk.pointer if passage else "",
        start_line=passage.chunk.start_line if passage else 1,
        end_line=passage.chunk.end_line if passage else 1,
        snippet=_snippet(cutting),
        passage=make_safe(seen.text),
        score=score,
        matched_in=_matched_in(seen.in_title, cutting.matched),
        extension=document.extension,
        date=document.date,
        modified_ns=document.modified_ns,
        chunk=passage.chunk.ordinal if passage else 0,
        chunks=document.chunks,
        language=document.language,
        word_score=seen.item.words,
        rank_score=seen.item.score,
        similarity=seen.item.similarity,
        near_words=seen.item.near,
        second_look=seen.item.second,
    )


def _score(
    plan: Plan, clauses: _Counted, total: float, seen: _Seen, held: set[str] | None
) -> float:
    """Return how much of the question the hit meets, on one scale for all questions.

    `held` are the words that the page holds elsewhere; None stands for all that any page holds.
    """
    if _is_asked_for(plan.question, seen):
        return 1.0
    if not total:
        return _IN_PASSAGE
    met = 0.0
    for clause, terms in clauses:
        level = 0.0
        if not terms.isdisjoint(seen.in_title):
            level = _IN_TITLE
        elif not terms.isdisjoint(seen.cutting.matched):
            level = _IN_PASSAGE
        elif clause.known and (held is None or clause.word in held):
            level = _IN_PAGE
        met += level * clause.worth * (_RESPELT if clause.respelt else 1.0)
    return round(max(0.01, min(0.99, met / total)), 4)


def _is_asked_for(question: Question, seen: _Seen) -> bool:
    """Tell whether a document has the title, or its file the name, that is the whole query."""
    if normal_title(seen.document.title) == question.title:
        return True
    # Only where it counted: a name that is redacted does not.
    name = normal_title(file_name(seen.document.path))
    return seen.item.bonus >= 2 and name == question.file_name


def _matched_in(in_title: frozenset[str], in_text: frozenset[str]) -> SearchIn:
    if in_title and in_text:
        return SearchIn.BOTH
    return SearchIn.TITLE if in_title else SearchIn.CONTENT
