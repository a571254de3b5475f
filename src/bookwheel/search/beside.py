"""Searching by what a query says beside its filters, once it is clear which of its words are some.

A word that may name a type or be looked for itself is a filter only if a file of it has the other
words. What is a filter is never loosened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from bookwheel.query import Filters, Place, SearchMode, SearchRequest, SearchResults
from bookwheel.search.wishes import Wishes, filters_in_words, guess_filters

_Search = Callable[[SearchRequest], SearchResults]


def search_beside(
    text: str,
    today: date,
    places: Sequence[Place],
    *,
    make_request: Callable[[Wishes], SearchRequest],
    search: _Search,
) -> tuple[SearchResults, SearchRequest, Wishes]:
    """Return what meets the filters that a query states, how it was asked for, and how read.

    `make_request` puts a reading of the query beside the filters of the request itself.
    """
    wishes = filters_in_words(text, today, places)
    guess = None if wishes.filters.extensions else guess_filters(text, today, places)
    plain = make_request(Wishes(Filters(), text))
    if guess and (request := make_request(guess)).filters.extensions != plain.filters.extensions:
        if _has_all_words(request, search):
            return search(request), request, guess
        note = (
            f"{guess.notes[-1].replace(' taken as ', ' may mean ')}, but none has all other words"
        )
        wishes = wishes._replace(notes=(*wishes.notes, note), kinds=(*wishes.kinds, "types"))
    return _search_stated(wishes, make_request(wishes), plain, search)


def _search_stated(
    wishes: Wishes, request: SearchRequest, plain: SearchRequest, search: _Search
) -> tuple[SearchResults, SearchRequest, Wishes]:
    results = search(request)
    if results.total or not wishes.is_all:
        return results, request, wishes
    # `slides in HR` may be about slides, and mostly is not: whatever meets the filters.
    results = search(request._replace(text="", anything=True))
    if results.total or plain.filters == request.filters:
        return results, request, wishes
    notes = tuple(f"{note}, but there is none: taken as words" for note in wishes.notes)
    return search(plain), plain, wishes._replace(notes=notes)


def _has_all_words(request: SearchRequest, search: _Search) -> bool:
    """Tell whether a file that meets the filters has every word."""
    first = request._replace(mode=SearchMode.LEXICAL, limit=1, offset=0, window=0, rerank=False)
    results = search(first._replace(snippet_length=0))
    return bool(results.hits) and all(" also as " in note for note in results.relaxed)
