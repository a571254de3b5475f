"""What a caller sees of a hit: title, heading trail, pointer, snippet and a score from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

from bookwheel.engines.base import Engine, Passage
from bookwheel.model import Document
from bookwheel.query import SearchHit, SearchIn, Snippet
from bookwheel.safety.redact import make_safe
from bookwheel.search.plan import Plan
from bookwheel.search.rank import Ranked
from bookwheel.text.snippets import cut_snippet
from bookwheel.text.words import find_words, normal_title, word_forms

_IN_TITLE = 1.0
_IN_TEXT = 0.8
_IN_PAGE = 0.6


def show(engine: Engine, plan: Plan, ranked: Sequence[Ranked]) -> tuple[SearchHit, ...]:
    """Return the hits as they are shown; documents gone meanwhile are left out."""
    documents = engine.documents_by_key([item.document for item in ranked])
    passages = engine.passages([(item.document, item.chunk or 1) for item in ranked])
    worth = term_worth(plan)
    hits: list[SearchHit] = []
    ceiling = 1.0
    for item in ranked:
        document = documents.get(item.document)
        if document is None:
            continue
        passage = passages.get((item.document, item.chunk or 1))
        hit = _hit(plan, document, passage, worth, ceiling)
        ceiling = hit.score
        hits.append(hit)
    return tuple(hits)


def term_worth(plan: Plan) -> dict[str, float]:
    """Return for each term that counts as a match how telling it is."""
    worth = {
        term: clause.worth for clause in plan.clauses for term in (*clause.exact, *clause.stems)
    }
    for phrase in plan.question.phrases:
        worth.update(dict.fromkeys(phrase, 1.0))
    return worth


def _hit(
    plan: Plan,
    document: Document,
    passage: Passage | None,
    worth: dict[str, float],
    ceiling: float,
) -> SearchHit:
    text = passage.text if passage else document.description
    cutting = cut_snippet(text, worth, document.language, plan.request.snippet_length)
    in_title = {
        form
        for _, _, word in find_words(document.title)
        for form in word_forms(word, document.language)
    }
    trail = tuple(make_safe(heading) for heading in passage.chunk.trail) if passage else ()
    score = min(ceiling, _score(plan, document, in_title, cutting.matched))
    return SearchHit(
        collection=document.collection,
        document=document.path,
        title=make_safe(document.title),
        heading=trail[-1] if trail else make_safe(""),
        trail=trail,
        pointer=passage.chunk.pointer if passage else "",
        start_line=passage.chunk.start_line if passage else 1,
        end_line=passage.chunk.end_line if passage else 1,
        snippet=Snippet(
            make_safe(cutting.text), cutting.marks, cutting.cut_before, cutting.cut_after
        ),
        score=score,
        matched_in=_matched_in(worth, in_title, cutting.matched),
        extension=document.extension,
        date=document.date,
        modified_ns=document.modified_ns,
        chunk=passage.chunk.ordinal if passage else 0,
        chunks=document.chunks,
    )


def _score(plan: Plan, document: Document, in_title: set[str], in_text: frozenset[str]) -> float:
    """Return how much of the question the hit meets, on one scale for all questions."""
    if normal_title(document.title) == plan.question.title:
        return 1.0
    total = sum(clause.worth for clause in plan.clauses)
    if not total:
        return _IN_TEXT
    met = 0.0
    for clause in plan.clauses:
        terms = {*clause.exact, *clause.stems}
        if terms & in_title:
            met += _IN_TITLE * clause.worth
        elif terms & in_text:
            met += _IN_TEXT * clause.worth
    return round(max(0.01, min(0.99, met / total)), 4)


def _matched_in(worth: dict[str, float], in_title: set[str], in_text: frozenset[str]) -> SearchIn:
    title = not in_title.isdisjoint(worth)
    if title and in_text:
        return SearchIn.BOTH
    return SearchIn.TITLE if title else SearchIn.CONTENT
