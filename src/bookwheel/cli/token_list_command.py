"""List the tokens of HTTP clients.

Shown are their names, the roots that their bearers see, how often they may ask, when they were made
and until when they are good; what they are is not known any more.

    bookwheel token list --json
    bookwheel token list --config /etc/bookwheel/bookwheel.toml
"""

from __future__ import annotations

import sys

from bookwheel.cli.options import Config, Json, load_settings
from bookwheel.cli.output import one_line, print_json
from bookwheel.safety.token_file import Token, TokenFile, today, tokens_path


def run(config: Config = None, json: Json = False) -> None:
    """See the module's text."""
    file = TokenFile(tokens_path(load_settings(None, config)))
    tokens = file.load()
    if json:
        print_json([_describe(token) for token in tokens])
        return
    if not tokens:
        print(f"There are no tokens in {file.file}.", file=sys.stderr)
    day = today()
    for token in tokens:
        until = "until" if token.is_valid(day) else "ended"
        parts = [
            ", ".join(token.roots) if token.roots else "everything",
            token.rate,
            f"made {token.created}",
            f"{until} {token.expires}" if token.expires else "",
        ]
        print(one_line(f"{token.name}: {'; '.join(filter(None, parts))}"))


def _describe(token: Token) -> dict[str, object]:
    kept = token._asdict()
    del kept["digest"]
    return kept
