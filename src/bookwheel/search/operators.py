"""AND, OR, NOT and NEAR in a query: what is an operator, and the expression that it makes.

Only capitals are operators, and only where prose and statements would not write them: `is NOT
possible` and `IS NOT NULL` stay words. Whatever does not make an expression is no expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

USUAL_GAP = 10
"""So many words may stand between two that are NEAR each other, if no number is given."""
MOST_GAP = 100
_MOST_DEPTH = 30
_QUOTES = '"“”„'
_TOKEN = re.compile(
    rf"(?P<quote>(?<!\S)-?[{_QUOTES}][^{_QUOTES}]*[{_QUOTES}]|(?<=\()[{_QUOTES}][^{_QUOTES}]*[{_QUOTES}])"
    rf"|(?P<open>(?<![^\s(])-?\((?!\)))|(?P<close>\))|(?P<word>[^\s()]+(?:\(\)[^\s()]*)?)"
)
_NEAR = re.compile(r"NEAR(?:/([0-9]{1,9}))?")
_PLAIN = ("AND", "OR", "NOT")


class Words(NamedTuple):
    """One piece of text that must be there: a word, or what a writer tied into one."""

    text: str


class Phrase(NamedTuple):
    """Words that must stand as written."""

    text: str


class Near(NamedTuple):
    """Two pieces with at most so many words between them, in either order."""

    one: Expression
    other: Expression
    gap: int


class All(NamedTuple):
    """Each of several."""

    parts: tuple[Expression, ...]


class Any(NamedTuple):
    """At least one of several."""

    parts: tuple[Expression, ...]


class Not(NamedTuple):
    """What must not be there."""

    part: Expression


Expression = Words | Phrase | Near | All | Any | Not
IsEmpty = Callable[[str], bool]
"""Tells words such as `is` and `the`, before which NOT is emphasis."""


class _Token(NamedTuple):
    kind: str
    text: str


def parse(text: str, is_empty: IsEmpty) -> Expression | None:
    """Return the expression that a query is; None for plain words, and for what is unbalanced."""
    tokens = _read(text, is_empty)
    if tokens is None or not any(each.kind in (*_PLAIN, "NEAR") for each in tokens):
        return None
    parser = _Parser(tokens)
    made = parser.any()
    return made if made and not parser.rest() and any(leaves(made)) else None


def leaves(expression: Expression, *, wanted: bool = True) -> Iterator[Words | Phrase]:
    """Return the pieces that are asked for, in order; those behind a NOT are not."""
    if isinstance(expression, (Words, Phrase)):
        if wanted:
            yield expression
    elif isinstance(expression, Not):
        yield from leaves(expression.part, wanted=not wanted)
    else:
        parts = expression.parts if isinstance(expression, (All, Any)) else expression[:2]
        for part in parts:
            yield from leaves(part, wanted=wanted)


def _read(text: str, is_empty: IsEmpty) -> list[_Token] | None:
    """Return the tokens; None where quotes or parentheses do not match."""
    tokens: list[_Token] = []
    depth = 0
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        depth += (kind == "open") - (kind == "close")
        if not 0 <= depth <= _MOST_DEPTH or (kind == "word" and set(found[0]) & set(_QUOTES)):
            return None
        tokens.append(_Token(kind, found[0]))
    return None if depth else [_name(tokens, at, is_empty) for at in range(len(tokens))]


def _name(tokens: Sequence[_Token], at: int, is_empty: IsEmpty) -> _Token:
    """Return a token under the name of its operator, if it is one."""
    token = tokens[at]
    if token.kind != "word":
        return token
    if near := _NEAR.fullmatch(token.text):
        return _Token("NEAR", near[1] or str(USUAL_GAP))
    if token.text not in _PLAIN:
        return token
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    beside = [each for each in (before, after) if each is not None]
    is_emphasis = token.text == "NOT" and before and _is_word(before) and is_empty(before.text)
    is_word = is_emphasis or _are_shouted(beside)
    return token if is_word else _Token(token.text, token.text)


def _is_word(token: _Token) -> bool:
    return token.kind == "word" and token.text not in _PLAIN and not _NEAR.fullmatch(token.text)


def _are_shouted(beside: Sequence[_Token]) -> bool:
    """Tell words in capitals, or a number with one: `IS NOT NULL`, `404 NOT FOUND`."""
    texts = [each.text for each in beside if _is_word(each) and each.text == each.text.upper()]
    return len(texts) == len(beside) and any(text.isupper() and len(text) > 1 for text in texts)


class _Parser:
    """Reads an expression from tokens; operators that lack a side are passed over."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def rest(self) -> bool:
        """Tell whether anything is left."""
        return self._at < len(self._tokens)

    def _kind(self) -> str:
        return self._tokens[self._at].kind if self.rest() else ""

    def any(self) -> Expression | None:
        parts = [self._all()]
        while self._kind() == "OR":
            self._at += 1
            parts.append(self._all())
        return _join(Any, parts)

    def _all(self) -> Expression | None:
        parts: list[Expression | None] = []
        while (kind := self._kind()) not in ("", "OR", "close"):
            if kind in ("AND", "NEAR"):
                self._at += 1
            elif kind == "NOT":
                self._at += 1
                part = self._near() if self._kind() not in ("", "OR", "close") else None
                parts.append(Not(part) if part else None)
            else:
                parts.append(self._near())
        return _join(All, parts)

    def _near(self) -> Expression | None:
        """Read pieces joined by NEAR, each of which is near the next."""
        last = self._piece()
        pairs: list[Expression | None] = []
        while last and self._kind() == "NEAR":
            gap = min(MOST_GAP, int(self._tokens[self._at].text))
            self._at += 1
            piece = self._piece()
            if piece is None:
                break
            pairs.append(Near(last, piece, gap))
            last = piece
        return _join(All, pairs) if pairs else last

    def _piece(self) -> Expression | None:
        kind = self._kind()
        if kind not in ("open", "quote", "word"):
            if kind in ("AND", "NOT", "NEAR"):
                self._at += 1
            return None
        text = self._tokens[self._at].text
        self._at += 1
        made: Expression | None
        if kind == "open":
            made = self.any()
            self._at += 1
        elif kind == "quote":
            made = Phrase(text.strip(f"-{_QUOTES}"))
        else:
            made = Words(text.lstrip("-") if _is_excluded(text) else text)
        return Not(made) if made and _is_excluded(text) else made


def _is_excluded(text: str) -> bool:
    return text[0] == "-" and len(text) > 1 and (text[1] in f"({_QUOTES}" or text[1].isalnum())


def _join(kind: type[All] | type[Any], parts: Sequence[Expression | None]) -> Expression | None:
    there = [part for part in parts if part is not None]
    if len(there) < 2:
        return there[0] if there else None
    return kind(tuple(there))
