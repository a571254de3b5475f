"""Show the headings of a document.

Each comes with its line, for `bookwheel show --lines`.

    bookwheel outline guides/setup.md ~/notes --depth 2
"""

from __future__ import annotations

from typing import Annotated

import typer

from bookwheel.cli.fresh import make_fresh
from bookwheel.cli.options import (
    Collection,
    Config,
    DocumentName,
    Index,
    Json,
    Paths,
    open_library,
)
from bookwheel.cli.output import one_line, print_json


def run(
    document: DocumentName,
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    collection: Collection = None,
    depth: Annotated[
        int, typer.Option(metavar="N", min=1, max=6, help="Deepest level to show.")
    ] = 3,
    json: Json = False,
) -> None:
    """See the module's text."""
    with open_library(paths, index, config) as library:
        make_fresh(library, None)
        found = library.document(document, collection)
        headings = library.outline(found, depth=depth)
    if json:
        print_json(
            {
                "collection": found.collection,
                "document": found.path,
                "title": found.title,
                "outline": [
                    {"level": each.level, "text": each.text, "line": each.line} for each in headings
                ],
            }
        )
        return
    print(one_line(found.title))
    for each in headings:
        print(f"{'  ' * each.level}{each.text}  (line {each.line})")
    if not headings:
        print("  no headings down to this depth")
