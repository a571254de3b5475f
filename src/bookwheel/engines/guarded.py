"""The store as one caller may see it: nothing outside their scope, every text redacted.

All that search and reading show of documents comes through here, so that no tool, page or command
above can forget to hide what must be hidden. `sight.py` says what is open, `guarded_reading.py`
what is read; here is what is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bookwheel.engines.among import nearest_among
from bookwheel.engines.base import (
    Engine,
    Field,
    Found,
    Match,
    Matrix,
    Term,
    Vector,
    Vocabulary,
    rarity,
)
from bookwheel.engines.guarded_reading import GuardedReading
from bookwheel.engines.hiding import hidden_mark
from bookwheel.engines.passages import Passages
from bookwheel.engines.sight import Policy
from bookwheel.engines.unseen import Unseen
from bookwheel.model import Redact
from bookwheel.query import Scope

if TYPE_CHECKING:
    from bookwheel.safety.finding import Rules


class GuardedEngine(GuardedReading):
    """An engine for reading that hides what its caller must not see; made for one question."""

    def __init__(
        self, store: Engine, scope: Scope, policies: Mapping[str, Policy], rules: Rules
    ) -> None:
        super().__init__(store, scope, policies, rules)
        self._frequencies: dict[tuple[Field, str], int] = {}
        self._unseen = Unseen(store, self._level)
        self._pages: int | None = None
        self._expected: tuple[str, ...] = ()

    # Entries by word

    def match_pages(self, match: Match, limit: int, *, count: bool = False) -> Found:
        match = self._open_only(self._weighed(self._unseen.without(match)))
        return self._smoothed(self._store.match_pages(match, limit, count=count))

    def match_each(
        self, matches: Sequence[Match], limit: int, *, count: bool = False
    ) -> list[Found]:
        shown = [self._unseen.without(match) for match in matches]
        asked = [self._open_only(self._weighed(match)) for match in shown]
        found = self._store.match_each(asked, limit, count=count)
        return [self._smoothed(each) for each in found]

    def expect(self, terms: Iterable[str]) -> None:
        self._expected = tuple(terms)
        self._store.expect([*self._expected, *map(hidden_mark, self._expected)])

    def match_passages(self, match: Match, limit: int) -> Found:
        """Return chunks of the documents named in the match, which were found here."""
        assert match.documents is not None or self._within is None
        match = self._weighed(self._unseen.without(match), of_passages=True)
        return self._smoothed(self._store.match_passages(match, limit))

    def _weighed(self, match: Match, *, of_passages: bool = False) -> Match:
        """Return a match whose words weigh what they would if only what is open were indexed.

        Else the order of documents would tell how common a word is in others.
        """
        whole = self._within is None

        def weigh(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(
                each
                if whole and not each.unless
                else each._replace(weight=each.weight * self._share(each, of_passages))
                for each in terms
            )

        return match._replace(clauses=tuple(map(weigh, match.clauses)), bonus=weigh(match.bonus))

    def _smoothed(self, found: Found) -> Found:
        """Return entries with scores that hold nothing of the rounding in weights: of two that
        are worth the same, which comes first would tell the rest."""
        if self._within is None:
            return found
        entries = [(key, number, float(f"{score:.4g}")) for key, number, score in found.entries]
        entries.sort(key=lambda entry: (-entry[2], entry[0], entry[1]))
        return found._replace(entries=tuple(entries))

    def _share(self, term: Term, of_passages: bool) -> float:
        """Return by how much more a word counts in what is open than in everything."""
        holding = self.frequency(term.field, term.text)
        if not holding:
            return 1.0
        of_all = self._store.weight(term.field, term.text, of_passages=of_passages)
        return self.weight(term.field, term.text) / of_all

    def weight(self, field: Field, term: str, *, of_passages: bool = False) -> float:
        """Return what a term weighs, by how few of the open pages hold it."""
        if self._within is None and not self._unseen.marks(term):
            return self._store.weight(field, term, of_passages=of_passages)
        return rarity(self.frequency(field, term), self.page_count())

    def _open_only(self, match: Match) -> Match:
        if self._within is None and not (match.filters and match.filters.folders):
            return match
        return match._replace(filters=self._narrow(match.filters))

    def frequency(self, field: Field, term: str) -> int:
        found = self._store.frequency(field, term)
        if not found or (self._within is None and not self._unseen.marks(term)):
            return found
        if (field, term) not in self._frequencies:
            self._count_open(field, (term, *self._expected))
        return self._frequencies[field, term]

    def _count_open(self, field: Field, terms: Iterable[str]) -> None:
        """Count the open pages that hold each of some terms, all at once."""
        new = [
            term
            for term in dict.fromkeys(terms)
            if (field, term) not in self._frequencies and self._store.frequency(field, term)
        ]
        matches = [Match(((Term(field, term, 1.0),),)) for term in new]
        asked = [self._open_only(self._unseen.without(match)) for match in matches]
        for term, found in zip(new, self._store.match_each(asked, 1, count=True), strict=True):
            self._frequencies[field, term] = found.total

    def page_count(self) -> int:
        if self._within is None:
            return self._store.page_count()
        if self._pages is None:
            self._pages = sum(self.languages().values())
        return self._pages

    def vocabulary(self, field: Field = Field.EXACT) -> Vocabulary:
        """Return words of all documents; whoever shows one asks first whether a page has it."""
        return self._store.vocabulary(field)

    # Chunks by meaning

    def has_vectors(self) -> bool:
        return self._store.has_vectors()

    def lacks_vectors(self, fingerprint: str) -> bool:
        return self._store.lacks_vectors(fingerprint)

    def embedded(self, fingerprint: str) -> tuple[int, int]:
        return self._store.embedded(fingerprint)

    def without_vectors(
        self, fingerprint: str, limit: int, *, after: int = 0
    ) -> list[tuple[str, Passages]]:
        batch = self._store.without_vectors(fingerprint, limit, after=after)
        levels = self._levels([passages.document for _, passages in batch])
        spans = self._find(levels)
        covered = []
        for title, passages in batch:
            key = passages.document
            level = levels.get(key, Redact.ALL)
            cover = partial(self._covered, spans=spans.get(key, ()), level=level)
            covered.append((self._plain(title, level), passages.change(cover)))
        return covered

    def open_vectors(self, fingerprint: str) -> None:
        self._store.open_vectors(fingerprint)

    def nearest(
        self, fingerprint: str, query: Vector, limit: int, documents: Sequence[int] | None = None
    ) -> Found:
        if documents is None and self._within is not None:
            conditions = self._open_only(Match(()))
            return nearest_among(self._store, conditions, fingerprint, query, limit)
        return self._store.nearest(fingerprint, query, limit, documents)

    def vectors(self, fingerprint: str, keys: Sequence[int]) -> dict[int, Matrix]:
        return self._store.vectors(fingerprint, keys)
