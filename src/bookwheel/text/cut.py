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
_LONG_WORD = 64
"""What has no blank for so long is no word, and is cut inside."""
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


def head_of(text: str, limit: int, *, most: int | None = None) -> str:
    """Return the beginning of a text: so many bytes of UTF-8 and characters, to the end of a word.

    Lines and blanks stay as they are.
    """
    end = len(text.encode()[: max(0, limit)].decode("utf-8", "ignore"))
    end = end if most is None else min(end, most)
    if end >= len(text) or not end or text[end].isspace() or text[end - 1].isspace():
        return text[:end]
    if not _UNSPACED.match(text, end - 1):
        blank = _last_blank(text, end)
        if blank > 0:
            return text[:blank]
    return text[: letter_end(text, end)]


def tail_of(text: str, limit: int, *, most: int) -> str:
    """Return the end of a text: so many bytes of UTF-8 and characters, from the start of a word."""
    if limit <= 0 or most <= 0:
        return ""
    start = max(0, len(text) - most, len(text) - len(_last_bytes(text, limit)))
    if not start or text[start].isspace() or text[start - 1].isspace():
        return text[start:]
    if not _UNSPACED.match(text, start):
        blank = next((i for i in range(start, len(text)) if text[i].isspace()), len(text))
        if blank - start <= _LONG_WORD:
            return text[blank:].lstrip(" ")
    while start < len(text) and splits_letter(text, start):
        start += 1
    return text[start:]


def _last_blank(text: str, end: int) -> int:
    """Return where the word ends before the one that a cut would part; 0 if that is far."""
    near = range(end - 1, max(0, end - _LONG_WORD), -1)
    return next((at for at in near if text[at].isspace()), 0)


def _last_bytes(text: str, limit: int) -> str:
    return text.encode()[-limit:].decode("utf-8", "ignore")


def _splits_flag(line: str, at: int) -> bool:
    first = at
    while first > 0 and "\U0001f1e6" <= line[first - 1] <= "\U0001f1ff":
        first -= 1
    return (at - first) % 2 == 1 and "\U0001f1e6" <= line[at] <= "\U0001f1ff"
