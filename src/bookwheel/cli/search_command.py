"""Search folders by words and by meaning.

Finds words in any form and passages that mean the same, forgives typos, and says what it
relaxed. "in quotes" finds a phrase, -word leaves documents out (a query that begins with a dash
comes after --). The index is made on the first search.

    bookwheel search 'rotate the signing key' ~/notes
    bookwheel search '"exit code" -windows' ~/notes --type md
    bookwheel search deploy ~/notes --folder runbooks --since 2025-01-01 --json
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from bookwheel.cli.fresh import make_fresh, read_for_meaning, waiting
from bookwheel.cli.hits import hit_as_json, print_hits
from bookwheel.cli.options import (
    Collection,
    Config,
    Index,
    Json,
    Mode,
    Paths,
    Second,
    open_library,
    wants_second_look,
)
from bookwheel.cli.output import count, print_json, terminal
from bookwheel.errors import BadRequest, IndexDamaged, NotFound
from bookwheel.library import Library
from bookwheel.query import Filters, SearchIn, SearchMode, SearchRequest, SearchResults

_DATE = re.compile("[0-9]{4}(-[0-9]{1,2}){0,2}")
_BY_DATE = "no name or text of a match has such a year, so its date counts"


def run(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", metavar="N", min=1, max=1000, help="Show at most this many hits."
        ),
    ] = 10,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Skip this many hits.")] = 0,
    collection: Collection = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", metavar="EXT", help="Only files of this type, such as md."),
    ] = None,
    folders: Annotated[
        list[str] | None, typer.Option("--folder", metavar="PATH", help="Only below this folder.")
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only documents with this tag.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="From this date on: 2024, 2024-05 or 2024-05-20."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="Up to and including this date.")
    ] = None,
    search_in: Annotated[
        SearchIn, typer.Option("--in", help="Look in the title, the content, or both.")
    ] = SearchIn.BOTH,
    fuzzy: Annotated[bool, typer.Option(help="Forgive typos.")] = True,
    mode: Mode = SearchMode.HYBRID,
    rerank: Second = None,
    understand: Annotated[
        bool,
        typer.Option(
            "--understand",
            help="Treat years, file types and folders in the query as filters: "
            "'slides about budget from 2023'.",
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each hit stands where it does.")
    ] = False,
    refresh: Annotated[
        bool | None,
        typer.Option(help="Look for changed files first. Default: only if the folder is small."),
    ] = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    filters = Filters(
        collections=(collection,) if collection else (),
        extensions=tuple("." + each.lower().lstrip(".") for each in types or ()),
        folders=tuple(each.strip("/") for each in folders or () if each.strip("/")),
        tags=tuple(tags or ()),
        date_from=_day(since, last=False) if since is not None else None,
        date_to=_day(until, last=True) if until is not None else None,
    )
    with open_library(paths, index, config) as library:
        _check_collection(library, collection)
        make_fresh(library, refresh)
        unread = read_for_meaning(library, mode, refresh)
        request = SearchRequest(
            text=query,
            filters=filters,
            search_in=search_in,
            limit=limit,
            offset=offset,
            fuzzy=fuzzy,
            mode=mode,
            rerank=wants_second_look(rerank),
            snippet_length=library.settings["snippet_length"],
        )
        results = (
            _search_understanding(library, request) if understand else _search(library, request)
        )
        results = results._replace(remarks=(*results.remarks, *unread))
        if json:
            print_json(as_json(results, explain=explain))
        else:
            _print(library, results, explain=explain)


def _search_understanding(library: Library, request: SearchRequest) -> SearchResults:
    """Search by what a query says beside its filters; those given as options win.

    Years are those in a file's name or text, and where no file has them there, those of its date.
    """
    from datetime import date

    from bookwheel.search.beside import search_beside
    from bookwheel.search.wishes import Wishes, add_wishes, with_years_written

    today, places = date.today(), library.places()

    def ask(wished: Callable[[Wishes], Filters]) -> tuple[SearchResults, SearchRequest, Wishes]:
        def make_request(wishes: Wishes) -> SearchRequest:
            filters = add_wishes(request.filters, wished(wishes))
            return request._replace(text=wishes.text, filters=filters)

        return search_beside(
            request.text,
            today,
            places,
            make_request=make_request,
            search=lambda each: _search(library, each),
        )

    results, asked, wishes = ask(lambda each: with_years_written(each, today))
    notes = wishes.notes
    if asked.filters.years and not results.total:
        dated, _, _ = ask(lambda each: each.filters)
        if dated.total:
            results, notes = dated, (*notes, _BY_DATE)
    return results._replace(query=request.text, remarks=(*notes, *results.remarks))


def _search(library: Library, request: SearchRequest) -> SearchResults:
    """Search; an index that proves damaged is built anew from the documents first."""
    try:
        return library.search(request)
    except IndexDamaged as error:
        print(f"bookwheel: {error.message} It is built anew.", file=sys.stderr)
        for line in waiting(library, library.repair, is_enough=lambda: False)[1:]:
            print(f"bookwheel: {line}.", file=sys.stderr)
        return library.search(request)


def _check_collection(library: Library, name: str | None) -> None:
    """Refuse an unknown collection before anything is indexed for it."""
    if name is None or any(name in (each.name, each.alias) for each in library.collections):
        return
    known = ", ".join(f'"{each.name}"' for each in library.collections)
    raise NotFound(
        f'Collection "{name}" not found.',
        hint=f"There is {known}. A query that begins with a dash comes after `--`.",
    )


def _day(text: str, *, last: bool) -> str:
    """Return the first or last day of a year or month, or the day that is meant."""
    from calendar import monthrange
    from datetime import date

    parts = text.split("-") if _DATE.fullmatch(text) else ["0"]
    year, month, day = (*map(int, parts), 0, 0)[:3]
    try:
        month = month or (12 if last and len(parts) < 2 else 1)
        return date(year, month, day or (monthrange(year, month)[1] if last else 1)).isoformat()
    except ValueError:
        raise BadRequest(f"{text!r} is no date; write 2024, 2024-05 or 2024-05-20.") from None


def as_json(results: SearchResults, *, explain: bool = False) -> dict[str, Any]:
    """Return the answer in the form that scripts rely on."""
    return {
        "query": results.query,
        "results": [hit_as_json(hit, explain=explain) for hit in results.hits],
        "total": results.total,
        "relaxed": list(results.relaxed),
        **({"remarks": list(results.remarks)} if results.remarks else {}),
        "suggestions": list(results.suggestions),
        "unreadable": results.unreadable,
        "files": results.files,
    }


def _print(library: Library, results: SearchResults, *, explain: bool) -> None:
    console = terminal()
    print_hits(library, results.hits, console, explain=explain)
    if results.hits:
        shown = f"{len(results.hits)} of about {count(results.total, 'document')}"
        print(f"\n{shown}." if console else f"{shown}.", file=sys.stderr)
    else:
        print(_nothing(results), file=sys.stderr)
    _say_more(results)


def _nothing(results: SearchResults) -> str:
    near = ", ".join(results.suggestions)
    return f"Nothing found for {results.query!r}." + (f" Near: {near}." if near else "")


def _say_more(results: SearchResults) -> None:
    if notes := (*results.relaxed, *results.remarks):
        print(f"Note: {'; '.join(notes)}.", file=sys.stderr)
    if results.caution:
        print(f"Note: {results.caution} `bookwheel status` says why.", file=sys.stderr)
