"""One search from request to answer: interpret, plan, correct, retrieve, rank, show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bookwheel.engines.base import Engine, Field
from bookwheel.query import SearchRequest, SearchResults
from bookwheel.search.interpret import interpret
from bookwheel.search.plan import ALL_WORDS_BONUS, Clause, Plan, Planner
from bookwheel.search.rank import rank, with_passages
from bookwheel.search.show import show
from bookwheel.search.spelling import Speller
from bookwheel.text.words import Word, analyze_query, normal_title

MOST_RESULTS = 1000
_POOL = 50
"""At least so many pages are looked at closely, so that the best passage can lift one."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Candidates in order of their page score, how many there may be, and what was relaxed."""

    pages: dict[int, float]
    whole: frozenset[int]
    """Those pages that hold every word that any page holds."""
    total: int
    relaxed: tuple[str, ...]


def search(engine: Engine, request: SearchRequest) -> SearchResults:
    """Answer a request; any text is a valid query."""
    languages = query_languages(engine)
    question = interpret(request.text, languages)
    unreadable = sum(engine.status_counts(request.filters).values())
    if question.asks_nothing:
        relaxed = ("the query has no word to look for",)
        return SearchResults(request.text, (), 0, relaxed, (), unreadable)
    planner = Planner(engine, languages)
    plan = planner.plan(question, request)
    plan, notes, titles = correct(engine, planner, plan, languages)
    if question.shortened:
        notes = ("only the first part of this long query was used", *notes)
    found = retrieve(engine, planner, plan, titles)
    ranked = rank(engine, planner, plan, found.pages)
    shown = ranked[request.offset : request.offset + request.limit]
    shown = with_passages(engine, planner, plan, shown)
    hits = show(engine, planner, plan, shown, found.whole)
    suggestions = () if hits else suggest(engine, plan)
    return SearchResults(
        request.text,
        hits,
        max(found.total, len(ranked)),
        notes + found.relaxed,
        suggestions,
        unreadable,
    )


def query_languages(engine: Engine) -> tuple[str, ...]:
    """Return the languages in which a query's words are stemmed: those of most documents."""
    counts = engine.languages()
    total = sum(counts.values())
    common = [name for name, n in counts.items() if n * 100 >= total or n >= 50]
    common.sort(key=lambda name: -counts[name])
    return tuple(common[:6]) or ("en",)


def correct(
    engine: Engine, planner: Planner, plan: Plan, languages: tuple[str, ...]
) -> tuple[Plan, tuple[str, ...], tuple[str, ...]]:
    """Widen words that look like slips; return the plan, what was done, and titles meant."""
    title = plan.question.title
    if not plan.request.fuzzy:
        parts = [
            part
            for clause in plan.clauses
            for part in ([clause] if clause.known else planner.split(clause) or [clause])
        ]
        plan = replace(plan, clauses=tuple(parts))
        return plan, tuple(_missing(plan.clauses)), (title,)
    speller = Speller(engine, plan.request.filters)
    clauses: list[Clause] = []
    notes: list[str] = []
    titles = [title]
    for clause in plan.clauses:
        meant = _meant(engine, speller, clause)
        if not meant:
            clauses += [clause] if clause.known else planner.split(clause) or [clause]
            continue
        words = [word for text in meant for word in _words(text, languages)]
        clauses.append(planner.respell(clause, words))
        notes.append(f"'{clause.word}' also as {', '.join(repr(word) for word in meant)}")
        titles += [t.replace(clause.word, word) for t in titles for word in meant][:8]
    plan = replace(plan, clauses=tuple(clauses))
    return plan, (*notes, *_missing(plan.clauses)), tuple(normal_title(t) for t in titles)


def _meant(engine: Engine, speller: Speller, clause: Clause) -> list[str]:
    own = engine.frequency(Field.EXACT, clause.word)
    if clause.known and own > 3:
        return []
    if clause.known and not own:
        return []
    return speller.candidates(clause.word, own=own)


def _words(text: str, languages: tuple[str, ...]) -> Iterable[Word]:
    return (word for surface in analyze_query(text, languages) for word in surface.words)


def _missing(clauses: Iterable[Clause]) -> list[str]:
    return [f"no document has '{clause.word}'" for clause in clauses if not clause.known]


def retrieve(engine: Engine, planner: Planner, plan: Plan, titles: tuple[str, ...]) -> Retrieved:
    """Return candidate pages: those with all words, then, if too few, those with some."""
    wanted = min(MOST_RESULTS, plan.request.offset + plan.request.limit)
    pool = max(_POOL, wanted + 10)
    every = engine.match_pages(
        planner.match(plan, all_clauses=True, titles=titles), pool, count=True
    )
    gain = 1 + ALL_WORDS_BONUS
    pages = {document: score * gain for document, _, score in every.entries}
    whole = frozenset(pages)
    known = [clause for clause in plan.clauses if clause.known]
    if len(pages) >= pool or len(known) < 2:
        return Retrieved(pages, whole, every.total, ())
    some = engine.match_pages(planner.match(plan, all_clauses=False, titles=titles), pool)
    for document, _, score in some.entries:
        pages.setdefault(document, score)
    relaxed = ("not every word had to match",) if len(every.entries) < wanted else ()
    return Retrieved(pages, whole, max(every.total, len(pages)), relaxed)


def suggest(engine: Engine, plan: Plan) -> tuple[str, ...]:
    """Return what is near when nothing matched."""
    speller = Speller(engine, plan.request.filters)
    near: list[str] = []
    for clause in plan.clauses:
        near += speller.candidates(clause.word, own=0) if plan.request.fuzzy else []
    return tuple(dict.fromkeys(near))[:5]
