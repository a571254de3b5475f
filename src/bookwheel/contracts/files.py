"""The `files` toolset: search and preview files by absolute paths; nothing is shown unredacted."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from bookwheel.contracts import files_arguments as take
from bookwheel.contracts.files_answers import (
    Found,
    Roots,
    Shown,
    describe_hit,
    reply_with,
    sayable,
    shape_error,
    shown,
)
from bookwheel.contracts.files_indexing import INDEX_FOLDER
from bookwheel.contracts.files_summaries import REWRITE_QUERY, SUMMARIZE_RESULTS
from bookwheel.contracts.tool import Contract, Reply, Tool
from bookwheel.contracts.wording import UNQUOTED, is_quoted, listed, loosen
from bookwheel.contracts.work import Work
from bookwheel.errors import Internal
from bookwheel.query import Filters, SearchRequest, SearchResults
from bookwheel.search.beside import search_beside
from bookwheel.search.wishes import Wishes, years_in_words
from bookwheel.view import View

WINDOW = take.MOST_RESULTS
"""So many files are weighed against each other; those beyond follow by their words."""
FARTHEST = 10_000
"""Results beyond this are for a narrower query."""
_MAY_NAME_A_FOLDER = re.compile(r"\b(?:in|under|below|inside|folder|directory)\b", re.IGNORECASE)


def list_roots(work: Work, _: take.ListRoots) -> Reply:
    """Answer which folders may be looked into."""
    roots = list(dict.fromkeys(root.shown for root in shown(work.library).roots()))
    if not roots:
        raise Internal("No root is configured.")
    return reply_with({"roots": roots}, results=len(roots))


def search_files(work: Work, asked: take.SearchFiles) -> Reply:
    """Answer the files that meet a query and its filters."""
    view = shown(work.library)
    within = _places(view, asked.roots)
    today = date.today()
    places = view.places() if _MAY_NAME_A_FOLDER.search(asked.query) else ()

    def make_request(wishes: Wishes) -> SearchRequest:
        return SearchRequest(
            wishes.text,
            filters=Filters(
                extensions=tuple(asked.exts or wishes.filters.extensions),
                years=tuple(asked.years or years_in_words(wishes, today)),
                folders=() if asked.roots else wishes.filters.folders,
                within=within if asked.roots else wishes.filters.within,
            ),
            limit=asked.k,
            offset=min(asked.offset, FARTHEST),
            snippet_length=view.settings["snippet_length"],
            window=WINDOW,
        )

    results, request, wishes = search_beside(
        asked.query, today, places, make_request=make_request, search=view.search
    )
    return _reply(work, view, asked, request, results, wishes)


def _places(view: View, roots: list[str] | None) -> tuple[tuple[str, str], ...]:
    """Return the places that roots or folders in them are; Forbidden if one is no such thing."""
    every = [place for root in roots or () for place in view.locate(root)]
    return tuple(dict.fromkeys((place.collection.name, place.path) for place in every))


def _reply(
    work: Work,
    view: View,
    asked: take.SearchFiles,
    request: SearchRequest,
    results: SearchResults,
    wishes: Wishes,
) -> Reply:
    items = [describe_hit(view, hit) for hit in results.hits]
    answer: dict[str, Any] = {
        "items": items,
        "pagination": {
            "offset": asked.offset,
            "returned": len(items),
            "total_estimate": results.total if items or asked.offset else 0,
        },
    }
    if not items:
        answer["hint"] = sayable(_say_what_is_near(view, request, results))
    named = {"types": asked.exts, "folders": asked.roots, "years": asked.years}
    said = wishes.notes_beside({kind for kind, values in named.items() if values})
    notes = [*said, *results.relaxed, *results.remarks, results.caution, work.remark]
    if any(notes):
        answer["notes"] = [sayable(note) for note in notes if note]
    return reply_with(answer, results=len(items))


def _say_what_is_near(view: View, request: SearchRequest, results: SearchResults) -> str:
    """Say what other words or fewer filters would find."""
    if results.total and request.offset >= min(results.total, FARTHEST):
        return f"The offset lies beyond the last of {results.total:,} results."
    if results.suggestions:
        return f"Words that come near: {listed(list(results.suggestions))}."
    how = [UNQUOTED] * is_quoted(request.text) + ["without the filters"] * any(request.filters)
    wider = loosen(request)._replace(filters=Filters(), offset=0)
    hits = view.search(wider).hits if how else ()
    paths = [view.absolute_path(hit.collection, hit.document) for hit in hits]
    if paths:
        return f"{' and '.join(how).capitalize()} there is {listed(paths)}."
    return "Nothing comes near; fewer or other words may find more."


def open_file(work: Work, asked: take.OpenFile) -> Reply:
    """Answer a short stretch of a file."""
    view = shown(work.library)
    document = view.file(asked.path)
    preview = view.preview(document, asked.pointer, before=asked.before, after=asked.after)
    return reply_with(
        {
            "path": view.absolute_path(document.collection, document.path),
            "pointer": preview.pointer,
            "preview": preview.text,
            "truncated": preview.is_cut,
        }
    )


LIST_ROOTS = Tool(
    "listRoots",
    "List roots",
    "List the folders that may be searched, as absolute paths. Use one of them, or a folder in it, "
    "for `roots` of searchFiles.",
    take.ListRoots,
    list_roots,
    example="{}",
    answer=Roots,
)
SEARCH_FILES = Tool(
    "searchFiles",
    "Search files",
    "Find files by words and by meaning, best first, with the place in the file and a redacted "
    "snippet. Then look into one with openFile, which takes `path` and `pointer` of an item.",
    take.SearchFiles,
    search_files,
    example='{"query": "contracts about vendor X from 2021 in ppt or docx", "k": 10}',
    answer=Found,
    per_minute=60,
)
OPEN_FILE = Tool(
    "openFile",
    "Preview a file",
    "Show a redacted stretch of at most 2,048 bytes of a file, around a pointer or from its "
    "beginning. Files are never given whole.",
    take.OpenFile,
    open_file,
    example='{"path": "/mnt/shared/contract.docx", "pointer": "page 3"}',
    answer=Shown,
    per_minute=30,
)

CONTRACT = Contract(
    "files",
    (LIST_ROOTS, INDEX_FOLDER, SEARCH_FILES, OPEN_FILE, SUMMARIZE_RESULTS, REWRITE_QUERY),
    shape_error,
    usage="Find files with searchFiles, then look at the place with openFile. listRoots names the "
    "folders that there are, rewriteQuery makes an expression of a question, and summarizeResults "
    "a summary of what was found.",
    shows_codes=True,
)
