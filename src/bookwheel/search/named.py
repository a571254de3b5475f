"""Files that are asked for by their names: the query is one, or a path that ends in one."""

from __future__ import annotations

from bookwheel.engines.base import Engine
from bookwheel.model import Document
from bookwheel.query import SearchIn
from bookwheel.search.plan import TITLE_BONUS, Plan, Planner
from bookwheel.text.words import normal_title


def files_named(engine: Engine, planner: Planner, plan: Plan, limit: int) -> dict[int, float]:
    """Return the pages whose file has the name that is the query: they need hold no word of it.

    None where too many have it: which of them is meant, only words can tell.
    """
    question = plan.question
    if not question.file_name or question.expression is not None:
        return {}
    if plan.request.search_in is not SearchIn.BOTH:
        return {}
    nothing = plan._replace(clauses=(), names=())
    match = planner.match(nothing, all_clauses=False, titles=(question.file_name,))
    entries = engine.match_pages(match, limit + 1).entries
    named = {document: score for document, _, score in entries if score >= TITLE_BONUS}
    return named if len(named) <= limit else {}


def with_named(
    engine: Engine, plan: Plan, pages: dict[int, float], named: dict[int, float]
) -> dict[int, float]:
    """Return pages together with those that have the name; where that is a path, its own first."""
    every = named | pages
    asked = plan.question.title
    if plan.question.file_name in ("", asked):
        return every
    called = [key for key, score in every.items() if score >= TITLE_BONUS]
    documents = engine.documents_by_key(called)
    near = {key: _nearness(asked, document) for key, document in documents.items()}
    nearest = max(near.values(), default=(0, False))
    return every | {key: every[key] + TITLE_BONUS for key, own in near.items() if own == nearest}


def _nearness(asked: str, document: Document) -> tuple[int, bool]:
    """Return how many parts two paths have in common at their ends, and whether they are one."""
    path = normal_title(document.path)
    parts = asked.strip("/").split("/")
    own = normal_title(f"{document.collection}/{document.path}").split("/")
    shared = 0
    while shared < min(len(parts), len(own)) and parts[-1 - shared] == own[-1 - shared]:
        shared += 1
    return shared, path == "/".join(parts)
