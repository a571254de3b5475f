"""What documents must meet where a query says it by operators: its expression as a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import isqrt

from bookwheel.engines.base import Condition, Engine, Every, Field, InOrder, Some, Without
from bookwheel.search.interpret import exact_words
from bookwheel.search.operators import All, Any, Expression, Near, Not, Phrase, Words
from bookwheel.text.language import filler_words
from bookwheel.text.words import Word, analyze_query, stem

_MOST_FORMS = 12
"""Forms of one word that NEAR looks for: `contract`, `contracts`, `contracted`."""
_LONGEST_ENDING = 6
_MOST_WAYS = 2_000
"""Pairs of words that all NEAR of a query look for: each pair takes as long as a short search."""
_Sequence = tuple[tuple[str, ...], ...]
"""Words that follow each other, each in the forms in which it may stand."""

Holding = Callable[[Word, bool], Condition]
"""Returns what an entry with a word meets; the flag tells whether it is asked for or excluded."""


class Requirement:
    """Makes conditions for one engine; `holding` says what stands for a word."""

    def __init__(self, engine: Engine, languages: tuple[str, ...], holding: Holding) -> None:
        self._engine = engine
        self._languages = languages
        self._holding = holding
        self._ways = _MOST_WAYS
        """So many pairs of words each NEAR may look for."""
        self._found: dict[str, tuple[str, ...]] = {}

    def make(self, expression: Expression) -> Condition | None:
        """Return the condition of an expression; None where it asks for nothing."""
        self._ways = _ways_each(expression)
        return self._make(expression, wanted=True)

    def _make(self, expression: Expression, *, wanted: bool) -> Condition | None:
        match expression:
            case Words(text):
                return _join(Every, [self._holding(each, wanted) for each in self._words(text)])
            case Phrase(text):
                words = exact_words(text, self._languages)
                return InOrder(words) if words else None
            case Near():
                return self._near(expression, wanted=wanted)
            case Not(part):
                inner = self._make(part, wanted=not wanted)
                return None if inner is None else Without(inner)
            case Any(parts):
                return _join(Some, [self._make(part, wanted=wanted) for part in parts])
            case All(parts):
                telling = [part for part in parts if not self._is_filler(part)] or parts
                return _join(Every, [self._make(part, wanted=wanted) for part in telling])

    def _words(self, text: str) -> list[Word]:
        surfaces = analyze_query(text, self._languages)
        return [word for surface in surfaces for word in surface.words]

    def _is_filler(self, part: Expression) -> bool:
        """Tell a word such as `the`, which nobody means by itself."""
        if not isinstance(part, Words):
            return False
        fillers = [filler_words(language) for language in self._languages]
        return all(any(word.exact in each for each in fillers) for word in self._words(part.text))

    def _near(self, near: Near, *, wanted: bool) -> Condition | None:
        """Return what puts two pieces near each other; where that cannot be said, both.

        Many alternatives are looked for in few forms, and too many need only be there.
        """
        ones, others = self._sequences(near.one), self._sequences(near.other)
        forms = _forms_beside(near, self._ways)
        if ones is None or others is None or not forms:
            both = (near.one, near.other)
            return _join(Every, [self._make(part, wanted=wanted) for part in both])
        beside = [_beside(*pair, forms=forms, gap=near.gap) for pair in product(ones, others)]
        return _join(Some, beside)

    def _sequences(self, expression: Expression) -> list[_Sequence] | None:
        """Return the sequences of words that meet an expression; None if it is no such thing."""
        if isinstance(expression, Phrase):
            words = exact_words(expression.text, self._languages)
            return [tuple((word,) for word in words)] if words else None
        if isinstance(expression, Words):
            forms = tuple(self._forms(word) for word in self._words(expression.text))
            return [forms] if forms else None
        if not isinstance(expression, Any):
            return None
        every = [self._sequences(part) for part in expression.parts]
        return [one for some in every if some is not None for one in some] or None

    def _forms(self, word: Word) -> tuple[str, ...]:
        """Return the words of the index that have the stem of a word, the commonest first."""
        found = self._found.get(word.exact)
        if found is None:
            found = self._found[word.exact] = self._find_forms(word)
        return found

    def _find_forms(self, word: Word) -> tuple[str, ...]:
        beginnings = tuple({each[: max(2, len(each) - 1)] for each in word.stems})
        lengths = range(min(map(len, beginnings)), len(word.exact) + _LONGEST_ENDING + 1)
        vocabulary = self._engine.vocabulary(Field.EXACT)
        forms = [
            other
            for length in lengths
            for letter in {each[0] for each in beginnings}
            for other in vocabulary.beginning(letter, length)
            if other.startswith(beginnings)
            and any(stem(other, language) in word.stems for language in self._languages)
        ]
        forms.sort(key=lambda form: (-self._engine.frequency(Field.EXACT, form), form))
        return tuple(dict.fromkeys([word.exact, *forms]))[:_MOST_FORMS]


def fewest_forms(expression: Expression) -> int:
    """Return in how many forms words beside NEAR are looked for; 0 if they need only be there."""
    ways = _ways_each(expression)
    return min((_forms_beside(near, ways) for near in _nears(expression)), default=_MOST_FORMS)


def _ways_each(expression: Expression) -> int:
    """Return how many pairs of words each NEAR of an expression may look for."""
    return _MOST_WAYS // max(1, sum(1 for _ in _nears(expression)))


def _forms_beside(near: Near, ways: int) -> int:
    pairs = 2 * _count_sequences(near.one) * _count_sequences(near.other)
    return min(_MOST_FORMS, isqrt(ways // pairs)) if pairs else _MOST_FORMS


def _nears(expression: Expression) -> Iterator[Near]:
    match expression:
        case Near(one, other):
            yield expression
            yield from _nears(one)
            yield from _nears(other)
        case Not(part):
            yield from _nears(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from _nears(part)


def _count_sequences(expression: Expression) -> int:
    """Return how many sequences of words meet an expression; 0 if it is no such thing."""
    if isinstance(expression, Any):
        return sum(map(_count_sequences, expression.parts))
    return int(isinstance(expression, (Words, Phrase)))


def _beside(one: _Sequence, other: _Sequence, *, forms: int, gap: int) -> Condition:
    """Return what puts two sequences near each other, in either order and so many forms."""
    ways = [
        InOrder(pair, gap)
        for last, first in ((one[-1], other[0]), (other[-1], one[0]))
        for pair in product(last[:forms], first[:forms])
    ]
    whole = [_follow(each) for each in (one, other) if len(each) > 1]
    return Every((Some(tuple(ways)), *whole)) if whole else Some(tuple(ways))


def _follow(sequence: _Sequence) -> Condition:
    """Return what lets the words of a sequence follow each other, each as it was written."""
    return InOrder(tuple(forms[0] for forms in sequence))


def _join(
    kind: type[Every] | type[Some], parts: list[Condition | None] | list[Condition]
) -> Condition | None:
    there = [part for part in parts if part is not None]
    if len(there) < 2:
        return there[0] if there else None
    return kind(tuple(there))
