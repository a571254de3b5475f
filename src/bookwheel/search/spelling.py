"""Words that a query may have meant: the nearest ones the index has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from bookwheel.engines.base import Engine, Field, Match, Term, Vocabulary
from bookwheel.query import Filters
from bookwheel.text.language import function_words, spoken_function_words
from bookwheel.text.words import is_unspaced, strip_accents
from bookwheel.text.words import stem as find_stem

MOST_CANDIDATES = 4
MOST_PAIRS = 20
_SHORTEST = 3
_LONG = 8
"""So many letters a word must have for two slips in it; the first letter is then right."""
_SHORTEST_BEGINNING = 4
_SHORTEST_STEM = 4
_LONGEST_ENDING = 8
_LOOKED_AT = 3
"""So many passages are read to see whether a word is shown in them."""
_MOST_NEAR = 1000
"""So many near words of one length are looked at: most may be of what the caller cannot see."""
_MOST_BEGINNINGS = 10
_MOST_TRIED = 10_000
"""So many spellings, with one letter changed, are tried before all words are looked through."""
_ASKED_AT_ONCE = 20
_TINY = 20
"""A word is taken for a slip when a neighbour is this many times commoner."""
_SHORT = 4
"""In so few letters another one makes another word: only swapped ones are surely a slip."""


Near = list[tuple[int, str]]
Holds = Callable[[Near], Near]
"""Leaves those words that stand in what the caller may see: any other is as good as none."""
IsCommon = Callable[[int], bool]
"""Tells whether a word on so many pages stands nearly everywhere."""


def near_words(word: str, vocabulary: Vocabulary, holds: Holds = lambda near: near) -> Near:
    """Return (distance, word) for the words one slip away, or two for a long word."""
    if len(word) < _SHORTEST or not any(letter.isalpha() for letter in word):
        return []
    found = holds(one_slip_away(word, vocabulary))
    if not found and len(word) >= _LONG:
        lengths = range(len(word) - 2, len(word) + 3)
        # Far quicker than to measure how far away each word is that begins otherwise.
        alike = {length: vocabulary.beginning(word[0], length) for length in lengths}
        found = holds(_within(word, alike, 2))
    return found


def one_slip_away(word: str, vocabulary: Vocabulary) -> Near:
    """Return the words that differ by one letter, or by two that are swapped.

    All that a slip could have made of them is written down and asked for, which takes the same time
    in any vocabulary, unless that has the letters of too many scripts.
    """
    letters = _letters(vocabulary.characters)
    if len(letters) * len(word) > _MOST_TRIED:
        return _within(word, vocabulary, 1)
    places = range(len(word) + 1)
    parts = [(word[:place], word[place:]) for place in places]
    shorter = [head + tail[1:] for head, tail in parts if tail]
    swapped = [head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1]
    other = [head + letter + tail[1:] for head, tail in parts if tail for letter in letters]
    longer = [head + letter + tail for head, tail in parts for letter in letters]
    found = vocabulary.of_length(len(word) - 1) & shorter
    found |= vocabulary.of_length(len(word)) & (swapped + other)
    found |= vocabulary.of_length(len(word) + 1) & longer
    return [(1, near) for near in sorted(found - {word})]


@lru_cache(maxsize=4)
def _letters(characters: frozenset[str]) -> str:
    """Return those characters that may be a slip: scripts without spaces have too many."""
    return "".join(sorted(each for each in characters if not is_unspaced(each)))


def _begin_alike(one: str, other: str) -> bool:
    """Tell words with the same first letter, or of which one lacks it."""
    return one[0] == other[0] or one[1:] == other or other[1:] == one


def _within(
    word: str, vocabulary: Mapping[int, Sequence[str]], distance: int
) -> list[tuple[int, str]]:
    # Imported here: thirty milliseconds that a query without slips does not pay.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    found: list[tuple[int, str]] = []
    for length in range(len(word) - distance, len(word) + distance + 1):
        words = vocabulary.get(length, ())
        near = extract(word, words, scorer=OSA.distance, score_cutoff=distance, limit=_MOST_NEAR)
        found += [(int(steps), other) for other, steps, _ in near if other != word]
    return found


def words_beginning(
    word: str, vocabulary: Mapping[int, Sequence[str]], holds: Holds = lambda near: near
) -> Near:
    """Return (slips, word) for longer words that begin like this one, perhaps with one slip."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    if len(word) < _SHORTEST_BEGINNING:
        return []
    # A letter that is another, or two that are swapped, leave one end of the word as it is.
    middle = len(word) // 2
    start, end = word[: middle - 1], word[middle + 1 :]
    found: list[tuple[int, str]] = []
    for length in range(len(word) + 1, len(word) + _LONGEST_ENDING + 1):
        words = [other for other in vocabulary.get(length, ()) if start in other or end in other]
        heads = [other[: len(word)] for other in words]
        near = extract(word, heads, scorer=OSA.distance, score_cutoff=1, limit=_MOST_NEAR)
        found += _first_held([(int(steps), words[at]) for _, steps, at in near], holds)
    return found


def _first_held(near: Near, holds: Holds) -> Near:
    """Return the first words that are held, asking for no more than it takes."""
    found: Near = []
    for start in range(0, len(near), _ASKED_AT_ONCE):
        found += holds(near[start : start + _ASKED_AT_ONCE])
        if len(found) >= _MOST_BEGINNINGS:
            break
    return found[:_MOST_BEGINNINGS]


class Speller:
    """Finds what a word of a query may have meant, within what the caller may see."""

    def __init__(
        self,
        engine: Engine,
        filters: Filters,
        is_common: IsCommon = lambda pages: False,
        *,
        asked: Sequence[str] = (),
    ) -> None:
        self._engine = engine
        self._filters = filters
        self._is_common = is_common
        self._empty = frozenset().union(*map(function_words, engine.languages()))
        # A question may be in another language than all documents.
        self._asking = spoken_function_words(asked)

    def is_empty(self, word: str) -> bool:
        """Tell a word that only holds sentences together, or one in which its letters are swapped.

        Such as *the* and *teh*: it says nothing, whatever else is near it.
        """
        return (
            word in self._empty
            or word in self._asking
            or any(
                word[:at] + word[at + 1] + word[at] + word[at + 2 :] in self._empty
                for at in range(len(word) - 1)
            )
        )

    def words(self, word: str, *, own: int) -> list[str]:
        """Return the likeliest meant words; `own` is how many pages hold the word itself."""
        if len(word) == 1 and is_unspaced(word):
            return self._holding(word)
        near = near_words(word, self._engine.vocabulary(), self._holding_of(Field.EXACT))
        return self._likeliest(word, near, Field.EXACT, own)

    def beginnings(self, word: str) -> list[str]:
        """Return words that begin like this one: it may be cut short, or one of them misspelt."""
        near = words_beginning(word, self._engine.vocabulary(), self._holding_of(Field.EXACT))
        return self._likeliest(word, near, Field.EXACT, 0)

    def stems(self, stem: str) -> list[tuple[str, str]]:
        """Return the likeliest meant stems, each with a word that has it, as documents write it.

        A slip may sit in a form that no page has. None of a short stem: a slip in that and an
        ending would be two in a word of a few letters.
        """
        if len(stem) < _SHORTEST_STEM:
            return []
        near = near_words(stem, self._engine.vocabulary(Field.BODY), self._holding_of(Field.BODY))
        near = [each for each in near if _begin_alike(stem, each[1])]
        meant = self._likeliest(stem, near, Field.BODY, 0)
        written = [(each, self._written(each)) for each in meant]
        return [each for each in written if each[1] not in self._empty]

    def _written(self, stem: str) -> str:
        """Return the commonest word that has a stem; the stem where none can be seen."""
        languages = [*self._engine.languages()]
        vocabulary = self._engine.vocabulary()
        letters = [each for each in vocabulary.characters if strip_accents(each) == stem[0]]
        words = [
            word
            for length in range(len(stem) - 1, len(stem) + _LONGEST_ENDING + 1)
            for letter in letters
            for word in vocabulary.beginning(letter, length)
            if strip_accents(word).startswith(stem[:-1])
            and any(find_stem(word, language) == stem for language in languages)
        ]
        held = self._holding_of(Field.EXACT)([(0, word) for word in words[:_MOST_NEAR]])
        held.sort(key=lambda item: self._order(stem, Field.EXACT, *item))
        first = [word for _, word in held[:MOST_CANDIDATES]]
        return next(iter(self._visible(Field.EXACT, first)), stem)

    def _likeliest(
        self, word: str, near: list[tuple[int, str]], field: Field, own: int
    ) -> list[str]:
        near = [each for each in near if self._may_mean(word, each[1], field)]
        ranked = sorted(near, key=lambda item: self._order(word, field, *item))
        common = [
            other
            for _, other in ranked[:40]
            if not own or self._engine.frequency(field, other) >= own * _TINY
        ]
        likely: list[str] = []
        while common and len(likely) < MOST_CANDIDATES:
            # Word lists still hold the words of deleted and of filtered-out pages.
            first = common[: MOST_CANDIDATES - len(likely)]
            likely += self._visible(field, first)
            common = common[len(first) :]
        return likely

    def _may_mean(self, word: str, other: str, field: Field) -> bool:
        """Tell whether a word is one to look for: what stands everywhere would find everything."""
        if other in self._empty:
            return False
        surely = len(word) > _SHORT or sorted(word) == sorted(other)
        return surely or not self._is_common(self._engine.frequency(field, other))

    def _holding(self, letter: str) -> list[str]:
        """Return the pairs of letters that hold one of a script written without spaces."""
        pairs = [pair for pair in self._engine.vocabulary().get(2, ()) if letter in pair]
        pairs.sort(key=lambda pair: -self._engine.frequency(Field.EXACT, pair))
        return self._visible(Field.EXACT, pairs[:MOST_PAIRS])

    def _holding_of(self, field: Field) -> Holds:
        def leave(near: Near) -> Near:
            self._engine.expect([word for _, word in near])
            return [each for each in near if self._engine.frequency(field, each[1]) > 0]

        return leave

    def _order(
        self, word: str, field: Field, distance: int, other: str
    ) -> tuple[int, bool, int, str]:
        return distance, other[0] != word[0], -self._engine.frequency(field, other), other

    def _visible(self, field: Field, words: Sequence[str]) -> list[str]:
        """Return those of some words that pages have which the caller may see."""
        matches = [Match(((Term(field, word, 1.0),),), filters=self._filters) for word in words]
        every = self._engine.match_each(matches, _LOOKED_AT) if matches else []
        return [
            word
            for word, match, found in zip(words, matches, every, strict=True)
            if found.entries and self._is_shown(match, word, [key for key, _, _ in found.entries])
        ]

    def _is_shown(self, match: Match, word: str, documents: Sequence[int]) -> bool:
        """Tell whether a word can be read where it was found: it may be part of a secret."""
        if not self._engine.hides:
            return True
        match = match._replace(filters=None, documents=tuple(documents))
        chunks = self._engine.match_passages(match, _LOOKED_AT).entries
        places = [(document, ordinal) for document, ordinal, _ in chunks]
        texts = [passage.text for passage in self._engine.passages(places).values()]
        texts += [each.title for each in self._engine.documents_by_key(documents).values()]
        return any(word in text.casefold() for text in texts)
