"""The search page: answers in the page itself, so that it works without scripts too."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from bookwheel.contracts.resources import is_alone
from bookwheel.serve.api import read_query
from bookwheel.serve.api_answers import make_request, show_facets, show_results
from bookwheel.serve.api_models import (
    CountAnswer,
    FacetsAnswer,
    PageOfHitsAsked,
    SearchAnswer,
    Year,
)
from bookwheel.serve.site.pages import Pages
from bookwheel.serve.web import base_of
from bookwheel.view import View


class PageAsked(PageOfHitsAsked):
    """What the form of the search page sends."""

    q: str = Field("", max_length=2000)
    year: Year | None = None


class Group(NamedTuple):
    """One filter of the page: its values, and those that are chosen."""

    name: str
    label: str
    values: list[CountAnswer]
    chosen: tuple[str, ...]
    kind: str = "checkbox"


async def show_search(pages: Pages, request: Request) -> Response:
    """Show the form, and what was found if anything was asked."""
    asked = _read(request)
    base = base_of(request)

    def find(library: View) -> dict[str, Any]:
        meaning = library.exists and library.knows_meaning
        values: dict[str, Any] = {"states": library.states(), "meaning": meaning}
        if not asked.q.strip():
            return values
        question = make_request(asked, limit=asked.limit, offset=asked.offset)
        results, alone = library.search(question), is_alone(library)
        remark = pages.web.calls.remark
        return {
            **values,
            "results": show_results(results, base=base, alone=alone, remark=remark),
            "facets": show_facets(library.facets(question)),
        }

    values = await pages.web.ask(request, find)
    results: SearchAnswer | None = values.get("results")
    shown = {
        "asked": asked,
        "groups": _groups(asked, values.get("facets")),
        "next": _page(request, asked, +1) if results and _has_more(results, asked) else None,
        "previous": _page(request, asked, -1) if asked.offset else None,
        **values,
    }
    return pages.show(request, "search.html", shown)


def _read(request: Request) -> PageAsked:
    """Read the form; fields that were left empty say nothing."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if value]
    scope = {**request.scope, "query_string": urlencode(kept).encode()}
    asked: PageAsked = read_query(Request(scope), PageAsked)
    if asked.year:
        asked = asked.model_copy(update={"year_from": asked.year, "year_to": asked.year})
    return asked


def _has_more(results: SearchAnswer, asked: PageAsked) -> bool:
    return bool(results.hits) and asked.offset + len(results.hits) < min(results.total, 900)


def _page(request: Request, asked: PageAsked, step: int) -> str:
    offset = max(0, asked.offset + step * asked.limit)
    kept = [
        (name, value)
        for name, value in request.query_params.multi_items()
        if name != "offset" and value
    ]
    return f"{base_of(request)}/?{urlencode([*kept, *([('offset', offset)] if offset else [])])}"


def _groups(asked: PageAsked, facets: FacetsAnswer | None) -> list[Group]:
    """Return the filters; what is chosen is shown even where nothing has it."""
    year = (str(asked.year),) if asked.year else ()
    found = facets or FacetsAnswer(collections=[], types=[], years=[], folders=[], complete=True)
    groups = (
        Group("collection", "Collection", found.collections, asked.collection),
        Group("type", "Type", found.types, asked.type),
        Group("year", "Year", found.years, year, "radio"),
        Group("folder", "Folder", found.folders, asked.folder),
    )
    telling = [each for each in groups if each.chosen or len(each.values) > 1]
    return [each._replace(values=_with_chosen(each)) for each in telling]


def _with_chosen(group: Group) -> list[CountAnswer]:
    known = {each.value for each in group.values}
    missing = [CountAnswer(value=each, count=0) for each in group.chosen if each not in known]
    return [*group.values, *missing]
