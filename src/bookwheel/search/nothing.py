"""Why an answer is empty: which part of the request stands in the way."""

from __future__ import annotations

from bookwheel.engines.base import Engine, Match
from bookwheel.query import Filters, SearchIn
from bookwheel.search.plan import Plan, Planner


def why_nothing(engine: Engine, planner: Planner, plan: Plan, total: int) -> list[str]:
    """Return what keeps documents out that would match without it; empty when nothing does."""
    request, question = plan.request, plan.question
    if total and request.offset >= total:
        return [f"there are only {total} matches; the offset lies beyond them"]
    if not engine.page_count():
        return ["there are no documents yet"]
    if plan.clauses and not any(clause.known for clause in plan.clauses):
        return []
    match = planner.match(plan, all_clauses=False)
    reasons = []
    if any(request.filters) and _finds(engine, match._replace(filters=None)):
        reasons.append(f"documents match, but none {_told(request.filters)}")
    if request.search_in is not SearchIn.BOTH and not any(request.filters):
        other = "content" if request.search_in is SearchIn.TITLE else "title"
        everywhere = plan._replace(request=request._replace(search_in=SearchIn.BOTH))
        if _finds(engine, planner.match(everywhere, all_clauses=False)):
            reasons.append(f"documents match, but in their {other}")
    if question.phrases and _finds(engine, match._replace(phrases=())):
        quoted = " or ".join(f'"{" ".join(phrase)}"' for phrase in question.phrases)
        reasons.append(f"no such document has {quoted} as a phrase")
    if (question.excluded or question.excluded_phrases) and _finds(
        engine, match._replace(excluded=(), excluded_phrases=())
    ):
        reasons.append("every match has an excluded word")
    return reasons


def _finds(engine: Engine, match: Match) -> bool:
    return bool(engine.match_pages(match, 1).entries)


def _told(filters: Filters) -> str:
    """Return the filters in words."""
    parts = []
    if filters.collections:
        parts.append(f"in collection {', '.join(filters.collections)}")
    if filters.extensions:
        parts.append(f"of type {', '.join(filters.extensions)}")
    if filters.folders:
        parts.append(f"below {', '.join(filters.folders)}")
    if filters.tags:
        parts.append(f"with tag {', '.join(filters.tags)}")
    if filters.date_from:
        parts.append(f"from {filters.date_from} on")
    if filters.date_to:
        parts.append(f"up to {filters.date_to}")
    return " ".join(parts)
