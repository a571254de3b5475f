"""Write a file of questions for `eval`, to fill in.

It goes into the folder, as bookwheel-eval.toml, with a few examples made from titles and headings
of the documents there. Replace them with real questions, and `bookwheel eval FOLDER` measures how
well search answers them.

    bookwheel eval init ~/notes
    bookwheel eval init ~/notes --out questions.toml
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bookwheel.cli.fresh import make_fresh
from bookwheel.cli.options import Config, Index, Json, open_library
from bookwheel.cli.output import count, one_line, print_json
from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.judged import FILE_NAME, propose_queries, write_judged


def run(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="Folder of documents. Default: this folder."),
    ] = None,
    index: Index = None,
    config: Config = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help=f"Write here. Default: {FILE_NAME} in the folder."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """See the module's text."""
    file = Path(out) if out else Path(folder or ".") / FILE_NAME
    if file.exists() and not force:
        raise BadRequest(f"There is a file {file} already.", hint="--force replaces it.")
    with open_library([folder] if folder else None, index, config) as library:
        make_fresh(library, None)
        examples = propose_queries(library)
    if not examples:
        hint = "`bookwheel status` says what was found there."
        raise NotFound("There are no documents to make examples of.", hint=hint)
    try:
        file.write_text(write_judged(examples), encoding="utf-8")
    except OSError as error:
        hint = "--out names another place."
        raise BadRequest(f"{file} cannot be written: {error.strerror}.", hint=hint) from None
    if json:
        print_json({"file": str(file), "queries": [each.query for each in examples]})
        return
    print(one_line(f"Wrote {file} with {count(len(examples), 'example')}."))
    judged = f" --judged {file}" if out else ""
    there = f" {folder}" if folder else ""
    note = f"Replace the examples by real questions, then: bookwheel eval{there}{judged}"
    print(one_line(note), file=sys.stderr)
