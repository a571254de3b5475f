"""What the first page of a PDF tells where its properties say nothing: a title, a description."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

import pypdfium2.raw as pdfium

from bookwheel.formats.base import MAX_TITLE
from bookwheel.formats.pdf_file import Page
from bookwheel.formats.pdf_properties import proper_title
from bookwheel.formats.pdf_text import clean
from bookwheel.text.cut import squeeze

_LINES_LOOKED_AT = 60
_LARGER = 1.15
"""A title is so many times as high as most letters of the page."""
_SAME = 0.93
_MOST_LINES = 5
_SHORTEST = 4
_LEVEL = 0.1
_ESCAPE = re.compile(r"\\(?=[<#>`~=*_-])")
"""Keeps text from being Markdown, which a description is not."""
_PROSE = 40
"""Two lines of so many letters, one behind the other, are prose."""


class _Line(NamedTuple):
    text: str
    height: float


def guess_title(page: Page, raw: str, spaced: str) -> str:
    """Return the page's largest lines, if they are larger than its other text.

    Letters are measured where PDFium has them; the same lines may have more spaces.
    """
    lines = _measure(page, raw, spaced)
    if not lines:
        return ""
    largest = max(lines, key=lambda line: line.height)
    heights = sorted((line.height, len(line.text)) for line in lines)
    if largest.height < _LARGER * _middle(heights):
        return ""
    at = lines.index(largest)
    least = _SAME * largest.height
    before = list(takewhile(lambda line: line.height >= least, lines[at - 1 :: -1] if at else []))
    behind = takewhile(lambda line: line.height >= least, lines[at:])
    title = [*reversed(before), *behind][:_MOST_LINES]
    shown = squeeze(" ".join(line.text for line in title))
    letters = sum(map(str.isalpha, shown))
    fits = max(_SHORTEST, len(shown) / 2) <= letters <= len(shown) <= MAX_TITLE
    return proper_title(shown) if fits and "://" not in shown else ""


def _measure(page: Page, raw: str, spaced: str) -> list[_Line]:
    """Return the first upright lines of a page, each with the height of its letters."""
    found: list[_Line] = []
    at = 0
    lines = zip(_first_lines(raw), _first_lines(spaced), strict=True)
    for line, shown in lines:
        text = clean(shown).strip()
        if len(text) >= 2 and (height := _usual_height(page, line, at)):
            found.append(_Line(text, height))
        at += len(line) + 2
    return found


def _first_lines(text: str) -> list[str]:
    return text.split("\r\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]


def _usual_height(page: Page, line: str, at: int) -> float:
    """Return the middle one of three letters' heights: some words may be in another font."""
    places = [len(line) * part // 4 for part in (1, 2, 3)]
    letters = [next((i for i in range(p, len(line)) if line[i].isalnum()), p) for p in places]
    return sorted(_height(page, at + letter) for letter in letters)[1]


def _height(page: Page, at: int) -> float:
    """Return how high the letter at a place in the page's text is; 0 where it does not stand up."""
    letter = pdfium.FPDFText_GetCharIndexFromTextIndex(page.letters, at)
    box = pdfium.FS_RECTF()
    if letter < 0 or abs(pdfium.FPDFText_GetCharAngle(page.letters, letter)) > _LEVEL:
        return 0.0
    if not pdfium.FPDFText_GetLooseCharBox(page.letters, letter, box):
        return 0.0
    return abs(float(box.top - box.bottom))


def _middle(heights: list[tuple[float, int]]) -> float:
    """Return the height that half of the letters do not exceed."""
    half = sum(count for _, count in heights) / 2
    for height, count in heights:
        half -= count
        if half <= 0:
            return height
    return heights[-1][0]


def guess_description(lines: list[str], title: str) -> str:
    """Return the first prose of a page's lines behind its title."""
    name = squeeze(title).casefold()
    body = [line for line in lines if squeeze(line).casefold() not in name]
    for index, line in enumerate(body[:-1]):
        if len(line) >= _PROSE <= len(body[index + 1]) and ". ." not in line and "..." not in line:
            return _ESCAPE.sub("", " ".join(body[index : index + 6]))
    return ""
