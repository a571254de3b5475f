"""Documents like a given one, or like a given text: by telling words, by meaning, by links."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from bookwheel.engines.base import Engine, Field, Vector
from bookwheel.errors import Upstream
from bookwheel.model import Document
from bookwheel.query import Filters, SearchHit, SearchMode, SearchRequest
from bookwheel.search.interpret import Question
from bookwheel.search.meaning import Embedder, Nearness, find_nearest, measure, mix
from bookwheel.search.plan import Clause, Plan, Planner
from bookwheel.search.rank import Ranked, in_order, rank, with_passages
from bookwheel.search.show import show
from bookwheel.text.language import filler_words
from bookwheel.text.words import analyze, is_unspaced, stem

MOST_TERMS = 25
_MOST_ROUNDS = 8
"""How often further terms are tried where the most telling ones find nothing."""
_READ = 50_000
"""So many characters of a text are looked at: enough to tell what it is about."""
_POOL = 50
_NEAR = 200
"""At least so many of the nearest chunks are looked at: several may be of one document."""
_LINKED = 0.4
"""What a link between two documents counts, of the best score without; see docs/citations.md."""
_LINKS = 200
_NO_TITLE = "\n"
"""Equal to no title, so that none counts as asked for."""


def find_related(
    engine: Engine,
    document: Document,
    *,
    text: str | None = None,
    limit: int = 5,
    same_document: bool = False,
    embedder: Embedder | None = None,
) -> tuple[SearchHit, ...]:
    """Return documents of the same collection that are like a document, or like a text.

    The document itself is one of them only with `same_document`. Words alone decide where there
    is no embedder, or where the document has no vectors of it.
    """
    planner = Planner(engine, (document.language,))
    request = SearchRequest("", Filters(collections=(document.collection,)), limit=limit)
    hidden = None if same_document else document.key
    clauses = _telling_clauses(engine, planner, document, text, same_document=same_document)
    plan, ranked = _by_words(engine, planner, request, clauses, hidden)
    if not plan.clauses:  # what only meaning finds has met no word, rather than all
        plan = plan._replace(clauses=_unmet_clauses(planner, document, text or document.title))
    if same_document and text is None:
        ranked = _with_itself(document, ranked)
    source = _source_vector(engine, document, text, embedder) if embedder else None
    if embedder and source is not None:
        near = _find_near(engine, planner, plan, embedder.fingerprint, source, ranked)
        near.pop(hidden or 0, None)
        ranked = [_without_chunk(item) if item.document in near else item for item in ranked]
        ranked = mix(ranked, near, embedder, SearchMode.HYBRID, strict=True) if near else ranked
    if text is None:
        ranked = _lift_linked(engine, document, ranked)
    shown = with_passages(engine, planner, plan, ranked[:limit])
    return show(engine, planner, plan, shown, frozenset())


def _with_itself(document: Document, ranked: list[Ranked]) -> list[Ranked]:
    """Return what was found, and first the document, whose own words were not looked for."""
    best = max((item.score for item in ranked), default=1.0)
    others = [item for item in ranked if item.document != document.key]
    return [Ranked(document.key, 0, best + 1), *others]


def _lift_linked(engine: Engine, document: Document, ranked: list[Ranked]) -> list[Ranked]:
    """Return what was found with those further up that a link ties to the document."""
    cited = engine.outgoing([document.key], _LINKS)[document.key]
    citing = engine.incoming([document.key], _LINKS)[document.key]
    linked = {each.target for each in cited} | {each.source for each in citing}
    return in_order(
        item._replace(score=item.score + _LINKED) if item.document in linked else item
        for item in ranked
    )


def _without_chunk(item: Ranked) -> Ranked:
    """Return a page that is to be shown by the chunk nearest in meaning."""
    return item._replace(chunk=0)


def _by_words(
    engine: Engine,
    planner: Planner,
    request: SearchRequest,
    clauses: list[Clause],
    hidden: int | None,
) -> tuple[Plan, list[Ranked]]:
    """Return what shares the most telling words with the source, and the plan that found it."""
    plan = Plan(tuple(clauses[:MOST_TERMS]), (), Question(_NO_TITLE, ()), request)
    for some in _rounds(clauses):
        tried = plan._replace(clauses=some)
        ranked = [each for each in _rank(engine, planner, tried) if each.document != hidden]
        if ranked:
            return tried, ranked
    return plan, []


def _source_vector(
    engine: Engine, document: Document, text: str | None, embedder: Embedder
) -> Vector | None:
    """Return the vector of the text, or else the middle of those of the document's chunks.

    None where there is none, or where a model elsewhere does not answer.
    """
    if text is not None:
        try:
            vector = embedder.embed_query(text)
        except Upstream:
            return None
    else:
        matrix = engine.vectors(embedder.fingerprint, [document.key]).get(document.key)
        if matrix is None:
            return None
        vector = matrix.sum(axis=0)
    length = float(vector @ vector) ** 0.5
    return vector / length if length else None


def _find_near(
    engine: Engine,
    planner: Planner,
    plan: Plan,
    fingerprint: str,
    source: Vector,
    ranked: Iterable[Ranked],
) -> dict[int, Nearness]:
    """Return how near documents are: those nearest to the source, and those that words found."""
    wanted = max(_NEAR, 4 * (plan.request.limit + 1))
    found = find_nearest(engine, planner, plan, fingerprint, source, wanted)
    nearest = {document for document, _, _ in found.entries}
    keys = [*nearest, *(item.document for item in ranked if item.document not in nearest)]
    return measure(engine.vectors(fingerprint, keys), source, nearest)


def _rank(engine: Engine, planner: Planner, plan: Plan) -> list[Ranked]:
    pool = max(_POOL, plan.request.limit + 10)
    found = engine.match_pages(planner.match(plan, all_clauses=False), pool)
    return rank(engine, planner, plan, {page: score for page, _, score in found.entries})


def _rounds(clauses: list[Clause]) -> Iterator[tuple[Clause, ...]]:
    """Yield the most telling terms, then those that come next."""
    for start in range(0, min(len(clauses), _MOST_ROUNDS * MOST_TERMS), MOST_TERMS):
        yield tuple(clauses[start : start + MOST_TERMS])


def _telling_clauses(
    engine: Engine, planner: Planner, document: Document, text: str | None, *, same_document: bool
) -> list[Clause]:
    """Return the words of the text, or else of the document, the most telling first."""
    whole = _read(engine, document)
    source = whole if text is None else text
    counts = Counter(_stems(source, document.language))
    # A word that only the document has finds no other; a text may be looked for in it, too.
    in_itself = same_document and text is not None
    own = set() if in_itself else set(_stems(whole, document.language))
    weighed = []
    for word, count in counts.items():
        frequency = engine.frequency(Field.BODY, word)
        if frequency > (word in own):
            times = round(1 + math.log2(count))
            worth = times * planner.worth(frequency)
            weighed.append((-worth, Clause(word, (), (word,), times, worth, known=True)))
    return [clause for _, clause in sorted(weighed)]


def _unmet_clauses(planner: Planner, document: Document, text: str) -> tuple[Clause, ...]:
    """Return the words of a text that no other document has."""
    words = dict.fromkeys(_stems(text, document.language))
    worth = planner.worth(1)
    return tuple(Clause(word, (), (word,), 1, worth, known=False) for word in words)[:MOST_TERMS]


def _read(engine: Engine, document: Document) -> str:
    # A character is at most four bytes long.
    text = engine.text(document.key)[: _READ * 4].decode("utf-8", "ignore")
    return f"{document.title}\n{text}"


def _stems(text: str, language: str) -> Iterable[str]:
    """Return the stems of a text that can tell what it is about, in order."""
    empty = _filler_stems(language)
    stems = analyze(text[:_READ], language).stems.split()
    return [word for word in stems if word not in empty and _is_word(word)]


@cache
def _filler_stems(language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in filler_words(language))


def _is_word(term: str) -> bool:
    """Tell a word from a number or a single letter, which say nothing by themselves."""
    return (len(term) > 1 or is_unspaced(term)) and any(letter.isalpha() for letter in term)
