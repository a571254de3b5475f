"""Why an answer is empty: which part of the request stands in the way."""

from __future__ import annotations

from bookwheel.engines.base import Engine, Match
from bookwheel.query import Filters, SearchIn
from bookwheel.search.plan import Plan, Planner


def why_nothing(engine: Engine, planner: Planner, plan: Plan, total: int, ranked: int) -> list[str]:
    """Return what keeps documents out; empty when no document has the words at all.

    Of `total` matches so many are `ranked`, and can be asked for page by page. The conditions are
    put back one after the other: the first with which nothing is left is it.
    """
    request, question = plan.request, plan.question
    if total and request.offset >= total:
        return [f"the offset lies beyond the last of {total} matches"]
    if 0 < ranked <= request.offset and not request.window:
        ends = f"the offset lies beyond the best {ranked} of {total} matches"
        return [f"{ends}, which alone are ranked"]
    if not engine.page_count():
        return ["there are no documents yet"]
    if plan.clauses and not any(clause.known for clause in plan.clauses):
        return []
    match = planner.match(plan, all_clauses=False)
    bare = match._replace(filters=None, phrases=(), excluded=(), excluded_phrases=(), required=None)
    if plan.clauses and not _finds(engine, bare):
        return _in_the_other_part(engine, planner, plan)
    with_phrases = bare._replace(phrases=match.phrases)
    if question.phrases and not _finds(engine, with_phrases):
        quoted = " and ".join(f'"{" ".join(phrase)}"' for phrase in question.phrases)
        return [f"no document has {quoted} as a phrase"]
    if match.required and not _finds(engine, match._replace(filters=None)):
        return ["no document meets what AND, OR, NOT and NEAR ask for"]
    if not _finds(engine, match._replace(filters=None)):
        return ["every match has an excluded word"]
    if any(request.filters) and not _finds(engine, match):
        return [f"documents match, but none {_told(request.filters)}"]
    return _in_the_other_part(engine, planner, plan)


def _in_the_other_part(engine: Engine, planner: Planner, plan: Plan) -> list[str]:
    """Tell when the words stand in titles and contents were asked for, or the other way round."""
    where = plan.request.search_in
    if where is SearchIn.BOTH:
        return []
    other = "content" if where is SearchIn.TITLE else "title"
    everywhere = plan._replace(request=plan.request._replace(search_in=SearchIn.BOTH))
    found = _finds(engine, planner.match(everywhere, all_clauses=False))
    return [f"documents match, but in their {other}"] if found else []


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
    if filters.within:
        places = ("/".join(filter(None, place)) for place in filters.within)
        parts.append(f"in {', '.join(places)}")
    if filters.tags:
        parts.append(f"with tag {', '.join(filters.tags)}")
    if filters.years:
        parts.append(f"with {' or '.join(filters.years)} in its name or text")
    if filters.date_from:
        parts.append(f"from {filters.date_from} on")
    if filters.date_to:
        parts.append(f"up to {filters.date_to}")
    return " ".join(parts)
