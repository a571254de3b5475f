"""The stretch of a passage that shows best why it was found, with the words that matched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from bookwheel.text.matching import Finder
from bookwheel.text.plain import BREAK, plain, seen
from bookwheel.text.words import is_unspaced

_TIES = re.compile(r"[-._:'’()&/ ]{0,2}\Z")


class Cutting(NamedTuple):
    """A cut stretch of text: spans of marked words, and whether text was left out around it."""

    text: str
    marks: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool
    matched: frozenset[str]


def cut_snippet(markdown: str, finder: Finder, worth: Mapping[str, float], length: int) -> Cutting:
    """Return the best stretch of about `length` characters; `worth` tells how much terms count.

    A length of zero asks for no text, only for the terms that matched.
    """
    if not length:
        return Cutting("", (), False, False, finder.terms(seen(markdown)))
    text = plain(markdown)
    found = finder.find(text)
    begin, stop = _window(text, found, worth, length)
    inside = [each for each in found if each[0] >= begin and each[1] <= stop]
    return Cutting(
        text[begin:stop],
        tuple((start - begin, end - begin) for start, end in _marks(text, inside, finder)),
        begin > 0,
        stop < len(text),
        frozenset(term for _, _, term in found),
    )


def mark_words(text: str, finder: Finder) -> tuple[tuple[int, int], ...]:
    """Return the spans of the words in a line that match, neighbouring ones together."""
    return tuple(_marks(text, finder.find(text), finder))


def _window(
    text: str, found: list[tuple[int, int, str]], worth: Mapping[str, float], length: int
) -> tuple[int, int]:
    """Return where the stretch with the most telling words begins and ends."""
    if len(text) <= length:
        return 0, len(text)
    best, span, value, first = 0.0, (0, 0), 0.0, 0
    counts: dict[str, int] = {}
    for last, (_, end, term) in enumerate(found):
        counts[term] = counts.get(term, 0) + 1
        value += worth[term] if counts[term] == 1 else 0.0
        while first < last and end - found[first][0] > length:
            dropped = found[first][2]
            counts[dropped] -= 1
            value -= worth[dropped] if not counts[dropped] else 0.0
            first += 1
        if value > best + 1e-9:
            best, span = value, (found[first][0], min(end, found[first][0] + length))
    spare = max(0, length - (span[1] - span[0]))
    begin = max(0, min(span[0] - spare // 3, len(text) - length))
    return _at_words(text, begin, min(len(text), begin + length), span)


def _at_words(text: str, begin: int, stop: int, keep: tuple[int, int]) -> tuple[int, int]:
    """Move both ends to a blank, not into what must be kept; unspaced text is cut anywhere."""
    if begin > 0 and not is_unspaced(text[begin]):
        blank = text.find(" ", begin - 1, keep[0])
        begin = blank + 1 if blank >= 0 else keep[0]
    if stop < len(text) and not is_unspaced(text[stop]):
        blank = text.rfind(" ", keep[1], stop + 1)
        stop = blank if blank > begin else max(keep[1], begin + 1)
    tie = BREAK.strip()  # parts what is before it, which is not shown
    if text.startswith(f"{tie} ", begin) and begin + 2 <= keep[0]:
        begin += 2
    if text.endswith(f" {tie}", begin, stop) and stop - 2 >= keep[1]:
        stop -= 2
    return begin, stop


def _marks(text: str, found: list[tuple[int, int, str]], finder: Finder) -> list[tuple[int, int]]:
    """Join marks that overlap or that only a tie such as a dot or blank separates.

    Words that say too little by themselves are marked between others only.
    """
    marks: list[tuple[int, int]] = []
    reach, is_open = -1, False
    for start, end, term in found:
        is_tied = reach >= 0 and (start <= reach or bool(_TIES.match(text[reach:start])))
        reach = max(reach, end) if is_tied else end
        is_open = is_open and is_tied
        if term in finder.unmarked:
            continue
        if is_open:
            marks[-1] = (marks[-1][0], reach)
        else:
            marks.append((start, end))
        is_open = True
    return marks
