"""What documents must meet where a query says it by operators: its expression as a condition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from bookwheel.engines.base import Condition, Engine, Every, Field, InOrder, Some, Without
from bookwheel.search.interpret import exact_words
from bookwheel.search.operators import All, Any, Expression, Near, Not, Phrase, Words
from bookwheel.text.language import filler_words
from bookwheel.text.words import Word, analyze_query, stem

_MOST_FORMS = 12
"""Forms of one word that NEAR looks for: `contract`, `contracts`, `contracted`."""
_LONGEST_ENDING = 6
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

    def make(self, expression: Expression, *, wanted: bool = True) -> Condition | None:
        """Return the condition of an expression; None where it asks for nothing."""
        match expression:
            case Words(text):
                return _join(Every, [self._holding(each, wanted) for each in self._words(text)])
            case Phrase(text):
                words = exact_words(text, self._languages)
                return InOrder(words) if words else None
            case Near():
                return self._near(expression, wanted=wanted)
            case Not(part):
                inner = self.make(part, wanted=not wanted)
                return None if inner is None else Without(inner)
            case Any(parts):
                return _join(Some, [self.make(part, wanted=wanted) for part in parts])
            case All(parts):
                telling = [part for part in parts if not self._is_filler(part)] or parts
                return _join(Every, [self.make(part, wanted=wanted) for part in telling])

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
        """Return what puts two pieces near each other; where that cannot be said, both."""
        ones, others = self._sequences(near.one), self._sequences(near.other)
        if ones is None or others is None:
            both = (near.one, near.other)
            return _join(Every, [self.make(part, wanted=wanted) for part in both])
        return _join(Some, [_beside(*pair, near.gap) for pair in product(ones, others)])

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


def _beside(one: _Sequence, other: _Sequence, gap: int) -> Condition:
    """Return what puts two sequences near each other, in either order."""
    ways = [
        InOrder(pair, gap)
        for last, first in ((one[-1], other[0]), (other[-1], one[0]))
        for pair in product(last, first)
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
