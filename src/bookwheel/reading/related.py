"""Documents like a given one, or like a given text, found by its most telling words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from bookwheel.engines.base import Engine, Field
from bookwheel.model import Document
from bookwheel.query import Filters, SearchHit, SearchRequest
from bookwheel.search.interpret import Question
from bookwheel.search.plan import Clause, Plan, Planner
from bookwheel.search.rank import Ranked, rank, with_passages
from bookwheel.search.show import show
from bookwheel.text.language import filler_words
from bookwheel.text.words import analyze, is_unspaced, stem

MOST_TERMS = 25
_MOST_ROUNDS = 8
"""How often further terms are tried where the most telling ones find nothing."""
_READ = 50_000
"""So many characters of a text are looked at: enough to tell what it is about."""
_POOL = 50
_NO_TITLE = "\n"
"""Equal to no title, so that none counts as asked for."""


def find_related(
    engine: Engine,
    document: Document,
    *,
    text: str | None = None,
    limit: int = 5,
    same_document: bool = False,
) -> tuple[SearchHit, ...]:
    """Return documents of the same collection that are like a document, or like a text.

    The document itself is one of them only with `same_document`.
    """
    planner = Planner(engine, (document.language,))
    request = SearchRequest("", Filters(collections=(document.collection,)), limit=limit)
    hidden = None if same_document else document.key
    clauses = _telling_clauses(engine, planner, document, text, is_hidden=not same_document)
    for some in _rounds(clauses):
        plan = Plan(some, (), Question(_NO_TITLE, ()), request)
        ranked = [each for each in _rank(engine, planner, plan) if each.document != hidden]
        if ranked:
            shown = with_passages(engine, planner, plan, ranked[:limit])
            return show(engine, planner, plan, shown, frozenset())
    return ()


def _rank(engine: Engine, planner: Planner, plan: Plan) -> list[Ranked]:
    pool = max(_POOL, plan.request.limit + 10)
    found = engine.match_pages(planner.match(plan, all_clauses=False), pool)
    return rank(engine, planner, plan, {page: score for page, _, score in found.entries})


def _rounds(clauses: list[Clause]) -> Iterator[tuple[Clause, ...]]:
    """Yield the most telling terms, then those that come next."""
    for start in range(0, min(len(clauses), _MOST_ROUNDS * MOST_TERMS), MOST_TERMS):
        yield tuple(clauses[start : start + MOST_TERMS])


def _telling_clauses(
    engine: Engine, planner: Planner, document: Document, text: str | None, *, is_hidden: bool
) -> list[Clause]:
    """Return the words of the text, or else of the document, the most telling first."""
    whole = _read(engine, document)
    source = whole if text is None else text
    counts = Counter(_stems(source, document.language))
    # Where the document is left out, a word that only it has finds nothing.
    own = set(_stems(whole, document.language)) if is_hidden else set()
    weighed = []
    for word, count in counts.items():
        frequency = engine.frequency(Field.BODY, word)
        if frequency > (word in own):
            times = round(1 + math.log2(count))
            worth = times * planner.worth(frequency)
            weighed.append((-worth, Clause(word, (), (word,), times, worth, known=True)))
    return [clause for _, clause in sorted(weighed)]


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
