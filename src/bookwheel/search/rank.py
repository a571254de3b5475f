"""The order of the answer: how well the page matches, how well its best passage does, and how
much of the question stands on the page at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.query import SearchIn
from bookwheel.search.plan import TITLE_BONUS, Plan, Planner, asked_for

_QUICK_LOOK, _DEEP_LOOK = 6, 40
"""Passages looked at for each page: some at first, many where every page needs one."""
PAGE_SHARE = 0.65
"""The page's share of the score; the rest is its best passage's."""
HELD_WORTH = 0.6
"""What holding every telling word is worth, where the best score for them is worth 1."""
_SHORT, _LONG = 8, 16
"""Among pages of more chunks than the first it is worth less, and nothing from the second on: a
long text has many words by chance.
"""
_MOST_HELD = 16
"""So many words, the rarest, are looked for on each page: every one is a question to the engine."""


class Ranked(NamedTuple):
    """A page of the answer with the number of its best chunk (0: none matched)."""

    document: int
    chunk: int
    score: float
    bonus: float = 0.0
    """More than any score, where the title is what was asked for."""
    words: float | None = None
    """Its share by words when both are mixed, 0 to 1."""
    meaning: float = 0.0
    """How much of the question's meaning it meets, 0 to 1."""
    similarity: float | None = None


def rank(
    engine: Engine,
    planner: Planner,
    plan: Plan,
    pages: dict[int, float],
    whole: frozenset[int] | None = None,
) -> list[Ranked]:
    """Return the pages in the order of the answer.

    The `whole` are known to hold every word; None says that it does not matter how many a page has.
    """
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
    top_passage = max((score for _, score in best.values()), default=0.0) or 1.0
    partly = pages.keys() - whole if whole is not None else set()
    worth = held_worth(engine, tuple(pages)) if partly else 0.0
    held = held_shares(engine, planner, plan, partly) if worth else {}
    ranked = []
    for document, score in pages.items():
        ordinal, passage = best.get(document, (0, 0.0))
        bonus, own = divmod(score, TITLE_BONUS)
        mixed = PAGE_SHARE * own / top_page + (1 - PAGE_SHARE) * passage / top_passage
        mixed = (mixed + worth * held.get(document, 1.0)) / (1 + worth)
        ranked.append(Ranked(document, ordinal, mixed, bonus))
    return in_order(ranked)


def held_worth(engine: Engine, documents: Sequence[int]) -> float:
    """Return what it is worth to hold every word, among pages as long as these."""
    chunks = [each.chunks for each in engine.documents_by_key(documents).values()]
    mean = sum(chunks) / max(1, len(chunks))
    return HELD_WORTH * min(1.0, max(0.0, (_LONG - mean) / (_LONG - _SHORT)))


def held_shares(
    engine: Engine, planner: Planner, plan: Plan, documents: Iterable[int]
) -> dict[int, float]:
    """Return how much of the question each page holds: its telling words by their rarity.

    Nothing is returned where there is nothing to tell pages apart by.

    A score by words grows with every time that a word is repeated, and so a page that is full of
    one word may pass one that has them all; here each word counts once.
    """
    among = tuple(sorted(documents))
    asked = sorted(asked_for(plan), key=lambda clause: -clause.worth)[:_MOST_HELD]
    total = sum(clause.worth for clause in asked)
    if not among or len(asked) < 2 or not total:
        return {}
    shares = dict.fromkeys(among, 0.0)
    matches = [planner.holding(clause, plan.request.search_in, among) for clause in asked]
    for clause, found in zip(asked, engine.match_each(matches, len(among)), strict=True):
        for document, _, _ in found.entries:
            shares[document] += clause.worth / total
    return shares


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
        item if item.chunk else item._replace(chunk=found.get(item.document, (1, 0.0))[0])
        for item in ranked
    ]


def best_passages(
    engine: Engine, planner: Planner, plan: Plan, documents: tuple[int, ...], *, limit: int
) -> dict[int, tuple[int, float]]:
    """Return for each document the chunk that matches best, and how well."""
    match = planner.match(plan, all_clauses=False)._replace(
        filters=None, excluded=(), required=None, documents=documents
    )
    best: dict[int, tuple[int, float]] = {}
    for document, ordinal, score in engine.match_passages(match, limit).entries:
        best.setdefault(document, (ordinal, score))
    return best
