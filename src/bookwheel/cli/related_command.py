"""Find documents that are like another one.

They come from the same collection. With --text, they are like that text instead.

    bookwheel related guides/setup.md ~/notes
    bookwheel related guides/setup.md ~/notes --text 'keys are rotated every month' --limit 3
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bookwheel.cli.fresh import make_fresh, read_for_likeness
from bookwheel.cli.hits import hit_as_json, print_hits
from bookwheel.cli.options import (
    Collection,
    Config,
    DocumentName,
    Index,
    Json,
    Paths,
    open_library,
)
from bookwheel.cli.output import one_line, print_json, terminal


def run(
    document: DocumentName,
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    collection: Collection = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Find what is like this text instead.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", metavar="N", min=1, max=1000, help="Show at most this many hits."
        ),
    ] = 5,
    json: Json = False,
) -> None:
    """See the module's text."""
    with open_library(paths, index, config) as library:
        make_fresh(library, None)
        read_for_likeness(library)
        found = library.document(document, collection)
        hits = library.find_related(found, text=(text or "").strip() or None, limit=limit)
        if json:
            print_json(
                {
                    "collection": found.collection,
                    "document": found.path,
                    "title": found.title,
                    "related": [hit_as_json(hit) for hit in hits],
                }
            )
            return
        print_hits(library, hits, terminal())
        if not hits:
            print(f"Nothing is like {one_line(found.path)}.", file=sys.stderr)
