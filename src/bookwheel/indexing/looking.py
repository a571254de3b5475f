"""What the worker does with a file whose secrets are to be shown: read it, and find them.

Runs in the worker process and returns plain values only, as in prepare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.safety.finding import Rules, find_spans
from bookwheel.safety.opener import OpenRefused, Root

Look = Callable[[str, str], tuple[Any, ...]]


def make_look(max_bytes: int, rules: tuple[Any, ...]) -> Look:
    """Return the function that looks through files."""
    redaction = Rules(*rules)

    def look(folder: str, name: str) -> tuple[Any, ...]:
        """Return a file's text with its spans; or only the reason why there is none."""
        try:
            with Root.open(folder) as root:
                data = root.read_file(name, max_bytes=max_bytes).data
            text = read(data, name).text
        except (OpenRefused, Unreadable) as trouble:
            return (trouble.reason,)
        return text, tuple(tuple(span) for span in find_spans(text, redaction))

    return look
