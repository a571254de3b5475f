"""Texts that a backtracking pattern finds hardest: made from the pattern itself.

For every repetition in a pattern: what leads to it, then what it repeats very often, then an end
that fits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

kinds: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

Pattern = re.Pattern[str] | re.Pattern[bytes]
Items = Iterable[tuple[Any, Any]]

_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
_LIKELY = "a 1_-.\n\t/:=\"'([{<#*@é,!|\\" + "".join(map(chr, range(33, 127))) + "“€中\u2028\0"
_CLASSES = {
    kinds.CATEGORY_DIGIT: r"\d",
    kinds.CATEGORY_NOT_DIGIT: r"\D",
    kinds.CATEGORY_SPACE: r"\s",
    kinds.CATEGORY_NOT_SPACE: r"\S",
    kinds.CATEGORY_WORD: r"\w",
    kinds.CATEGORY_NOT_WORD: r"\W",
}
_MOST_TIMES = 300
_END = "\x01!"


def attacks(pattern: Pattern, length: int) -> Iterator[Any]:
    """Yield texts, or bytes for a pattern of bytes, of about this length."""
    written = pattern.pattern
    text = written.decode("latin-1") if isinstance(written, bytes) else written
    flags = pattern.flags & ~re.UNICODE if isinstance(written, bytes) else pattern.flags
    made: dict[str, None] = {}
    for before, body in _repeats(parser.parse(text, flags)):
        for piece, lead in ((body, before), (before + body, ""), (body, ""), (body + "\n", before)):
            if piece:
                made[lead + piece * (length // len(piece)) + _END] = None
    for each in made:
        yield each.encode() if isinstance(written, bytes) else each


def _repeats(items: Items, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what leads to each repetition, and what it repeats."""
    for kind, value in items:
        for part in _parts(kind, value):
            if kind in _REPEATS:
                yield before, _fit(part)
            yield from _repeats(part, before)
        before += _fit([(kind, value)], at_least=1)


def _parts(kind: Any, value: Any) -> list[Items]:
    """Return the patterns inside a part of a pattern."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.ATOMIC_GROUP:
        return [value]
    return list(value[1]) if kind is kinds.BRANCH else []


def _fit(items: Items, at_least: int = 0) -> str:
    """Return a short text that fits a pattern, but for what it asks of the text around."""
    made = ""
    for kind, value in items:
        parts = _parts(kind, value)
        if kind in _REPEATS:
            made += _fit(parts[0]) * min(max(value[0], at_least), _MOST_TIMES)
        elif parts:
            made += _fit(parts[0], at_least)
        elif kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN):
            made += _character(kind, value)
    return made


def _character(kind: Any, value: Any) -> str:
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.ANY:
        return "a"
    inside = [(kinds.NEGATE, None), (kinds.LITERAL, value)] if kind is kinds.NOT_LITERAL else value
    fits = re.compile("".join(("[", *map(_written, inside), "]")))
    candidates = (*_LIKELY, *map(chr, range(128, 0x3000)))
    return next((each for each in candidates if fits.fullmatch(each)), "a")


def _written(part: tuple[Any, Any]) -> str:
    kind, value = part
    if kind is kinds.NEGATE:
        return "^"
    if kind is kinds.CATEGORY:
        return _CLASSES[value]
    ends = value if kind is kinds.RANGE else (value, value)
    return "-".join(re.escape(chr(end)) for end in ends)
