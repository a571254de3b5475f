"""List the documents of a collection or folder.

One line each: path, tab, title.

    bookwheel list ~/notes
    bookwheel list ~/notes --folder runbooks --limit 20
    bookwheel list ~/docs --category Guides
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bookwheel.cli.fresh import make_fresh
from bookwheel.cli.options import Collection, Config, Index, Json, Paths, open_library
from bookwheel.cli.output import one_line, print_json
from bookwheel.errors import NotFound
from bookwheel.library import Library
from bookwheel.reading.listing import Page


def run(
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    collection: Collection = None,
    folder: Annotated[str, typer.Option(metavar="PATH", help="Only below this folder.")] = "",
    category: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this category of sidebar.md, or top folder."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", metavar="N", min=1, max=1000, help="Show at most this many rows."
        ),
    ] = 100,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Skip this many rows.")] = 0,
    json: Json = False,
) -> None:
    """See the module's text."""
    with open_library(paths, index, config) as library:
        make_fresh(library, None)
        names = [collection] if collection else [each.name for each in library.collections]
        if category is not None:
            pages = _list_category(library, names, category, limit=limit, offset=offset)
        else:
            pages = {
                name: library.list_documents(name, folder=folder, limit=limit, offset=offset)
                for name in names
            }
    if json:
        print_json([_as_json(name, page) for name, page in pages.items()])
        return
    for name, page in pages.items():
        if len(pages) > 1:
            print(f"{name}:")
        for document in page.documents:
            print(f"{one_line(document.path)}\t{one_line(document.title)}")
        if not page.total:
            where = f"below {folder!r}" if folder else "yet"
            print(f"bookwheel: {name} has no documents {where}.", file=sys.stderr)
        if page.has_more:
            following = page.offset + len(page.documents)
            print(f"{page.total:,} in all; go on with --offset {following}.", file=sys.stderr)


def _list_category(
    library: Library, names: list[str], category: str, *, limit: int, offset: int
) -> dict[str, Page]:
    """Return the page of each collection that has a category; NotFound if none has."""
    pages: dict[str, Page] = {}
    missing: NotFound | None = None
    for name in names:
        try:
            pages[name] = library.list_category(name, category, limit=limit, offset=offset)
        except NotFound as error:
            missing = error
    if missing is not None and not pages:
        raise missing
    return pages


def _as_json(name: str, page: Page) -> dict[str, object]:
    return {
        "collection": name,
        "documents": [
            {
                "id": document.path,
                "title": document.title,
                "description": document.description,
                "size": document.characters,
                "date": document.date,
            }
            for document in page.documents
        ],
        "total": page.total,
        "hasMore": page.has_more,
    }
