"""The outline of Markdown whose blocks stand for themselves, from those of them that matter.

A reader that has just written the blocks knows that each is one: a heading, a paragraph, a list or
a table, with nothing in it that would reach beyond it. So what is neither a heading nor before the
first paragraph, and has no sign of a link, need not be read as Markdown again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from bookwheel.formats.blocks import Outline, nest, read_outline
from bookwheel.formats.links import has_doi

_SHORT = 1_000
"""Characters that are read sooner than chosen from."""
_MARKS = ("://", "[[", "](", "www.", "rXiv:", "&", "\\")
"""What a link has, or a letter that is written otherwise and might belong to one."""
_NUMBERED = "10."
_DEFINITION = "]:"
"""Gives a target to links anywhere in the text."""
_BLOCK_END = "\n\n"


class Pieces(NamedTuple):
    """A text in pieces; one that a blank line ends is the end of a block."""

    texts: Sequence[str]
    starts: Sequence[int]
    """Where they begin, in bytes, and where the last one ends."""


def read_excerpt(text: str, pieces: Pieces) -> Outline:
    """Return what `read_outline` would, without reading every block."""
    kept = _choose(text, pieces.texts) if len(text) > _SHORT and _DEFINITION not in text else []
    if not kept:
        return read_outline(text)
    texts, starts = [pieces.texts[at] for at in kept], [pieces.starts[at] for at in kept]
    outline = read_outline("".join(texts))
    data = text.encode()
    lines = _lines(data, starts)
    sizes = (pieces.starts[at + 1] - pieces.starts[at] for at in kept)
    own_starts = list(accumulate(sizes, initial=0))[:-1]
    own_lines = list(accumulate((each.count("\n") for each in texts), initial=1))[:-1]

    def line_of(line: int) -> int:
        at = bisect_right(own_lines, line) - 1
        return lines[at] + line - own_lines[at]

    headings: list[tuple[int, str, int, int]] = []
    for section in outline.sections:
        at = bisect_right(own_starts, section.start) - 1
        start = starts[at] + section.start - own_starts[at]
        headings.append((section.level, section.heading, start, line_of(section.start_line)))
    end_line = data.count(b"\n") + (not data.endswith(b"\n"))
    return outline._replace(
        sections=tuple(nest(headings, len(data), end_line)),
        links=tuple(link._replace(line=line_of(link.line)) for link in outline.links),
    )


def _lines(data: bytes, starts: Sequence[int]) -> list[int]:
    """Return the lines of places, which are in order."""
    counts = (data.count(b"\n", a, b) for a, b in zip([0, *starts], starts, strict=False))
    return list(accumulate(counts, initial=1))[1:]


def _choose(text: str, pieces: Sequence[str]) -> list[int]:
    """Return which pieces have to be read; none where no paragraph surely describes the text."""
    marks = [mark for mark in _MARKS if mark in text]
    if _NUMBERED in text and (has_doi(text) or "rxiv:" in text):
        marks.append(_NUMBERED)
    kept: list[int] = []
    first, is_wanted, is_described = 0, True, False
    for at, piece in enumerate(pieces):
        is_wanted = is_wanted or piece[0] == "#" or any(mark in piece for mark in marks)
        is_described = is_described or _describes(piece)
        if piece.endswith(_BLOCK_END):
            if is_wanted:
                kept += range(first, at + 1)
            first, is_wanted = at + 1, not is_described
    if is_wanted:
        kept += range(first, len(pieces))
    return kept if is_described else []


def _describes(piece: str) -> bool:
    """Tell a paragraph that is one line of words and no more, whatever stands around it."""
    return (
        piece[0].isalpha()
        and not piece.startswith(("im", "ex"))  # it may be a line of a program
        and "|" not in piece
        and piece.find("\n") == len(piece) - len(_BLOCK_END)
    )
