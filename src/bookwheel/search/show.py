"""What a caller sees of a hit: title, heading trail, pointer, snippet and a score from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

from bookwheel.engines.base import Engine, Passage
from bookwheel.model import Document
from bookwheel.query import SearchHit, SearchIn, Snippet
from bookwheel.safety.redact import make_safe
from bookwheel.search.plan import Plan, Planner
from bookwheel.search.rank import Ranked
from bookwheel.text.snippets import Cutting, cut_snippet
from bookwheel.text.words import Finder, normal_title

# What a word of the question counts by where the hit has it, and by whether it stands as typed.
_IN_TITLE = 1.0
_IN_PASSAGE = 0.85
_IN_PAGE = 0.7
_RESPELT = 0.9


def show(
    engine: Engine, planner: Planner, plan: Plan, ranked: Sequence[Ranked], whole: frozenset[int]
) -> tuple[SearchHit, ...]:
    """Return the hits as they are shown; documents gone meanwhile are left out."""
    documents = engine.documents_by_key([item.document for item in ranked])
    passages = engine.passages([(item.document, item.chunk) for item in ranked])
    partly = tuple(item.document for item in ranked if item.document not in whole)
    held = held_words(engine, planner, plan, partly)
    worth = term_worth(plan)
    finders: dict[str, Finder] = {}
    hits: list[SearchHit] = []
    ceiling = 1.0
    for item in ranked:
        document = documents.get(item.document)
        if document is None:
            continue
        passage = passages.get((item.document, item.chunk))
        words = held.get(item.document) if item.document not in whole else None
        finder = finders.get(document.language)
        if finder is None:
            finder = finders[document.language] = Finder(worth, document.language)
        hit = _hit(plan, document, passage, finder, worth, words, ceiling)
        ceiling = hit.score
        hits.append(hit)
    return tuple(hits)


def with_snippets(plan: Plan, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Return hits that were made without snippets with the snippets that the plan asks for."""
    worth = term_worth(plan)
    finders = {hit.language: Finder(worth, hit.language) for hit in hits}
    length = plan.request.snippet_length
    return tuple(
        hit._replace(
            snippet=_snippet(cut_snippet(hit.passage, finders[hit.language], worth, length))
        )
        for hit in hits
    )


def _snippet(cutting: Cutting) -> Snippet:
    return Snippet(make_safe(cutting.text), cutting.marks, cutting.cut_before, cutting.cut_after)


def held_words(
    engine: Engine, planner: Planner, plan: Plan, documents: tuple[int, ...]
) -> dict[int, set[str]]:
    """Return which words of the question each of some documents holds anywhere."""
    held: dict[int, set[str]] = {document: set() for document in documents}
    if documents:
        for clause in plan.clauses:
            if clause.known:
                match = planner.single(clause, documents)
                for document, _, _ in engine.match_pages(match, len(documents)).entries:
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


def _hit(
    plan: Plan,
    document: Document,
    passage: Passage | None,
    finder: Finder,
    worth: dict[str, float],
    held: set[str] | None,
    ceiling: float,
) -> SearchHit:
    text = passage.text if passage else document.description
    cutting = cut_snippet(text, finder, worth, plan.request.snippet_length)
    in_title = finder.terms(document.title)
    trail = tuple(make_safe(heading) for heading in passage.chunk.trail) if passage else ()
    score = min(ceiling, _score(plan, document, in_title, cutting.matched, held))
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
        passage=make_safe(text),
        score=score,
        matched_in=_matched_in(in_title, cutting.matched),
        extension=document.extension,
        date=document.date,
        modified_ns=document.modified_ns,
        chunk=passage.chunk.ordinal if passage else 0,
        chunks=document.chunks,
        language=document.language,
    )


def _score(
    plan: Plan,
    document: Document,
    in_title: frozenset[str],
    in_text: frozenset[str],
    held: set[str] | None,
) -> float:
    """Return how much of the question the hit meets, on one scale for all questions.

    `held` are the words that the page holds anywhere; None stands for all that any page holds.
    """
    if normal_title(document.title) == plan.question.title:
        return 1.0
    asked = [clause for clause in plan.clauses if clause.known or not clause.filler]
    total = sum(clause.worth for clause in asked)
    if not total:
        return _IN_PASSAGE
    met = 0.0
    for clause in asked:
        terms = {*clause.exact, *clause.stems}
        level = 0.0
        if terms & in_title:
            level = _IN_TITLE
        elif terms & in_text:
            level = _IN_PASSAGE
        elif clause.known and (held is None or clause.word in held):
            level = _IN_PAGE
        met += level * clause.worth * (_RESPELT if clause.respelt else 1.0)
    return round(max(0.01, min(0.99, met / total)), 4)


def _matched_in(in_title: frozenset[str], in_text: frozenset[str]) -> SearchIn:
    if in_title and in_text:
        return SearchIn.BOTH
    return SearchIn.TITLE if in_title else SearchIn.CONTENT
