"""Shapes of tokens as patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bookwheel.safety.tokens import ALPHABETS, Token

_PART = re.compile(r"<(\w):(\d+)(?:-(\d+)|(\+))?>|([()|])|([^<()|]+)")
_BEFORE = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"
"""Where a word begins, be it in an escaped or encoded text."""

_HINT = 8
"""Random characters that a hint asks for; more would make its automaton large."""
_WHOLE_HINT = 20
"""And where the beginning is a common one."""


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
    to_the_end = -1 if token.whole else len(parts) - 1
    body = "".join(_piece(part, open_end=at == to_the_end) for at, part in enumerate(parts))
    before = _BEFORE if token.whole else ""
    return f"{before}({body})"


def hint_of(token: Token) -> str:
    """Return a pattern for where the token may begin, up to its first random characters."""
    pieces: list[str] = [_BEFORE] if token.whole else []
    length = _WHOLE_HINT if token.whole else _HINT
    depth = 0
    for part in parse_shape(token.shape):
        if isinstance(part, str):
            depth += {"(": 1, ")": -1}.get(part, 0)
        elif part.alphabet and part.least >= _HINT and not depth:
            least = min(length, part.least)
            return "".join((*pieces, f"[{ALPHABETS[part.alphabet]}]{{{least}}}"))
        pieces.append(_piece(part, open_end=False))
    return "".join(pieces)


def lead_of(token: Token) -> str:
    """Return the pattern of the fixed characters that the token begins with."""
    pieces: list[str] = []
    for part in parse_shape(token.shape):
        if isinstance(part, Part) and part.alphabet:
            break
        pieces.append(_piece(part, open_end=False))
    return "".join(pieces)


def is_exact(token: Token) -> bool:
    """Tell whether no character of a word may follow the token."""
    last = list(parse_shape(token.shape))[-1]
    return token.whole and (isinstance(last, str) or bool(last.fixed or last.most))


def beginnings(token: Token) -> tuple[str, ...]:
    """Return the words that the token may begin with; none if it begins with random ones."""
    words: list[str] = []
    inside = fresh = False
    for part in parse_shape(token.shape):
        if part == "(":
            inside = fresh = True
        elif part == "|":
            fresh = True
        elif isinstance(part, str):
            return tuple(words)
        elif fresh or not inside:
            if part.alphabet:
                return ()
            words.append(part.fixed)
            if not inside:
                return tuple(words)
            fresh = False
    return tuple(words)


def fixed_words(token: Token) -> tuple[str, ...]:
    """Return the fixed words within a shape that has no choices, the longest first."""
    parts = (part for part in parse_shape(token.shape) if isinstance(part, Part))
    return tuple(sorted((part.fixed for part in parts if part.fixed), key=len, reverse=True))


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
