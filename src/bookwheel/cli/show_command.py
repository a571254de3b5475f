"""Show a document, or a section, page, sheet or lines of it.

A section is found by its heading, a part of it, or its trail; "Examples #2" is the second one.

    bookwheel show guides/setup.md ~/notes
    bookwheel show guides/setup.md ~/notes --section installation
    bookwheel show guides/setup.md ~/notes --lines 40-60
    bookwheel show report.pdf ~/notes --pointer "page 3"
"""

from __future__ import annotations

import re
import sys
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
from bookwheel.cli.output import print_json
from bookwheel.errors import BadRequest
from bookwheel.library import Library
from bookwheel.model import Document

_LINES = re.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?")


def run(
    document: DocumentName,
    paths: Paths = None,
    index: Index = None,
    config: Config = None,
    collection: Collection = None,
    section: Annotated[
        str | None, typer.Option("--section", "-s", metavar="HEADING", help="Only this section.")
    ] = None,
    subsections: Annotated[bool, typer.Option(help="With the sections below it.")] = True,
    lines: Annotated[
        str | None, typer.Option("--lines", "-l", metavar="A-B", help="Only these lines.")
    ] = None,
    pointer: Annotated[
        str | None,
        typer.Option(
            "--pointer",
            "-p",
            metavar="PLACE",
            help="Only this place, as a hit names it: page 3, sheet 'Q2'.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    if sum(each is not None for each in (section, lines, pointer)) > 1:
        raise BadRequest("Only one of --section, --lines and --pointer can be asked for at once.")
    with open_library(paths, index, config) as library:
        make_fresh(library, None)
        found = library.document(document, collection)
        if section is not None:
            _show_section(library, found, section, subsections=subsections, json=json)
        elif pointer is not None:
            _show_place(library, found, pointer, json=json)
        else:
            _show_text(library, found, lines, json=json)


def _show_text(library: Library, document: Document, lines: str | None, *, json: bool) -> None:
    part = library.text(document) if lines is None else library.lines(document, *_line_range(lines))
    if json:
        print_json(
            {
                "collection": document.collection,
                "document": document.path,
                "title": document.title,
                "description": document.description,
                "tags": list(document.tags),
                "author": document.author or None,
                "date": document.date,
                "mime": document.mime,
                "size": document.size,
                "words": document.words,
                "content": part.text,
                "totalChars": part.total,
            }
        )
    else:
        sys.stdout.write(part.text if part.text.endswith("\n") else part.text + "\n")


def _show_section(
    library: Library, document: Document, heading: str, *, subsections: bool, json: bool
) -> None:
    found = library.section(document, heading, subsections=subsections)
    if json:
        print_json(
            {
                "collection": document.collection,
                "document": document.path,
                "section": found.heading,
                "level": found.level,
                "content": found.text,
                "startLine": found.start_line,
                "endLine": found.end_line,
                "others": list(found.others),
            }
        )
        return
    print(found.text)
    if found.others:
        others = ", ".join(repr(name) for name in found.others)
        print(f"Note: there are more sections of that name: {others}.", file=sys.stderr)


def _show_place(library: Library, document: Document, pointer: str, *, json: bool) -> None:
    found = library.place(document, pointer)
    if json:
        print_json(
            {
                "collection": document.collection,
                "document": document.path,
                "pointer": pointer,
                "content": found.text,
                "startLine": found.start_line,
                "endLine": found.end_line,
            }
        )
    else:
        print(found.text)


def _line_range(text: str) -> tuple[int, int]:
    found = _LINES.fullmatch(text)
    if found is None:
        raise BadRequest(f"{text!r} is no range of lines; write 40 or 40-60.")
    return int(found[1]), int(found[2] or found[1])
