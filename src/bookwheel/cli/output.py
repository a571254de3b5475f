"""How answers are printed: JSON, plain lines into a pipe, colour on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def terminal() -> Console | None:
    """Return a console when standard output is a terminal, so that rich is loaded only then."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console(highlight=False)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
