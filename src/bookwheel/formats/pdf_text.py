"""The text of a PDF's page: whole words, lines, and blank lines where paragraphs seem to end."""

from __future__ import annotations

import re
from itertools import pairwise

_ODD = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\xa0\u061c\u2000-\u200b\u200e\u200f\u2028-\u202f"
    "\u2060-\u2064\u3000\ufb00-\ufb06\ufeff\ufff9-\ufffb\uffff]"
)
"""What is invisible, or another form of a blank, a line end or letters."""
_SOFT_END = re.compile("\xad[ \t]*\n[ \t]*")
_SOFT_INSIDE = re.compile("(?<=[^\\W\\d_])\xad(?=[^\\W\\d_])")
_PLAINLY = {
    **dict.fromkeys("\t\xa0\u202f\u3000\u2000\u2001\u2002\u2003\u2004\u2005\u2006", " "),
    **dict.fromkeys("\u2007\u2008\u2009\u200a", " "),
    **dict.fromkeys("\u2028\u2029", "\n"),
    **dict(
        zip(
            "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06",
            ("ff", "fi", "fl", "ffi", "ffl", "st", "st"),
            strict=True,
        )
    ),
}
_BROKEN = "\ufffe"
"""What PDFium puts where a word was broken at a line's end: for the hyphen and the line end."""
_KEEPS_HYPHEN = re.compile(r"[-/@_=&?\d]|^$")
_LONGEST_WORD = 80
_BULLET = re.compile("^[\u2022\u2023\u25aa\u25cf\u25e6\uf0a7\uf0b7][ ]*(?=\\S)", re.M)
_LONE_BULLET = re.compile("^([\u2022\u2023\u25aa\u25cf\u25e6\uf0a7\uf0b7])\n(?=[^\\s\u2022])", re.M)
_PARAGRAPH_END = re.compile(r"[.!?:\u3002\uff01\uff1f][\"'\u201d\u2019)\]]?$")
_SHORT = 0.8
_NARROW = 20
"""A page whose lines are no longer than this is no prose."""


def clean(raw: str) -> str:
    """Return text without what is invisible, words that were broken at a line's end whole."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = _ODD.sub(lambda found: _PLAINLY.get(found[0], ""), text)
    if "\xad" in text:
        # A soft hyphen that is drawn within a line is a hyphen, unless letters surround it.
        text = _SOFT_INSIDE.sub("", _SOFT_END.sub(_BROKEN, text)).replace("\xad", "-")
    return _mend(text.split(_BROKEN)) if _BROKEN in text else text


def _mend(parts: list[str]) -> str:
    """Join words at their broken places; the line ends behind the word instead."""
    done = [parts[0]]
    for before, part in pairwise(parts):
        word = re.split(r"\s", before[-_LONGEST_WORD:])[-1]
        first = part[:1]
        parted = _KEEPS_HYPHEN.search(word) or not first.isalpha()
        if parted or (first.isupper() and not word[-1:].isupper()):
            done.append("-")
        head, blank, tail = part.partition(" ")
        done.append(f"{head}\n{tail}" if blank and "\n" not in head else part)
    return "".join(done)


def tidy_lines(text: str) -> list[str]:
    """Return the lines of clean text, with an empty one where a paragraph seems to end."""
    text = _BULLET.sub("- ", _LONE_BULLET.sub(r"\1 ", text))
    lines = [line for piece in text.split("\n") if (line := piece.strip())]
    if not lines:
        return []
    lengths = sorted(map(len, lines))
    width = lengths[int(len(lengths) * 0.9)]
    if width <= _NARROW:
        return lines
    short = width * _SHORT
    done: list[str] = []
    for line in lines:
        done.append(line)
        if len(line) < short and _PARAGRAPH_END.search(line, max(0, len(line) - 3)):
            done.append("")
    if not done[-1]:
        done.pop()
    return done
