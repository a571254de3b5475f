"""One search from request to answer: interpret, plan, correct, retrieve, rank, show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.errors import Upstream
from bookwheel.model import Status
from bookwheel.query import WORDS_ALONE, SearchHit, SearchMode, SearchRequest, SearchResults
from bookwheel.search.correct import correct
from bookwheel.search.interpret import Question, interpret, query_languages
from bookwheel.search.meaning import (
    LEANING,
    Embedder,
    Nearness,
    drop_far,
    find_near,
    mix,
    scale_similarity,
)
from bookwheel.search.named import files_named, with_named
from bookwheel.search.near_words import WordModel, look_at_words
from bookwheel.search.nothing import why_nothing
from bookwheel.search.plan import (
    ALL_WORDS_BONUS,
    TITLE_BONUS,
    Plan,
    Planner,
    asked_for,
    length,
    share_told,
)
from bookwheel.search.rank import Ranked, rank, with_passages
from bookwheel.search.require import fewest_forms
from bookwheel.search.second_look import LOOKED_AT, SecondLook
from bookwheel.search.show import show, with_snippets
from bookwheel.search.spelling import Speller
from bookwheel.text.words import LONGEST_WORD

MOST_RESULTS = 1000
_SEEN = "the model of the second look has read every passage already: its order is this one"
_USUAL_FORMS = 5
"""Hardly a word has more that stand in an index."""
_POOL = 50
"""At least so many pages are looked at closely, so that the best passage can lift one."""


class Retrieved(NamedTuple):
    """Candidates in order of their page score, and how many there may be."""

    pages: dict[int, float]
    whole: frozenset[int]
    """Those pages that hold every word that any page holds."""
    total: int
    tail: tuple[tuple[int, float], ...] = ()
    """Pages beyond the window, in order of their page score."""


def search(
    engine: Engine,
    request: SearchRequest,
    embedder: Embedder | None = None,
    second_look: SecondLook | None = None,
) -> SearchResults:
    """Answer a request; any text is a valid query."""
    languages = query_languages(engine)
    question = interpret(request.text, languages)
    statuses = engine.status_counts(request.filters)
    files = sum(statuses.values())
    scope = (files - statuses.get(Status.OK, 0), files)
    if question.asks_nothing and not request.anything:
        relaxed = (f"the query has no word of up to {LONGEST_WORD} letters to look for",)
        return SearchResults(request.text, (), 0, relaxed, (), *scope)
    planner = Planner(engine, languages)
    plan = planner.plan(question, request)
    plan, notes, titles = correct(engine, planner, plan, languages)
    notes = (*_readings(question), *notes)
    found = retrieve(engine, planner, plan, titles)
    ranked, trouble = order(engine, planner, plan, found, embedder)
    judged, ranked = len(ranked), drop_far(ranked, request.max_distance)
    ranked, remarks = look_again(engine, planner, plan, ranked, second_look, embedder)
    shown = ranked[request.offset : request.offset + request.limit]
    if request.window:
        hits = show_window(engine, planner, plan, ranked, found)
    else:
        shown = with_passages(engine, planner, plan, shown)
        hits = show(engine, planner, plan, shown, found.whole)
    notes = (*notes, *trouble)
    is_relaxed = any(item.document not in found.whole for item in shown)
    by_words = request.mode is not SearchMode.SEMANTIC  # else none had to
    if by_words and found.pages and is_relaxed and question.expression is None:
        notes = (*notes, "not every word had to match")
    # What was not looked at is taken to be as far away as what was.
    unseen = (found.total - len(found.pages)) * len(ranked) // max(1, judged)
    # Of what is near in meaning, some may be among what was not looked at.
    total = max(len(ranked), min(unseen + len(ranked), statuses.get(Status.OK, 0)))
    if hits:
        return SearchResults(request.text, hits, total, notes, (), *scope, remarks)
    if judged and not ranked:
        reasons = [f"all that was found is farther away than {request.max_distance:g}"]
    else:
        reasons = why_nothing(engine, planner, plan, total, len(ranked))
    suggestions = () if reasons else suggest(engine, plan)
    notes = (*notes, *reasons)
    return SearchResults(request.text, (), total, notes, suggestions, *scope, remarks)


def show_window(
    engine: Engine, planner: Planner, plan: Plan, ranked: Sequence[Ranked], found: Retrieved
) -> tuple[SearchHit, ...]:
    """Return one page of an answer whose scores go on from where the page before it ended."""
    start, end = plan.request.offset, plan.request.offset + plan.request.limit
    first = with_passages(engine, planner, plan, ranked[:end])
    hits = show(engine, planner, plan, first, found.whole)
    if end <= len(ranked) or plan.request.mode is SearchMode.SEMANTIC:
        return hits[start:]
    seen = {item.document for item in ranked}
    rest = [(key, score) for key, score in found.tail if key not in seen]
    beyond = [Ranked(key, 0, score) for key, score in rest][
        max(0, start - len(ranked)) : end - len(ranked)
    ]
    if not beyond:
        return hits[start:]
    last, top = hits[-1].score if hits else 1.0, rest[0][1] or 1.0
    beyond = with_passages(engine, planner, plan, beyond)
    more = [
        hit._replace(score=round(last * min(1.0, hit.rank_score / top), 4))
        for hit in show(engine, planner, plan, beyond, found.whole)
    ]
    return (*hits[start:], *more)


def _readings(question: Question) -> tuple[str, ...]:
    """Return in what way a query was not taken as it stands."""
    notes = []
    if question.loosened:
        notes.append("quotation marks in a long question were taken as its own")
    if question.shortened:
        notes.append("only the first part of this long query was used")
    forms = _USUAL_FORMS if question.expression is None else fewest_forms(question.expression)
    if not forms:
        notes.append("so many words beside NEAR need not be near")
    elif forms < _USUAL_FORMS:
        notes.append("of so many words beside NEAR only the commonest forms were looked for")
    return tuple(notes)


def order(
    engine: Engine, planner: Planner, plan: Plan, found: Retrieved, embedder: Embedder | None
) -> tuple[list[Ranked], tuple[str, ...]]:
    """Return the pages in order, by words and by meaning, and what kept meaning out of it."""
    ranked = rank(engine, planner, plan, found.pages)
    mode = plan.request.mode
    if embedder is None or mode is SearchMode.LEXICAL:
        return ranked, ()
    near, trouble = look_near(engine, planner, plan, embedder, ranked)
    # A question all whose words some page holds is answered by words, and one none of whose
    # words is known may be nonsense; any other needs all the meaning there is.
    whole = found.whole if _all_known(plan) else frozenset()
    strict = bool(whole) or not found.pages
    if near is None or not (near or mode is SearchMode.SEMANTIC):
        return ranked, trouble
    leaning = LEANING * length(sum(not clause.filler for clause in plan.clauses))
    words = embedder if isinstance(embedder, WordModel) else None
    nearest = max((each.similarity for each in near.values()), default=0.0)
    related = scale_similarity(nearest, embedder.unrelated)
    told = share_told(plan, words.is_word if words else lambda word: False, related)
    mixed = mix(
        *(ranked, near, embedder, mode), strict=strict, whole=whole, leaning=leaning, told=told
    )
    if mode is SearchMode.HYBRID and words is not None:
        mixed = look_at_words(engine, planner, plan, mixed, words)
    return mixed, trouble


def _all_known(plan: Plan) -> bool:
    """Tell whether the index has every telling word as it was written."""
    return all(clause.known and not clause.respelt for clause in plan.clauses if not clause.filler)


def look_again(
    engine: Engine,
    planner: Planner,
    plan: Plan,
    ranked: list[Ranked],
    second_look: SecondLook | None,
    embedder: Embedder | None,
) -> tuple[list[Ranked], tuple[str, ...]]:
    """Return the pages with the first of them in the order of a second look, if there is one."""
    if second_look is None or len(ranked) < 2:
        return ranked, ()
    if second_look.has_seen(ranked[:LOOKED_AT], embedder.fingerprint if embedder else None):
        return ranked, (_SEEN,)
    first = with_passages(engine, planner, plan, ranked[:LOOKED_AT])
    first, remarks = second_look.reorder(engine, plan.question.plain, first)
    return [*first, *ranked[LOOKED_AT:]], remarks


def look_near(
    engine: Engine, planner: Planner, plan: Plan, embedder: Embedder, ranked: Sequence[Ranked]
) -> tuple[dict[int, Nearness] | None, tuple[str, ...]]:
    """Return how near pages are; None, and what to say of it, where words must do."""
    semantic = plan.request.mode is SearchMode.SEMANTIC
    try:
        near = find_near(engine, planner, plan, embedder, [item.document for item in ranked])
    except Upstream as error:
        if semantic:
            raise
        return None, (f"{WORDS_ALONE}: {error.message.rstrip('.')}",)
    unread = near is None and semantic
    return near, (f"{WORDS_ALONE}: the model reads nothing in this",) * unread


def add_snippets(
    engine: Engine, request: SearchRequest, hits: Sequence[SearchHit]
) -> tuple[SearchHit, ...]:
    """Return hits that were asked for without snippets with those that the request wants."""
    languages = query_languages(engine)
    planner = Planner(engine, languages)
    plan = planner.plan(interpret(request.text, languages), request)
    return with_snippets(correct(engine, planner, plan, languages)[0], hits)


def retrieve(engine: Engine, planner: Planner, plan: Plan, titles: tuple[str, ...]) -> Retrieved:
    """Return candidate pages: those with all words, then, if too few, those with some."""
    pool, deep = _depths(plan.request)
    named = files_named(engine, planner, plan, pool)
    is_strict = plan.question.expression is not None
    unknown = plan.clauses and not any(clause.known for clause in plan.clauses)
    if plan.request.exacting and any(not (c.known or c.filler) for c in plan.clauses):
        return Retrieved(named, frozenset(), len(named))
    if unknown and not plan.question.phrases and not is_strict:
        # No word of it stands anywhere; filters alone would find everything.
        return Retrieved(named, frozenset(), len(named))
    every = engine.match_pages(
        planner.match(plan, all_clauses=True, titles=titles), deep, count=not is_strict
    )
    # What words weigh is raised, not the bonus of a title.
    pages = {
        document: score + ALL_WORDS_BONUS * (score % TITLE_BONUS)
        for document, _, score in every.entries[:pool]
    }
    whole = frozenset(pages)
    enough = len(pages) >= pool or len(asked_for(plan)) < 2
    if enough and not is_strict:
        tail = tuple((document, score) for document, _, score in every.entries[pool:])
        pages = with_named(engine, plan, pages, named)
        return Retrieved(pages, whole, max(every.total, len(pages)), tail)
    match = planner.match(plan, all_clauses=False, titles=titles)
    some = engine.match_pages(match, deep if is_strict else pool, count=is_strict)
    for document, _, score in some.entries[: 0 if len(pages) >= pool else pool]:
        pages.setdefault(document, score)
    if not is_strict:
        pages = with_named(engine, plan, pages, named)
        return Retrieved(pages, whole, max(every.total, len(pages)))
    rest = tuple((key, score) for key, _, score in some.entries if key not in pages)
    return Retrieved(pages, whole, some.total, rest)


def _depths(request: SearchRequest) -> tuple[int, int]:
    """Return how many pages are weighed against each other, and how many are looked for."""
    if request.window:
        return request.window, max(request.window, request.offset + request.limit)
    pool = max(_POOL, min(MOST_RESULTS, request.reach) + 10)
    if request.max_distance is not None:  # some will be dropped again
        pool = min(MOST_RESULTS, 4 * pool)
    return pool, pool


def suggest(engine: Engine, plan: Plan) -> tuple[str, ...]:
    """Return what is near when nothing matched."""
    if not plan.request.fuzzy:
        return ()
    speller = Speller(engine, plan.request.filters)
    near: list[str] = []
    for clause in plan.clauses:
        near += speller.words(clause.word, own=0)
    return tuple(dict.fromkeys(near))[:5]
