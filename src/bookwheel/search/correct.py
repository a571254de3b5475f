"""Which words of a question may be slips, and what it looks for instead of them or beside them."""

from __future__ import annotations

from collections.abc import Iterable

from bookwheel.engines.base import Engine, Field
from bookwheel.query import SearchMode
from bookwheel.search.plan import Clause, Plan, Planner
from bookwheel.search.spelling import Speller
from bookwheel.text.words import analyze_query, normal_title

_MOST_RESPELT = 12
"""Words beyond these are taken as they stand: looking for near ones costs milliseconds each."""
_MOST_NAMED = 5
_RARE = 3
"""A word on so few pages may be a slip of a far commoner one."""


def correct(
    engine: Engine, planner: Planner, plan: Plan, languages: tuple[str, ...]
) -> tuple[Plan, tuple[str, ...], tuple[str, ...]]:
    """Widen words that look like slips; return the plan, what was done, and titles meant."""
    # Where meaning alone counts, slips are the model's affair.
    fuzzy = plan.request.fuzzy and plan.request.mode is not SearchMode.SEMANTIC
    asked = [clause.word for clause in plan.clauses]
    filters = plan.request.filters
    speller = Speller(engine, filters, planner.is_common, asked=asked) if fuzzy else None
    clauses: list[Clause] = []
    notes: list[str] = []
    titles = [plan.question.title]
    if plan.question.file_name not in ("", *titles):  # the query is a path
        titles.append(plan.question.file_name)
    for number, clause in enumerate(plan.clauses):
        respelt = None
        if (
            speller is not None
            and number < _MOST_RESPELT
            and _looks_like_a_slip(engine, speller, clause)
        ):
            respelt = _respell(engine, planner, speller, clause, languages)
        if respelt is None:
            clauses += [clause] if clause.known else planner.split(clause) or [clause]
            continue
        clauses.append(respelt[0])
        meant = [word for word in dict.fromkeys(respelt[1]) if word != clause.word]
        if meant:  # else another form of the same word
            notes.append(f"'{clause.word}' also as {', '.join(repr(word) for word in meant)}")
        titles += [title.replace(clause.word, word) for title in titles for word in meant][:8]
    plan = plan._replace(clauses=tuple(clauses))
    return plan, (*notes, *_missing(plan.clauses)), tuple(normal_title(t) for t in titles)


def _looks_like_a_slip(engine: Engine, speller: Speller, clause: Clause) -> bool:
    """Tell a word that no page has, or hardly any; filler words are never taken for slips."""
    own = engine.frequency(Field.EXACT, clause.word)
    is_rare = not clause.known or 0 < own <= _RARE
    return is_rare and not clause.filler and not speller.is_empty(clause.word)


def _respell(
    engine: Engine,
    planner: Planner,
    speller: Speller,
    clause: Clause,
    languages: tuple[str, ...],
) -> tuple[Clause, list[str]] | None:
    """Return the clause widened by words it may have meant, and these; None if none is near."""
    own = engine.frequency(Field.EXACT, clause.word)
    words = speller.words(clause.word, own=own)
    stems: list[str] = []
    if not words and not clause.known:
        meant = speller.stems(clause.stems[0])
        if meant:
            widened = planner.respell(clause, (), [stem for stem, _ in meant])
            return widened, [word for _, word in meant]
        words = [] if clause.parts else speller.beginnings(clause.word)
    if words:
        surfaces = analyze_query(" ".join(words), languages)
        stems = [s for surface in surfaces for word in surface.words for s in word.stems]
    return (planner.respell(clause, words, stems), words) if stems else None


def _missing(clauses: Iterable[Clause]) -> list[str]:
    every = list(clauses)
    only_filler = all(clause.filler for clause in every)
    missing = [
        clause.word for clause in every if not clause.known and (only_filler or not clause.filler)
    ]
    named = [f"no document has '{word}'" for word in missing[:_MOST_NAMED]]
    more = len(missing) - len(named)
    return [*named, f"nor {more} more words"] if more > 0 else named
