"""Revoke a token.

Running servers refuse it from the next request on.

    bookwheel token revoke ann
"""

from __future__ import annotations

from typing import Annotated

import typer

from bookwheel.cli.options import Config, load_settings
from bookwheel.safety.token_file import TokenFile, tokens_path


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")],
    config: Config = None,
) -> None:
    """See the module's text."""
    TokenFile(tokens_path(load_settings(None, config))).revoke(name)
    print(f"{name} is let in no more.")
