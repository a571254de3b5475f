"""Create a token for a client of `serve --http`.

It is shown once: only a hash of it is kept. Running servers accept it at once. With --roots its
bearer sees only those collections, or folders of them, and learns nothing of any other.

    bookwheel token new ann
    bookwheel token new intranet --roots handbook --roots papers/2024 --rate 30/minute
    bookwheel token new auditor --expires 2031-12-31
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bookwheel.cli.options import Config, Json, load_settings
from bookwheel.cli.output import print_json
from bookwheel.safety.token_file import TokenFile, today, tokens_path


def run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the token, as the audit shows it.")
    ],
    roots: Annotated[
        list[str] | None,
        typer.Option(
            "--roots",
            metavar="ROOT",
            help="A collection, COLLECTION/FOLDER or absolute path that its bearer may see; may "
            "be given again. Default: everything.",
        ),
    ] = None,
    rate: Annotated[
        str, typer.Option(metavar="RATE", help="How often its bearer may ask, such as 60/minute.")
    ] = "",
    expires: Annotated[
        str,
        typer.Option(
            metavar="DAY", help="First day on which it no longer works, such as 2031-12-31."
        ),
    ] = "",
    config: Config = None,
    json: Json = False,
) -> None:
    """See the module's text."""
    file = TokenFile(tokens_path(load_settings(None, config)))
    secret = file.add(name, roots or [], rate, expires)
    if json:
        print_json({"name": name, "token": secret, "file": str(file.file)})
        return
    print(secret)
    if expires and expires <= today():
        print(f"It is no good: {expires} has come already.", file=sys.stderr)
    note = "Clients send it as `Authorization: Bearer TOKEN`. It is not shown again."
    print(note, file=sys.stderr)
