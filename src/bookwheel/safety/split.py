"""What marks split: a token half of which is bold, a number in the midst of which a comment stands.

Whoever reads the text sees it whole. Where a mark stands between two characters that could belong
together, its line is looked at a second time without any marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from heapq import merge
from html import unescape
from itertools import accumulate, chain
from operator import sub

from bookwheel.safety.density import Found
from bookwheel.safety.patterns import compiled

_Place = tuple[int, int]

_MARK = (
    r"(?:\*+|~~|==+|`+|</?[A-Za-z][^<>\n]*>|\\[!-/:-@\[-`{-~]|\[\^[^\]\s]{1,20}\]"
    r"|!?\[+|\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)|\]+"
    r"|\{#[A-Za-z0-9_-]+\}|&(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,12});)"
)
_WORD = r"[A-Za-z0-9@_.+/=~-]"
_JOINT = (
    rf"{_WORD}{_MARK}+{_WORD}|[0-9)][ .-]?{_MARK}+[ .-]?[(0-9]"
    r"|[0-9)][ .-]?_+[(0-9]|[0-9]_+[ .-][(0-9]|@_+[A-Za-z0-9]"
)
"""A mark between two characters of one word, or between the groups of one number."""
_SLANT = r"(?<![^\s@(.-])_+(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])_+(?![^\s).,;-])"
"""An underscore at the edge of a word, where it is a mark."""
_MARKS = re.compile(f"((?=[*~=`<\\\\!\\[\\]{{&_])(?:{_MARK}|{_SLANT}))".encode())
_BLOCK = re.compile(
    rb"</?(?:t[drh]|table|tbody|thead|tfoot|p|div|li|ul|ol|dl|dt|dd|h[1-6]|br|hr|pre|section)\b",
    re.I,
)
"""Tags that part words for the reader: cells, paragraphs, lines."""
_BLOCK_TAG = re.compile(_BLOCK.pattern + rb"[^<>\n]*>", re.I)
_ESCAPE, _ENTITY, _BREAK = b"\\&\n"
_COMMENTS = ((b"<!--", b"-->"), (b"{/*", b"*/}"))
_FAR = 1000
"""So much of an endless line is looked at on either side of a mark."""
_AHEAD = 500
"""So much is looked at behind a mark in any case: lines are short where marks are many."""
_NAME = re.compile(rb"([A-Za-z]{4,40})[ \t]?[:=][ \t]?[\"']?$")
_LONGEST_NAME = 44
"""The name of a secret, which marks may split too."""
_MANY = 2000
_NEXT_TO = 16
_UNSEEN = re.compile("[\u00ad\u034f\u115f\u1160\u3164\u200b-\u200f\u2060-\u2064\ufeff]")


def find_split(data: bytes, find: Callable[[bytes], Iterable[Found]]) -> Iterator[Found]:
    """Yield what is found only without the marks that stand within it."""
    shown = _Uncommented(data)
    pieces: list[_Piece] = []
    parts: list[bytes] = []
    length = 0
    for start, end in _join([*_lines(shown.text), *shown.lines()]):
        piece = _Piece(shown.text[start:end], start, length)
        pieces.append(piece)
        parts += piece.text, b"\n"
        length += len(piece.text) + 1
    if not pieces:
        return
    starts = [piece.at for piece in pieces]

    def origins(first: int, last: int) -> list[_Place]:
        number = bisect_right(starts, first) - 1
        places: list[_Place] = []
        while number < len(pieces) and starts[number] < last:
            places += pieces[number].places(first, last)
            number += 1
        return [(shown.origin(begin), shown.origin(stop - 1) + 1) for begin, stop in places]

    whole = b"".join(parts)
    for first, last, kind in _gathered(find(whole)):
        found = origins(first, last)
        name = _NAME.search(whole, max(0, first - _LONGEST_NAME), first)
        if _is_split(found, first, last) or (
            name and _is_split(origins(*name.span(1)), *name.span(1))
        ):
            yield from ((begin, stop, kind) for begin, stop in found)


def _is_split(origins: list[_Place], first: int, last: int) -> bool:
    """Tell whether marks stood within what is without them."""
    return sum(stop - begin for begin, stop in origins) > last - first


def _gathered(found: Iterable[Found]) -> Iterator[Found]:
    """Yield finds; where there are very many, those as one that stand next to each other."""
    every = sorted(found)
    if len(every) <= _MANY:
        yield from every
        return
    first, last, named = every[0]
    for start, end, kind in every:
        if start > last + _NEXT_TO:
            yield first, last, named
            first, named = start, kind
        last = max(last, end)
    yield first, last, named


def _meanings(marks: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return what marks stand for: a character, or nothing."""
    meant: dict[bytes, bytes] = {}
    entities: list[bytes] = []
    for mark in dict.fromkeys(marks):
        if mark[0] == _ENTITY:
            entities.append(mark)
        else:
            meant[mark] = mark[1:] if mark[0] == _ESCAPE else b" " * bool(_BLOCK.match(mark))
    if entities:  # together: no entity stands for the sign between them
        characters = _UNSEEN.sub("", unescape(b"\0".join(entities).decode())).split("\0")
        for mark, character in zip(entities, characters, strict=True):
            meant[mark] = character.encode("utf-8", "replace")
    return meant


class _Piece:
    """A stretch of text, from where it starts, and at which place of all that is without marks."""

    def __init__(self, data: bytes, start: int, at: int) -> None:
        self._start, self.at = start, at
        self._parts = _MARKS.split(data)
        """Text and marks by turns."""
        self._meant: list[bytes] = []
        texts = self._parts[::2]
        if b"\\" in data or b"&" in data or _BLOCK.search(data):
            marks = self._parts[1::2]
            self._meant = [*map(_meanings(marks).__getitem__, marks)]
            texts = [*chain.from_iterable(zip(texts, self._meant, strict=False)), texts[-1]]
        self.text = b"".join(texts)

    def places(self, first: int, last: int) -> Iterator[_Place]:
        """Yield where what of a find lies in this piece stood."""
        first, last = max(first, self.at), min(last, self.at + len(self.text))
        if first < last:
            yield self._place(first)[0], self._place(last - 1)[1]

    def _place(self, at: int) -> _Place:
        """Return where a byte of the text without marks stood, or what it stands for."""
        begins, origins = self._table
        number = bisect_right(begins, at - self.at) - 1
        start, end = origins[number : number + 2]
        inside = at - self.at - begins[number]
        is_same = begins[number + 1] - begins[number] == end - start
        return (start + inside, start + inside + 1) if is_same else (start, end)

    @cached_property
    def _table(self) -> tuple[list[int], list[int]]:
        """Where each part begins without marks, and with them; made where something is found."""
        lengths = [*map(len, self._parts)]
        origins = [*accumulate(lengths, initial=self._start)]
        lengths[1::2] = [*map(len, self._meant)] if self._meant else [0] * (len(lengths) // 2)
        return [*accumulate(lengths, initial=0)], origins


class _Uncommented:
    """A text without its comments."""

    def __init__(self, data: bytes) -> None:
        self.text = data
        self._starts, self._shifts = [0], [0]
        self._alone: list[bool] = []
        comments = [*_apart(_comments(data))]
        if not comments:
            return
        starts, ends = zip(*comments, strict=True)
        self.text = b"".join(map(data.__getitem__, map(slice, (0, *ends), (*starts, None))))
        self._shifts += accumulate(map(sub, ends, starts))
        self._starts += map(sub, starts, self._shifts)
        self._alone = [
            (not start or data[start - 1] == _BREAK) and (end == len(data) or data[end] in b"\r\n")
            for start, end in comments
        ]

    def lines(self) -> Iterator[_Place]:
        """Yield the lines from which comments were taken, but not those that held nothing else."""
        last = -1
        for start, alone in zip(self._starts[1:], self._alone, strict=True):
            if not alone and start + _AHEAD // 2 > last:
                first, last = _line_around(self.text, start, start + _AHEAD)
                yield first, last

    def origin(self, at: int) -> int:
        """Return where a byte stood before."""
        return at + self._shifts[bisect_right(self._starts, at) - 1]


def _comments(data: bytes) -> Iterator[_Place]:
    """Yield the comments of a text, in their order."""
    kinds = [[*_comments_of(data, *each)] for each in _COMMENTS]
    return merge(*kinds) if all(kinds) else chain(*kinds)


def _comments_of(data: bytes, opening: bytes, closing: bytes) -> Iterator[_Place]:
    at = 0
    *parts, _ = data.split(closing)
    for part in parts:
        end = at + len(part) + len(closing)
        start = part.find(opening)
        if start >= 0:
            yield at + start, end
        at = end


def _apart(places: Iterable[_Place]) -> Iterator[_Place]:
    """Yield those that do not begin within one before them."""
    last = 0
    for start, end in places:
        if start >= last:
            yield start, end
            last = end


def _lines(data: bytes) -> Iterator[_Place]:
    """Yield the lines in which a mark may split something."""
    joint, at = compiled(_JOINT), 0
    while match := joint.search(data, at):
        start, end = _line_around(data, match.start(), match.end() + _AHEAD)
        # Tables in HTML are full of marks, yet none that splits a word or a number.
        if match[0].find(b"<") < 0 or joint.search(_BLOCK_TAG.sub(b"  ", data[start:end])):
            yield start, end
        at = max(match.end() - 1, end - _AHEAD // 2)


def _line_around(data: bytes, start: int, end: int) -> _Place:
    end = min(len(data), end)
    before = data.rfind(b"\n", max(0, start - _FAR), start)
    after = data.find(b"\n", end, end + _FAR)
    return (
        max(0, start - _FAR) if before < 0 else before + 1,
        min(len(data), end + _FAR) if after < 0 else after,
    )


def _join(lines: Iterable[_Place]) -> Iterator[_Place]:
    """Yield stretches in their order, as one where they overlap or follow each other."""
    first = last = -2
    for start, end in sorted(lines):
        if start > last + 1:
            if first >= 0:
                yield first, last
            first = start
        last = max(last, end)
    if first >= 0:
        yield first, last
