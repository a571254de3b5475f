"""Questions put so that what is hidden from a caller does not count as being there.

Whether a document hides a word is marked in its entries; see `hiding`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bookwheel.engines.asking import in_order
from bookwheel.engines.base import (
    Condition,
    Engine,
    Every,
    Field,
    Holds,
    InOrder,
    Match,
    Some,
    Term,
    Without,
)
from bookwheel.engines.hiding import hidden_mark, marks_in
from bookwheel.model import Redact


class Unseen:
    """What one caller does not see; `level` tells how much is hidden of a collection."""

    def __init__(self, store: Engine, level: Callable[[str], Redact]) -> None:
        self._store = store
        self._level = level
        self._marks: dict[str, tuple[str, ...]] = {}
        self._hiding: list[tuple[str, Redact]] | None = None

    def marks(self, words: str) -> tuple[str, ...]:
        """Return the marks of entries that hide a word, or two in a row, wherever they have it."""
        known = self._marks.get(words)
        if known is None:
            is_hidden = self._store.frequency(Field.HIDDEN, hidden_mark(words)) > 0
            known = self._marks[words] = self._every_mark(words) if is_hidden else ()
        return known

    def _every_mark(self, words: str) -> tuple[str, ...]:
        if self._hiding is None:
            names = (state.collection.name for state in self._store.collections())
            levels = ((name, self._level(name)) for name in names)
            self._hiding = [pair for pair in levels if pair[1] is not Redact.OFF]
        return tuple(hidden_mark(words, name, level) for name, level in self._hiding)

    def without(self, match: Match) -> Match:
        """Return a match that no entry meets by what it hides."""
        return match._replace(
            clauses=tuple(map(self._terms, match.clauses)),
            bonus=self._terms(match.bonus),
            excluded=self._terms(match.excluded),
            phrases=tuple(map(self._in_order, in_order(match.phrases))),
            excluded_phrases=tuple(map(self._in_order, in_order(match.excluded_phrases))),
            required=self._condition(match.required) if match.required else None,
        )

    def _terms(self, terms: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(
            each._replace(unless=marks) if (marks := self.marks(each.text)) else each
            for each in terms
        )

    def _in_order(self, condition: InOrder) -> InOrder:
        words = condition.words if condition.gap else marks_in(condition.words)
        marks = (mark for each in words for mark in self.marks(each))
        return condition._replace(unless=tuple(dict.fromkeys(marks)))

    def _condition(self, condition: Condition) -> Condition:
        match condition:
            case Holds(terms):
                return Holds(self._terms(terms))
            case InOrder():
                return self._in_order(condition)
            case Without(part):
                return Without(self._condition(part))
            case Every(parts):
                return Every(tuple(map(self._condition, parts)))
            case Some(parts):
                return Some(tuple(map(self._condition, parts)))
