"""Tokens that are known by their shape alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from bookwheel.safety.patterns import compiled
from bookwheel.safety.shapes import first_letters, pattern_of
from bookwheel.safety.tokens import TOKENS, Token
from bookwheel.safety.values import is_stand_in

Found = tuple[int, int, str]

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_FILLER = re.compile(
    rb"(?i)your[-_]|[-_]here\b|x{6}|0{12}|\*{3}|\.{3}|placeholder|replace|1234567890123456"
)


@lru_cache(maxsize=1)
def any_token() -> str:
    """Return the pattern of all tokens together."""
    return "|".join(pattern_of(token).replace("(", "(?:", 0) for token in TOKENS)


@lru_cache(maxsize=1)
def tokens_by_letter() -> dict[int, tuple[tuple[Token, str], ...]]:
    """Return the tokens that may begin with a letter, with their patterns."""
    table: dict[int, list[tuple[Token, str]]] = {letter: [] for letter in range(256)}
    for token in TOKENS:
        for letter in first_letters(token).encode() or range(256):
            table[letter].append((token, pattern_of(token)))
    return {letter: tuple(rows) for letter, rows in table.items()}


def find_tokens(data: bytes) -> Iterator[Found]:
    """Yield the tokens of a text."""
    for match in compiled(any_token()).finditer(data):
        found = _identify(data, *match.span())
        if found is not None:
            yield found


def _identify(data: bytes, start: int, end: int) -> Found | None:
    """Say which token a candidate is."""
    at = start + (2 if data[start] == 92 else 3 if data[start] == 37 else 0)
    for token, pattern in tokens_by_letter()[data[at]]:
        match = compiled(pattern).match(data, start)
        if match is not None:
            begin, stop = match.span(1)
            if token.whole and stop < len(data) and data[stop] in _WORD:
                continue
            if _is_filler(data[begin:stop], whole=token.whole):
                continue
            return begin, stop, token.kind
    return None


def _is_filler(found: bytes, *, whole: bool) -> bool:
    if _FILLER.search(found) or len(set(found[-20:])) < 5:
        return True
    text = found.decode("ascii", "replace")
    tail = text[-16:]
    return is_stand_in(text) or (whole and (tail.islower() or tail.isupper()) and tail.isalpha())
