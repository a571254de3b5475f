"""Tokens that are known by their shape alone, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from bookwheel.safety.density import Allowance, Found, Stretches, places
from bookwheel.safety.patterns import compiled
from bookwheel.safety.shapes import beginnings, fixed_words, hint_of, is_exact, lead_of, pattern_of
from bookwheel.safety.tokens import TOKENS, Token
from bookwheel.safety.values import is_random, is_stand_in

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*")
_LONG_RUN = 60
"""So many letters of base64 around a would-be token make it a part of an image or the like."""
_COMMON = 3
"""A word of a shape that is no longer stands in too many texts to be looked for first."""
_LONGEST = 600
"""Bytes of the longest token that is put together again."""
_LONGEST_LINE = 140
"""Bytes of the longest line of a token that goes on in the next."""
_CUT_OFF = 22
"""Characters of the shortest rest of a token that counts as one."""
_ESCAPES = {92: 2, 37: 3}
"""Bytes of what begins so: \\n, %20."""
_RUN = re.compile(rb"[A-Za-z0-9_-]*")
_BREAK_PATTERN = r"[=\\]?(?:<br[ \t]*/?>)?[ \t]{0,3}\r?\n(?:[ \t]{0,3}\r?\n)?[ \t>|#*]{0,8}"
"""What may stand between the halves of a token: the end of a line, or of a paragraph where a page
ends. A blank would join words of any sentence."""
_BREAK = re.compile(_BREAK_PATTERN.encode())
_PART_OF_TOKEN = re.compile(rb"(?=[A-Za-z_-]{0,30}[0-9])[A-Za-z0-9_-]{6}")
"""What each half begins with where the gap is no plain line break: words have no digits."""
_LEAST_RUN = 40
_FILLER = re.compile(
    rb"(?i)your[-_]|[-_]here\b|x{6}|0{12}|\*{3}|\.{3}|placeholder|replace|1234567890123456|example(?:key)?$"
)


class Row(NamedTuple):
    """A token of the table, made ready for looking."""

    kind: str
    pattern: str
    beginnings: tuple[bytes, ...]
    whole: bool
    exact: bool


class Table(NamedTuple):
    """All tokens: those with a beginning are sought together, the others one by one."""

    together: tuple[str, ...]
    """One pattern for those whose beginning is telling, one for the rest, one for those that are
    random to begin with and have nothing rare in their midst."""
    broken: str
    """The pattern of a telling beginning with a line break soon after it."""
    by_letter: dict[int, tuple[Row, ...]]
    unled: tuple[Row, ...]
    """Those that are random to begin with."""
    rare: str
    """The pattern of any of the words below."""
    one_by_one: tuple[tuple[bytes, Row], ...]
    """With a word that each has in its midst."""


@lru_cache(maxsize=1)
def token_table() -> Table:
    """Return the table of tokens."""
    telling: list[str] = []
    whole: list[str] = []
    random: list[str] = []
    by_letter: dict[int, list[Row]] = {}
    unled: list[Row] = []
    one_by_one: list[tuple[bytes, Row]] = []
    for token in TOKENS:
        words = tuple(word.encode() for word in beginnings(token))
        row = Row(token.kind, pattern_of(token), words, token.whole, is_exact(token))
        if words:
            (whole if token.whole else telling).append(hint_of(token))
            for letter in {word[0] for word in words}:
                by_letter.setdefault(letter, []).append(row)
        elif len(fixed_words(token)[0]) <= _COMMON:
            random.append(pattern_of(token).replace("(", "(?:").replace("(?:?:", "(?:"))
            unled.append(row)
        else:
            one_by_one.append((fixed_words(token)[0].encode(), row))
    leads = "|".join(
        _before_break(token) for token in TOKENS if not token.whole and beginnings(token)
    )
    broken = (
        f"\\b(?:{leads})"
        rf"[A-Za-z0-9_.+/=-]*{_BREAK_PATTERN}[A-Za-z0-9]"
    )
    rows = {letter: tuple(rows) for letter, rows in by_letter.items()}
    together = ("|".join(telling), "|".join(whole), "|".join(random))
    rare = "|".join(re.escape(word.decode()) for word, _ in one_by_one)
    return Table(together, broken, rows, tuple(unled), rare, tuple(one_by_one))


def _before_break(token: Token) -> str:
    """Return the pattern of what stands of a token at least before a line break."""
    lead = lead_of(token)
    return lead if min(map(len, beginnings(token))) > _COMMON - 1 else hint_of(token)


def find_tokens(data: bytes, allowance: Allowance) -> Iterator[Found]:
    """Yield the tokens of a text."""
    table = token_table()
    dense = Stretches(allowance)
    for pattern in table.together:
        done = 0
        led = pattern != table.together[-1]
        for match in places(pattern, data, dense):
            if match.start() >= done:
                at = match.start()
                rows = table.by_letter.get(data[_first(data, at)], ()) if led else table.unled
                for start, end, kind in _identify(data, at, rows):
                    done = end
                    if kind:
                        yield start, end, kind
    yield from _find_broken(data, table, dense)
    if compiled(table.rare).search(data) is not None:
        yield from _find_one_by_one(data, table, dense)
    yield from dense.let_go("token")


def _find_one_by_one(data: bytes, table: Table, dense: Stretches) -> Iterator[Found]:
    for word, row in table.one_by_one:
        if word in data:
            for match in places(row.pattern, data, dense):
                start, end = match.span(1)
                if _is_token(data, start, end, row):
                    yield start, end, row.kind


def _find_broken(data: bytes, table: Table, dense: Stretches) -> Iterator[Found]:
    """Yield the tokens that a line break cuts in two, as mail and print do."""
    for match in places(table.broken, data, dense):
        start, end = match.span()
        if end - start > _LONGEST_LINE:
            continue
        stretch = data[start : start + _LONGEST]
        if not _may_be_broken(stretch, end - start - 1):
            continue
        joined = _BREAK.sub(b"", stretch, 6)
        for row in table.by_letter[data[start]]:
            if not row.whole and stretch.startswith(row.beginnings):
                if compiled(row.pattern).match(stretch) is not None:
                    break  # it is whole before the break
                found = compiled(row.pattern).match(joined)
                if found is not None and _is_token(joined, 0, found.end(1), row):
                    yield start, start + _length_with_breaks(stretch, found.end(1)), row.kind
                    break


def _may_be_broken(stretch: bytes, second: int) -> bool:
    """Tell whether what stands around a break may be halves; `second` is where the other begins.

    A line break alone parts anything; elsewhere neither may be a word of a sentence.
    """
    gap = _BREAK.search(stretch, 0, second)
    if gap is not None and gap[0].count(b"\n") == 1 and gap[0][0] not in b" \t<":
        return True
    halves = (stretch, stretch[second : second + _LEAST_RUN])
    return all(_PART_OF_TOKEN.match(half) for half in halves)


def _length_with_breaks(stretch: bytes, length: int) -> int:
    """Return how long so many characters are with the line breaks between them."""
    for found in _BREAK.finditer(stretch):
        if found.start() >= length:
            break
        length += len(found[0])
    return length


def _first(data: bytes, start: int) -> int:
    """Return where a token begins that may stand after an escaped or encoded character."""
    return start + _ESCAPES.get(data[start], 0)


def _identify(data: bytes, start: int, rows: tuple[Row, ...]) -> Iterator[Found]:
    """Say which token stands here, or without a kind how far what only looks like one reaches."""
    at = _first(data, start)
    stub: Found | None = None
    for row in rows:
        if not row.beginnings or data.startswith(row.beginnings, at):
            match = compiled(row.pattern).match(data, start)
            if match is not None:
                begin, end = match.span(1)
                found = _is_token(data, begin, end, row)
                yield begin, end, row.kind if found else ""
                if found:
                    return
            elif row.beginnings and not row.whole:
                stub = stub or _stub(data, at, row.kind)
    if stub is not None:
        yield stub


def _stub(data: bytes, at: int, kind: str) -> Found | None:
    """Return what begins like a token and is cut off, if it looks like part of one."""
    end = _RUN.match(data, at, at + _LONGEST).end()  # type: ignore[union-attr]
    cut_off = data[at:end].decode()
    is_part = len(cut_off) >= _CUT_OFF and is_random(cut_off[4:], 16)
    return (at, end, kind) if is_part else None


def _is_token(data: bytes, start: int, end: int, row: Row) -> bool:
    found = data[start:end]
    if row.exact and end < len(data) and data[end] in _WORD:
        return False
    if len(set(found[-20:])) < 5 or _FILLER.search(found) or is_stand_in(found.decode()):
        return False
    if row.whole:
        tail = found[-16:]
        is_word = tail.isalpha() and (tail.islower() or tail.isupper())
        if is_word and row.kind != "aws key":  # which has no digit once in thirty times
            return False
        return not _inside_base64(data, start, end)
    return True


def _inside_base64(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - _LONG_RUN) : start][::-1]
    around = len(_BASE64.match(before)[0]) + len(  # type: ignore[index]  # matches always
        _BASE64.match(data, end, end + _LONG_RUN)[0]  # type: ignore[index]
    )
    return around >= _LONG_RUN
