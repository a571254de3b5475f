"""Words that a query may have meant: the nearest ones the index has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bookwheel.engines.base import Engine, Field, Match, Term
from bookwheel.query import Filters

MOST_CANDIDATES = 4
_SHORTEST = 3
_TINY = 20
"""A word is taken for a slip when a neighbour is this many times commoner."""


def near_words(word: str, vocabulary: Mapping[int, Sequence[str]]) -> list[tuple[int, str]]:
    """Return (distance, word) for the words one slip away, or two for a long word."""
    if len(word) < _SHORTEST or not any(letter.isalpha() for letter in word):
        return []
    found = _within(word, vocabulary, 1)
    if not found and len(word) >= 6:
        found = _within(word, vocabulary, 2)
    return found


def _within(
    word: str, vocabulary: Mapping[int, Sequence[str]], distance: int
) -> list[tuple[int, str]]:
    # Imported here: thirty milliseconds that a query without slips does not pay.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    found: list[tuple[int, str]] = []
    for length in range(len(word) - distance, len(word) + distance + 1):
        words = vocabulary.get(length, ())
        near = extract(word, words, scorer=OSA.distance, score_cutoff=distance, limit=50)
        found += [(int(steps), other) for other, steps, _ in near if other != word]
    return found


class Speller:
    """Finds what a word of a query may have meant, within what the caller may see."""

    def __init__(self, engine: Engine, filters: Filters) -> None:
        self._engine = engine
        self._filters = filters

    def candidates(self, word: str, *, own: int) -> list[str]:
        """Return the likeliest meant words; `own` is how many pages hold the word itself."""
        near = near_words(word, self._engine.vocabulary())
        ranked = sorted(near, key=lambda item: self._order(word, *item))
        likely = []
        for _, other in ranked[:40]:
            frequency = self._engine.frequency(Field.EXACT, other)
            if own and frequency < own * _TINY:
                continue
            # Word lists still hold the words of deleted and of filtered-out pages.
            if self._is_visible(other):
                likely.append(other)
            if len(likely) == MOST_CANDIDATES:
                break
        return likely

    def _order(self, word: str, distance: int, other: str) -> tuple[int, bool, int]:
        frequency = self._engine.frequency(Field.EXACT, other)
        return distance, other[0] != word[0], -frequency

    def _is_visible(self, word: str) -> bool:
        match = Match(((Term(Field.EXACT, word, 1.0),),), filters=self._filters)
        return bool(self._engine.match_pages(match, 1).entries)

    def visible(self, words: Iterable[str]) -> list[str]:
        """Return those words that some page in the caller's scope holds."""
        return [word for word in words if self._is_visible(word)]
