"""Cutting text to a length at the end of a word, never inside a letter and its marks."""

from __future__ import annotations

import re

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u303f\u3040-\u312f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written without spaces, as a character class: Thai, Lao, Burmese, Khmer, Kana, Han."""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
)
"""What belongs to the letter before it, as a character class: accents, vowel signs, joiners."""

ELLIPSIS = "…"

_UNSPACED = re.compile(f"[{UNSPACED}]")
_MARK = re.compile(f"[{MARKS}]")
_DANGLING = " ,;:–—-([{\"'"


def squeeze(text: str) -> str:
    """Return the text on one line with single spaces."""
    return " ".join(text.split())


def cut(text: str, *, limit: int) -> str:
    """Return the text on one line and at most `limit` characters, with `…` where it was cut."""
    if len(text) <= limit:
        return squeeze(text)
    # The head is enough unless it is nearly all blanks; a text may be megabytes long.
    line = squeeze(text[: limit * 20])
    if len(line) <= limit and len(text) > limit * 20:
        line = squeeze(text)
    if len(line) <= limit:
        return line
    end = _word_end(line, limit - len(ELLIPSIS))
    return line[:end].rstrip(_DANGLING) + ELLIPSIS


def _word_end(line: str, limit: int) -> int:
    if line.isascii():
        space = line.rfind(" ", 0, limit + 1)
        return space if space > 0 else limit
    for end in range(limit, 0, -1):
        if line[end] == " " or (_UNSPACED.match(line, end - 1) and not splits_letter(line, end)):
            return end
    return letter_end(line, limit)


def letter_end(line: str, end: int) -> int:
    """Return the nearest place at or before `end` that is not inside a letter with its marks."""
    while end > 1 and splits_letter(line, end):
        end -= 1
    return end


def splits_letter(line: str, at: int) -> bool:
    """Tell whether a cut at this place would part a letter from its marks."""
    if at <= 0 or at >= len(line):
        return False
    return line[at - 1] == "\u200d" or _MARK.match(line, at) is not None or _splits_flag(line, at)


def _splits_flag(line: str, at: int) -> bool:
    first = at
    while first > 0 and "\U0001f1e6" <= line[first - 1] <= "\U0001f1ff":
        first -= 1
    return (at - first) % 2 == 1 and "\U0001f1e6" <= line[at] <= "\U0001f1ff"
