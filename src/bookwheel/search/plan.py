"""From words to weighted terms: what each word of a query is looked for as, and its worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from bookwheel.engines.base import Condition, Engine, Every, Field, Holds, Match, Term, rarity
from bookwheel.query import SearchIn, SearchRequest
from bookwheel.search.interpret import Question
from bookwheel.search.operators import Expression
from bookwheel.search.require import Requirement
from bookwheel.text.language import filler_words
from bookwheel.text.words import Surface, Word, is_unspaced

WEIGHTS = {
    Field.TITLE: 2.0,
    Field.HEADING: 0.5,
    Field.BODY: 1.0,
    Field.EXACT: 0.4,
    Field.NAMES: 1.0,
}
"""What a match is worth by where it stands; chosen on the sets of docs/benchmarks.md."""
_LONG_TITLE = 0.7
_SHORT, _LONG = 3, 8
"""A few words may well be a title; of a long question the title's share falls to the above."""
_TOLD_BY_TITLES = 0.12
"""Where titles hold a question's words on a larger share of the pages that have these, titles are
sentences which say what the text says: in a long question they and headings count less."""
_REPEATED = 2.0
"""How soon a repeated word adds no more: twice is worth 1.5, ever so often less than 3."""
ALL_WORDS_BONUS = 0.1
"""What a page gains, as a share of its score, by holding every word."""
_MANY_PAGES = 50
_EVERYWHERE = 0.9
"""The worth of a word that four pages in ten hold: it adds to a score but is not required."""
_MOST_OF_IT = 0.5
_TELLING = 0.4
"""A word is telling that is worth so much of the question's rarest."""
_RELATED = 0.1
"""A page is surely related that is so far from unrelated ones to the same text."""
TITLE_BONUS = 1000.0
"""Above any other score: a page whose title is the query comes first."""


class Clause(NamedTuple):
    """One word to look for: the stems that stand for it, and how telling it is."""

    word: str
    exact: tuple[str, ...]
    stems: tuple[str, ...]
    times: int
    worth: float
    known: bool
    parts: tuple[tuple[str, ...], ...] = ()
    respelt: bool = False
    filler: bool = False
    """So common or so empty a word that a page need not have it."""
    empty: bool = False
    """A word such as *the*: it says nothing, and counts only in a question of nothing else."""


class Plan(NamedTuple):
    """What to look for, before it is put as a match to the engine."""

    clauses: tuple[Clause, ...]
    names: tuple[str, ...]
    question: Question
    request: SearchRequest


def asked_for(plan: Plan) -> list[Clause]:
    """Return the words that a page must have: the telling ones that are known.

    Of a question of which none is known these are its common words, and of one with nothing else
    its empty ones.
    """
    known = [clause for clause in plan.clauses if clause.known]
    said = [clause for clause in known if not clause.empty]
    return [clause for clause in said if not clause.filler] or said or known


def share_told(plan: Plan, is_word: Callable[[str], bool], related: float) -> float:
    """Return how much of what a question says words can find, from 0 to 1.

    A word that the index lacks, or has only as a slip of another, counts as not found where it is
    one that the model knows, which then finds what means the same. Names and rare words that it
    does not know are left to words, unless these have less than half of the question. Where a
    telling word is among those, that holds only as far as the nearest page is `related`: a rare
    name is found before what shares nothing. A script without spaces, of which parts of words are
    known or not, is left to words too.
    """
    said = [clause for clause in plan.clauses if not clause.empty]
    total = sum(clause.worth for clause in said)
    if not total or any(is_unspaced(clause.word) for clause in said):
        return 1.0
    lacking = [c for c in said if (c.respelt or not c.known) and is_word(c.word)]
    known = sum(c.worth for c in said if c.known and c not in lacking)
    left = min(1.0, known / total / _MOST_OF_IT)
    held = max((c.worth for c in said if c.known and not c.respelt), default=0.0)
    if held >= _TELLING * max(c.worth for c in said):
        left = 1 - (1 - left) * min(1.0, related / _RELATED)
    return min(1 - sum(c.worth for c in lacking) / total, left)


def title_weight(words: int, told: float = 0.0) -> float:
    """Return what a match in a title is worth in a question of so many telling words.

    `told` is the share of the pages with these words that have them in their title.
    """
    full = WEIGHTS[Field.TITLE]
    return full - (full - _LONG_TITLE * _fitting(told)) * length(words)


def heading_weight(words: int, told: float = 0.0) -> float:
    """Return the same for a heading, which often is the title once more."""
    return WEIGHTS[Field.HEADING] * (1 - (1 - _fitting(told)) * length(words))


def _fitting(told: float) -> float:
    return min(1.0, _TOLD_BY_TITLES / told) if told else 1.0


def length(words: int) -> float:
    """Return how long a question is, from 0 for what may be a title to 1."""
    return (min(max(words, _SHORT), _LONG) - _SHORT) / (_LONG - _SHORT)


def repeated(times: int) -> float:
    """Return how many times as much a word counts that a question has so many times."""
    return (_REPEATED + 1) * times / (_REPEATED + times)


class Planner:
    """Weighs terms by how many pages of an engine hold them."""

    def __init__(self, engine: Engine, languages: tuple[str, ...]) -> None:
        self._engine = engine
        self._languages = languages
        self._pages = engine.page_count()
        self._weights = WEIGHTS
        self._made: dict[tuple[Clause, SearchIn], tuple[Term, ...]] = {}
        self._required: dict[tuple[str, tuple[Clause, ...], SearchIn], Condition | None] = {}

    def plan(self, question: Question, request: SearchRequest) -> Plan:
        """Return what a question looks for."""
        words: dict[str, Word] = {}
        counts: dict[str, int] = {}
        for word in self._words(question.words):
            words.setdefault(word.exact, word)
            counts[word.exact] = counts.get(word.exact, 0) + 1
        names = dict.fromkeys(name for surface in question.words for name in surface.names)
        stems = [stem for word in words.values() for stem in (word.exact, *word.stems)]
        self._engine.expect([*stems, *names])
        clauses = tuple(self._clause(word, counts[word.exact]) for word in words.values())
        telling = [clause for clause in clauses if not clause.filler]
        count, told = len(telling), self._told_by_titles(telling)
        self._weights = WEIGHTS | {
            Field.TITLE: title_weight(count, told),
            Field.HEADING: heading_weight(count, told),
        }
        return Plan(clauses, tuple(names), question, request)

    def _told_by_titles(self, clauses: Iterable[Clause]) -> float:
        """Return on what share of the pages that have some words these stand in the title."""
        shares = [
            (
                clause.worth,
                max(self._engine.frequency(Field.TITLE, stem) for stem in clause.stems) + 0.5,
                self._frequency(clause.stems) + 1,
            )
            for clause in clauses
            if clause.known
        ]
        total = sum(worth for worth, _, _ in shares)
        return sum(worth * titles / pages for worth, titles, pages in shares) / (total or 1.0)

    @staticmethod
    def _words(surfaces: Iterable[Surface]) -> Iterable[Word]:
        for surface in surfaces:
            yield from surface.words

    def _clause(self, word: Word, count: int) -> Clause:
        frequency = self._frequency(word.stems)
        elsewhere = (Field.TITLE, Field.HEADING)  # words of a file's name stand in no text
        known = frequency > 0 or any(
            self._engine.frequency(field, word.stems[0]) > 0 for field in elsewhere
        )
        worth = self.worth(frequency)
        empty = any(word.exact in filler_words(language) for language in self._languages)
        filler = empty or self.is_common(frequency)
        return Clause(
            *(word.exact, (word.exact,), word.stems, count, worth, known, word.parts),
            filler=filler,
            empty=empty,
        )

    def split(self, clause: Clause) -> list[Clause]:
        """Return a clause for each part of a camelCase word."""
        return [self._clause(Word(part[0], part), clause.times) for part in clause.parts]

    def _frequency(self, stems: Iterable[str]) -> int:
        return max(self._engine.frequency(Field.BODY, stem) for stem in stems)

    def worth(self, frequency: int) -> float:
        """Return how telling a term is that so many pages hold, those removed lately counted."""
        return rarity(frequency, self._pages)

    def is_common(self, frequency: int) -> bool:
        """Tell whether a term that so many pages hold says little: there must be many pages."""
        return self._pages >= _MANY_PAGES and self.worth(frequency) < _EVERYWHERE

    def respell(self, clause: Clause, exact: Iterable[str], stems: Iterable[str]) -> Clause:
        """Return the clause as it would be for what it may have meant."""
        all_stems = tuple(dict.fromkeys([*clause.stems, *stems]))
        return clause._replace(
            exact=tuple(dict.fromkeys([*clause.exact, *exact])),
            stems=all_stems,
            worth=self.worth(self._frequency(all_stems)),
            known=True,
            respelt=True,
        )

    def match(self, plan: Plan, *, all_clauses: bool, titles: tuple[str, ...] = ()) -> Match:
        """Return the plan as the engine takes it."""
        question, request = plan.question, plan.request
        asked = asked_for(plan)
        rest = [clause for clause in plan.clauses if clause.known and clause not in asked]
        spare = [clause for clause in rest if not clause.empty]
        return Match(
            clauses=tuple(self._terms(clause, request.search_in) for clause in asked),
            all_clauses=all_clauses,
            bonus=(
                *self._bonus(plan),
                *(term for clause in spare for term in self._terms(clause, request.search_in)),
            ),
            phrases=question.phrases,
            excluded=tuple(
                Term(field, stem, 1.0)
                for surface in question.excluded
                for word in surface.words
                for stem in word.stems
                for field in (Field.TITLE, Field.BODY)
            ),
            excluded_phrases=question.excluded_phrases,
            titles=titles if request.search_in is not SearchIn.CONTENT else (),
            title_bonus=TITLE_BONUS,
            filters=request.filters,
            required=self.required(plan),
        )

    def required(self, plan: Plan) -> Condition | None:
        """Return what the operators of a question require; None where it has none.

        Made once for the several matches of one search: NEAR goes through the vocabulary.
        """
        if plan.question.expression is None:
            return None
        # By its text: as tuples, a word and a phrase are equal.
        key = (repr(plan.question.expression), plan.clauses, plan.request.search_in)
        if key not in self._required:
            self._required[key] = self._require(plan, plan.question.expression)
        return self._required[key]

    def _require(self, plan: Plan, expression: Expression) -> Condition | None:
        known = {clause.word: clause for clause in plan.clauses}

        def holding(word: Word, wanted: bool) -> Condition:
            clause = known.get(word.exact) if wanted else None
            clause = clause or self._clause(word, 1)
            parts = [clause] if clause.known or not clause.parts else self.split(clause)
            search_in = plan.request.search_in
            return Every(tuple(Holds(self._terms(part, search_in)) for part in parts))

        return Requirement(self._engine, self._languages, holding).make(expression)

    def conditions(self, plan: Plan) -> Match | None:
        """Return what pages must meet beside their words; None when that is nothing."""
        bare = plan._replace(clauses=(), names=(), question=plan.question._replace(expression=None))
        match = self.match(bare, all_clauses=False)._replace(required=self.required(plan))
        asked = (match.phrases, match.excluded, match.excluded_phrases, match.required)
        free = not any(asked) and not any(plan.request.filters)
        return None if free else match

    def single(self, clause: Clause, documents: tuple[int, ...]) -> Match:
        """Return a match for one word anywhere in some documents."""
        terms = tuple(
            Term(field, stem, 1.0)
            for field in (Field.TITLE, Field.HEADING, Field.BODY)
            for stem in clause.stems
        )
        return Match((terms,), documents=documents)

    def _bonus(self, plan: Plan) -> tuple[Term, ...]:
        """Return the identifiers of the query as they stand, where any page has them."""
        if plan.request.search_in is SearchIn.TITLE:
            return ()
        return tuple(
            Term(Field.NAMES, name, WEIGHTS[Field.NAMES])
            for name in plan.names
            if self._engine.frequency(Field.NAMES, name)
        )

    def as_written(self, plan: Plan) -> tuple[Term, ...]:
        """Return the identifier that is all of a query, whole as it stands; nothing for others."""
        question = plan.question
        if len(question.words) != 1 or question.phrases or question.expression is not None:
            return ()
        if plan.request.search_in is SearchIn.TITLE:
            return ()
        asked = question.words[0]
        terms = [Term(Field.NAMES, name, 1.0) for name in asked.names]
        if not terms and len(asked.words) == 1 and asked.words[0].parts:
            terms = [Term(Field.EXACT, asked.words[0].exact, 1.0)]
        return tuple(term for term in terms if self._engine.frequency(term.field, term.text))

    def _terms(self, clause: Clause, search_in: SearchIn) -> tuple[Term, ...]:
        """Return a clause's terms, made once for the several matches of one search."""
        made = self._made.get((clause, search_in))
        if made is None:
            made = self._made[clause, search_in] = self._make_terms(clause, search_in)
        return made

    def _make_terms(self, clause: Clause, search_in: SearchIn) -> tuple[Term, ...]:
        fields = {
            SearchIn.TITLE: (Field.TITLE,),
            SearchIn.CONTENT: (Field.HEADING, Field.BODY),
            SearchIn.BOTH: (Field.TITLE, Field.HEADING, Field.BODY),
        }[search_in]
        times = repeated(clause.times)
        terms = [
            Term(field, stem, weight * times)
            for stem in clause.stems
            for field in fields
            if (weight := self._weight(field, stem)) > 0
        ]
        if search_in is not SearchIn.TITLE:
            weight = WEIGHTS[Field.EXACT] * times
            terms += [Term(Field.EXACT, word, weight) for word in clause.exact]
        return tuple(terms)

    def _weight(self, field: Field, stem: str) -> float:
        """Return a field's weight, corrected for words common in texts but rare in titles.

        The engine weighs a term by how rare it is in its own field, so that a common word would
        win by standing in a title.
        """
        if field is Field.BODY:
            return WEIGHTS[field]
        own = self._engine.frequency(field, stem)
        if not own:
            return 0.0
        body = self._engine.frequency(Field.BODY, stem)
        return self._weights[field] * self.worth(max(body, own)) / self.worth(own)
