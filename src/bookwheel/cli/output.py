"""How answers are printed: JSON, plain lines into a pipe, colour on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from bookwheel.safety.redact import make_safe

if TYPE_CHECKING:
    from rich.console import Console


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # an encoding that lacks a letter, or half a character in a query
        text = json.dumps(value, indent=2)
    print(text)


def one_line(text: str) -> str:
    """Return a text that cannot steer a terminal or break its line, as a path may."""
    return make_safe(" ".join(text.splitlines())).replace("\t", " ")


def say(text: str) -> None:
    """Print a remark on standard error, which is no part of the answer."""
    print(f"bookwheel: {one_line(text)}", file=sys.stderr)


def terminal() -> Console | None:
    """Return a console when standard output is a terminal, so that rich is loaded only then."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console(highlight=False)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
