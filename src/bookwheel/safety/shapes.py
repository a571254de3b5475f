"""Shapes of tokens as patterns: one for finding any of them, one for telling which it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.safety.tokens import ALPHABETS, Token

_PART = re.compile(r"<(\w):(\d+)(?:-(\d+)|(\+))?>|([()|])|([^<()|]+)")
_BEFORE = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"
"""Where a word begins, be it in an escaped or encoded text."""


class Part(NamedTuple):
    """A piece of a shape: fixed characters, or random ones of an alphabet."""

    fixed: str = ""
    alphabet: str = ""
    least: int = 0
    most: int = 0
    """0: as many as there are."""


def parse_shape(shape: str) -> Iterator[Part | str]:
    """Yield the parts of a shape, and the marks `(`, `|` and `)` between them."""
    depth = 0
    for letter, least, most, open_end, mark, fixed in _PART.findall(shape):
        if letter:
            longest = 0 if open_end else int(most or least)
            yield Part(alphabet=letter, least=int(least), most=longest)
        elif mark and (mark != "|" or depth):
            depth += {"(": 1, ")": -1}.get(mark, 0)
            yield mark
        else:
            yield Part(fixed=fixed or mark)


def pattern_of(token: Token) -> str:
    """Return a pattern for the token; its one group is the token itself."""
    parts = list(parse_shape(token.shape))
    to_the_end = len(parts) - 1 if not token.whole else -1
    body = "".join(_piece(part, open_end=at == to_the_end) for at, part in enumerate(parts))
    return f"{_BEFORE}({body})" if token.whole else f"({body})"


def first_letters(token: Token) -> str:
    """Return what the token may begin with; empty if that may be anything."""
    letters = ""
    previous: Part | str = "|"
    depth = 0
    for part in parse_shape(token.shape):
        if isinstance(part, str):
            depth += {"(": 1, ")": -1}.get(part, 0)
        elif isinstance(previous, str):
            if part.alphabet:
                return ""
            letters += part.fixed[0]
        if (not isinstance(part, str) and not depth) or part == ")":
            return letters
        previous = part
    return letters


def _piece(part: Part | str, *, open_end: bool) -> str:
    if isinstance(part, str):
        return {"(": "(?:"}.get(part, part)
    if part.fixed:
        return re.escape(part.fixed).replace("\\-", "-").replace("\\ ", " ")
    characters = f"[{ALPHABETS[part.alphabet]}]"
    if open_end or not part.most:
        # A token is taken to its very end, even where it is longer than any known.
        return f"{characters}{{{part.least}}}{characters}*"
    return f"{characters}{{{part.least},{part.most}}}"
