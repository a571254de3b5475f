"""The order of the answer: how well the page matches and how well its best passage does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bookwheel.engines.base import Engine, Match
from bookwheel.query import SearchIn
from bookwheel.search.plan import TITLE_BONUS, Plan, Planner

_QUICK_LOOK, _DEEP_LOOK = 6, 40
"""Passages looked at for each page: some at first, many where every page needs one."""
PAGE_SHARE, LEAST_PAGE_SHARE = 0.65, 0.5
_LONG_PAGE = 16
"""The page's share of the score; the rest is its best passage's. Beyond so many passages it falls:
a long page holds some words of any question, here and there."""


class Best(NamedTuple):
    """The passage of a page that matches best."""

    ordinal: int = 0
    score: float = 0.0
    last: int = 0
    """The last of the page's passages that matched: it has at least so many."""


class Ranked(NamedTuple):
    """A page of the answer with the number of its best chunk (0: none matched)."""

    document: int
    chunk: int
    score: float
    bonus: float = 0.0
    """More than any score: where the title is what was asked for, or an identifier stands whole."""
    words: float | None = None
    """Its share by words when both are mixed, 0 to 1."""
    meaning: float = 0.0
    """How much of the question's meaning it meets, 0 to 1."""
    similarity: float | None = None
    near: float | None = None
    """How near its words come to those of a long question, 1 at most; None: not looked at."""
    second: float | None = None
    """How near the model of a second look found it, as a cosine."""


def rank(engine: Engine, planner: Planner, plan: Plan, pages: dict[int, float]) -> list[Ranked]:
    """Return the pages in the order of the answer."""
    if not pages:
        return []
    in_text = plan.request.search_in is SearchIn.CONTENT
    depth = _DEEP_LOOK if in_text else _QUICK_LOOK
    best = best_passages(engine, planner, plan, tuple(pages), limit=len(pages) * depth)
    if in_text:
        # The title counts as text of its page for ranking; passages hold what is really there.
        pages = {document: score for document, score in pages.items() if document in best}
        if not pages:
            return []
    top_page = max(score % TITLE_BONUS for score in pages.values()) or 1.0
    top_passage = max((each.score for each in best.values()), default=0.0) or 1.0
    named = holding_name(engine, planner, plan, tuple(pages))
    nothing = Best()
    ranked = []
    for document, score in pages.items():
        passage = best.get(document, nothing)
        bonus, own = divmod(score, TITLE_BONUS)
        share = page_share(passage.last)
        mixed = share * own / top_page + (1 - share) * passage.score / top_passage
        ranked.append(Ranked(document, passage.ordinal, mixed, 2 * bonus + (document in named)))
    return in_order(ranked)


def page_share(passages: int) -> float:
    """Return how much a page as a whole counts that has so many passages."""
    if passages <= _LONG_PAGE:
        return PAGE_SHARE
    return max(LEAST_PAGE_SHARE, PAGE_SHARE * _LONG_PAGE / passages)


def holding_name(
    engine: Engine, planner: Planner, plan: Plan, documents: tuple[int, ...]
) -> frozenset[int]:
    """Return those pages that hold the one identifier asked for as it stands, not by its parts."""
    terms = planner.as_written(plan)
    if not terms:
        return frozenset()
    found = engine.match_pages(Match((terms,), documents=documents), len(documents))
    return frozenset(document for document, _, _ in found.entries)


def in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Return the best first; equals by their keys, so that the order is always the same."""
    return sorted(ranked, key=lambda item: (-item.bonus - item.score, item.document))


def with_passages(
    engine: Engine, planner: Planner, plan: Plan, ranked: Sequence[Ranked]
) -> list[Ranked]:
    """Give a passage to those pages whose passages stood too far down in the first look."""
    missing = tuple(item.document for item in ranked if not item.chunk)
    if not missing:
        return list(ranked)
    plan = plan._replace(question=plan.question._replace(phrases=()))
    found = best_passages(engine, planner, plan, missing, limit=len(missing) * _DEEP_LOOK)
    return [
        item if item.chunk else item._replace(chunk=found.get(item.document, Best(1)).ordinal)
        for item in ranked
    ]


def best_passages(
    engine: Engine, planner: Planner, plan: Plan, documents: tuple[int, ...], *, limit: int
) -> dict[int, Best]:
    """Return for each document the chunk that matches best, and how well."""
    match = planner.match(plan, all_clauses=False)._replace(
        filters=None, excluded=(), required=None, documents=documents
    )
    first: dict[int, tuple[int, float]] = {}
    last: dict[int, int] = {}
    for document, ordinal, score in engine.match_passages(match, limit).entries:
        if document not in first:
            first[document], last[document] = (ordinal, score), ordinal
        elif ordinal > last[document]:
            last[document] = ordinal
    return {document: Best(*passage, last[document]) for document, passage in first.items()}
