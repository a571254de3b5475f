"""How many of the documents that a question finds are of each collection, type, year and folder.

Counted over the best `MOST_COUNTED` that its words find; what only meaning adds is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from posixpath import commonpath
from typing import NamedTuple

from bookwheel.engines.base import Engine
from bookwheel.model import Document
from bookwheel.query import Filters, SearchMode, SearchRequest
from bookwheel.search.correct import correct
from bookwheel.search.interpret import interpret, query_languages
from bookwheel.search.plan import Planner
from bookwheel.search.run import retrieve

MOST_COUNTED = 1000
_MOST_VALUES = 20

Counts = tuple[tuple[str, int], ...]
"""Values and how many documents have each, most first."""


class Facets(NamedTuple):
    """The values of each filter, counted as if that filter itself were not set."""

    collections: Counts = ()
    types: Counts = ()
    years: Counts = ()
    folders: Counts = ()
    is_complete: bool = True
    """Whether every match was counted."""


def count_facets(engine: Engine, request: SearchRequest) -> Facets:
    """Count what a request finds, for each filter with the others set."""
    found: dict[Filters, list[Document]] = {}

    def find(**cleared: object) -> list[Document]:
        filters = request.filters._replace(**cleared)  # type: ignore[arg-type] # each its own empty value
        if filters not in found:
            found[filters] = _find(engine, request._replace(filters=filters))
        return found[filters]

    facets = Facets(
        collections=_most(each.collection for each in find(collections=())),
        types=_most(each.extension for each in find(extensions=())),
        years=_latest(each.date[:4] for each in find(date_from=None, date_to=None)),
        folders=_most(_next_folders(find(folders=()))),
    )
    return facets._replace(is_complete=all(len(each) < MOST_COUNTED for each in found.values()))


def _find(engine: Engine, request: SearchRequest) -> list[Document]:
    """Return the documents that the words of a request find, up to as many as are counted."""
    languages = query_languages(engine)
    question = interpret(request.text, languages)
    if question.asks_nothing:
        return []
    wanted = request._replace(limit=MOST_COUNTED, offset=0, mode=SearchMode.LEXICAL)
    planner = Planner(engine, languages)
    plan, _, titles = correct(engine, planner, planner.plan(question, wanted), languages)
    pages = list(retrieve(engine, planner, plan, titles).pages)[:MOST_COUNTED]
    return list(engine.documents_by_key(pages).values()) if pages else []


def _most(values: Iterable[str]) -> Counts:
    counts = Counter(value for value in values if value)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_VALUES])


def _latest(years: Iterable[str]) -> Counts:
    counts = Counter(year for year in years if year.isdigit())
    return tuple(sorted(counts.items(), reverse=True)[:_MOST_VALUES])


def _next_folders(documents: Iterable[Document]) -> list[str]:
    """Return for each document the first folder of its path that tells it from others."""
    folders = [each.path.rpartition("/")[0] for each in documents]
    shared = commonpath(folders) if folders and all(folders) else ""
    start = len(shared) + 1 if shared else 0
    return [_cut(folder, start) for folder in folders if len(folder) > start]


def _cut(folder: str, start: int) -> str:
    end = folder.find("/", start)
    return folder if end < 0 else folder[:end]
