"""The words of a request as they are looked for, and where in a hit they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.model import SafeText
from bookwheel.query import SearchHit, SearchRequest, Snippet
from bookwheel.search.correct import correct
from bookwheel.search.interpret import interpret, query_languages
from bookwheel.search.plan import Plan, Planner, asked_for
from bookwheel.search.show import term_worth
from bookwheel.text.matching import Finder
from bookwheel.text.snippets import cut_snippet, mark_words


class Highlights(NamedTuple):
    """The title and stretches of the content with the spans of words that matched in them.

    A field in which nothing matched is absent.
    """

    title: Snippet | None
    content: tuple[Snippet, ...]


class Sought(NamedTuple):
    """One word of a request: the terms that stand for it, and how telling it is."""

    terms: frozenset[str]
    worth: float


def words_sought(engine: Engine, request: SearchRequest) -> tuple[Sought, ...]:
    """Return the telling words of a request, slips as what they were taken for."""
    plan = _plan(engine, request)
    words = [
        Sought(frozenset((*clause.exact, *clause.stems)), clause.worth)
        for clause in asked_for(plan)
    ]
    phrases = [Sought(frozenset((term,)), 1.0) for each in plan.question.phrases for term in each]
    return (*words, *phrases)


def _plan(engine: Engine, request: SearchRequest) -> Plan:
    languages = query_languages(engine)
    planner = Planner(engine, languages)
    plan = planner.plan(interpret(request.text, languages), request)
    return correct(engine, planner, plan, languages)[0]


def highlight(
    engine: Engine, request: SearchRequest, hits: Sequence[SearchHit]
) -> tuple[Highlights, ...]:
    """Return where the words of a request stand in its hits, as the documents spell them.

    All of them, as the contract has it: snippets leave out words such as *a*.
    """
    worth = term_worth(_plan(engine, request))
    finders = {hit.language: Finder(worth, hit.language) for hit in hits}
    return tuple(
        Highlights(
            _in_title(hit, finders[hit.language]),
            _in_content(hit, finders[hit.language], worth, request.snippet_length),
        )
        for hit in hits
    )


def _in_title(hit: SearchHit, finder: Finder) -> Snippet | None:
    marks = mark_words(hit.title, finder)
    return Snippet(hit.title, marks) if marks else None


def _in_content(
    hit: SearchHit, finder: Finder, worth: dict[str, float], length: int
) -> tuple[Snippet, ...]:
    found = cut_snippet(hit.passage, finder, worth, length)
    before = found.cut_before or hit.chunk > 1
    after = found.cut_after or hit.chunk < hit.chunks
    # The passage is safe already, so that its words stand where they were found.
    shown = Snippet(SafeText(found.text), found.marks, before, after)
    return (shown,) if found.marks else ()
