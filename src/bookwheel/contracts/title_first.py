"""Title-heavy order: pages with the query in their title, then in a heading, then all others.

Within the first two the order is that of the search; the others follow by how much of the query
their title and headings have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bookwheel.query import SearchHit, SearchIn, SearchRequest, SearchResults
from bookwheel.text.matching import Finder
from bookwheel.view import View

if TYPE_CHECKING:
    from bookwheel.search.highlight import Sought

POOL = 100
"""So many of the best pages are looked at; those with the query in their title come besides.

A page with the query only in a heading that is not among them is not lifted: each page costs
a quarter of a millisecond.
"""
_IN_TITLE, _IN_HEADING, _ELSEWHERE = 0, 1, 2
_LEAST_SCORES = (1.0, 0.9, 0.0)
"""What a page of each rank scores at least, so that the score tells of the rank too."""


_TITLE, _HEADING = 1.0, 0.5
"""What a word counts in them among pages that have the whole query in neither."""


class _Rank(NamedTuple):
    """Where a page has the whole query, and how much of it its title and headings have."""

    place: int
    held: float = 0.0


class _Asked:
    """The telling words of a query, each as the terms that stand for it."""

    def __init__(self, words: Sequence[Sought]) -> None:
        self._words = words
        self._terms = {term: 1.0 for word in words for term in word.terms}
        self._finders: dict[str, Finder] = {}

    def rank(self, title: str, headings: Iterable[str], language: str) -> _Rank:
        """Tell where a page has the words."""
        in_title = self._found(title, language)
        if self._has_all(in_title):
            return _Rank(_IN_TITLE)
        in_headings = [self._found(each, language) for each in headings]
        if any(map(self._has_all, in_headings)):
            return _Rank(_IN_HEADING)
        every = frozenset[str]().union(*in_headings)
        held = sum(
            word.worth * (_TITLE if word.terms & in_title else _HEADING)
            for word in self._words
            if word.terms & (in_title | every)
        )
        return _Rank(_ELSEWHERE, held)

    def _has_all(self, found: frozenset[str]) -> bool:
        return bool(found) and all(found & word.terms for word in self._words)

    def _found(self, text: str, language: str) -> frozenset[str]:
        finder = self._finders.get(language)
        if finder is None:
            finder = self._finders[language] = Finder(self._terms, language)
        return finder.terms(text)


def search_title_first(library: View, request: SearchRequest) -> SearchResults:
    """Search; put pages first that have the whole query in their title, then in a heading."""
    bare = request._replace(snippet_length=0)
    pool = library.search(bare._replace(limit=max(POOL, request.limit)))
    titled: tuple[SearchHit, ...] = ()
    if pool.total > len(pool.hits):
        titled = library.search(bare._replace(search_in=SearchIn.TITLE)).hits
    known = {_key(hit) for hit in pool.hits}
    late = tuple(hit for hit in titled if _key(hit) not in known)
    ranks = _rank(library, request, (*pool.hits, *late))
    every = [*pool.hits, *(hit for hit in late if ranks[_key(hit)].place == _IN_TITLE)]
    every.sort(key=lambda hit: (ranks[_key(hit)].place, -ranks[_key(hit)].held))
    scored = [
        hit._replace(score=max(hit.score, _LEAST_SCORES[ranks[_key(hit)].place])) for hit in every
    ]
    shown = _falling(scored)[: request.limit]
    return pool._replace(hits=library.add_snippets(request, shown))


def _key(hit: SearchHit) -> tuple[str, str]:
    return hit.collection, hit.document


def _rank(
    library: View, request: SearchRequest, hits: Sequence[SearchHit]
) -> dict[tuple[str, str], _Rank]:
    """Tell for each hit where its page has the query."""
    asked = _Asked(library.words_sought(request))
    headings = library.headings(hits)
    return {
        _key(hit): asked.rank(hit.title, headings.get(_key(hit), ()), hit.language) for hit in hits
    }


def _falling(hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Lift scores so that none is lower than one further down."""
    lifted: list[SearchHit] = []
    floor = 0.0
    for hit in reversed(hits):
        floor = max(floor, hit.score)
        lifted.append(hit._replace(score=floor))
    return tuple(reversed(lifted))
