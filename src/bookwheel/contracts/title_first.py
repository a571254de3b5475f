"""Title-heavy order: pages with the query in their title, then in a heading, then all others.

Within each of the three the order is that of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bookwheel.query import SearchHit, SearchIn, SearchRequest, SearchResults
from bookwheel.search.interpret import interpret
from bookwheel.text.language import filler_words
from bookwheel.text.words import Finder
from bookwheel.view import View

POOL = 100
"""So many of the best pages are looked at; those with the query in their title come besides.

A page with the query only in a heading that is not among them is not lifted: each page costs
a quarter of a millisecond.
"""
_IN_TITLE, _IN_HEADING, _ELSEWHERE = 0, 1, 2
_LEAST_SCORES = (1.0, 0.9, 0.0)
"""What a page of each rank scores at least, so that the score tells of the rank too."""


class _Asked:
    """The telling words of a query, each as the terms that stand for it."""

    def __init__(self, words: Iterable[frozenset[str]]) -> None:
        self._words = tuple(words)
        self._terms = {term: 1.0 for word in self._words for term in word}
        self._finders: dict[str, Finder] = {}

    def is_in(self, text: str, language: str) -> bool:
        """Tell whether a text holds every word."""
        finder = self._finders.get(language)
        if finder is None:
            finder = self._finders[language] = Finder(self._terms, language)
        found = finder.terms(text)
        return bool(found) and all(found & word for word in self._words)


def search_title_first(library: View, request: SearchRequest) -> SearchResults:
    """Search; put pages first that have the whole query in their title, then in a heading."""
    bare = request._replace(snippet_length=0)
    pool = library.search(bare._replace(limit=max(POOL, request.limit)))
    titled: tuple[SearchHit, ...] = ()
    if pool.total > len(pool.hits):
        titled = library.search(bare._replace(search_in=SearchIn.TITLE)).hits
    known = {_key(hit) for hit in pool.hits}
    late = tuple(hit for hit in titled if _key(hit) not in known)
    ranks = _rank(library, request.text, (*pool.hits, *late))
    every = [*pool.hits, *(hit for hit in late if ranks[_key(hit)] == _IN_TITLE)]
    every.sort(key=lambda hit: ranks[_key(hit)])
    scored = [hit._replace(score=max(hit.score, _LEAST_SCORES[ranks[_key(hit)]])) for hit in every]
    shown = _falling(scored)[: request.limit]
    return pool._replace(hits=library.add_snippets(request, shown))


def _key(hit: SearchHit) -> tuple[str, str]:
    return hit.collection, hit.document


def _rank(library: View, query: str, hits: Sequence[SearchHit]) -> dict[tuple[str, str], int]:
    """Tell for each hit where its page has the whole query."""
    asked = _read(query, tuple(sorted({hit.language for hit in hits})) or ("en",))
    ranks = {_key(hit): _IN_TITLE for hit in hits if asked.is_in(hit.title, hit.language)}
    others = [hit for hit in hits if _key(hit) not in ranks]
    headings = library.headings(others)
    for hit in others:
        found = any(asked.is_in(each, hit.language) for each in headings.get(_key(hit), ()))
        ranks[_key(hit)] = _IN_HEADING if found else _ELSEWHERE
    return ranks


def _read(query: str, languages: tuple[str, ...]) -> _Asked:
    question = interpret(query, languages)
    words = [word for surface in question.words for word in surface.words]
    telling = [
        word for word in words if not any(word.exact in filler_words(each) for each in languages)
    ]
    asked = [frozenset((word.exact, *word.stems)) for word in telling or words]
    asked += [frozenset((word,)) for phrase in question.phrases for word in phrase]
    return _Asked(asked)


def _falling(hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Lift scores so that none is lower than one further down."""
    lifted: list[SearchHit] = []
    floor = 0.0
    for hit in reversed(hits):
        floor = max(floor, hit.score)
        lifted.append(hit._replace(score=floor))
    return tuple(reversed(lifted))
