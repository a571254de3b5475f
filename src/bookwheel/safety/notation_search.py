"""Looking for the notations, all of them in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.notation import Notation
from bookwheel.safety.notations import NOTATIONS
from bookwheel.safety.patterns import compiled
from bookwheel.safety.web_addresses import find_in_addresses

_SOON = 200
"""Bytes after a beginning in which what a notation needs must stand."""
_PEEK = 40
"""Bytes of the longest peek that may hold another beginning."""
_FIRST = 24
"""Bytes of the longest word that a notation begins with."""
_JUDGED = 4096
"""Bytes by which the longest values are judged."""
Ready = tuple[tuple[bytes, ...], str, Notation]


@lru_cache(maxsize=1)
def _by_letter() -> tuple[str, dict[int, tuple[Ready, ...]]]:
    """Return one pattern for all beginnings, and the notations by their first letters."""
    table: dict[int, list[Ready]] = {}
    together = [row for row in NOTATIONS if not row.alone]
    for row in together:
        words = tuple(word.encode() for word in row.first.split())
        for letter in {word[0] for word in words}:
            table.setdefault(letter, []).append((words, _whole(row), row))
    hints = "|".join(dict.fromkeys(f"(?:{row.hint}){row.peek}" for row in together))
    return f"(?i){hints}", {letter: tuple(rows) for letter, rows in table.items()}


def _whole(row: Notation) -> str:
    """Return the pattern of a notation, with one group."""
    has_group = "(" in row.rest.replace("(?", "")
    whole = f"(?:{row.hint}){row.rest}"
    return f"(?i){whole}" if has_group else f"(?i)({whole})"


def find_notations(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the secrets that stand in one of the notations."""
    dense = Stretches(allowance)
    yield from _find_together(data, dense)
    for row in NOTATIONS:
        if row.alone and (not row.needs or any(each in data for each in row.needs)):
            for found in places(_whole(row), data, dense):
                if row.judge(_text(data, *found.span(1))):
                    yield *found.span(1), row.kind
    if b"://" in data:
        yield from find_in_addresses(data, dense)
    yield from dense.let_go()


def _find_together(data: bytes, dense: Stretches) -> Iterator[Found]:
    hints, by_letter = _by_letter()
    done: dict[str, int] = {}  # by pattern: what it has read is not read by it again
    for match in places(hints, data, dense, _PEEK):
        at = match.start()
        beginning = data[at : at + _FIRST].lower()
        for words, pattern, row in by_letter.get(beginning[0], ()):
            if (
                beginning.startswith(words)
                and at >= done.get(pattern, 0)
                and _may_be(data, at, row)
            ):
                found = compiled(pattern).match(data, at)
                if found is not None:
                    start, end = found.span(1)
                    done[pattern] = end
                    if row.judge(_text(data, start, end)):
                        yield start, end, row.kind


def _may_be(data: bytes, at: int, row: Notation) -> bool:
    """Tell whether what a notation needs stands soon after its beginning."""
    return not row.needs or any(data.find(each, at, at + _SOON) >= 0 for each in row.needs)


def _text(data: bytes, start: int, end: int) -> str:
    return data[start : min(end, start + _JUDGED)].decode("utf-8", "replace")
